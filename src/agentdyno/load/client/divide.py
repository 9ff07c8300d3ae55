"""A body into the JSON of its events, with hardly a look at each of them.

Where all events have the same fields in the same order, as nearly always, every so many lines there is one of data,
and a few operations on all lines at once tell whether it is so. Where it is not, each line is looked at.
"""

from __future__ import annotations

from itertools import accumulate

_FIELDS = (b":", b"id:", b"event:", b"retry:")
_ERROR_EVENTS = (b"event: error", b"event:error")
_DATA = b"data:"

Texts = list[bytes]
"""The JSON of each event, and at the end the mark that is no JSON, where there is one."""


def one_each(chunks: list[bytes]) -> Texts | None:
    """Where each chunk is an event of one line; each chunk has a newline in front of it that is not its own."""
    texts = [chunk[6:-2] for chunk in chunks]
    # Nothing in the chunks is a carriage return, so that it tells one from the next.
    if b"\ndata:%b\n\n" % b"\n\n\r\ndata:".join(texts) != b"\r".join(chunks) or b"\n" in b"".join(texts):
        return None
    return texts


def server_sent(body: bytes) -> Texts | None:
    """Server-sent events, one line of data in each. ``None`` where there is anything else that has a meaning."""
    if not body.endswith((b"\n\n", b"\r\n\r\n")):
        return None  # what comes last is not complete
    # A carriage return ends a line, too, wherever it stands.
    usual = body.startswith(_DATA) and b"\r" not in body
    texts: Texts | None = [line[5:] for line in body.split(b"\n")[:-1:2]] if usual else []
    if (
        not texts or b"data:%b\n\n" % b"\n\ndata:".join(texts) != body
    ):  # not every other line is data, all others empty
        lines = _lines(body)
        texts = _same_places(lines)
        if texts is None:
            lines = _without_pings(lines)
            texts = _same_places(lines)
        if texts is None:
            texts = _each_line(lines)
    return texts


def json_lines(body: bytes) -> Texts | None:
    """One JSON document a line."""
    texts = body.split(b"\n")
    return None if texts.pop() else texts


def line_ends(body: bytes) -> list[int]:
    """Where each line of JSON ends in the body."""
    return list(accumulate([len(line) + 1 for line in body.split(b"\n")[:-1]]))


def event_ends(body: bytes) -> list[int] | None:
    """Where each server-sent event ends in the body; ``None`` where some lines end in one way and some in another."""
    blank = b"\n\n"
    if b"\r" in body:
        blank = b"\r\n\r\n"
        if body.replace(b"\r", b"").replace(b"\n", b"\r\n") != body:
            return None
    blocks = body.split(blank)[:-1]
    ends = accumulate([len(block) + len(blank) for block in blocks])
    return [
        end
        for block, end in zip(blocks, ends, strict=True)
        if block.startswith(_DATA) or (b"\n" in block and b"\ndata:" in block)
    ]


def _lines(body: bytes) -> list[bytes]:
    return body.splitlines() if b"\r" in body else body.split(b"\n")[:-1]


def _without_pings(lines: list[bytes]) -> list[bytes]:
    """Without comments between empty lines, which keep a connection alive, and without empty lines at the start."""
    kept = lines.copy()
    for at in [place for place, line in enumerate(lines) if line.startswith(b":")][::-1]:
        if not (at and lines[at - 1]) and lines[at + 1 : at + 2] == [b""]:
            del kept[at : at + 2]
    while kept and not kept[0]:
        del kept[0]
    return kept


def _same_places(lines: list[bytes]) -> Texts | None:
    """The JSON of events that all have the same fields in the same order, one line of data among them."""
    stride = lines.index(b"") + 1 if b"" in lines else 0
    if not stride or len(lines) % stride or any(lines[stride - 1 :: stride]):
        return None
    data: Texts | None = None
    for place in range(stride - 1):
        column = lines[place::stride]
        field = column[0].partition(b":")[0] + b":"
        values = [line[len(field) :] for line in column]
        if field + (b"\n" + field).join(values) != b"\n".join(column):
            return None
        if field == _DATA and data is None:
            data = values
        elif field not in _FIELDS or any(line in column for line in _ERROR_EVENTS):
            return None
    return data


def _each_line(lines: list[bytes]) -> Texts | None:
    """The JSON of events that may have names, ids or comments beside their line of data."""
    texts: Texts = []
    inside = False
    for line in lines:
        if not line:
            inside = False
        elif line.startswith(_DATA):
            if inside:
                return None
            inside = True
            texts.append(line[5:])
        elif not line.startswith(_FIELDS) or line in _ERROR_EVENTS:
            return None
    return None if inside else texts
