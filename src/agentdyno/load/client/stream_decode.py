"""The decoder of the load client: takes an answer of any shape apart in a few microseconds.

An answer is unwrapped (head, chunks) and divided into events, and the JSON of all events is read in one call into
structs of the few fields that count (``shapes``). Nothing is remembered of earlier answers, so that answers which all
differ cost as much as answers which are all alike. Whatever is not certain to be a complete answer without an error
(a status outside of 2xx, an error object, an answer that was cut off, damaged bytes, lines that are rarely used) is
left to ``ExactDecoder``; where this one is certain, both say the same.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from itertools import accumulate, pairwise

from msgspec import DecodeError

from agentdyno.load.client.decode import OK, Decoded, ExactDecoder, Result, token_source
from agentdyno.load.client.hot import COMPLETE, ExchangeEnding, Read
from agentdyno.load.client.shapes import SHAPES, Said
from agentdyno.load.windows.records import TOKEN_SOURCE_CODES, UNKNOWN, UNKNOWN_SOURCE
from agentdyno.model.load import TokenSource
from agentdyno.wire.chat import AnswerDialect

MOST_KEPT = 512
"""Heads and sizes of chunks that are remembered; a full memory starts anew."""
_HEAD = re.compile(rb"HTTP/1\.1 (2\d\d)(?: [^\r\n]*)?\r\n(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[^\r\n]*\r\n)*\r\n")
_TYPE = re.compile(rb"\r\ncontent-type:[ \t]*([^;\r\n]*)")
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]{1,9})[ \t]*\r\n")
_CHUNKED = re.compile(rb"\r\ntransfer-encoding:[ \t]*chunked[ \t]*\r\n")
_SIZE = re.compile(rb"[0-9A-Fa-f]{1,7}")
_LAST = [b"0", b"", b""]
_FIELDS = (b":", b"id:", b"event:", b"retry:")
_ERROR_EVENT = re.compile(rb"event: ?error")
_CHUNKS = TOKEN_SOURCE_CODES[TokenSource.CHUNKS]

Kind = tuple[int, int, str]
"""Of a head: its status (0: none that is taken here), the length of the body (-1: in chunks), the content type."""
_OTHER: Kind = (0, 0, "")
Unwrapped = tuple[bytes, list[int], list[int]]
"""A body, and its chunks: where the data of each begins in the answer, and where it ends in the body."""


class StreamDecoder:
    """The same results as ``ExactDecoder``."""

    def __init__(self, answers: AnswerDialect | None, method: str = "POST", max_bytes: int = 1 << 30) -> None:
        """``answers`` is how they are read; ``None``: any body will do."""
        self._exact = ExactDecoder(answers, method, max_bytes)
        self._plain, self._max_bytes = answers is None, max_bytes
        self._shape = None if answers is None else SHAPES.get(answers.name)
        self._types = () if answers is None else answers.stream_types
        self._source = token_source(answers)
        self._usual = method != "HEAD"
        self._kinds: dict[bytes, Kind] = {}
        self._sizes: dict[bytes, int] = {}
        self.handed_over = 0

    def decode(self, reads: list[Read], ending: ExchangeEnding, done_ns: int) -> Result:
        """``done_ns`` is when the exchange ended."""
        if ending is COMPLETE and self._usual:
            try:
                found = self._quickly(reads)
            except (DecodeError, UnicodeDecodeError, RecursionError):
                found = None
            if found is not None:
                return found
        self.handed_over += 1
        return self._exact.decode(reads, ending, done_ns)

    def _quickly(self, reads: list[Read]) -> Result | None:
        raw = reads[0][1] if len(reads) == 1 else b"".join([data for _, data in reads])
        at = raw.find(b"\r\n\r\n") + 4
        head = raw[:at]
        status, length, content_type = self._kinds.get(head) or self._learn(head)
        if not status or len(raw) > self._max_bytes:
            return None
        if self._plain:
            return Decoded(OK, status) if len(raw) == at + length else None
        if self._shape is None or content_type not in self._types:
            return None
        unwrapped = self._unchunk(raw, at) if length < 0 else _as_one(raw, at, length)
        if unwrapped is None:
            return None
        body, starts, chunk_ends = unwrapped
        divided = _lines(body) if self._shape.lines else _events(body, self._shape.mark)
        if divided is None:
            return None
        texts, ends, finished = divided
        said = self._shape.read(texts) if texts else Said([], False)
        if said is None or not (said.finished or finished):
            return None
        if len(reads) == 1:
            times = [reads[0][0]] * len(said.content)
        else:
            arrived = _body_reads(reads, starts, chunk_ends)
            stamps = [stamp for stamp, _ in reads]
            times = [stamps[bisect_left(arrived, ends[place])] for place in said.content]
        return self._result(status, said, times)

    def _result(self, status: int, said: Said, times: list[int]) -> Result:
        entered, left, source, cached = UNKNOWN, UNKNOWN, UNKNOWN_SOURCE, UNKNOWN
        if said.left is not None and (said.left or not times):
            entered, left, source, cached = said.entered or 0, said.left, self._source, said.cached
        elif times:
            left, source = len(times), _CHUNKS
        if not times:
            return Decoded(OK, status, input_tokens=entered, output_tokens=left, source=source, cached_tokens=cached)
        first, last = times[0], times[-1]
        gaps: Sequence[int] = (
            [later - earlier for earlier, later in pairwise(times)] if last > first else [0] * (len(times) - 1)
        )
        return (OK, status, first, last, len(times), gaps, entered, left, source, "", cached)

    def _learn(self, head: bytes) -> Kind:
        if len(self._kinds) >= MOST_KEPT:
            self._kinds.clear()
        kind = self._kinds[head] = _kind_of(head)
        return kind

    def _unchunk(self, raw: bytes, at: int) -> Unwrapped | None:
        """``None`` where the chunks are not as they say, or have anything besides their data."""
        parts = raw[at:].split(b"\r\n")
        lines, chunks = parts[:-3:2], parts[1:-3:2]
        sizes = [self._sizes.get(line) or self._size(line) for line in lines]
        if parts[-3:] != _LAST:
            return None
        if sizes != list(map(len, chunks)):  # there are such line ends in the data, too
            return self._unchunk_slowly(raw, at)
        body_ends = list(accumulate(sizes))
        # Before the data of a chunk are its own size, and those and the line ends of all chunks before it.
        framing = accumulate([len(line) + 4 for line in lines])
        starts = [at + framed - 2 + end - size for framed, end, size in zip(framing, body_ends, sizes, strict=True)]
        return b"".join(chunks), starts, body_ends

    def _unchunk_slowly(self, raw: bytes, at: int) -> Unwrapped | None:
        chunks, starts = [], []
        while not raw.startswith(b"0\r\n\r\n", at):
            line_end = raw.find(b"\r\n", at)
            size = self._size(raw[at:line_end]) if line_end > 0 else 0
            at = line_end + 2 + size + 2
            if not size or raw[at - 2 : at] != b"\r\n":
                return None
            starts.append(line_end + 2)
            chunks.append(raw[line_end + 2 : at - 2])
        return (b"".join(chunks), starts, list(accumulate(map(len, chunks)))) if at + 5 == len(raw) else None

    def _size(self, line: bytes) -> int:
        """What the line before a chunk says; 0 where it says more than a size, or nothing."""
        if len(self._sizes) >= MOST_KEPT:
            self._sizes.clear()
        size = self._sizes[line] = int(line, 16) if _SIZE.fullmatch(line) else 0
        return size


def _kind_of(raw: bytes) -> Kind:
    matched = _HEAD.fullmatch(raw)
    head = raw.lower()
    if matched is None or raw[9:12] == b"204" or b"\r\ncontent-encoding:" in head:
        return _OTHER
    found = _TYPE.search(head)
    content_type = b"" if found is None or head.count(b"\r\ncontent-type:") > 1 else found[1].strip()
    transfer, length = head.count(b"\r\ntransfer-encoding:"), head.count(b"\r\ncontent-length:")
    if transfer == 1 and _CHUNKED.search(head):
        return int(matched[1]), -1, content_type.decode("latin-1")
    found = _LENGTH.search(head)
    if transfer or length != 1 or found is None:
        return _OTHER
    return int(matched[1]), int(found[1]), content_type.decode("latin-1")


def _as_one(raw: bytes, at: int, length: int) -> Unwrapped | None:
    """A body that came without chunks."""
    return (raw[at:], [at], [length]) if len(raw) == at + length else None


def _body_reads(reads: list[Read], starts: list[int], body_ends: list[int]) -> list[int]:
    """How much of the body had come with each read."""
    arrived = []
    for end in accumulate([len(data) for _, data in reads]):
        chunk = bisect_right(starts, end) - 1  # the last chunk whose data began before the read's end
        before = body_ends[chunk - 1] if chunk > 0 else 0
        arrived.append(min(before + end - starts[chunk], body_ends[chunk]) if chunk >= 0 else 0)
    return arrived


Divided = tuple[Sequence[bytes], Sequence[int], bool]
"""The JSON of each event, where each ends in the body, and whether there is a mark that the answer is finished."""


def _events(body: bytes, mark: bytes) -> Divided | None:
    """Server-sent events, one line of data in each. ``None`` where there is anything else that has a meaning."""
    newline = b"\r\n" if b"\r\n" in body else b"\n"
    blank = newline + newline
    if not body.endswith(blank):
        return None
    parts = body[: -len(blank)].split(blank + b"data:")
    line_ends = 2 * len(parts)
    # No other line ends than those: each event is one line of data and the empty line after it.
    if (
        body.startswith(b"data:")
        and body.count(b"\n") == line_ends
        and body.count(b"\r") == (line_ends if newline == b"\r\n" else 0)
    ):
        parts[0] = parts[0][5:]
        ends = list(accumulate([len(part) + 5 + len(blank) for part in parts]))
    else:
        found = _data_lines(body, newline)
        if found is None:
            return None
        parts, ends = found
    marked = bool(mark) and bool(parts) and parts[-1].strip() == mark
    return (parts[:-1], ends, True) if marked else (parts, ends, False)


def _data_lines(body: bytes, newline: bytes) -> tuple[list[bytes], list[int]] | None:
    """Events that have names, ids or comments beside their line of data."""
    if body.count(b"\r") != (body.count(b"\n") if newline == b"\r\n" else 0):
        return None
    texts: list[bytes] = []
    ends: list[int] = []
    at, inside = 0, False
    for line in body.split(newline)[:-1]:
        at += len(line) + len(newline)
        if not line:
            if inside:
                ends.append(at)
            inside = False
        elif line.startswith(b"data:"):
            if inside:
                return None
            inside = True
            texts.append(line[5:])
        elif not line.startswith(_FIELDS) or _ERROR_EVENT.fullmatch(line):
            return None
    return (texts, ends) if not inside else None


def _lines(body: bytes) -> Divided | None:
    """One JSON document a line."""
    if not body.endswith(b"\n"):
        return None
    texts = body[:-1].split(b"\n")
    return texts, list(accumulate([len(text) + 1 for text in texts])), False
