"""How a metric of one subject went over time, and where it changed."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class HistoryPoint:
    """One run. ``at`` is UTC milliseconds; ``suite`` the digest of the suite's version, "" for an experiment.

    ``machine_id`` is "" where unknown. ``n`` is how many executions are behind the value. ``form`` says
    what the run was where it was no whole run of the suite: ``quick``, ``limited``, ``cancelled``, ``capped``.
    ``scored`` of its ``cases`` have a score, which scores are of; both are 0 where that is not known. ``proxied``:
    its model calls went through the recording proxy, which takes time. ``low`` and ``high`` are the ends of the 95 %
    interval of the value, ``None`` where its scatter is not known.
    """

    at: int
    value: float
    version: str = ""
    run_id: str = ""
    n: int = 0
    suite: str = ""
    machine_id: str = ""
    commit: str = ""
    form: str = ""
    scored: int = 0
    cases: int = 0
    proxied: bool = False
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class HistoryChange:
    """The level changed at ``index``, the first point of the new regime.

    ``before`` and ``after`` are medians; ``relative`` is after / before - 1, ``None`` at zero. ``better`` is ``None``
    for a metric without a direction. Unconfirmed ones are provisional: they rest on the last two to seven points, and
    later ones may withdraw them. ``cause`` names what else changed there: the suite, the machine, the version of the
    agent, whether model calls were recorded. Where the suite changed, or the machine or the recording and the metric
    depends on it, the change is not ``comparable``: it says nothing about the subject.
    """

    index: int
    at: int
    before: float
    after: float
    relative: float | None
    p_value: float
    confirmed: bool
    better: bool | None
    version_before: str = ""
    version_after: str = ""
    cause: str = ""
    comparable: bool = True


@dataclass(frozen=True, slots=True)
class HistoryDrift:
    """The series rises or falls steadily from ``index`` on, along a line from ``before`` to ``after``."""

    index: int
    at: int
    before: float
    after: float
    p_value: float


@dataclass(frozen=True, slots=True)
class HistoryLevel:
    """Where a series stands: the median since its last change, or the end of its drift.

    ``low`` and ``high`` are the ends of the 95 % interval, ``None`` where too few points show no scatter. ``points``
    is how many it rests on; not ``confirmed`` where the change before it is provisional.
    """

    value: float
    low: float | None
    high: float | None
    points: int
    confirmed: bool = True


NO_CHANGE = "No change of level beyond the noise."


@dataclass(frozen=True, slots=True)
class History:
    """The series of one metric, oldest first. ``subject`` is an agent's name or an experiment's arm.

    ``drift`` is its slope since the last change, ``None`` where it has none; ``now`` is ``None`` without a point.
    ``benchmark`` is "" where a point is the mean over the benchmarks of a run. ``note`` says what the reader has to
    know, such as that there are too few points to tell a change.
    """

    subject: str
    metric: str
    unit: str
    higher_is_better: bool | None
    points: tuple[HistoryPoint, ...]
    changes: tuple[HistoryChange, ...] = ()
    suite: str = ""
    benchmark: str = ""
    baseline: float | None = None
    note: str = ""
    drift: HistoryDrift | None = None
    now: HistoryLevel | None = None

    @property
    def is_steady(self) -> bool:
        """Whether there is a series, and nothing happened in it."""
        return len(self.points) > 1 and not self.changes and self.drift is None
