"""An agent lives in the interpreter that was named for it, and what is wrong with one is told before a run."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import pytest

from agentdyno.agents.interpreters import find_interpreter
from agentdyno.agents.resolve import make_agent
from agentdyno.agents.versioning import version_of
from agentdyno.errors import DynoError, PluginError, SpecError
from agentdyno.model.suite import AgentUse

from ..command import Bench

AGENT = "import sys\n\ndef where(text):\n    return sys.executable\n"


def environment(folder: Path) -> Path:
    """The folder of an environment: its interpreter is a link to this one."""
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").symlink_to(sys.executable)
    return folder


def test_an_interpreter_is_a_file_a_folder_or_a_name(tmp_path: Path) -> None:
    there = str(environment(tmp_path / "env") / "bin" / "python")
    assert find_interpreter("env", tmp_path, "python of a") == there
    assert find_interpreter("env/bin/python", tmp_path, "python of a") == there
    assert find_interpreter(there, Path("/"), "python of a") == there
    assert Path(find_interpreter("python3", tmp_path, "python of a")).name == "python3"


def test_an_interpreter_that_is_not_there_is_told_with_the_nearest(tmp_path: Path) -> None:
    environment(tmp_path / "envs" / "graph")
    with pytest.raises(SpecError, match="no interpreter envs/grph") as caught:
        find_interpreter("envs/grph", tmp_path, "python of a")
    assert "graph" in str(caught.value.remedy)
    with pytest.raises(SpecError, match="envs is a folder without bin/python"):
        find_interpreter("envs", tmp_path, "python of a")
    (tmp_path / "plain").write_text("")
    with pytest.raises(SpecError, match="plain cannot be executed"):
        find_interpreter("plain", tmp_path, "python of a")


def test_only_python_agents_have_one() -> None:
    with pytest.raises(SpecError, match="is no Python agent"):
        make_agent(AgentUse("a", "cmd:cat", python="python3"))


def test_it_is_part_of_the_version(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(AGENT)
    use = AgentUse("a", "agent.py@where", base_dir=str(tmp_path))
    other = AgentUse("a", "agent.py@where", base_dir=str(tmp_path), python="python3")
    assert version_of(use, git=False) != version_of(other, git=False)


def test_one_that_is_too_old_says_so(tmp_path: Path) -> None:
    old = tmp_path / "python2"
    old.write_text("#!/bin/sh\necho agentdyno-python-too-old >&2\nexit 1\n")
    old.chmod(0o755)
    (tmp_path / "agent.py").write_text(AGENT)
    agent = make_agent(AgentUse("a", "agent.py@where", base_dir=str(tmp_path), python="./python2"))

    async def start() -> None:
        try:
            await agent.start()
        finally:
            await agent.close()

    with pytest.raises(PluginError, match=r"python2 is older than Python 3\.11"):
        asyncio.run(start())


def test_a_module_of_another_environment_need_not_be_found_here(tmp_path: Path) -> None:
    with pytest.raises(DynoError, match="neither a scheme nor a module"):
        make_agent(AgentUse("a", "nobodys_module:agent", base_dir=str(tmp_path)))
    make_agent(AgentUse("a", "nobodys_module:agent", base_dir=str(tmp_path), python=sys.executable))


def test_each_agent_of_a_run_lives_in_its_own(bench: Bench) -> None:
    """Named in dyno.yaml, else by --python; and a run says which it was."""
    one, other = environment(bench.folder / "one"), environment(bench.folder / "other")
    (bench.folder / "agent.py").write_text(AGENT)
    (bench.folder / "dyno.yaml").write_text(
        "agents:\n  first: {use: agent.py@where, python: one}\n  second: agent.py@where\n"
    )
    found = bench.dyno("try", "first", "where", "--python", "other", "--json").json
    assert found["sample"]["output"] == str(one / "bin" / "python")
    assert found["sample"]["details"]["observed"]["python"] == ".".join(map(str, sys.version_info[:3]))
    found = bench.dyno("try", "second", "where", "--python", "other", "--json").json
    assert found["sample"]["output"] == str(other / "bin" / "python")
