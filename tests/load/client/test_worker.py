"""Clients against servers that misbehave on the level of connections."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agentdyno.load.client import pipe
from agentdyno.load.client.driver import HttpDriver
from agentdyno.load.client.pipe import Kind, Pipe, RequestBatch, decode_batch
from agentdyno.model.load import Arrivals, Dialect, LoadOptions, LoadTarget, Stage, Step, Window
from agentdyno.servers.simulated.server import Behaviour, simulated_server
from tests.load.streams import whole
from tests.servers.certificates import loopback_certificate

from ..unsent import empty_records

Talk = Callable[[socket.socket, int], None]


@contextlib.contextmanager
def listening(talk: Talk) -> Iterator[str]:
    """A server that leaves each connection to ``talk``, in a thread of its own, with the connection's number."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve(link: socket.socket, number: int) -> None:
        with link, contextlib.suppress(OSError):
            talk(link, number)

    def accept() -> None:
        number = 0
        with contextlib.suppress(OSError):
            while True:
                link, _ = listener.accept()
                number += 1
                threading.Thread(target=serve, args=(link, number), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()


def drive(target: LoadTarget, step: Step, **options: object) -> Window:
    driver = HttpDriver(target, LoadOptions(prompt="go", window_s=1.0, **options))  # type: ignore[arg-type]
    driver.open()
    try:
        (window,) = driver.run(step)
    finally:
        driver.close()
    return window


def plain(url: str) -> LoadTarget:
    return LoadTarget("plain", Dialect.HTTP, url, method="GET")


def constant(rate: float, seconds: float = 0.1, drain_s: float = 5.0) -> Step:
    return Step("steady", (Stage("steady", seconds, rate=rate),), Arrivals.CONSTANT, drain_s=drain_s)


def test_a_kept_connection_that_the_server_has_dropped_costs_one_more_try_and_no_failure() -> None:
    def one_answer(link: socket.socket, number: int) -> None:
        link.recv(65536)
        link.sendall(whole(b"ok"))
        link.recv(65536)  # the next request comes, and gets nothing

    with listening(one_answer) as url:
        loop = Step("loop", (Stage("steady", 0.5, concurrency=2),), Arrivals.CLOSED)
        window = drive(plain(url), loop)
    assert set(window.outcomes) == {"ok"}
    assert window.retried > 0


def test_a_request_that_gets_no_byte_on_a_fresh_connection_is_a_reset() -> None:
    def silent_after_the_first(link: socket.socket, number: int) -> None:
        link.recv(65536)
        if number <= 2:  # the one that looks whether it is there, and what the driver sends first
            link.sendall(whole(b"ok", "HTTP/1.1 200 OK\r\nconnection: close"))

    with listening(silent_after_the_first) as url:
        window = drive(plain(url), constant(100))
    assert window.outcomes["reset"] >= 8
    assert sum(window.outcomes.values()) == 10


def test_a_server_that_closes_after_every_answer_is_connected_to_anew() -> None:
    def closes(link: socket.socket, number: int) -> None:
        link.recv(65536)
        link.sendall(whole(b"ok", "HTTP/1.1 200 OK\r\nConnection: close"))

    with listening(closes) as url:
        window = drive(plain(url), constant(100))
    assert window.outcomes == {"ok": 10}


def test_a_request_without_an_answer_is_a_timeout_after_its_time() -> None:
    release = threading.Event()

    def first_only(link: socket.socket, number: int) -> None:
        link.recv(65536)
        if number == 1:
            link.sendall(whole(b"ok", "HTTP/1.1 200 OK\r\nConnection: close"))
        else:
            release.wait(20)

    with listening(first_only) as url:
        window = drive(plain(url), constant(50), timeout_s=1.0)
        release.set()
    assert window.outcomes == {"timeout": 5}


def test_load_goes_over_tls(tmp_path: Path) -> None:
    certificate = loopback_certificate(tmp_path)
    with simulated_server(Behaviour(output_tokens=4), certificate=certificate) as server:
        target = LoadTarget("tls", Dialect.OPENAI, server.openai_url, model="m", ca_file=str(certificate))
        window = drive(target, constant(100))
    assert target.url.startswith("https:")
    assert (window.outcomes, window.output_tokens) == ({"ok": 10}, 40)


def test_messages_arrive_whole_and_in_order_however_they_are_cut() -> None:
    ours, theirs = (Pipe(end) for end in socket.socketpair())
    state = RequestBatch(empty_records(2), empty_records(0)["due"], 5, None, 7, 8, 3, 9)
    ours.post(Kind.BATCH, state.encode())
    ours.post(Kind.ENDED, {"a": 1})
    first = next(iter(theirs.receive()))
    second = next(iter(theirs.receive()))
    found = decode_batch(first[1])
    assert (len(found.records), found.up_to_ns, found.open_due_ns, found.open_requests) == (2, 5, None, 9)
    assert (found.at_ns, found.cpu_ns, found.held_ns) == (7, 8, 3)
    assert second[0] is Kind.ENDED
    ours.close()
    assert list(theirs.receive()) == []
    assert theirs.ended
    theirs.close()


def test_a_message_longer_than_a_frame_arrives_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pipe, "PART_BYTES", 100)
    ours, theirs = (Pipe(end) for end in socket.socketpair())
    sent = [bytes(range(250)), b"", b"x" * 100, b"y" * 200, b"z" * 201]
    for data in sent:
        ours.post(Kind.BATCH, data)
    assert list(theirs.receive()) == [(Kind.BATCH, data) for data in sent]
    ours.close()
    theirs.close()
