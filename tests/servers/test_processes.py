"""Servers in processes of their own: they start, they tell what went wrong, and nothing of them stays behind."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys

import pytest

from agentdyno.errors import RunError, SpecError
from agentdyno.servers.child import ChildServer
from agentdyno.servers.simulated.server import Behaviour, simulated_server

from .talking import OPENAI, ask, chat, connect, encoded

OWNER = """
import sys, threading, time
from agentdyno.servers.simulated.server import simulated_server
kept = simulated_server()
def own():
    server = kept.__enter__()
    sys.stdout.write(f"{server.pid} {server.url}\\n")
    sys.stdout.flush()
thread = threading.Thread(target=own)
thread.start()
thread.join()
time.sleep(600)
"""


def wait_until_gone(pidfd: int) -> bool:
    poller = select.poll()
    poller.register(pidfd, select.POLLIN)
    return bool(poller.poll(20_000))


def test_a_server_ends_with_its_block() -> None:
    with simulated_server() as server:
        pidfd = os.pidfd_open(server.pid)
        assert ask(server.url, "/health").status == 200
    try:
        assert wait_until_gone(pidfd)
    finally:
        os.close(pidfd)
    with pytest.raises(RunError, match="does not answer"):
        server.stats()


def test_a_server_outlives_the_thread_that_started_it_but_not_the_process() -> None:
    with subprocess.Popen([sys.executable, "-c", OWNER], stdout=subprocess.PIPE, text=True) as owner:
        assert owner.stdout is not None
        try:
            pid, url = owner.stdout.readline().split()
            pidfd = os.pidfd_open(int(pid))
            assert ask(url, OPENAI, chat()).status == 200
        finally:
            owner.kill()
    try:
        assert wait_until_gone(pidfd)
    finally:
        os.close(pidfd)


def test_a_server_stops_on_a_signal_even_with_streams_open() -> None:
    with simulated_server(Behaviour(itl_s=60)) as server, connect(server.host, server.port) as link:
        link.sendall(encoded(chat()))
        assert link.recv(100)
        pidfd = os.pidfd_open(server.pid)
        os.kill(server.pid, signal.SIGINT)
        try:
            assert wait_until_gone(pidfd)
        finally:
            os.close(pidfd)


def test_a_port_in_use_is_told() -> None:
    with simulated_server() as first:
        second = simulated_server(port=first.port)
        with pytest.raises(RunError, match=f"port {first.port} on 127.0.0.1 is in use") as caught:
            second.__enter__()
        assert "another port" in str(caught.value)


def test_answers_of_any_size_travel_to_the_process() -> None:
    answers = {f"question {number}.": f"answer {number}" for number in range(20_000)}
    with simulated_server(Behaviour(answers=answers)) as server:
        whole = ask(server.url, OPENAI, chat("question 19999.", stream=False)).json
    assert whole["choices"][0]["message"]["content"] == "answer 19999"


def test_wrong_settings_are_refused_before_a_process_starts() -> None:
    with pytest.raises(SpecError, match="ttft_s"):
        simulated_server(Behaviour(ttft_s=-1))


def test_a_process_that_dies_at_once_is_told_with_its_last_words() -> None:
    with pytest.raises(RunError, match="the thing did not start") as caught:
        ChildServer("agentdyno.no_such_module", {}, what="the thing", wait_s=20)
    assert "No module named" in str(caught.value)
