"""The decoder of the load client: takes an answer of any shape apart in a few microseconds.

An answer is unwrapped (head, chunks) and divided into events (``divide``), and the JSON of all events is read in one
call into structs of the few fields that count (``shapes``). Nothing is remembered of earlier answers, so that answers
which all differ cost as much as answers which are all alike. Whatever is not certain to be a complete answer without
an error (a status outside of 2xx, an error object, an answer that was cut off, damaged bytes, lines that are rarely
used) is left to ``ExactDecoder``; where this one is certain, both say the same.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from msgspec import DecodeError

from agentdyno.load.client.decode import OK, Decoded, ExactDecoder, Result, token_source
from agentdyno.load.client.divide import event_ends, json_lines, line_ends, one_each, server_sent
from agentdyno.load.client.hot import COMPLETE, LAST_CHUNK, ExchangeEnding, Read
from agentdyno.load.client.shapes import NOTHING, SHAPES, Said
from agentdyno.load.client.stream_reader import CompiledRead, compiled_read
from agentdyno.load.windows.records import TOKEN_SOURCE_CODES, UNKNOWN, UNKNOWN_SOURCE
from agentdyno.model.load import TokenSource
from agentdyno.wire.chat import AnswerDialect

MOST_KEPT, MOST_SIZES = 512, 8192
"""Heads and sizes of chunks that are remembered; a full memory starts anew."""
_HEAD = re.compile(rb"HTTP/1\.1 (2\d\d)(?: [^\r\n]*)?\r\n(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[^\r\n]*\r\n)*\r\n")
_TYPE = re.compile(rb"\r\ncontent-type:[ \t]*([^;\r\n]*)")
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*([0-9]{1,9})[ \t]*\r\n")
_CHUNKED = re.compile(rb"\r\ntransfer-encoding:[ \t]*chunked[ \t]*\r\n")
_SIZE = re.compile(rb"\r?\n[0-9A-Fa-f]{1,7}")
_LAST = [b"\n0", b"\n", b"\n"]
_CHUNKS = TOKEN_SOURCE_CODES[TokenSource.CHUNKS]

Kind = tuple[int, int, str]
"""Of a head: its status (0: none that is taken here), the length of the body (-1: in chunks), the content type."""
_OTHER: Kind = (0, 0, "")


Chunks = tuple[list[bytes], list[bytes], int]
"""The line before each chunk (none where the body did not come in chunks), the chunks, and how many bytes each has in
front that are not its own: where it is one, lines have a newline in front of them, else a whole line end."""


class Divided(NamedTuple):
    """An answer taken apart: where its body begins, its chunks (none where any body will do), the body where the
    chunks are not its events, the JSON of the events, and whether the mark of the end followed them."""

    status: int
    at: int = 0
    chunks: Chunks | None = None
    body: bytes | None = None
    texts: Sequence[bytes] = ()
    finished: bool = False


class StreamDecoder:
    """The same results as ``ExactDecoder``."""

    def __init__(
        self,
        answers: AnswerDialect | None,
        method: str = "POST",
        max_bytes: int = 1 << 30,
        *,
        compiled: bool = True,
    ) -> None:
        """``answers`` is how they are read; ``None``: any body will do. ``compiled``: whether the compiled reader is
        used where it was built."""
        self._exact = ExactDecoder(answers, method, max_bytes)
        names = list(SHAPES)
        self._code = names.index(answers.name) if answers is not None and answers.name in names else -1
        self._read = compiled_read() if compiled and self._code >= 0 else None
        self._plain, self._max_bytes = answers is None, max_bytes
        self._shape = None if answers is None else SHAPES.get(answers.name)
        self._types = () if answers is None else answers.stream_types
        self._source = token_source(answers)
        self._usual = method != "HEAD"
        self._kinds: dict[bytes, Kind] = {}
        self._sizes: dict[bytes, int] = {}
        self._returns = False
        """Whether there are carriage returns in the data of chunks, as far as was seen."""
        self.handed_over = self.not_compiled = 0
        """Answers that were left to the exact decoder, and those that the compiled reader did not take."""

    def decode(self, reads: list[Read], ending: ExchangeEnding, done_ns: int) -> Result:
        """``done_ns`` is when the exchange ended."""
        if ending is COMPLETE and self._usual:
            if self._read is not None:
                read = self._compiled(self._read, reads)
                if read is not None:
                    return read
            self.not_compiled += 1
            try:
                found = self._quickly(reads)
            except (DecodeError, UnicodeDecodeError, RecursionError):
                found = None
            if found is not None:
                return found
        self.handed_over += 1
        return self._exact.decode(reads, ending, done_ns)

    def text(self, reads: list[Read]) -> str:
        """What a complete answer says; all of its body where it is no chat."""
        try:
            found = self._divided(reads) if self._usual and not self._plain else None
            said = None if found is None or self._shape is None else self._shape.text(found.texts)
        except (DecodeError, UnicodeDecodeError, RecursionError):
            said = None
        return self._exact.text(reads) if said is None else said

    def _compiled(self, read: CompiledRead, reads: list[Read]) -> Result | None:
        if b"\r\n\r\n" not in reads[0][1]:
            reads = _with_whole_head(reads)
        said = read(reads, self._code, self._max_bytes)
        if said is None:
            return None
        status, first, last, count, gaps, entered, left, cached = said
        if left > 0 or (left == 0 and not count):
            return (OK, status, first, last, count, gaps, entered, left, self._source, "", cached)
        if count:
            return (OK, status, first, last, count, gaps, UNKNOWN, count, _CHUNKS, "", UNKNOWN)
        return (OK, status, UNKNOWN, UNKNOWN, 0, gaps, UNKNOWN, UNKNOWN, UNKNOWN_SOURCE, "", UNKNOWN)

    def _quickly(self, reads: list[Read]) -> Result | None:
        found = self._divided(reads)
        if found is None:
            return None
        status, at, chunks, body, texts, finished = found
        if chunks is None:
            return Decoded(OK, status)
        assert self._shape is not None
        said = self._shape.read(texts) if texts else NOTHING
        if said is None or not (said[1] or finished):
            return None
        if len(reads) == 1:
            return self._result(status, said, [reads[0][0]] * len(said[0]))
        ends = _event_places(chunks, at, body, self._shape.lines)
        if ends is None:
            return None
        received = list(accumulate([len(data) for _, data in reads]))
        return self._result(status, said, [reads[bisect_left(received, ends[place])][0] for place in said[0]])

    def _divided(self, reads: list[Read]) -> Divided | None:
        """``None`` where that is not certain."""
        raw = reads[0][1] if len(reads) == 1 else b"".join([data for _, data in reads])
        at = raw.find(b"\r\n\r\n") + 4
        head = raw[:at]
        status, length, content_type = self._kinds.get(head) or self._learn(head)
        if not status or len(raw) > self._max_bytes:
            return None
        if self._plain:
            return Divided(status) if len(raw) == at + length else None
        shape = self._shape
        if shape is None or content_type not in self._types:
            return None
        chunks = self._unchunk(raw, at) if length < 0 else _as_one(raw, at, length)
        if chunks is None:
            return None
        body = None
        texts = one_each(chunks[1]) if chunks[2] and len(chunks[1]) > 1 and not shape.lines else None
        if texts is None:
            body = _body(chunks)
            if body is None:
                return None
            texts = json_lines(body) if shape.lines else server_sent(body)
            if texts is None:
                return None
        finished = bool(texts and shape.mark) and texts[-1].strip() == shape.mark
        if finished:
            texts.pop()
        return Divided(status, at, chunks, body, texts, finished)

    def _result(self, status: int, said: Said, times: list[int]) -> Result:
        _, _, said_entered, said_left, said_cached = said
        count = len(times)
        entered, left, source, cached = UNKNOWN, UNKNOWN, UNKNOWN_SOURCE, UNKNOWN
        if said_left is not None and (said_left or not count):
            entered, left, source, cached = said_entered or 0, said_left, self._source, said_cached
        elif count:
            left, source = count, _CHUNKS
        if not count:
            return Decoded(OK, status, input_tokens=entered, output_tokens=left, source=source, cached_tokens=cached)
        first, last = times[0], times[-1]
        gaps: Sequence[int] = (
            [later - earlier for earlier, later in pairwise(times)] if last > first else [0] * (count - 1)
        )
        return (OK, status, first, last, count, gaps, entered, left, source, "", cached)

    def _learn(self, head: bytes) -> Kind:
        if len(self._kinds) >= MOST_KEPT:
            self._kinds.clear()
        kind = self._kinds[head] = _kind_of(head)
        return kind

    def _unchunk(self, raw: bytes, at: int) -> Chunks | None:
        """``None`` where the chunks are not as they say, or have anything besides their data."""
        if self._returns:
            return self._unchunk_slowly(raw, at)
        # Between two carriage returns is a size, and between the next two the data of that chunk, each after a
        # newline (the first one is the head's last). Searching for one byte is much faster than for two.
        parts = raw[at - 1 :].split(b"\r")
        lines, data, known = parts[:-3:2], parts[1:-3:2], self._sizes
        if parts[-3:] == _LAST and (not data or (known.get(lines[0]) or self._size(lines[0])) == len(data[0])):
            lengths = list(map(len, data))
            if list(map(known.get, lines)) == lengths or list(map(self._size, lines)) == lengths:
                return lines, data, 1
        return self._unchunk_slowly(raw, at)

    def _unchunk_slowly(self, raw: bytes, at: int) -> Chunks | None:
        """Where there are carriage returns in the data, too."""
        lines: list[bytes] = []
        chunks: list[bytes] = []
        here, last, known, find = at - 2, len(raw) - 7, self._sizes, raw.find
        while here < last:
            line_end = find(b"\r", here + 1)
            line = raw[here:line_end]  # with the line end before it, so that what is none is no size either
            size = known.get(line) or self._size(line)
            here = line_end + 1 + size
            if not size or here > last or raw[line_end + 1 : line_end + 2] != b"\n":
                return None
            lines.append(line)
            chunks.append(raw[line_end + 2 : here])
        self._returns = bool(chunks) and b"\r" in chunks[0]
        return (lines, chunks, 0) if raw[here:] == LAST_CHUNK else None

    def _size(self, line: bytes) -> int:
        """How long the data of a chunk is by the line before it, with the newline in front of it; 0 where
        the line says more than a size, or nothing."""
        if not _SIZE.fullmatch(line) or not int(line, 16):
            return 0
        if len(self._sizes) >= MOST_SIZES:
            self._sizes.clear()
        length = self._sizes[line] = int(line, 16) + 1
        return length


def _with_whole_head(reads: list[Read]) -> list[Read]:
    """The same with the head in the first of them, where it is whole: nothing of it counts by its time."""
    head = b""
    for place, (when, data) in enumerate(reads):
        head += data
        if b"\r\n\r\n" in head:
            return [(when, head), *reads[place + 1 :]]
    return reads


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


def _as_one(raw: bytes, at: int, length: int) -> Chunks | None:
    """A body that came without chunks."""
    return ([], [raw[at:]], 0) if len(raw) == at + length else None


def _body(chunks: Chunks) -> bytes | None:
    """``None`` where what stands in front of a chunk is no line end."""
    _, data, over = chunks
    if over and not all(chunk.startswith(b"\n") for chunk in data):
        return None
    return b"".join([chunk[over:] for chunk in data] if over else data)


def _event_places(chunks: Chunks, at: int, body: bytes | None, lines: bool) -> list[int] | None:
    """Where in the answer each event ends; without a ``body`` each chunk is one. ``None``: that is not certain."""
    heads, data, over = chunks
    chunk_ends = [at + len(data[0])]
    if heads:
        # Two bytes come after the line of a chunk and two after it, and two in all stand in front of them here.
        sizes = accumulate([len(line) + len(chunk) + 2 for line, chunk in zip(heads, data, strict=True)])
        chunk_ends = [at - 2 + size for size in sizes]
    if body is None:
        return chunk_ends
    ends = line_ends(body) if lines else event_ends(body)
    if ends is None:
        return None
    in_body = list(accumulate([len(chunk) - over for chunk in data]))
    owners = [bisect_left(in_body, end) for end in ends]
    return [chunk_ends[chunk] - in_body[chunk] + end for chunk, end in zip(owners, ends, strict=True)]
