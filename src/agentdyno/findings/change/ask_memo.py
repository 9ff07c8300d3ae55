"""Comparisons that were made already: a run that is finished says the same tomorrow."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Generic, TypeAlias, TypeVar

from agentdyno.findings.change.judge import Judged
from agentdyno.findings.history.model_regression import Regression
from agentdyno.findings.record.ask import Result
from agentdyno.model.record import AgentRecord
from agentdyno.model.result import RunWarning

T = TypeVar("T")
Checked: TypeAlias = tuple[list[Regression], list[Regression], list[RunWarning], tuple[str, str]]
"""What became worse, what better, remarks, and the labels of both versions."""


@dataclass(frozen=True, slots=True)
class Compared:
    """Two versions that were compared; ``before`` and ``after`` are without their cases, ``p95`` is in seconds."""

    judged: Judged
    before: AgentRecord
    after: AgentRecord
    p95: tuple[float | None, float | None]


@dataclass(frozen=True, slots=True)
class Watched:
    """A version that was held against its baseline for alerts; ``runs`` are those of both, the newest first."""

    checked: Checked
    runs: tuple[str, str]


class Kept(Generic[T]):
    """The ``most`` answers that were asked for last, by the results they rest on. Safe to use from several threads.

    When an agent has run again, only what rests on that run is made anew. A run that is resumed or judged anew is
    finished anew, so that it is another result.
    """

    def __init__(self, most: int = 1_000) -> None:
        self._most = most
        self._answers: OrderedDict[tuple[Result, ...], T] = OrderedDict()
        self._lock = Lock()

    def get(self, results: Sequence[Result], make: Callable[[], T]) -> T:
        """What is kept, or else what ``make`` gives. What it raises is not kept, nor what rests on an open run."""
        stamp = tuple(results)
        if not stamp or any(at is None for _, _, at in stamp):
            return make()
        with self._lock:
            if stamp in self._answers:
                self._answers.move_to_end(stamp)
                return self._answers[stamp]
        made = make()
        with self._lock:
            self._answers[stamp] = made
            while len(self._answers) > self._most:
                self._answers.popitem(last=False)
        return made

    def __len__(self) -> int:
        return len(self._answers)


class ChangeMemo:
    """What rows and alerts rest on."""

    def __init__(self) -> None:
        self.compared: Kept[Compared] = Kept()
        self.watched: Kept[Watched] = Kept()
