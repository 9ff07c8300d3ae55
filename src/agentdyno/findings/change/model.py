"""What changed against its baseline, for everybody who asks every morning. Times are UTC milliseconds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from agentdyno.findings.duel.model import PairedRow
from agentdyno.findings.history.model import History
from agentdyno.findings.history.model_regression import Regression, Severity
from agentdyno.model.case import CaseKey
from agentdyno.model.record import ErrorClass

ChangeVerdict = Literal["worse", "inconclusive", "better", "same", "no-baseline"]
WORSE: Final = "worse"
INCONCLUSIVE: Final = "inconclusive"
BETTER: Final = "better"
SAME: Final = "same"
NO_BASELINE: Final = "no-baseline"
VERDICTS: tuple[ChangeVerdict, ...] = (WORSE, INCONCLUSIVE, BETTER, SAME, NO_BASELINE)
"""In the order in which somebody wants to see them."""
Evidence = Literal["cases", "history", ""]
CASES: Final = "cases"
HISTORY: Final = "history"
"""What a verdict may rest on."""


@dataclass(frozen=True, slots=True)
class ChangeRow:
    """One agent in one suite: the newest version against its baseline.

    ``verdict`` is ``worse``, ``better``, ``same``, ``inconclusive`` or ``no-baseline``; ``summary`` the sentence to
    read. ``accuracy``, ``latency`` and ``cost`` are rows over the common cases, ``None`` without a baseline.
    ``latency_p95`` gives p95 seconds of baseline and candidate. ``since`` is the version with which it became so.
    ``spark`` is the history of what the verdict rests on where that has enough points, else of accuracy, at most 30
    points.
    ``severity`` goes with ``worse``. ``error_rate`` is judged beside the others where a side had errors. ``errors``
    are of the newest version, the most frequent first. ``more_cases`` would settle what is inconclusive, ``None``
    where that cannot be said. ``command`` is the one that prints the same.

    ``evidence`` says what the verdict rests on: ``cases`` that both versions answered, the ``history`` of the agent
    where there is no baseline to set it against case by case, or "" where there is neither. ``finding`` is what the
    history shows: what the verdict rests on where the evidence is that; beside ``cases`` a change for the worse that
    these two versions do not show, of which there is an alert. ``reliability`` is a row as the others, ``None`` where
    it does not compare (it takes three tries of a case). ``steady_broken`` cases were seen to be right in every try
    of the baseline and wrong in every one now.
    """

    agent: str
    name: str
    version: str
    suite_id: str
    suite_name: str
    baseline: str
    verdict: ChangeVerdict
    summary: str
    finished_at: int
    run_id: str
    baseline_run_id: str = ""
    since: str = ""
    accuracy: PairedRow | None = None
    latency: PairedRow | None = None
    cost: PairedRow | None = None
    latency_p95: tuple[float | None, float | None] = (None, None)
    broken: tuple[CaseKey, ...] = ()
    fixed: tuple[CaseKey, ...] = ()
    more_cases: int | None = None
    spark: History | None = None
    errors: tuple[ErrorClass, ...] = ()
    command: str = ""
    severity: Severity | None = None
    error_rate: PairedRow | None = None
    reliability: PairedRow | None = None
    evidence: Evidence = ""
    finding: Regression | None = None
    steady_broken: tuple[CaseKey, ...] = ()


@dataclass(frozen=True, slots=True)
class Alert:
    """A regression that somebody should look at. ``alert_id`` stays the same while the finding does."""

    alert_id: str
    agent: str
    suite_id: str
    regression: Regression
    run_id: str = ""
    baseline_run_id: str = ""
    acknowledged_by: str = ""
    acknowledged_at: int | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Changes:
    """Rows with the worst first, and how many there are of each verdict.

    ``spent_today_usd`` is the sum of what is known of the executions since midnight (UTC), ``None`` where nothing is;
    ``unpriced_today`` counts those whose cost is not known. ``runs_today`` counts runs. ``quiet`` is the sentence for
    when nothing is worse, "" otherwise.
    """

    rows: tuple[ChangeRow, ...]
    counts: dict[str, int] = field(default_factory=dict)
    spent_today_usd: float | None = None
    runs_today: int = 0
    quiet: str = ""
    unpriced_today: int = 0
