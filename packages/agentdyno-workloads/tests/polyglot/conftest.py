"""Programs in Rust are built once, for tests; one simulated model and one proxy serve all of them."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentdyno import RecordingProxy
from agentdyno.servers.simulated.server import Behaviour, RunningServer, simulated_server

ROOT = Path(__file__).parents[4]


@pytest.fixture(autouse=True)
def no_store_of_the_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever lies in the folder in which the tests run has no part in them."""
    monkeypatch.setenv("DYNO_STORE", str(tmp_path / "dyno.db"))


@pytest.fixture(scope="session")
def rust_programs() -> str:
    """The folder with the programs of all five runtimes, built to be tested and not to be measured."""
    subprocess.run([ROOT / "scripts" / "rust_agents.sh", "--debug"], check=True)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return str(Path(os.environ.get("DYNO_RUST_AGENTS") or cache / "agentdyno" / "rust-agents") / "debug")


@pytest.fixture(scope="module")
def model() -> Iterator[RunningServer]:
    """Answers with what it was asked, so that equal questions have equal answers."""
    with simulated_server(Behaviour(echo=True)) as running:
        yield running


@pytest.fixture(scope="module")
def proxy(model: RunningServer) -> Iterator[RecordingProxy]:
    running = RecordingProxy({"model": model.url}, full=True, measured=False)
    yield running
    running.stop()
