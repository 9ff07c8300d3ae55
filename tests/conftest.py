"""Fixtures that every part of the suite may use, the examples that property tests are tried with, and the marker
``timed``."""

from __future__ import annotations

import gc
import os
import shutil
import signal
import tempfile
from collections.abc import Generator, Iterator
from pathlib import Path

import pytest

from agentdyno.runs.host_state import read_state, state_folder

from .command import Bench
from .given_results import Factory
from .loaded_commands import Commands, LoadedBench, close_commands, commands_of_this_process
from .new_stores import open_new_store
from .postgres import Postgres, running_postgres
from .properties import use_profiles
from .suites import AGENT, Room
from .temporary import remove_temporary_folder, use_temporary_folder
from .timed import mark_timed

use_profiles()
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a suite that a shell has put into the background
    signal.signal(signal.SIGINT, signal.default_int_handler)  # else nothing that it starts could be interrupted
_temporary = use_temporary_folder()
_state = tempfile.mkdtemp(prefix="dyno-state-")
os.environ["XDG_STATE_HOME"] = _state  # what is remembered about this host is not for tests to write


def pytest_unconfigure(config: pytest.Config) -> None:
    shutil.rmtree(_state, ignore_errors=True)  # a worker of xdist ends without what is to happen at the end
    close_commands()
    said = remove_temporary_folder(_temporary)
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if said and reporter is not None:
        reporter.write_line(said)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    gc.disable()  # what is made now stays: looking through it again and again finds nothing
    try:
        return (yield)
    finally:
        gc.enable()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    mark_timed(items)


def pytest_collection_finish() -> None:
    gc.collect()
    gc.freeze()  # modules and tests stay to the end: looking through them again and again was 2 % of a test's time


@pytest.fixture(autouse=True)
def calibrations_of_its_own() -> Iterator[None]:
    """What one test measures of the noise on this host is nothing that the next one knows."""
    yield
    if read_state().spreads:
        (state_folder() / "host.json").unlink()


@pytest.fixture(scope="session")
def loaded_commands() -> Commands:
    """Runs commands without starting Python for each."""
    return commands_of_this_process()


@pytest.fixture
def loaded_bench(tmp_path: Path, loaded_commands: Commands) -> Bench:
    """A fresh folder in which ``dyno`` can be run often."""
    return LoadedBench(tmp_path, loaded_commands)


@pytest.fixture
def bench(loaded_bench: Bench) -> Bench:
    """A fresh folder in which ``dyno`` can be run; what is told to ``start`` is a process of its own."""
    return loaded_bench


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Room]:
    """An empty folder, made the current one, with three agents and a store."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DYNO_STORE", raising=False)
    (tmp_path / "agent.py").write_text(AGENT)
    with open_new_store(tmp_path / "dyno.db") as store:
        yield Room(tmp_path, store)


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """One server for all tests of this process, started by the first that asks for it."""
    with running_postgres() as server:
        yield server


@pytest.fixture
def make() -> Factory:
    """Makes results of given figures."""
    return Factory()
