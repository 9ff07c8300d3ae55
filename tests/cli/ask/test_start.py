"""What a command that asks loads before it can answer."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from agentdyno.cli import main as command

_MODELS = ("suite", "spec", "result", "record")


@pytest.mark.parametrize("subject", ["board", "history"])
def test_a_board_and_a_history_load_none_of_the_models_of_runs_and_suites(subject: str) -> None:
    check = (
        f"import sys, agentdyno.findings.{subject}.ask, agentdyno.findings.{subject}.tables, "
        "agentdyno.store.store, agentdyno.store.boards.repository, agentdyno.specs.workspace.load\n"
        "print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", check], capture_output=True, text=True, check=True)
    loaded = done.stdout.split()
    assert "agentdyno.model.metric" in loaded
    unwanted = [f"agentdyno.model.{name}" for name in _MODELS]
    unwanted += ["agentdyno.findings.figures.resampling", "agentdyno.findings.standing.model"]
    assert [name for name in unwanted if name in loaded] == []


@pytest.mark.parametrize(
    ("words", "own", "seen"),
    [
        (["board"], None, "1"),
        (["board"], "4", "4"),  # somebody has said how many
        (["run", "suite.yaml"], None, None),  # what is measured finds what it would find anywhere else
        ([], None, None),
    ],
)
def test_a_command_that_only_asks_loads_numpy_without_threads(
    words: list[str], own: str | None, seen: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    if own is not None:
        monkeypatch.setenv("OPENBLAS_NUM_THREADS", own)
    monkeypatch.setattr(sys, "argv", ["dyno", *words])
    found: list[str | None] = []
    monkeypatch.setattr(command, "_call", lambda: found.append(os.environ.get("OPENBLAS_NUM_THREADS")))
    command.main()
    assert found == [seen]
    assert os.environ.get("OPENBLAS_NUM_THREADS") == own, "it is not left behind"
