"""Where requests begin and end, however their bytes come in; what cannot be understood passes all the same."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from agentdyno.servers.proxy.request_stream import (
    MAX_HEAD_BYTES,
    BodyPart,
    HeadTooLong,
    RequestEnd,
    RequestHead,
    RequestStream,
)
from tests.properties import examples

PLAIN = b"POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello"
CHUNKED = b"POST /b HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\nTrailer: 1\r\n\r\n"
BARE = b"GET /c HTTP/1.1\nHost: x\n\n"
places = st.lists(st.integers(0, 400), max_size=30)


def pieces(data: bytes, cuts: list[int]) -> list[bytes]:
    ends = sorted({cut % (len(data) + 1) for cut in cuts} | {len(data)})
    return [data[start:end] for start, end in zip([0, *ends], ends, strict=False) if end > start]


def fed(data: bytes, cuts: list[int]) -> list[RequestHead | BodyPart | RequestEnd]:
    stream = RequestStream()
    return [part for piece in pieces(data, cuts) for part in stream.feed(piece)]


@given(places, st.permutations([PLAIN, CHUNKED, BARE]))
def test_requests_are_found_wherever_their_bytes_are_cut(cuts: list[int], requests: list[bytes]) -> None:
    found = fed(b"".join(requests), cuts)
    heads = [part.target for part in found if isinstance(part, RequestHead)]
    assert heads == [request.split(b" ")[1].decode() for request in requests]
    assert sum(isinstance(part, RequestEnd) for part in found) == 3
    bodies, content = b"", b""
    for part in found:
        if isinstance(part, BodyPart):
            bodies, content = bodies + part.data, content + part.content
    assert bodies == b"".join(request.partition(b"\r\n\r\n")[2] for request in requests if request is not BARE)
    assert content == b"hellohello"


@examples(300)
@given(st.binary(max_size=300), places)
@example(b"POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nwhatever", [])
@example(b"POST /a HTTP/1.1\r\nContent-Length: -5\r\n\r\nwhatever", [3])
@example(b"POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffff\r\nx", [60])
def test_every_byte_after_a_head_comes_out_again_whatever_it_is(data: bytes, cuts: list[int]) -> None:
    whole = b"POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + data
    stream, out, heads = RequestStream(), b"", 0
    for piece in pieces(whole, cuts):
        for part in stream.feed(piece):
            heads += isinstance(part, RequestHead)
            if isinstance(part, BodyPart):
                out += part.data
    assert heads >= 1
    assert data.startswith(out) or heads > 1


def test_framing_that_cannot_be_understood_makes_the_rest_pass_as_it_is() -> None:
    stream = RequestStream()
    rest = b"not a chunk\r\nGET / HTTP/1.1\r\n\r\n"
    found = list(stream.feed(b"POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + rest))
    assert b"".join(part.data for part in found if isinstance(part, BodyPart)) == rest
    assert stream.malformed


def test_a_head_without_an_end_is_given_up() -> None:
    stream = RequestStream()
    line = b"X-Long: " + b"a" * 1000 + b"\r\n"
    given_up = False
    for _ in range(MAX_HEAD_BYTES // 1000 + 2):
        try:
            assert list(stream.feed(line)) == []
        except HeadTooLong:
            given_up = True
            break
    assert given_up


def test_a_head_is_changed_in_its_target_and_named_headers_alone() -> None:
    stream = RequestStream()
    raw = b"POST /old?q=1 HTTP/1.1\r\nHOST:  me \r\nX-Odd:a:b\r\n\r\n"
    (head, _) = stream.feed(raw)
    assert isinstance(head, RequestHead)
    assert head.with_target("/new", {"host": "you"}) == b"POST /new HTTP/1.1\r\nHOST: you\r\nX-Odd:a:b\r\n\r\n"
    assert head.with_target("/old?q=1", {}) == raw
