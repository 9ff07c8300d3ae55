"""A decoder for answers of the usual shape that costs some microseconds, and hands over whatever it is not sure of.

Nearly every event of a stream is the same text with another token in it. That text is taken from the middle of the
body, proved once to be an event with content by reading it with two different tokens, and whatever is made of it and
of strings needs no further reading. What comes before and after the run of such events is read event by event and
remembered, without the id of the answer, which says nothing about it. The rest goes to ``ExactDecoder``. An answer
that repeats an earlier one is not even looked at so closely (``repeats``).
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate, pairwise
from operator import itemgetter
from typing import cast

from agentdyno.load.client.decode import CHAT, OK, Decoded, ExactDecoder, Result, content_type
from agentdyno.load.client.hot import COMPLETE, ExchangeEnding, Read
from agentdyno.load.client.repeats import Repeats, is_id
from agentdyno.load.windows.records import TOKEN_SOURCE_CODES, UNKNOWN, UNKNOWN_SOURCE
from agentdyno.model.load import Dialect, TokenSource
from agentdyno.wire.chat import ChatDialect as ChatDialect
from agentdyno.wire.chat import CompletionBuilder
from agentdyno.wire.errors import ProtocolError
from agentdyno.wire.head import end_of_head, parse_head

MOST_KEPT = 1024
"""Entries of each of the memories; a full one starts anew."""
_STRING = re.compile(rb'(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*')
_ID = re.compile(rb'"id":"[\w.-]*"')
_CONTENT = b'"content":"'
_NO_ID = b'"id":""'
_HEX = re.compile(rb"\n[0-9A-Fa-f]{1,7}")
_PLAIN = bytes(set(range(0x20, 0x100)) - set(b'"\\'))
_LAST = [b"\n0", b"\n", b"\n"]
_CHUNKS = TOKEN_SOURCE_CODES[TokenSource.CHUNKS]
_ZEROS = array("q", bytes(8 * 4096))
OTHER, CHUNKED, LENGTH = range(3)


@dataclass(frozen=True, slots=True)
class _Head:
    framing: int
    status: int = 0
    length: int = 0
    streams: bool = False


@dataclass(frozen=True, slots=True)
class _Edge:
    """What the events around a run say: that the answer is finished, and the tokens (-1: not said). ``certain`` is
    false where they say anything else: content, an error, no sense."""

    certain: bool
    entered: int = UNKNOWN
    left: int = UNKNOWN


@dataclass(frozen=True, slots=True)
class _Shape:
    """Where in an answer the run of like events is (``first`` events before it, ``behind`` after), and where in such
    an event the token and the field with the answer's id are. ``token_to`` counts from the end."""

    first: int
    behind: int
    token_at: int
    token_to: int
    id_at: int
    id_to: int
    token: Callable[[bytes], bytes]


class _Sizes(dict[bytes, int]):
    """How long the data of a chunk is, with the newline before it, by its size line; 0 for what is no plain size."""

    def __missing__(self, line: bytes) -> int:
        size = int(line, 16) if _HEX.fullmatch(line) else 0
        if len(self) > 65536:
            self.clear()
        self[line] = length = size + 1 if size else 0
        return length


class FastDecoder:
    """The same results as ``ExactDecoder``."""

    def __init__(self, dialect: Dialect, method: str = "POST", max_bytes: int = 1 << 30) -> None:
        self._exact = ExactDecoder(dialect, method, max_bytes)
        self._chat = CHAT.get(dialect)
        self._usage = TOKEN_SOURCE_CODES[TokenSource.OLLAMA if dialect is Dialect.OLLAMA else TokenSource.USAGE]
        self._usual = method != "HEAD"
        self._heads: dict[bytes, _Head] = {}
        self._proved: dict[bytes, bool] = {}
        self._edges: dict[bytes, _Edge] = {}
        self._shape: _Shape | None = None
        self._repeats = Repeats()
        self._size_of = _Sizes().__getitem__
        self.certain = self.handed_over = 0

    def decode(self, reads: list[Read], ending: ExchangeEnding, done_ns: int) -> Result:
        """``done_ns`` is when the exchange ended."""
        if ending is COMPLETE and self._usual:
            found = self._quickly(reads)
            if found is not None:
                self.certain += 1
                return found
        self.handed_over += 1
        return self._exact.decode(reads, ending, done_ns)

    def _quickly(self, reads: list[Read]) -> Result | None:
        stamp, raw = reads[0]
        if len(reads) > 1:
            raw = b"".join([data for _, data in reads])
        else:
            known = self._repeats.find(raw, stamp)
            if known is not None:
                return known
        at = raw.find(b"\r\n\r\n") + 4
        head = self._heads.get(raw[:at]) or self._learn_head(raw[:at])
        if not head.streams:
            whole = head.framing == LENGTH and self._chat is None and len(raw) == at + head.length
            return Decoded(OK, head.status) if whole else None
        # Between two carriage returns is a size, and between the next two the data of that chunk, each after a
        # newline (the first one is the head's last).
        parts = raw[at - 1 :].split(b"\r")
        sizes, chunks = parts[:-3:2], parts[1:-3:2]
        if parts[-3:] != _LAST or list(map(self._size_of, sizes)) != list(map(len, chunks)):
            return None
        found = self._shaped(self._shape, chunks) or self._shaped(_shape_of(chunks), chunks)
        if found is None:
            return None
        self._shape, tokens, edge = found
        if len(reads) > 1:
            times = _arrivals(reads, at, sizes, chunks)[self._shape.first :]
            return self._streamed(
                edge, head.status, [time for time, token in zip(times, tokens, strict=False) if token]
            )
        count = len(tokens) - tokens.count(b"") if b"" in tokens else len(tokens)
        if edge.left > 0 and 0 < count < len(_ZEROS):
            zeros = _ZEROS[: count - 1]
            result = (OK, head.status, stamp, stamp, count, zeros, edge.entered, edge.left, self._usage, "")
            one, shape = chunks[self._shape.first], self._shape
            self._repeats.learn(raw, one[shape.id_at : shape.id_to], tokens, result)
            return result
        return self._streamed(edge, head.status, [stamp] * count)

    def _shaped(self, shape: _Shape | None, chunks: list[bytes]) -> tuple[_Shape, list[bytes], _Edge] | None:
        """The tokens of the run and what is around it, where it is certain that the answer has this shape."""
        if shape is None or len(chunks) <= shape.first + shape.behind:
            return None
        first, last = shape.first, len(chunks) - shape.behind
        run = chunks[first:last]
        one = run[0]
        before, after = one[: shape.token_at], one[shape.token_to :]
        tokens = list(map(shape.token, run))
        between = after + before
        whole = b"".join(run)
        if between.join(tokens) != whole[shape.token_at : shape.token_to] or not whole.endswith(after):
            return None
        if b"".join(tokens).translate(None, _PLAIN) and not all(map(_STRING.fullmatch, tokens)):
            return None
        named = one[shape.id_at : shape.id_to] or _NO_ID
        if not is_id(named):  # of another length, or none
            return None
        proved = self._proved.get(between.replace(named, _NO_ID))
        if not (self._prove(named, before, after) if proved is None else proved):
            return None
        around = b"\r".join(chunks[:first] + chunks[last:]).replace(named, _NO_ID)
        edge = self._edges.get(around) or self._learn_edge(around)
        return (shape, tokens, edge) if edge.certain else None

    def _streamed(self, edge: _Edge, status: int, times: list[int]) -> Result:
        """From the arrivals of the events with content."""
        entered, left, source = edge.entered, edge.left, self._usage
        if left < 0 or (left == 0 and times):
            entered, left = UNKNOWN, len(times) or UNKNOWN
            source = _CHUNKS if times else UNKNOWN_SOURCE
        if not times:
            return Decoded(OK, status, input_tokens=entered, output_tokens=left, source=source)
        gaps = [later - earlier for earlier, later in pairwise(times)]
        return (OK, status, times[0], times[-1], len(times), gaps, entered, left, source, "")

    def _learn_head(self, raw: bytes) -> _Head:
        if len(self._heads) >= MOST_KEPT:
            self._heads.clear()
        found = self._heads[raw] = self._read_head(raw)
        return found

    def _read_head(self, raw: bytes) -> _Head:
        if len(raw) < 12 or end_of_head(bytearray(raw)) != len(raw):
            return _Head(OTHER)
        try:
            head = parse_head(raw, "")
        except ProtocolError:
            return _Head(OTHER)
        headers = head.headers
        if not 200 <= head.status < 300 or head.status == 204 or headers.get("content-encoding") is not None:
            return _Head(OTHER)
        transfer, length = headers.get("transfer-encoding"), headers.get("content-length")
        if transfer is None and length is not None and length.isascii() and length.isdigit() and len(length) < 10:
            return _Head(LENGTH, head.status, int(length))
        if transfer is None or transfer.strip().lower() != "chunked":
            return _Head(OTHER)
        streams = self._chat is not None and content_type(head) in self._chat.stream_types
        return _Head(CHUNKED, head.status, streams=streams)

    def _prove(self, named: bytes, before: bytes, after: bytes) -> bool:
        """Whether ``before`` + token + ``after`` is one event whose content is the token, and nothing besides."""
        assert self._chat is not None
        if len(self._proved) >= MOST_KEPT:
            self._proved.clear()
        key = (after + before).replace(named, _NO_ID)
        proved = self._proved[key] = _is_template(self._chat, before, after)
        return proved

    def _learn_edge(self, around: bytes) -> _Edge:
        assert self._chat is not None
        if len(self._edges) >= MOST_KEPT:
            self._edges.clear()
        edge = self._edges[around] = _read_edge(self._chat, around)
        return edge


def _arrivals(reads: list[Read], at: int, sizes: list[bytes], chunks: list[bytes]) -> list[int]:
    """When the last byte of the data of each chunk came; the body begins at ``at``."""
    ends = list(accumulate([len(data) for _, data in reads]))
    # What is between carriage returns, and these; the newline before the first size is not part of the body.
    framed = accumulate([len(size) + len(data) + 2 for size, data in zip(sizes, chunks, strict=True)])
    return [reads[bisect_left(ends, at + end - 2)][0] for end in framed]


def _shape_of(events: list[bytes]) -> _Shape | None:
    """Judged by the event in the middle: most of an answer is like it."""
    middle = events[len(events) // 2] if events else b""
    at = middle.find(_CONTENT) + len(_CONTENT)
    matched = _STRING.match(middle, at)
    if at < len(_CONTENT) or matched is None or matched.end() == len(middle):
        return None
    before, end = middle[:at], matched.end() - len(middle)
    first, last = 0, len(events)
    while not events[first].startswith(before):
        first += 1
    while not events[last - 1].startswith(before):
        last -= 1
    name = _ID.search(before) or _ID.search(middle, matched.end())
    id_at, id_to = (0, 0) if name is None else name.span()
    if id_at >= at:
        id_at, id_to = id_at - len(middle), id_to - len(middle)
    return _Shape(
        first, len(events) - last, at, end, id_at, id_to, cast(Callable[[bytes], bytes], itemgetter(slice(at, end)))
    )


def _is_template(chat: ChatDialect, before: bytes, after: bytes) -> bool:
    if not before.startswith(b"\ndata:") or not after.endswith(b"\n\n") or (before + after).count(b"\n") != 3:
        return False
    for token in (b"", b"dyno 1"):
        builder = CompletionBuilder()
        pieces = list(chat.pieces(before + token + after))
        try:
            content = len(pieces) == 1 and chat.take(builder, pieces[0])
        except ProtocolError:
            return False
        said = builder.error is None and not builder.finished and builder.usage is None
        if not said or content != bool(token) or "".join(builder.text).encode() != token:
            return False
    return True


def _read_edge(chat: ChatDialect, chunks: bytes) -> _Edge:
    """Chunks with a newline before each, and carriage returns between them."""
    pieces = chunks.split(b"\r") if chunks else []
    if not all(piece.startswith(b"\n") and piece.endswith(b"\n\n") for piece in pieces):
        return _Edge(False)  # an event may go on in the next chunk
    builder = CompletionBuilder()
    try:
        if any(chat.take(builder, piece) for piece in chat.pieces(b"".join(pieces))) or builder.error is not None:
            return _Edge(False)
    except ProtocolError:
        return _Edge(False)
    usage = builder.usage
    if usage is None:
        return _Edge(builder.finished)
    return _Edge(builder.finished, usage.input_tokens, usage.output_tokens)
