"""Agent memory in a real Redis: right answers, nothing left behind, and no server that outlives its owner."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil
import pytest
from tests.waiting import wait_until

from agentdyno import ExperimentContext, RunError, SpecError
from agentdyno_workloads.simulation.storage import redis_server
from agentdyno_workloads.simulation.storage.redis_memory import RedisMemory
from agentdyno_workloads.simulation.storage.redis_server import RedisServer, open_client


@pytest.fixture(scope="module")
def server() -> Iterator[RedisServer]:
    running = RedisServer()
    yield running
    running.stop()


def small(**changes: object) -> RedisMemory:
    settings = {"agents": 10, "entries": 4, "searches": 20, "batch": 7, **changes}
    return RedisMemory(**settings)  # type: ignore[arg-type]


def test_everything_is_measured_on_a_server_of_its_own_that_is_gone_afterwards() -> None:
    experiment, context = small(), ExperimentContext()
    experiment.setup(context)
    assert experiment.server is not None
    process = psutil.Process(experiment.server.pid)
    figures = experiment.execute_once(context)
    experiment.teardown(context)
    assert set(figures) == set(RedisMemory.metrics)
    assert all(value > 0 for value in figures.values())
    assert context.observed["server"] == "own"
    assert context.observed["append_only"] is False
    assert not process.is_running()


def test_a_given_server_keeps_what_is_not_ours(server: RedisServer) -> None:
    client = open_client(server.url)
    client.set("someone else's", "kept")
    experiment, context = small(url=server.url), ExperimentContext()
    experiment.setup(context)
    experiment.execute_once(context)
    # As if it had ended in the middle.
    experiment._write(range(40), 7)
    experiment.teardown(context)
    assert context.observed["server"] == "given"
    assert client.keys("*") == [b"someone else's"]
    client.flushdb()


@pytest.mark.parametrize("radius", [0.5, 10.0, 44.8, 500.0])
def test_a_search_by_place_finds_exactly_what_lies_in_the_disc(server: RedisServer, radius: float) -> None:
    experiment, context = small(url=server.url, radius=radius), ExperimentContext()
    experiment.setup(context)
    experiment._write(range(40), 7)
    side = experiment.side
    centres = [
        (0.0, 0.0),
        (side, side),
        (side / 2, 0.0),
        (-radius, side + radius),
        (float(experiment.x[3]), side / 3),
    ]
    found = experiment._search(centres)
    for (x, y), numbers in zip(centres, found, strict=True):
        near = (experiment.x - x) ** 2 + (experiment.y - y) ** 2 <= radius**2
        assert numbers == list(np.flatnonzero(near))
    experiment.teardown(context)


def test_an_entry_is_a_text_that_says_who_was_where(server: RedisServer) -> None:
    experiment, context = small(url=server.url), ExperimentContext()
    experiment.setup(context)
    experiment._write([13], 1)
    text = open_client(server.url).get(experiment._key(13))
    assert isinstance(text, bytes)
    entry = json.loads(text)
    assert (entry["agent"], entry["step"]) == (3, 1)
    assert entry["x"] == pytest.approx(experiment.x[13], abs=5e-4)
    experiment.teardown(context)


@pytest.mark.parametrize(("key", "complaint"), [("0", "not what was written"), ("places", "finds other entries")])
def test_a_server_that_forgets_is_found_out(server: RedisServer, key: str, complaint: str) -> None:
    experiment, context = small(url=server.url), ExperimentContext()
    experiment.setup(context)
    experiment._write(range(40), 7)
    experiment._client.delete(experiment.prefix + key)
    with pytest.raises(AssertionError, match=complaint):
        experiment._timed_read(7) and experiment._timed_search(range(20), 7)
    experiment.teardown(context)


def test_a_server_that_does_not_answer_is_named_with_a_remedy_and_without_the_password() -> None:
    experiment, context = small(url="redis://:geheim@127.0.0.1:1/0"), ExperimentContext()
    with pytest.raises(RunError) as caught:
        experiment.setup(context)
    assert caught.value.where == "redis://…@127.0.0.1:1/0"
    assert "leave it empty" in (caught.value.remedy or "")
    assert "geheim" not in str(caught.value)
    experiment.teardown(context)


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(RunError, match="Redis cannot be used"):
        open_client("http://127.0.0.1:1")


def test_without_a_server_to_start_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redis_server, "find_spec", lambda name: None)
    monkeypatch.setenv("PATH", "")
    experiment, context = small(), ExperimentContext()
    with pytest.raises(RunError) as caught:
        experiment.setup(context)
    assert "agentdyno-workloads[redis]" in (caught.value.remedy or "")
    experiment.teardown(context)


def test_without_the_client_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "redis", None)
    with pytest.raises(RunError) as caught:
        open_client("redis://127.0.0.1:1")
    assert "agentdyno-workloads[redis]" in (caught.value.remedy or "")


def test_a_program_that_is_no_server_is_reported_with_what_it_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redis_server, "TRIES", 1)
    with pytest.raises(RunError, match="does not start"):
        RedisServer(Path("/bin/false"))


def test_nobody_else_may_use_the_server(server: RedisServer) -> None:
    with pytest.raises(RunError, match="authenticated"):
        open_client(f"redis://127.0.0.1:{server.port}")
    assert all(server.password not in word for word in psutil.Process(server.pid).cmdline())


def test_a_server_ends_with_the_process_that_started_it(tmp_path: Path) -> None:
    code = (
        "import sys, time; from agentdyno_workloads.simulation.storage.redis_server import RedisServer;"
        "server = RedisServer(); print(server.pid, flush=True); time.sleep(60)"
    )
    # Its folder is left over when it is killed: here it is one that the tests clear away.
    environ = {**os.environ, "TMPDIR": str(tmp_path)}
    owner = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environ)
    assert owner.stdout is not None
    pid = int(owner.stdout.readline())
    os.kill(owner.pid, signal.SIGKILL)
    owner.communicate()
    wait_until(lambda: not _alive(pid))


def _alive(pid: int) -> bool:
    """Whether it runs; one that has ended and that nobody has asked after is dead too."""
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.mark.parametrize("name", ["agents", "entries", "searches", "batch", "radius"])
def test_numbers_that_measure_nothing_are_refused(name: str) -> None:
    with pytest.raises(SpecError) as caught:
        small(**{name: 0})
    assert caught.value.where == f"params.{name}"
