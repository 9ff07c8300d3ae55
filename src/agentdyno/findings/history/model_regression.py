"""What became worse, since when, how badly, and what it costs."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from agentdyno.model.case import CaseKey
from agentdyno.model.form import RunWarning


class Severity(StrEnum):
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
    CRITICAL = "critical"


class Detector(StrEnum):
    """``version`` set a version against a baseline, ``history`` saw a level change, ``pattern`` many small signs."""

    VERSION = "version"
    HISTORY = "history"
    PATTERN = "pattern"


@dataclass(frozen=True, slots=True)
class Impact:
    """``cases`` that broke, those that lost most first; ``overall`` is what the change alone takes from the overall
    score (0.02: two points of a hundred), ``None`` where that cannot be said."""

    cases: tuple[CaseKey, ...] = ()
    overall: float | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Regression:
    """One change for the worse; with ``improvement`` one for the better.

    ``kind`` is ``drop`` (version), ``step`` (history), or of a pattern ``several-small-drops``, ``drift``,
    ``rising-variance``, ``error-creep``. ``benchmark`` is "" for the whole suite. ``amount`` is by how much it became
    worse in parts of the baseline (0.1: 10 %), or plainly where ``relative`` is false (a baseline of zero, a rate);
    of an improvement it is negative. ``baseline`` and ``current`` are in ``unit``. ``p_value`` is after correction.
    Unconfirmed ones rest on few points. ``undone_at`` is when a later change of the series took it back, UTC
    milliseconds like ``since``.
    """

    detector: Detector
    kind: str
    metric: str
    baseline: float
    current: float
    amount: float
    relative: bool
    threshold: float
    severity: Severity
    explanation: str
    benchmark: str = ""
    category: str = ""
    p_value: float | None = None
    confirmed: bool = True
    improvement: bool = False
    since: int | None = None
    version: str = ""
    impact: Impact = Impact()
    unit: str = ""
    undone_at: int | None = None


@dataclass(frozen=True, slots=True)
class RegressionReport:
    """An agent's regressions, the worst first. ``health`` is 0..100 and ``action`` what to do, by written rules;
    it is ``None`` where nothing could be judged.

    ``baseline`` and ``current`` are labels of what was set against each other, "" where only history was looked at.
    """

    agent: str
    baseline: str
    current: str
    regressions: tuple[Regression, ...]
    improvements: tuple[Regression, ...]
    health: int | None
    action: str
    suite: str = ""
    warnings: tuple[RunWarning, ...] = ()

    @property
    def has_regressions(self) -> bool:
        return bool(self.regressions)
