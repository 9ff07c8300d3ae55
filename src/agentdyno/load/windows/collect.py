"""Finished requests, in whatever order they come, to windows of time.

Windows are cut at the boundaries of stages: each stage has as many equal windows as come nearest to the length that
is wanted. A request is counted in the window that it was due in, its completion in the window that it ended in; an
answer that ends after the last stage is part of no window's ``completed``, as nothing was asked any more then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from agentdyno.findings.stress.judge_objectives import request_limits
from agentdyno.load.windows.open_window import OpenWindow
from agentdyno.load.windows.records import OUTCOME_CODES, Extras, Gaps, Records
from agentdyno.model.load import Objective, Outcome, Step, Window

_NS = 1_000_000_000
_OK = OUTCOME_CODES[Outcome.OK]


class WindowBuilder:
    """The windows of one step. ``first_index`` and ``starts_s`` are those of its first window in the arm.

    ``simulated`` may be set as soon as the target says so; it holds for the windows that come out from then on.
    ``clients`` may be set before the first request: names of clients, by their numbers, whose parts are told too.
    """

    def __init__(
        self,
        step: Step,
        window_s: float,
        first_index: int = 0,
        starts_s: float = 0.0,
        objectives: Sequence[Objective] = (),
    ) -> None:
        self.simulated = False
        self.clients: Mapping[int, str] | None = None
        self._step = step
        self._first_index = first_index
        self._starts_s = starts_s
        limits = request_limits(objectives)
        self._limits_ns: Mapping[str, float] | None = (
            {metric: limit * _NS for metric, limit in limits.items()} if objectives else None
        )
        self._edges, self._stages = window_edges(step, window_s)
        self._open: dict[int, OpenWindow] = {}
        self._next = 0
        # +1 where a request was sent, -1 where it ended: the sum up to window i is what is in flight at its end.
        self._flights = np.zeros(len(self._stages) + 1, dtype=np.int64)

    @property
    def next_index(self) -> int:
        """The index of the next window to come out; after ``finish``, of the first one of the step after this."""
        return self._first_index + self._next

    @property
    def ends_ns(self) -> int:
        """When the last stage ends, since the start of the step."""
        return int(self._edges[-1])

    def add(self, records: Records, gaps: Gaps, extras: Extras | None = None) -> None:
        """Counts finished requests; ``gaps`` are those of one record after the other, ``records["gaps"]`` of each,
        ``extras`` has a row for each record."""
        if not records.size:
            return
        which = self._window_of(records["due"])
        good = records["outcome"] == _OK
        per_record = records["gaps"].astype(np.int64)
        gap_window = np.repeat(np.where(good, which, -1), per_record)
        pieces = gaps[: gap_window.size]
        for number in np.unique(which).tolist():
            mine = which == number
            window = self._at(number)
            window.add(records[mine], pieces[gap_window == number])
            if extras is not None:
                window.add_extras(extras[mine], records[mine])
        self._add_times(records, good)

    def example(self, due_ns: int, outcome: Outcome, text: str) -> None:
        """What a failed request looked like; the first of each outcome in a window is kept."""
        self._at(self._number_of(due_ns)).examples.setdefault(outcome.value, text[:500])

    def pop_finished(self, up_to_ns: int, open_due_ns: int | None) -> list[Window]:
        """The windows that nothing can change any more, but never the last: ``finish`` gives that.

        Every request that ended before ``up_to_ns`` has been added. ``open_due_ns`` is when the earliest request
        that has not ended, sent or not, was due; ``None`` where all that were due have ended.
        """
        settled = up_to_ns if open_due_ns is None else min(up_to_ns, open_due_ns)
        ready = int(np.searchsorted(self._edges[1:], settled, side="right"))
        return [self._close() for _ in range(self._next, min(ready, len(self._stages) - 1))]

    def finish(self, stopped_ns: int | None = None) -> list[Window]:
        """The windows that are left. ``stopped_ns`` is when the step was broken off: that window ends there, and
        those after it never were, unless something is counted in them."""
        last = len(self._stages) - 1
        if stopped_ns is not None and stopped_ns < self.ends_ns:
            used = [number for number, window in self._open.items() if window.asked]
            last = max([self._number_of(stopped_ns), *used])
            self._edges[last + 1] = min(max(stopped_ns, int(self._edges[last]) + 1), int(self._edges[last + 1]))
        return [self._close() for _ in range(self._next, last + 1)]

    def _at(self, number: int) -> OpenWindow:
        found = self._open.get(number)
        if found is None:
            found = self._open[number] = OpenWindow(self._limits_ns, self.clients)
        return found

    def _number_of(self, at_ns: int) -> int:
        return int(self._window_of(np.array([at_ns], dtype=np.int64))[0])

    def _window_of(self, at_ns: NDArray[np.int64]) -> NDArray[np.int64]:
        # What comes in after its window went out is counted in the oldest that is still here.
        found = np.searchsorted(self._edges, at_ns, side="right") - 1
        first = min(self._next, len(self._stages) - 1)
        return np.clip(found, first, len(self._stages) - 1).astype(np.int64)

    def _add_times(self, records: Records, good: NDArray[np.bool_]) -> None:
        done = records["done"][good]
        for number, count in enumerate(np.bincount(self._window_of(done[done < self.ends_ns])).tolist()):
            if count:
                self._at(number).completed += count
        flown = (records["sent"] >= 0) & (records["done"] >= records["sent"])
        ends = self._edges[1:]
        np.add.at(self._flights, np.searchsorted(ends, records["sent"][flown], side="left"), 1)
        np.add.at(self._flights, np.searchsorted(ends, records["done"][flown], side="left"), -1)

    def _close(self) -> Window:
        number = self._next
        self._next += 1
        start, end = int(self._edges[number]), int(self._edges[number + 1])
        empty = Window(
            index=self._first_index + number,
            step=self._step.name,
            stage=self._stages[number],
            starts_s=self._starts_s + start / _NS,
            duration_s=(end - start) / _NS,
            in_flight=max(int(self._flights[: number + 1].sum()), 0),
            note=dict(self._step.note),
            simulated=self.simulated,
        )
        # Its counts are of no use any more, and a soak of hours has many windows.
        return self._open.pop(number, OpenWindow(self._limits_ns, self.clients)).build(empty)


def window_edges(step: Step, window_s: float) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """The boundaries of the windows in nanoseconds since the step's start, and the label of the stage of each."""
    edges: list[NDArray[np.int64]] = [np.zeros(1, dtype=np.int64)]
    labels: list[str] = []
    start_ns = 0
    for stage in step.stages:
        length_ns = round(stage.duration_s * _NS)
        count = max(1, round(stage.duration_s / window_s)) if window_s > 0.0 else 1
        inside = np.arange(1, count + 1, dtype=np.float64) * (length_ns / count)
        edges.append(start_ns + np.rint(inside).astype(np.int64))
        labels += [stage.label] * count
        start_ns += length_ns
    return np.concatenate(edges), tuple(labels)
