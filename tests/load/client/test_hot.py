from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest

from agentdyno.load.client.hot import ExchangeEnding, LoadConnection
from tests.load.streams import HEAD, LAST, chat, chunk, chunked, ollama, whole


class Wire(asyncio.Transport):
    """A transport without a socket, that keeps what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.aborted = False

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return object() if name == "ssl_object" else default

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        pass

    def get_write_buffer_size(self) -> int:
        return 0

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self.written += bytes(data)

    def is_closing(self) -> bool:
        return self.aborted

    def abort(self) -> None:
        self.aborted = True


class Watcher:
    def __init__(self) -> None:
        self.endings: list[tuple[ExchangeEnding, bool]] = []
        self.lost = 0

    def ended(self, link: LoadConnection, ending: ExchangeEnding, now_ns: int) -> None:
        self.endings.append((ending, link.keep))

    def dropped(self, link: LoadConnection) -> None:
        self.lost += 1


def begin(
    *, verify: bool = False, method: str = "POST", max_bytes: int = 1 << 20
) -> tuple[LoadConnection, Watcher, Wire]:
    watcher, wire = Watcher(), Wire()
    link = LoadConnection(watcher, method, max_bytes, {}, verify=verify)
    link.connection_made(wire)
    link.send(b"POST / HTTP/1.1\r\n\r\n")
    return link, watcher, wire


CHAT = chunked(chat("a", "b", counted=2))
CRLF = chunked([data.replace(b"\n", b"\r\n") for data in chat("a")])
ANSWERS = {
    "chunked": (CHAT, True),
    "a trailer": (CHAT[:-2] + b"x: 1\r\n\r\n", True),
    "crlf in chunks": (CRLF, True),
    "ndjson": (ollama("a", "b"), True),
    "content length": (whole(b'{"a": 1}'), True),
    "an empty body": (whole(b""), True),
    "wants to close": (whole(b"x", "HTTP/1.1 200 OK\r\nConnection: close"), False),
    "http 1.0": (whole(b"x", "HTTP/1.0 200 OK"), False),
    "lines without cr": (b"HTTP/1.1 200 OK\ncontent-length: 2\n\nok", True),
    "no content": (b"HTTP/1.1 204 No Content\r\n\r\n", True),
    "first 100": (b"HTTP/1.1 100 Continue\r\n\r\n" + whole(b"ok"), True),
}


@pytest.mark.parametrize("name", ANSWERS)
def test_the_end_is_found_once_and_with_the_last_byte_wherever_the_answer_is_split(name: str) -> None:
    raw, keep = ANSWERS[name]
    for place in range(1, len(raw)):
        link, watcher, _ = begin()
        link.data_received(raw[:place])
        assert watcher.endings == []
        link.data_received(raw[place:])
        assert watcher.endings == [(ExchangeEnding.COMPLETE, keep)]
        assert b"".join(data for _, data in link.reads) == raw


@pytest.mark.parametrize("name", ANSWERS)
def test_the_end_is_found_when_every_byte_comes_by_itself(name: str) -> None:
    raw, keep = ANSWERS[name]
    link, watcher, _ = begin()
    for at in range(len(raw)):
        assert watcher.endings == []
        link.data_received(raw[at : at + 1])
    assert watcher.endings == [(ExchangeEnding.COMPLETE, keep)]


def test_what_looks_like_a_last_chunk_inside_of_any_body_is_not_taken_for_one() -> None:
    raw = HEAD + chunk(b"a\r\n0\r\n\r\n") + chunk(b"b") + LAST
    place = raw.index(b"a\r\n0\r\n\r\n") + 8
    for earlier in (0, place - 2):
        link, watcher, _ = begin(verify=True)
        for piece in (raw[:earlier], raw[earlier:place]):
            if piece:
                link.data_received(piece)
        assert watcher.endings == []
        link.data_received(raw[place:])
        assert watcher.endings == [(ExchangeEnding.COMPLETE, True)]


def test_one_exchange_follows_the_other_on_the_same_connection() -> None:
    link, watcher, wire = begin()
    link.data_received(CHAT)
    link.send(b"second")
    assert wire.written.endswith(b"second")
    link.data_received(whole(b"x"))
    assert [ending for ending, _ in watcher.endings] == [ExchangeEnding.COMPLETE] * 2
    assert link.reads[0][1] == whole(b"x")


def test_more_than_the_answer_spoils_the_connection() -> None:
    link, watcher, _ = begin()
    link.data_received(whole(b"x") + b"y")
    assert watcher.endings == [(ExchangeEnding.COMPLETE, False)]


@pytest.mark.parametrize(
    "raw", [b"SSH-2.0-x\r\n", b"HTTP/1.1 200 OK\r\ntransfer-encoding: gzip\r\n\r\n", b"HTTP/2 200\r\n\r\n"]
)
def test_bytes_that_are_no_answer_end_the_exchange_at_once(raw: bytes) -> None:
    link, watcher, wire = begin()
    link.data_received(raw)
    assert watcher.endings == [(ExchangeEnding.GARBAGE, False)]
    assert wire.aborted


@pytest.mark.parametrize(
    "head", [HEAD, b"HTTP/1.1 200 OK\r\ncontent-length: 9999999\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n"]
)
def test_an_answer_that_is_too_large_is_cut_off(head: bytes) -> None:
    link, watcher, wire = begin(max_bytes=1000)
    link.data_received(head)
    for _ in range(20):
        if not wire.aborted:
            link.data_received(b"40\r\n" + b"x" * 64 + b"\r\n")
    assert watcher.endings == [(ExchangeEnding.TOO_LARGE, False)]


def test_a_close_and_a_loss_are_told_apart() -> None:
    link, watcher, _ = begin()
    link.data_received(CHAT[:-5])
    link.eof_received()
    link.connection_lost(None)
    assert watcher.endings == [(ExchangeEnding.CLOSED, False)]
    link, watcher, _ = begin()
    link.data_received(CHAT[:-5])
    link.connection_lost(ConnectionResetError())
    assert watcher.endings == [(ExchangeEnding.LOST, False)]


def test_a_connection_that_is_lost_while_idle_ends_no_exchange() -> None:
    link, watcher, _ = begin()
    link.data_received(CHAT)
    link.connection_lost(None)
    assert (len(watcher.endings), watcher.lost) == (1, 1)


def test_bytes_that_nobody_asked_for_end_the_connection() -> None:
    link, watcher, wire = begin()
    link.data_received(whole(b"x"))
    link.data_received(b"HTTP/1.1 408 Request Timeout\r\n\r\n")
    assert len(watcher.endings) == 1
    assert wire.aborted


def test_a_timeout_ends_the_exchange_and_the_connection() -> None:
    link, watcher, wire = begin()
    link.data_received(CHAT[:50])
    link.time_out(5)
    assert watcher.endings == [(ExchangeEnding.TIMEOUT, False)]
    assert wire.aborted
    cast(Any, link).connection_lost(None)
    assert len(watcher.endings) == 1
