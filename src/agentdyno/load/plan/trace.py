"""Recorded traffic to replay: when each request came, how long it was, and how long its answer.

CSV with a header, or one JSON object a line. The columns are found by name, whatever their case: those of the public
traces (``TIMESTAMP, ContextTokens, GeneratedTokens``; ``timestamp, input_length, output_length, hash_ids``;
``Timestamp, Request tokens, Response tokens``) and their likes. A time is a number of seconds, an ISO date, or
milliseconds where the column's name ends in ``_ms`` or the rows have ``hash_ids``, whose traces count so.

Requests with the same ``session_id`` are the turns of one conversation. With a ``pause`` a turn comes so long after
the answer to the one before (what a tool took, or a user's thoughts), and needs no time of its own; without one it
comes at its time, or when the answer before it is there.
"""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agentdyno.errors import SpecError
from agentdyno.load.plan.requests import Lengths
from agentdyno.load.plan.schedule import MOST_REQUESTS
from agentdyno.model.load import Stage

_NS = 1_000_000_000
_LONGEST = 10_000_000
REST_S = 60.0
"""How long after the recorded end the last turns of conversations may come; the replay ends with the last of them."""
_TIME = ("timestamp", "time", "arrivaltime", "arrivedat", "arrival", "ts", "starttime", "timestamps", "at")
_INPUT = (
    "inputlength",
    "contexttokens",
    "requesttokens",
    "prompttokens",
    "inputtokens",
    "promptlength",
    "numprefilltokens",
)
_OUTPUT = (
    *("outputlength", "generatedtokens", "responsetokens", "completiontokens", "outputtokens", "responselength"),
    *("numdecodetokens", "maxtokens"),
)
_SESSION = ("sessionid", "session", "conversationid", "conversation", "chatid", "threadid")
_PAUSE = ("pause", "delay", "toolpause", "thinktime", "think")

Row = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class Trace:
    """Requests in order of time: nanoseconds since the first one, words of input (one for a recorded token),
    tokens of answer (-1 where it was not recorded). ``session`` is the conversation of each, by number, where the
    trace has conversations; ``pause_ns`` is how long after the answer before it comes (-1: at its time)."""

    due_ns: NDArray[np.int64]
    input_words: NDArray[np.int64]
    output_tokens: NDArray[np.int64]
    session: NDArray[np.int64] | None = None
    pause_ns: NDArray[np.int64] | None = None

    def __len__(self) -> int:
        return int(self.due_ns.size)

    @property
    def duration_s(self) -> float:
        """From the first request to the last, and the mean gap after it, so that the rate is the trace's own."""
        last_s = float(self.due_ns[-1]) / _NS
        return last_s + last_s / (len(self) - 1) if len(self) > 1 and last_s > 0.0 else 1.0

    def stages(self) -> tuple[Stage, ...]:
        """The whole of it as one stage; its rate is the mean. Conversations have some time more to end in."""
        replay = Stage("replay", self.duration_s, rate=len(self) / self.duration_s)
        return (replay,) if self.session is None else (replay, Stage("rest", REST_S))

    def lengths(self) -> Lengths:
        """What the requests must ask for."""
        outputs = tuple(None if count < 0 else count for count in self.output_tokens.tolist())
        return Lengths(tuple(self.input_words.tolist()), outputs)

    def faster(self, factor: float) -> Trace:
        """The same requests ``factor`` times as fast."""
        if not (math.isfinite(factor) and factor > 0.0):
            raise SpecError(f"a trace cannot be replayed {factor:g} times as fast")
        due_ns = np.floor(self.due_ns / factor).astype(np.int64)
        if self.pause_ns is None:
            return replace(self, due_ns=due_ns)
        pause_ns = np.where(self.pause_ns < 0, -1, np.floor(self.pause_ns / factor)).astype(np.int64)
        return replace(self, due_ns=due_ns, pause_ns=pause_ns)

    def first(self, count: int) -> Trace:
        """Its first ``count`` requests."""
        return Trace(
            self.due_ns[:count],
            self.input_words[:count],
            self.output_tokens[:count],
            None if self.session is None else self.session[:count],
            None if self.pause_ns is None else self.pause_ns[:count],
        )


def read_trace(path: Path) -> Trace:
    """``SpecError`` where the file cannot be read or a row is not one: it names the line and the column."""
    times: list[float] = []
    inputs: list[int] = []
    outputs: list[int] = []
    talks = _Talks()
    first: _Columns | None = None
    known: dict[tuple[str, ...], _Columns] = {}
    for line, row in _rows(path):
        where = f"{path}:{line}"
        names = tuple(row)
        if first is None:
            first = _Columns.of(row, where)
        columns = known.get(names) or known.setdefault(names, first.also(row))
        times.append(talks.take(columns, row, where))
        inputs.append(max(_count(row, columns.input, where), 1))
        outputs.append(_count(row, columns.output, where) if columns.output else -1)
        if len(times) > MOST_REQUESTS:
            raise SpecError(f"the trace has more than {MOST_REQUESTS:,} requests", where=str(path))
    if not times:
        raise SpecError("the trace holds no request", where=str(path))
    offsets = np.array(times, dtype=np.float64)
    order = np.argsort(offsets, kind="stable")
    due_ns = np.rint((offsets[order] - offsets.min()) * _NS).astype(np.int64)
    # An answer has at least one token, or nothing would be asked for.
    told = np.array(outputs, dtype=np.int64)[order]
    trace = Trace(due_ns, np.array(inputs, dtype=np.int64)[order], np.where(told == 0, 1, told))
    if talks.count == len(times):
        return trace
    pauses = np.array(talks.pauses, dtype=np.float64)[order]
    pause_ns = np.where(pauses < 0, -1, np.rint(pauses * _NS)).astype(np.int64)
    return replace(trace, session=np.array(talks.sessions, dtype=np.int64)[order], pause_ns=pause_ns)


class _Talks:
    """The conversations that rows belong to, as they are read."""

    def __init__(self) -> None:
        self.sessions: list[int] = []
        self.pauses: list[float] = []
        self._last_s: dict[str, float] = {}
        self._numbers: dict[str, int] = {}

    @property
    def count(self) -> int:
        return len(self._numbers)

    def take(self, columns: _Columns, row: Row, where: str) -> float:
        """When the request of a row came, in seconds; a row without a conversation is one of its own."""
        named = row.get(columns.session) if columns.session else None
        key = "" if named in (None, "") else str(named)
        before = self._last_s.get(key) if key else None
        pause_s = columns.pause_s(row, where) if before is not None else -1.0
        blank = row.get(columns.time) in (None, "")
        at_s = before + pause_s if blank and before is not None and pause_s >= 0.0 else columns.seconds(row, where)
        if before is not None and at_s < before:
            raise SpecError(
                f"this turn of {key!r} comes before the one above it",
                where=where,
                remedy="The turns of a conversation stand in their order.",
            )
        if key:
            self._last_s[key] = at_s
        self.sessions.append(self._numbers.setdefault(key or f"\n{len(self.sessions)}", len(self._numbers)))
        self.pauses.append(pause_s)
        return at_s


@dataclass(frozen=True, slots=True)
class _Columns:
    time: str
    input: str
    output: str
    milliseconds: bool
    session: str = ""
    pause: str = ""
    pause_milliseconds: bool = False

    @classmethod
    def of(cls, row: Row, where: str) -> _Columns:
        names = {re.sub(r"[^a-z0-9]", "", name.lower()): name for name in row}
        found = {name.removesuffix("ms"): name for name in names if name.endswith("ms")} | {
            name: name for name in names
        }
        time = next((found[name] for name in _TIME if name in found), None)
        entered = next((names[name] for name in _INPUT if name in names), None)
        output = next((names[name] for name in _OUTPUT if name in names), "")
        if time is None or entered is None:
            missing = "timestamp" if time is None else "input_length"
            listed = ", ".join(repr(name) for name in list(row)[:8])
            raise SpecError(
                f"no column holds the {missing}",
                where=where,
                remedy=f"A trace has the columns timestamp, input_length and output_length; here: {listed}.",
            )
        milliseconds = (time.endswith("ms") and time not in _TIME) or "hashids" in names
        return cls(names[time], entered, output, milliseconds).also(row)

    def also(self, row: Row) -> _Columns:
        """With those of conversations that this row has: only further turns have a pause."""
        names = {re.sub(r"[^a-z0-9]", "", name.lower()): name for name in row}
        session = next((names[name] for name in _SESSION if name in names), "")
        pause = next((names[name] for name in _PAUSE if name in names), "")
        in_ms = next((names[name + "ms"] for name in _PAUSE if name + "ms" in names), "")
        return replace(
            self, session=session, pause=pause or in_ms, pause_milliseconds=not pause or "hashids" in names
        )

    def seconds(self, row: Row, where: str) -> float:
        value = row.get(self.time)
        number = _number(value)
        if number is not None:
            return number / 1e3 if self.milliseconds else number
        if isinstance(value, str):
            try:
                moment = datetime.fromisoformat(value.strip())
            except ValueError:
                pass
            else:
                return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        raise SpecError(f"{self.time} is no time: {value!r}", where=where)

    def pause_s(self, row: Row, where: str) -> float:
        """-1 where there is none."""
        value = row.get(self.pause) if self.pause else None
        if value is None or value == "":
            return -1.0
        number = _number(value)
        if number is None or number < 0.0:
            raise SpecError(f"{self.pause} is no pause: {value!r}", where=where, remedy="It is 0 or more.")
        return number / 1e3 if self.pause_milliseconds else number


def _count(row: Row, name: str, where: str) -> int:
    number = _number(row.get(name))
    if number is None or number < 0 or number != int(number):
        raise SpecError(f"{name} is no number of tokens: {row.get(name)!r}", where=where)
    if number > _LONGEST:
        raise SpecError(f"{name} is {int(number):,}, more than {_LONGEST:,}", where=where)
    return int(number)


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        return None
    try:
        number = float(value)
    except (ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _rows(path: Path) -> Iterator[tuple[int, Row]]:
    """Each row with the number of its line."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            first = stream.readline()
            while first and not first.strip():
                first = stream.readline()
            stream.seek(0)
            yield from _json_rows(stream, path) if first.lstrip().startswith("{") else _csv_rows(stream, path)
    except UnicodeDecodeError as error:
        raise SpecError(f"the trace is not a text in UTF-8: {error.reason}", where=str(path)) from None
    except OSError as error:
        raise SpecError(f"the trace cannot be read: {error.strerror or error}", where=str(path)) from None


def _json_rows(stream: Iterator[str], path: Path) -> Iterator[tuple[int, Row]]:
    for line, text in enumerate(stream, start=1):
        if not text.strip():
            continue
        try:
            row = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise SpecError(f"not a JSON object: {error}", where=f"{path}:{line}") from None
        if not isinstance(row, dict):
            raise SpecError("not a JSON object", where=f"{path}:{line}")
        yield line, row


def _csv_rows(stream: Iterator[str], path: Path) -> Iterator[tuple[int, Row]]:
    reader = csv.reader(stream)
    names: list[str] | None = None
    try:
        for cells in reader:
            if not any(cell.strip() for cell in cells):
                continue
            if names is None:
                names = [name.strip() for name in cells]
            elif len(cells) != len(names):
                raise SpecError(f"{len(cells)} cells for {len(names)} columns", where=f"{path}:{reader.line_num}")
            else:
                yield reader.line_num, dict(zip(names, cells, strict=True))
    except csv.Error as error:
        raise SpecError(f"not CSV: {error}", where=f"{path}:{reader.line_num}") from None
