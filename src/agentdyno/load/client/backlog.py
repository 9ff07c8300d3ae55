"""Exchanges that have ended and wait to be decoded: in small slices between the reads of the event loop."""

from __future__ import annotations

import asyncio
import struct
from array import array
from collections import deque
from collections.abc import Callable
from time import perf_counter_ns
from typing import Protocol

from agentdyno.load.client.decode import OK, Result
from agentdyno.load.client.hot import ExchangeEnding, Read
from agentdyno.load.windows.records import OUTCOMES, UNKNOWN, UNKNOWN_SOURCE, UNSENT
from agentdyno.model.load import Outcome
from agentdyno.wire.exchange import SLICE_NS

RETRIED, BLOCKED = 1, 2
"""Flags of an exchange: sent a second time, and late because no connection was free."""
CROWD = 64
"""With each so many that wait a slice is one unit longer, so that what waits does not grow without end."""
MOST_EXAMPLES = 20
"""Of each outcome in a step: enough to see what is wrong."""
MOST_TOKENS = 2**31 - 1
"""What a row has room for. A server that says more counts something else."""
ROW = struct.Struct("<7q5ihH5B")
"""``records.RECORD``, field by field."""


Item = tuple[int, int, int, int, int, int, ExchangeEnding, list[Read], str, int, int]
"""An exchange as the hot path leaves it: when it was due, sent and done (ns of ``perf_counter_ns``), its request,
stage and flags, how it ended, what came, a text about it where there is one, for how much of its latency its end had
waited to be read, and for how long it had waited at all (ns). A plain tuple, as there are many."""


class AnyDecoder(Protocol):
    def decode(self, reads: list[Read], ending: ExchangeEnding, done_ns: int) -> Result: ...

    def text(self, reads: list[Read]) -> str: ...


class Backlog:
    """Decodes in the order in which exchanges ended and keeps rows until they are taken."""

    def __init__(self, loop: asyncio.AbstractEventLoop, decoder: AnyDecoder, process: int) -> None:
        self._loop, self._decoder, self._process = loop, decoder, process
        self._items: deque[Item] = deque()
        self._scheduled = False
        self.free_ns = 0
        """When the last slice ended."""
        self.after: Callable[[int, int, int], None] | None = None
        """Is told of every success: request, stage, and when it was done."""
        self.reset(0)

    def reset(self, start_ns: int) -> None:
        """Forgets everything; times of rows are counted from ``start_ns`` on."""
        self._start_ns = start_ns
        self._items.clear()
        self._rows: list[bytes] = []
        self._gaps = array("q")
        self._extras = array("q")
        self._examples: list[tuple[int, Outcome, str]] = []
        self._shown: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._items)

    def add(self, item: Item) -> None:
        """An exchange has ended."""
        self._items.append(item)
        if not self._scheduled:
            self._scheduled = True
            self._loop.call_soon(self._slice)

    def add_unsent(self, due_ns: int, request: int, stage: int) -> None:
        """A request that was due and never sent."""
        row = (due_ns - self._start_ns, *(UNKNOWN,) * 5, 0, request, UNKNOWN, UNKNOWN, 0, 0, stage, 0)
        self._rows.append(ROW.pack(*row, UNSENT, UNKNOWN_SOURCE, 0, 1, self._process))
        self._extras.extend((UNKNOWN, UNKNOWN, UNKNOWN))

    def add_failed(self, due_ns: int, outcome: int, text: str) -> None:
        """Something that was due and failed before anything could be sent."""
        row = (due_ns - self._start_ns, *(UNKNOWN,) * 5, 0, 0, UNKNOWN, UNKNOWN, 0, 0, 0, 0)
        self._rows.append(ROW.pack(*row, outcome, UNKNOWN_SOURCE, 0, 1, self._process))
        self._extras.extend((UNKNOWN, UNKNOWN, UNKNOWN))
        self._show(due_ns, outcome, text)

    def decode_all(self) -> None:
        """Without slices: nothing is being measured any more."""
        while self._items:
            self._take(*self._items.popleft())

    def take_rows(self) -> tuple[bytes, bytes, bytes]:
        """Rows, gaps and extras (``records.EXTRA``) since the last call, as bytes."""
        rows, gaps, extras = b"".join(self._rows), self._gaps.tobytes(), self._extras.tobytes()
        self._rows, self._gaps, self._extras = [], array("q"), array("q")
        return rows, gaps, extras

    def take_examples(self) -> list[tuple[int, Outcome, str]]:
        """Failures since the last call: when due, outcome, and what was wrong."""
        examples, self._examples = self._examples, []
        return examples

    def earliest_due_ns(self) -> int | None:
        return min((item[0] for item in self._items), default=None)

    def earliest_done_ns(self) -> int | None:
        return self._items[0][2] if self._items else None

    def _slice(self) -> None:
        items, take = self._items, self._take
        until = perf_counter_ns() + SLICE_NS * (1 + len(items) // CROWD)
        while items:
            take(*items.popleft())
            if perf_counter_ns() > until:
                break
        self.free_ns = perf_counter_ns()
        if items:
            self._loop.call_soon(self._slice)
        else:
            self._scheduled = False

    def _take(
        self,
        due: int,
        sent: int,
        done: int,
        request: int,
        stage: int,
        flags: int,
        ending: ExchangeEnding,
        reads: list[Read],
        text: str,
        wait: int,
        unread: int,
    ) -> None:
        outcome, status, first, last, chunks, gaps, entered, left, source, why, cached = self._decoder.decode(
            reads, ending, done
        )
        if left > MOST_TOKENS or entered > MOST_TOKENS or cached > MOST_TOKENS:
            entered, left, source, cached = UNKNOWN, UNKNOWN, UNKNOWN_SOURCE, UNKNOWN
        start = self._start_ns
        self._rows.append(
            ROW.pack(
                due - start,
                sent - start,
                reads[0][0] - start if reads else UNKNOWN,
                first - start if chunks else UNKNOWN,
                last - start if chunks else UNKNOWN,
                done - start,
                len(reads[0][1]) if len(reads) == 1 else sum([len(data) for _, data in reads]),
                request,
                entered,
                left,
                chunks,
                len(gaps),
                stage,
                status,
                outcome,
                source,
                flags & RETRIED,
                flags >> 1 & 1,
                self._process,
            )
        )
        self._extras.extend((wait, cached, unread) if outcome == OK else (UNKNOWN, cached, UNKNOWN))
        if gaps:
            self._gaps.extend(gaps)
        if outcome != OK:
            self._show(due, outcome, text or why)
        elif self.after is not None:
            self.after(request, stage, done)

    def _show(self, due: int, outcome: int, text: str) -> None:
        shown = self._shown.get(outcome, 0)
        if shown < MOST_EXAMPLES or not shown % 1000:
            self._examples.append((due - self._start_ns, OUTCOMES[outcome], text))
        self._shown[outcome] = shown + 1
