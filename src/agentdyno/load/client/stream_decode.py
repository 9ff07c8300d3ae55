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
from typing import NamedTuple

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
_SIZE = re.compile(rb"\n[0-9A-Fa-f]{1,7}")
_END, _RETURN = b"\n0\r\n\r\n", ord("\r")
_LAST = [b"\n0", b"\n", b"\n"]
_FIELDS = (b":", b"id:", b"event:", b"retry:")
_ERROR_EVENTS = (b"event: error", b"event:error")
_CHUNKS = TOKEN_SOURCE_CODES[TokenSource.CHUNKS]

Kind = tuple[int, int, str]
"""Of a head: its status (0: none that is taken here), the length of the body (-1: in chunks), the content type."""
_OTHER: Kind = (0, 0, "")


class Unwrapped(NamedTuple):
    """The chunks of a body, which begins at ``at`` in the answer, and the line before each, which has a newline in
    front of it (none where the body did not come in chunks)."""

    at: int
    lines: list[bytes]
    chunks: list[bytes]

    def arrived(self, reads: list[Read]) -> list[int]:
        """How much of the body had come with each read."""
        ends = list(accumulate(map(len, self.chunks)))
        starts = [self.at]
        if self.lines:
            # Before the data of a chunk are its own line, and the lines and line ends of all chunks before it.
            framing = accumulate([len(line) + 3 for line in self.lines])
            starts = [
                self.at + framed - 2 + end - len(chunk)
                for framed, end, chunk in zip(framing, ends, self.chunks, strict=True)
            ]
        arrived = []
        for received in accumulate([len(data) for _, data in reads]):
            place = bisect_right(starts, received) - 1  # the last chunk whose data began before the read's end
            before = ends[place - 1] if place > 0 else 0
            arrived.append(min(before + received - starts[place], ends[place]) if place >= 0 else 0)
        return arrived


class Divided(NamedTuple):
    """The JSON of each event, and whether a mark says that the answer is finished. ``sizes`` are the bytes of each
    event in the body, ``over`` what each has besides its JSON."""

    texts: list[bytes]
    finished: bool
    over: int = 0
    sizes: list[int] | None = None

    def ends(self) -> list[int]:
        """Where each event ends in the body."""
        sizes = [len(text) + self.over for text in self.texts] if self.sizes is None else self.sizes
        return list(accumulate(sizes))


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
        body = b"".join(unwrapped.chunks)
        divided = _lines(body) if self._shape.lines else _events(body, self._shape.mark)
        if divided is None:
            return None
        said = self._shape.read(divided.texts) if divided.texts else Said([], False)
        if said is None or not (said.finished or divided.finished):
            return None
        if len(reads) == 1:
            times = [reads[0][0]] * len(said.content)
        else:
            arrived = unwrapped.arrived(reads)
            ends = divided.ends()
            times = [reads[bisect_left(arrived, ends[place])][0] for place in said.content]
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
        # Between two carriage returns is a size, and between the next two the data of that chunk, each after a
        # newline (the first one is the head's last). Searching for one byte is much faster than for two.
        parts = raw[at - 1 :].split(b"\r")
        lines, data = parts[:-3:2], parts[1:-3:2]
        known = self._sizes
        if parts[-3:] == _LAST and (not data or self._size(lines[0]) == len(data[0])):
            sizes = [known.get(line) or self._size(line) for line in lines]
            if sizes == list(map(len, data)):
                return Unwrapped(at, lines, [chunk[1:] for chunk in data])
        return self._unchunk_slowly(raw, at)

    def _unchunk_slowly(self, raw: bytes, at: int) -> Unwrapped | None:
        """Where there are carriage returns in the data, too."""
        lines: list[bytes] = []
        chunks: list[bytes] = []
        here, last, known = at - 1, len(raw) - 6, self._sizes
        while here < last:
            line_end = raw.find(b"\r", here)
            line = raw[here:line_end]
            size = known.get(line) or self._size(line)
            here = line_end + 1 + size
            if not size or here > last or raw[here] != _RETURN:
                return None
            lines.append(line)
            chunks.append(raw[line_end + 2 : here])
            here += 1
        return Unwrapped(at, lines, chunks) if raw[here:] == _END else None

    def _size(self, line: bytes) -> int:
        """How long the data of a chunk is by the line before it, each with the newline in front of it; 0 where the
        line says more than a size, or nothing."""
        if not _SIZE.fullmatch(line) or not int(line, 16):
            return 0
        if len(self._sizes) >= MOST_KEPT:
            self._sizes.clear()
        length = self._sizes[line] = int(line, 16) + 1
        return length


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
    return Unwrapped(at, [], [raw[at:]]) if len(raw) == at + length else None


def _events(body: bytes, mark: bytes) -> Divided | None:
    """Server-sent events, one line of data in each. ``None`` where there is anything else that has a meaning."""
    plain = body
    if b"\r" in body:
        plain = body.replace(b"\r", b"")
        if plain.replace(b"\n", b"\r\n") != body:  # some lines end in one way and some in another
            return None
    line_end = 1 if plain is body else 2
    lines = plain.split(b"\n")
    texts = [line[5:] for line in lines[:-1:2]]
    # Whether there is nothing but these, each in a line of data with an empty line after it.
    if b"data:" + b"\n\ndata:".join(texts) + b"\n\n" == plain:
        found = Divided(texts, False, over=5 + 2 * line_end)
    else:
        named = _named_events(lines, line_end)
        if named is None:
            return None
        found = named
    if mark and found.texts and found.texts[-1].strip() == mark:
        return found._replace(texts=found.texts[:-1], finished=True)
    return found


def _named_events(lines: list[bytes], line_end: int) -> Divided | None:
    """Events that have names, ids or comments beside their line of data; ``line_end`` is how long line ends are."""
    texts: list[bytes] = []
    sizes: list[int] = []
    size = 0
    inside = False
    if lines.pop():
        return None  # what comes last is not complete
    for line in lines:
        size += len(line) + line_end
        if not line:
            if inside:
                sizes.append(size)
                size = 0
                inside = False
        elif line.startswith(b"data:"):
            if inside:
                return None
            inside = True
            texts.append(line[5:])
        elif not line.startswith(_FIELDS) or line in _ERROR_EVENTS:
            return None
    return None if inside else Divided(texts, False, sizes=sizes)


def _lines(body: bytes) -> Divided | None:
    """One JSON document a line."""
    texts = body.split(b"\n")
    return None if texts.pop() else Divided(texts, False, over=1)
