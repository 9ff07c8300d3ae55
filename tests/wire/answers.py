"""Builders of valid answers and strategies that cut them up, for the tests of the decoders."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import strategies as st

from agentdyno.wire.exchange import Exchange
from agentdyno.wire.head import Headers
from agentdyno.wire.message import Body, MessageParser

Stamped = list[tuple[int, bytes]]


def cut(data: bytes, places: Sequence[int]) -> Stamped:
    """``data`` in chunks that end at ``places``, stamped 1000, 1001, …"""
    ends = sorted({place % (len(data) + 1) for place in places} | {len(data)} - {0})
    pieces, start = [], 0
    for end in ends:
        if end > start:
            pieces.append(data[start:end])
            start = end
    return [(1000 + index, piece) for index, piece in enumerate(pieces)]


def arrival_of(chunks: Stamped, offset: int) -> int:
    """When the byte at ``offset`` of the whole arrived, counted the slow way."""
    for stamp, piece in chunks:
        if offset < len(piece):
            return stamp
        offset -= len(piece)
    raise AssertionError("no such byte")


cuts = st.lists(st.integers(0, 100_000), max_size=40)


def parse(chunks: Stamped, *, method: str = "POST") -> MessageParser:
    parser = MessageParser(method, "http://h/x", 1 << 20)
    for chunk in chunks:
        parser.feed(chunk)
    return parser


def exchange_of(body: Body, kind: str = "text/event-stream", sent_ns: int = 900) -> Exchange:
    headers = Headers((("content-type", kind),))
    return Exchange("http://h/x", 200, "OK", headers, body, 800, sent_ns, 1000, 2000)


def body_of(data: bytes, kind: str = "text/event-stream") -> Exchange:
    """A body that arrived in one piece at 1000."""
    return exchange_of(Body(data, (len(data),), (1000,)) if data else Body(), kind)
