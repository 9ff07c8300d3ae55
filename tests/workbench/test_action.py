"""The repository as a GitHub action: the same steps as those of the workflow that is written."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentdyno.workbench.ci_file import ci_workflow

ACTION = yaml.safe_load((Path(__file__).parents[2] / "action.yml").read_text())


def step(name: str) -> dict[str, Any]:
    (found,) = (item for item in ACTION["runs"]["steps"] if item.get("name") == name)
    return dict(found)


def run_step(folder: Path, name: str, environ: dict[str, str], program: str, exit_code: int = 0) -> tuple[int, str]:
    """Runs a step's script as the runner does, with ``program`` in place of the real one; its code, and the words
    that the program was given, one call a line."""
    stub = folder / "bin" / program
    stub.parent.mkdir(exist_ok=True)
    stub.write_text(f'#!/bin/bash\nprintf "%s|" "$@" >> "$CALLS"; echo >> "$CALLS"; exit {exit_code}\n')
    stub.chmod(0o700)
    calls = folder / "calls"
    calls.unlink(missing_ok=True)
    told = {
        "PATH": f"{stub.parent}:{os.environ['PATH']}",
        "CALLS": str(calls),
        "GITHUB_OUTPUT": str(folder / "output"),
    }
    command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step(name)["run"]]
    done = subprocess.run(command, cwd=folder, env={**told, **environ}, check=False)
    return done.returncode, calls.read_text()


@pytest.mark.parametrize(
    ("code", "verdict"), [(0, "pass"), (1, "blocked"), (2, "failed"), (3, "incomparable"), (4, "undecided")]
)
def test_the_check_ends_as_the_gate_does_and_says_how(tmp_path: Path, code: int, verdict: str) -> None:
    environ = {"SUITES": "a.yaml b.yaml", "AGAINST": "", "OPTIONS": "--strict", "BASE_REF": "main; rm -rf x"}
    ended, calls = run_step(tmp_path, "Check", environ, "dyno", code)
    assert ended == code
    assert calls.startswith("check|a.yaml|b.yaml|--against|origin/main; rm -rf x|--strict|--junit|")
    assert (tmp_path / "output").read_text() == f"verdict={verdict}\n"


def test_without_suites_and_options_there_are_no_empty_words(tmp_path: Path) -> None:
    environ = {"SUITES": "", "AGAINST": "v1", "OPTIONS": "", "BASE_REF": "main"}
    _, calls = run_step(tmp_path, "Check", environ, "dyno")
    assert calls.startswith("check|--against|v1|--junit|")


def test_it_installs_itself_or_what_it_is_told(tmp_path: Path) -> None:
    given = {"SOURCE": "", "EXTRAS": "prices", "REQUIREMENTS": "", "GITHUB_ACTION_PATH": "/action"}
    assert run_step(tmp_path, "Install", given, "python")[1] == "-m|pip|install|--quiet|/action[prices]|\n"
    given = {"SOURCE": "agentdyno==0.1", "EXTRAS": "", "REQUIREMENTS": "r.txt"}
    _, calls = run_step(tmp_path, "Install", given, "python")
    assert calls == "-m|pip|install|--quiet|agentdyno==0.1|\n-m|pip|install|--quiet|-r|r.txt|\n"


def test_no_text_of_a_pull_request_reaches_a_shell_unquoted() -> None:
    for item in ACTION["runs"]["steps"]:
        assert "${{" not in item.get("run", "")


@pytest.mark.parametrize("name", ["Summary", "Comment"])
def test_it_says_what_the_workflow_says(name: str) -> None:
    steps = yaml.safe_load(ci_workflow())["jobs"]["check"]["steps"]
    (written,) = (item for item in steps if item.get("name") == name)
    assert step(name)["run"] == written["run"]
