from __future__ import annotations

import os
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from agentdyno.agents.versioning import version_of, with_imports
from agentdyno.model.suite import AgentUse


def use(folder: Path, uses: str, **config: object) -> AgentUse:
    return AgentUse("subject", uses, config=config, base_dir=str(folder))


def digest(folder: Path, uses: str, **config: object) -> str:
    return version_of(use(folder, uses, **config), git=False).digest


def git(folder: Path, *arguments: str) -> str:
    environ = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.com")
    command = ["git", *identity, *arguments]
    return subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True, check=True).stdout.strip()


def test_a_declared_version_is_the_version_with_the_hash_beside_it(tmp_path: Path) -> None:
    found = version_of(replace(use(tmp_path, "cmd:cat"), version="1.0"))
    assert found.version == "1.0"
    assert len(found.digest) == 12


class TestFiles:
    def test_the_hash_follows_the_file_and_what_it_imports_from_beside(self, tmp_path: Path) -> None:
        (tmp_path / "agent.py").write_text("import prompts\nfrom tools import search\ndef answer(text): ...\n")
        (tmp_path / "prompts.py").write_text("import deeper\n")
        (tmp_path / "deeper.py").write_text("import agent, json\n")
        (tmp_path / "tools").mkdir()
        (tmp_path / "tools" / "__init__.py").write_text("")
        (tmp_path / "tools" / "search.py").write_text("")
        (tmp_path / "unrelated.py").write_text("")
        seen = {digest(tmp_path, "agent.py@answer")}
        for name in ("agent.py", "prompts.py", "deeper.py", "tools/search.py"):
            with (tmp_path / name).open("a") as file:
                file.write("# changed\n")
            seen.add(digest(tmp_path, "agent.py@answer"))
        assert len(seen) == 5
        (tmp_path / "unrelated.py").write_text("# changed")
        assert digest(tmp_path, "agent.py@answer") in seen

    def test_the_hash_does_not_depend_on_the_folder(self, tmp_path: Path) -> None:
        for name in ("one", "two"):
            (tmp_path / name).mkdir()
            (tmp_path / name / "agent.py").write_text("import beside")
            (tmp_path / name / "beside.py").write_text("")
        assert digest(tmp_path / "one", "agent.py@answer") == digest(tmp_path / "two", "agent.py@answer")

    def test_what_is_called_and_how_it_is_configured_count(self, tmp_path: Path) -> None:
        (tmp_path / "agent.py").write_text("")
        plain = digest(tmp_path, "agent.py@answer")
        assert plain != digest(tmp_path, "agent.py@other")
        assert plain != digest(tmp_path, "agent.py@answer", temperature=1)
        assert plain == digest(tmp_path, "agent.py@answer", paid=True)

    def test_modules_count_by_their_source(self, tmp_path: Path) -> None:
        (tmp_path / "pack").mkdir()
        (tmp_path / "pack" / "__init__.py").write_text("")
        (tmp_path / "pack" / "agents.py").write_text("from .beside import x\nfrom pack.other import y\n")
        (tmp_path / "pack" / "beside.py").write_text("")
        (tmp_path / "pack" / "other.py").write_text("")
        files = {path.name for path in with_imports(tmp_path / "pack" / "agents.py")}
        assert files == {"agents.py", "beside.py", "other.py"}
        before = digest(tmp_path, "pack.agents:answer")
        (tmp_path / "pack" / "beside.py").write_text("x = 1")
        assert digest(tmp_path, "pack.agents:answer") != before

    @pytest.mark.parametrize("text", ["def broken(:", "\0", "é".encode("latin-1").decode("latin-1")])
    def test_a_file_that_cannot_be_parsed_counts_by_its_bytes(self, tmp_path: Path, text: str) -> None:
        (tmp_path / "agent.py").write_text(text)
        before = digest(tmp_path, "agent.py@answer")
        (tmp_path / "agent.py").write_text(text + " ")
        assert digest(tmp_path, "agent.py@answer") != before

    def test_an_agent_that_cannot_be_found_has_a_version_all_the_same(self, tmp_path: Path) -> None:
        assert len(version_of(use(tmp_path, "none.py@answer")).version) == 12


def test_a_command_is_its_arguments_and_the_files_among_them(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text("one")
    first = digest(tmp_path, "cmd:python3 bot.py --fast")
    assert first != digest(tmp_path, "cmd:python3 bot.py")
    (tmp_path / "bot.py").write_text("two")
    assert first != digest(tmp_path, "cmd:python3 bot.py --fast")


def test_an_endpoint_is_its_address_and_configuration(tmp_path: Path) -> None:
    assert digest(tmp_path, "openai:m") == digest(tmp_path.parent, "openai:m")
    assert digest(tmp_path, "openai:m") != digest(tmp_path, "openai:n")
    assert digest(tmp_path, "openai:m") != digest(tmp_path, "openai:m", temperature=0)


class TestCommits:
    def test_the_commit_of_the_agents_repository_is_told(self, tmp_path: Path) -> None:
        (tmp_path / "agent.py").write_text("")
        (tmp_path / "notes.txt").write_text("")
        git(tmp_path, "init", "-q")
        git(tmp_path, "add", ".")
        git(tmp_path, "commit", "-qm", "first")
        clean = version_of(use(tmp_path, "agent.py@answer"))
        assert (clean.commit, clean.dirty) == (git(tmp_path, "rev-parse", "HEAD"), False)
        (tmp_path / "untracked.txt").write_text("")
        assert not version_of(use(tmp_path, "agent.py@answer")).dirty
        (tmp_path / "notes.txt").write_text("changed")
        assert version_of(use(tmp_path, "agent.py@answer")).dirty

    def test_an_agent_that_is_not_in_the_repository_makes_it_dirty(self, tmp_path: Path) -> None:
        (tmp_path / "other.py").write_text("")
        git(tmp_path, "init", "-q")
        git(tmp_path, "add", ".")
        git(tmp_path, "commit", "-qm", "first")
        (tmp_path / "agent.py").write_text("")
        assert version_of(use(tmp_path, "agent.py@answer")).dirty

    def test_no_repository_and_no_git_are_no_error(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        (tmp_path / "agent.py").write_text("")
        monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
        assert version_of(use(tmp_path, "agent.py@answer")).commit is None
        monkeypatch.setenv("PATH", str(tmp_path))
        assert version_of(use(tmp_path, "agent.py@answer")).commit is None
