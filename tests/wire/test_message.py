"""HTTP answers, however the network cuts them up."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agentdyno.wire.errors import ProtocolError, TooLarge, WireError
from agentdyno.wire.message import Body, MessageParser

from .answers import arrival_of, cut, cuts, parse

bodies = st.lists(st.binary(min_size=1, max_size=60), max_size=12)


def chunked_answer(pieces: list[bytes], extension: bytes = b"", trailer: bytes = b"") -> tuple[bytes, list[int]]:
    """The answer, and for every byte of its body the offset at which it stands in the answer."""
    data = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\nX-A: 1\r\n\r\n"
    offsets: list[int] = []
    for piece in pieces:
        data += b"%x%s\r\n" % (len(piece), extension)
        offsets += range(len(data), len(data) + len(piece))
        data += piece + b"\r\n"
    return data + b"0\r\n" + trailer + b"\r\n", offsets


@given(bodies, cuts, st.sampled_from([b"", b";name=value", b" ; x"]), st.sampled_from([b"", b"X-T: 1\r\nX-U: 2\r\n"]))
def test_a_chunked_body_is_the_same_for_every_cut_and_keeps_each_arrival(
    pieces: list[bytes], places: list[int], extension: bytes, trailer: bytes
) -> None:
    data, offsets = chunked_answer(pieces, extension, trailer)
    chunks = cut(data, places)
    parser = parse(chunks)
    body = parser.body()
    assert parser.done
    assert parser.reusable
    assert body.data == b"".join(pieces)
    assert [body.arrival_ns(at) for at in range(len(body.data))] == [arrival_of(chunks, at) for at in offsets]
    assert parser.first_byte_ns == chunks[0][0]
    assert parser.done_ns == chunks[-1][0]


@given(st.binary(max_size=200), cuts)
def test_a_body_of_known_length_is_the_same_for_every_cut(content: bytes, places: list[int]) -> None:
    head = b"HTTP/1.1 404 Not Found\r\ncontent-length: %d\r\n\r\n" % len(content)
    chunks = cut(head + content, places)
    parser = parse(chunks)
    body = parser.body()
    assert (parser.done, parser.reusable, body.data) == (True, True, content)
    assert parser.head is not None
    assert (parser.head.status, parser.head.reason) == (404, "Not Found")
    for at in range(len(content)):
        assert body.arrival_ns(at) == arrival_of(chunks, len(head) + at)


@given(st.binary(max_size=200), cuts)
def test_a_body_without_a_length_ends_with_the_connection(content: bytes, places: list[int]) -> None:
    parser = parse(cut(b"HTTP/1.0 200 OK\r\n\r\n" + content, places))
    assert not parser.done
    parser.end(5000)
    assert (parser.done, parser.reusable, parser.done_ns) == (True, False, 5000)
    assert parser.body().data == content


@given(bodies, cuts, st.integers(1, 10_000))
def test_an_answer_that_is_cut_off_is_never_taken_for_whole(
    pieces: list[bytes], places: list[int], lost: int
) -> None:
    data, _ = chunked_answer(pieces)
    parser = parse(cut(data[: -(lost % (len(data) - 1) + 1)], places))
    parser.end(5000)
    assert not parser.done
    assert b"".join(pieces).startswith(parser.body().data)


@given(bodies, cuts)
def test_a_look_is_never_missed(pieces: list[bytes], places: list[int]) -> None:
    """The hints by which a connection decides whom to wake include the chunk that completes the message."""
    data, _ = chunked_answer(pieces)
    parser = MessageParser()
    needed, blank = 0, False
    for stamp, chunk in cut(data, places):
        before = parser.done
        parser.feed((stamp, chunk))
        if parser.done and not before:
            assert parser.received >= needed or (blank and (len(chunk) < 5 or b"\r\n\r\n" in chunk))
        needed, blank = parser.bytes_needed, parser.ends_with_blank_line


@given(
    st.binary(max_size=300), cuts, st.sampled_from([b"", b"HTTP/1.1 200 OK\r\n", chunked_answer([b"abc"])[0][:60]])
)
@example(b"\n\n", [], b"HTTP/1.1 200 OK")
def test_garbage_raises_wire_errors_only(garbage: bytes, places: list[int], beginning: bytes) -> None:
    parser = MessageParser("POST", "http://h/x", 1 << 20)
    with contextlib.suppress(WireError):
        for chunk in cut(beginning + garbage, places):
            parser.feed(chunk)
        parser.end(1)
    parser.body()


def test_interim_answers_are_skipped() -> None:
    parser = parse(
        [(1, b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 204 None\r\n\r\n")]
    )
    assert parser.done
    assert parser.head is not None
    assert parser.head.status == 204


def test_the_answer_to_head_has_no_body() -> None:
    assert parse([(1, b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n")], method="HEAD").done


def test_headers_are_found_in_any_case_and_joined() -> None:
    parser = parse([(1, b"HTTP/1.1 204 x\nX-One: a\nx-one:  b \nFolded: c\n  d\n\n")])
    assert parser.head is not None
    assert parser.head.headers.get("X-ONE") == "a, b"
    assert parser.head.headers.get("folded") == "c d"
    assert parser.head.headers.get("other") is None


@pytest.mark.parametrize(
    ("head", "reusable"),
    [
        (b"HTTP/1.1 204 x\r\n\r\n", True),
        (b"HTTP/1.1 204 x\r\nConnection: close\r\n\r\n", False),
        (b"HTTP/1.0 204 x\r\n\r\n", False),
        (b"HTTP/1.0 204 x\r\nConnection: Keep-Alive\r\n\r\n", True),
        (b"HTTP/1.1 204 x\r\n\r\nmore", False),
    ],
)
def test_a_connection_is_kept_only_where_the_answer_allows_it(head: bytes, reusable: bool) -> None:
    assert parse([(1, head)]).reusable is reusable


@pytest.mark.parametrize(
    "data",
    [
        b"SSH-2.0-OpenSSH_9.6\r\n",
        b"HTTP/2 200\r\n\r\n",
        b"HTTP/1.1 abc\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\n",
        b"HTTP/1.1 101 Switching\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1" * 5000,
        b"HTTP/1.1 200 OK\r\nX: " + b"y" * 70_000,
    ],
)
def test_what_breaks_the_rules_of_http_is_said_at_once(data: bytes) -> None:
    with pytest.raises(ProtocolError):
        parse([(1, data)])


def test_an_answer_that_announces_too_much_is_refused_before_it_arrives() -> None:
    with pytest.raises(TooLarge, match="2,000,000"):
        parse([(1, b"HTTP/1.1 200 OK\r\nContent-Length: 2000000\r\n\r\n")])


def test_an_answer_that_grows_too_large_is_refused() -> None:
    with pytest.raises(TooLarge, match="1,048,576"):
        parse([(1, b"HTTP/1.1 200 OK\r\n\r\n"), *((i, b"x" * 65536) for i in range(17))])


def test_there_is_no_arrival_of_a_byte_that_is_not_there() -> None:
    with pytest.raises(IndexError):
        Body(b"abc", (3,), (1,)).arrival_ns(3)
