from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from agentdyno.workers.link import Link


@pytest.fixture
def ends() -> Iterator[tuple[socket.socket, socket.socket]]:
    left, right = socket.socketpair()
    yield left, right
    left.close()
    right.close()


@pytest.mark.parametrize(
    "message",
    [{}, {"a": [1, None, "é"]}, {"half": "\udce9"}, {"big": ["x" * 1000] * 40_000}],
    ids=["empty", "small", "surrogate", "40 MB"],
)
def test_a_message_arrives_as_it_was_sent(ends: tuple[socket.socket, socket.socket], message: dict[str, Any]) -> None:
    here, there = (Link(end) for end in ends)
    sender = threading.Thread(target=here.send, args=(message,))
    sender.start()
    assert there.receive() == message
    sender.join()


@pytest.mark.parametrize(
    "data",
    [b"\x04\0\0\0\0true", b"\x02\0\0\0\0{]", b"\x01\0\0\0\0\xff", b"\x02\0\0\0\x01{}", b"\x02\0\0\0\x02{}"],
    ids=["no object", "no JSON", "no text", "bytes", "unknown format"],
)
def test_what_is_no_message_is_refused(ends: tuple[socket.socket, socket.socket], data: bytes) -> None:
    ends[0].sendall(data)
    with pytest.raises(ValueError):  # noqa: PT011
        Link(ends[1]).receive()
    assert Link(ends[1]).last_words() == []


def test_a_message_that_breaks_off_is_none(ends: tuple[socket.socket, socket.socket]) -> None:
    ends[0].sendall(b"\xff\x00\x00\x00\x00{")
    ends[0].close()
    assert Link(ends[1]).receive() is None


def test_a_message_that_stalls_is_none(ends: tuple[socket.socket, socket.socket]) -> None:
    ends[1].settimeout(0.01)
    ends[0].sendall(b"\xff\x00\x00\x00\x00{")
    assert Link(ends[1]).receive() is None


def test_last_words_are_the_whole_messages_that_have_arrived(ends: tuple[socket.socket, socket.socket]) -> None:
    here, there = (Link(end) for end in ends)
    assert not there.readable()
    here.send({"one": 1})
    here.send({"two": 2})
    ends[0].sendall(b"\xff\x00\x00\x00\x00{")
    assert there.readable()
    assert there.last_words() == [{"one": 1}, {"two": 2}]
