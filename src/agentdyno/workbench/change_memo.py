"""Comparisons that were made already: a run that is finished says the same tomorrow."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import TypeAlias

from agentdyno.analysis.changes import Judged
from agentdyno.model.record import AgentRecord

Stamp: TypeAlias = tuple[tuple[str, str, int], ...]
"""Of each result that is compared its run, its arm, and when that run was finished (UTC milliseconds): a run that is
resumed or judged anew is finished anew."""


@dataclass(frozen=True, slots=True)
class Compared:
    """Two versions that were compared; ``before`` and ``after`` are without their cases, ``p95`` is in seconds."""

    judged: Judged
    before: AgentRecord
    after: AgentRecord
    p95: tuple[float | None, float | None]


class ChangeMemo:
    """The ``most`` comparisons that were asked for last. Safe to use from several threads.

    When an agent has run again, only what rests on that run is compared anew.
    """

    def __init__(self, most: int = 1_000) -> None:
        self._most = most
        self._kept: OrderedDict[Stamp, Compared] = OrderedDict()
        self._lock = Lock()

    def get(self, stamp: Stamp | None, make: Callable[[], Compared]) -> Compared:
        """What is kept, or else what ``make`` gives; without a stamp that is not kept, nor is what it raises."""
        if stamp is None:
            return make()
        with self._lock:
            known = self._kept.get(stamp)
            if known is not None:
                self._kept.move_to_end(stamp)
                return known
        made = make()
        with self._lock:
            self._kept[stamp] = made
            while len(self._kept) > self._most:
                self._kept.popitem(last=False)
        return made

    def __len__(self) -> int:
        return len(self._kept)
