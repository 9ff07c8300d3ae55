"""Watching the process behind an endpoint while something is asked of it."""

from __future__ import annotations

import os
import time
import urllib.request

import pytest

from agentdyno import ServerWatch
from agentdyno.servers.simulated.server import Behaviour, simulated_server

from .test_process import Obedient, obedient


def test_the_process_that_listens_there_is_found_and_its_use_told() -> None:
    with simulated_server(Behaviour(service_s=0.001)) as server:
        with ServerWatch(server.url) as watch:
            until = time.monotonic() + 0.3
            while time.monotonic() < until:
                with urllib.request.urlopen(f"{server.url}/plain") as reply:
                    reply.read()
        assert watch.pid not in (None, os.getpid())
    figures = watch.figures()
    assert 5e6 < figures["server_rss_bytes"] < 1e9
    assert figures["server_cpu"] >= 0.0
    assert set(figures) <= {"server_cpu", "server_rss_bytes", "gpu_memory_bytes", "gpu_utilisation"}


def test_memory_that_the_process_takes_while_it_is_watched_shows() -> None:
    with obedient() as process:
        before = _held(process, 0)
        after = _held(process, 60_000_000)
    assert after - before > 40_000_000


def _held(process: Obedient, more: int) -> float:
    process.tell("hold", more)
    with ServerWatch("http://127.0.0.1:1", pid=process.pid) as watch:
        process.tell("spin", 50)
    return watch.figures()["server_rss_bytes"]


def test_cpu_is_told_in_cores() -> None:
    with obedient() as process, ServerWatch("http://127.0.0.1:1", pid=process.pid) as watch:
        process.tell("spin", 300)
    assert 0.0 < watch.figures()["server_cpu"] <= 1.2, "one thread cannot use more than a core"


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/v1", "http://192.0.2.1:80/v1"])
def test_where_no_process_of_this_machine_listens_there_are_no_figures(url: str) -> None:
    with ServerWatch(url) as watch:
        pass
    assert watch.pid is None
    assert watch.figures() == {}


def test_a_process_that_ends_while_it_is_watched_does_no_harm() -> None:
    with obedient() as process, ServerWatch("http://127.0.0.1:1", pid=process.pid) as watch:
        os.kill(process.pid, 9)
    assert all(value >= 0.0 for value in watch.figures().values())
