"""The workflow that ``dyno check --write-ci`` writes and the repository as an action, run step by step in a fresh
checkout: agentdyno is installed from where they say, and what it is installed from was built here."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentdyno.reports.gate_comment import MARKER
from agentdyno.workbench.ci_file import CI_FILE

from ..command import Bench
from ..workflow_job import Action, Job

HERE = Path(__file__).parents[2]
GIT_HOST = "https://git.example/owner/"
NOT_LINKED = ("agentdyno", "_agentdyno", "__editable__", "_editable")
CASES = [{"id": f"case-{i:02d}", "input": f"word {i}", "target": f"WORD {i}"} for i in range(24)]
SUITE = {"name": "shouting", "scorer": "exact", "epochs": 3, "warmup": 0, "dataset": {"cases": CASES}}
FILES = {
    "agent.py": "from speller import shout\n\n\ndef answer(text: str) -> str:\n    return shout(text)\n",
    "suite.json": json.dumps(SUITE, indent=1),
    "dyno.yaml": "agents: {shouter: {use: agent.py@answer}}\nsuites: [suite.json]\n"
    "gate: {metrics: {duration_s: off}}\n",
    ".gitignore": ".dyno/\ndyno-report/\n__pycache__/\n",
}
PACKAGE = """\
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"
[project]
name = "{name}"
version = "{version}"
[tool.hatch.build]
dev-mode-dirs = ["src"]
[tool.hatch.build.targets.wheel]
packages = ["src/speller"]
"""
GOOD = "def shout(text: str) -> str:\n    return text.upper()\n"
BAD = "def shout(text: str) -> str:\n    return text.upper() if int(text.split()[1]) > 8 else 'no'\n"
GH = """\
#!/bin/bash
# Stands for GitHub's command: keeps the words it was given, and the comment where one was sent.
echo "$@" >> "$GH_KEPT/calls"
body=$(printf '%s\\n' "$@" | grep -o 'dyno-report/.*' | tail -n 1)
case "$*" in
  *--jq*) cat "$GH_KEPT/comment-id" 2>/dev/null ;;
  *) cp "$body" "$GH_KEPT/comment.md"; echo 7 > "$GH_KEPT/comment-id" ;;
esac
exit 0
"""


@dataclass(frozen=True)
class Built:
    """``index`` is a folder of wheels, ``source`` agentdyno as a checkout of it is, also a repository with a tag."""

    folder: Path
    index: Path
    source: Path


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("built")
    index = folder / "index"
    build(HERE, index)
    with tarfile.open(next(index.glob("*.tar.gz"))) as archive:
        archive.extractall(folder, filter="data")
    source = folder / "agentdyno"
    next(folder.glob("agentdyno-*")).rename(source)
    shutil.copy(HERE / "action.yml", source)
    (source / ".gitignore").unlink()
    commit(source, "first")
    git(source, "tag", "v0.1")
    for version, code in (("1.0", GOOD), ("2.0", BAD)):
        library = folder / f"speller-{version}"
        write(library, {"pyproject.toml": PACKAGE.format(name="speller", version=version), **package(code)})
        build(library, index)
    return Built(folder, index, source)


def build(folder: Path, into: Path) -> None:
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(into), str(folder)]
    subprocess.run(command, check=True, capture_output=True)


def package(code: str) -> dict[str, str]:
    return {"src/speller/__init__.py": code}


def write(folder: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def git(folder: Path, *words: str) -> None:
    who = ("-c", "user.name=tester", "-c", "user.email=tester@example.org", "-c", "init.defaultBranch=main")
    subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)


def commit(folder: Path, message: str) -> None:
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", message)


class Project:
    """A repository with an agent, and a pull request that changes it."""

    def __init__(self, folder: Path, built: Built) -> None:
        self.folder, self.built = folder, built
        self.bench = Bench(folder / "project")
        self.root = self.bench.folder
        self.kept = folder / "gh"
        self.kept.mkdir()
        write(self.root, FILES)

    def request(self, changed: Mapping[str, str], head: str = "owner/project") -> Job:
        """The job of a pull request that ``changed`` these files, in a checkout of its own; nothing was run yet."""
        commit(self.root, "as it is")
        git(self.root, "checkout", "--quiet", "-b", "change")
        write(self.root, changed)
        git(self.root, "commit", "--quiet", "--all", "--message", "a change", "--allow-empty")
        return self.job("first", head)

    def job(self, name: str, head: str = "owner/project") -> Job:
        event = {"pull_request": {"number": 5, "head": {"repo": {"full_name": head}}}}
        github = {"base_ref": "main", "ref": "refs/pull/5/merge", "repository": "owner/project"}
        actions: dict[str, Action | Path] = {
            "actions/checkout": self.check_out,
            "actions/setup-python": set_up_python,
            "actions/cache": lambda job, words: None,
            "actions/upload-artifact": upload,
            "OWNER/agentdyno": self.built.source,
        }
        return Job(self.folder / name, {**github, "token": "t", "event": event}, actions, self.environ())

    def check_out(self, job: Job, words: Mapping[str, str]) -> None:
        """As deep as was asked for, and of branches only what GitHub gives."""
        deep = ["--no-single-branch"] if words.get("fetch-depth") == "0" else ["--depth", "1"]
        source = self.root.as_uri()
        git(job.workspace, "clone", "--quiet", "--branch", "change", *deep, source, ".")
        git(job.workspace, "checkout", "--quiet", "--detach")
        git(job.workspace, "branch", "--quiet", "--delete", "--force", "change")

    def environ(self) -> dict[str, str]:
        """That of a machine without agentdyno and without a network: wheels come from a folder, and git's host is
        another one."""
        bin_ = self.folder / "bin"
        bin_.mkdir(exist_ok=True)
        (bin_ / "gh").write_text(GH)
        (bin_ / "gh").chmod(0o700)
        (self.folder / "gitconfig").write_text(
            f'[url "{self.built.folder.as_uri()}/"]\n insteadOf = {GIT_HOST}\n[protocol "file"]\n allow = always\n'
        )
        return {
            "PATH": f"{bin_}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(self.folder),
            "CI": "true",
            "GH_KEPT": str(self.kept),
            "GIT_CONFIG_GLOBAL": str(self.folder / "gitconfig"),
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(self.built.index),
            "PIP_NO_BUILD_ISOLATION": "0",  # what builds is there already; pip reads 0 as "without"
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        }

    @property
    def calls(self) -> list[str]:
        """What was asked of GitHub, a line each; the script that picks the comment has some of its own."""
        return (self.kept / "calls").read_text().splitlines() if (self.kept / "calls").exists() else []


def set_up_python(job: Job, words: Mapping[str, str]) -> None:
    """An environment with all that agentdyno needs and without agentdyno, in front of every other Python."""
    assert words["python-version"] == "3.12"
    folder = job.folder / "python"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    libraries = job.folder / "libraries"
    libraries.mkdir()
    for item in Path(sysconfig.get_path("purelib")).iterdir():
        if not item.name.startswith(NOT_LINKED) and item.suffix != ".pth":
            (libraries / item.name).symlink_to(item)
    (site,) = folder.glob("lib/python*/site-packages")
    (site / "libraries.pth").write_text(f"{libraries}\n")
    job.add_path(folder / "bin")


def upload(job: Job, words: Mapping[str, str]) -> None:
    assert words["if-no-files-found"] == "ignore"
    if (job.workspace / words["path"]).exists():
        shutil.copytree(job.workspace / words["path"], job.folder / "artifacts" / words["name"])


@pytest.fixture
def project(tmp_path: Path, built: Built) -> Project:
    return Project(tmp_path, built)


def written(project: Project, *words: str) -> dict[str, Any]:
    done = project.bench.dyno("check", "--write-ci", *words)
    assert done.code == 0, done.err
    document = yaml.safe_load((project.root / CI_FILE).read_text())
    assert isinstance(document, dict)
    return document


def documented() -> dict[str, Any]:
    """The workflow of the guide that uses this repository as an action."""
    text = (HERE / "docs" / "guides" / "gate-in-ci.md").read_text()
    (block,) = (item for item in re.findall(r"```yaml\n(.*?)```", text, re.DOTALL) if "OWNER/agentdyno@" in item)
    document = yaml.safe_load(block)
    assert isinstance(document, dict)
    return document


def assert_blocked(project: Project, job: Job) -> None:
    """The check ended with 1, and everybody who has to know was told which cases broke."""
    check = job.step("Check")
    assert check.code == 1, "\n".join(step.said for step in job.ended)
    assert [step.name for step in job.ended if step.code] == ["Check"]
    comment = (project.kept / "comment.md").read_text()
    assert comment.startswith(MARKER)
    assert "BLOCK" in comment
    assert "case-05" in comment
    assert comment in job.summary
    kept = job.folder / "artifacts" / "dyno-report"
    assert (kept / "comment.md").read_text() == comment
    assert 'name="case-05"' in (kept / "junit.xml").read_text()


def installed_version(job: Job) -> str:
    asked = [str(job.folder / "python" / "bin" / "dyno"), "--version"]
    return subprocess.run(asked, env=job.environ, check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize(
    "source",
    ["agentdyno==0.1.0", f"git+{GIT_HOST}agentdyno@v0.1", "vendor/agentdyno"],
    ids=["index", "git", "checkout"],
)
def test_a_worse_agent_ends_the_written_workflow_with_1_and_a_comment(project: Project, source: str) -> None:
    write(project.root, {"pyproject.toml": PACKAGE.format(name="project", version="1"), **package(GOOD)})
    if source.startswith("vendor"):
        shutil.copytree(project.built.source, project.root / source, ignore=shutil.ignore_patterns(".git"))
    workflow = written(project, "--install", source)
    job = project.request(package(BAD))
    assert job.run(workflow, "check").failed
    assert_blocked(project, job)
    assert "dyno" in installed_version(job)
    (asked, sent) = (line for line in project.calls if line.startswith(("api", "pr")))
    assert asked.startswith("api --paginate repos/owner/project/issues/5/comments --jq")
    assert sent == "pr comment 5 --body-file dyno-report/comment.md"


def test_the_same_request_again_changes_its_comment(project: Project) -> None:
    write(project.root, {"pyproject.toml": PACKAGE.format(name="project", version="1"), **package(GOOD)})
    workflow = written(project)
    job = project.request(package(BAD))
    job.run(workflow, "check")
    git(project.root, "revert", "--no-edit", "HEAD")
    again = project.job("second")
    scope = again.run(workflow, "check")
    assert not scope.failed, "\n".join(step.said for step in again.ended)
    assert "PASS" in (project.kept / "comment.md").read_text()
    assert project.calls[-1] == (
        "api --silent --method PATCH repos/owner/project/issues/comments/7 --field body=@dyno-report/comment.md"
    )


def test_a_request_from_elsewhere_gets_no_comment_but_a_summary(project: Project) -> None:
    write(project.root, {"speller.py": GOOD})
    workflow = written(project, "suite.json")
    job = project.request({"speller.py": BAD}, head="stranger/project")
    assert job.run(workflow, "check").failed
    assert job.step("Check").code == 1, job.step("Check").said
    assert "BLOCK" in job.summary
    assert project.calls == []


def test_a_library_that_made_the_agent_worse_blocks_too(project: Project) -> None:
    write(project.root, {"requirements.txt": "speller==1.0\n"})
    workflow = written(project)
    job = project.request({"requirements.txt": "speller==2.0\n"})
    assert job.run(workflow, "check").failed
    assert_blocked(project, job)
    assert "Building an environment" in job.step("Check").said


@pytest.mark.parametrize("code", [GOOD, BAD], ids=["as good", "worse"])
def test_the_action_as_the_guide_uses_it(project: Project, code: str) -> None:
    workflow = documented()
    write(
        project.root, {"suites/support.yaml": FILES["suite.json"], "requirements.txt": "click\n", "speller.py": GOOD}
    )
    job = project.request({"speller.py": code})
    scope = job.run(workflow, "check")
    if code == BAD:
        assert scope.failed
        assert_blocked(project, job)
    else:
        assert not scope.failed, "\n".join(step.said for step in job.ended)
    assert "dyno" in installed_version(job)


@pytest.mark.parametrize(("code", "verdict"), [(GOOD, "pass"), (BAD, "blocked")], ids=["as good", "worse"])
def test_the_verdict_of_the_action_is_there_for_later_steps(project: Project, code: str, verdict: str) -> None:
    write(project.root, {"speller.py": GOOD})
    job = project.request({"speller.py": code})
    (check_out, use) = documented()["jobs"]["check"]["steps"]
    told = {"suites": "suite.json", "install": "agentdyno", "extras": "", "comment": False}
    tell = {
        "name": "Tell",
        "if": "always()",
        "shell": "bash",
        "env": {"VERDICT": "${{ steps.dyno.outputs.verdict }}"},
        "run": f'test "$VERDICT" = {verdict}',
    }
    steps = [check_out, {"uses": use["uses"], "id": "dyno", "with": told}, tell]
    job.run({"jobs": {"check": {"runs-on": "ubuntu-latest", "steps": steps}}}, "check")
    assert job.step("Tell").code == 0
    assert project.calls == []
