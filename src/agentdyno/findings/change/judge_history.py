"""What the history of an agent says of its newest version, where no version can be set against it case by case."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from agentdyno.findings.change.model import BETTER, HISTORY, WORSE, ChangeRow, ChangeVerdict
from agentdyno.findings.engine.severity import DEFAULT_THRESHOLD, RANKS, dimension_of
from agentdyno.findings.history.judge import history_regressions
from agentdyno.findings.history.judge_health import regression_report
from agentdyno.findings.history.judge_patterns import history_patterns
from agentdyno.findings.history.model import History
from agentdyno.findings.history.model_regression import Regression

ENOUGH_POINTS = 4
"""Points from which a line shows more than two levels."""
SPARK_POINTS = 30
_SHOWN = ("accuracy", "overall", "pass_rate", "duration_s")
"""What is drawn where the metric of the verdict has too few points."""
_FIRST = ("accuracy", "reliability", "speed", "cost", "efficiency")
"""What is told first of equals, by dimension."""


def history_finding(
    series: Sequence[History], *, threshold: float = DEFAULT_THRESHOLD, after: int | None = None
) -> Regression | None:
    """The gravest change for the worse that stands in these histories of one agent, else the largest for the better.

    By the detectors and rules of the report on its regressions; ``after`` (UTC milliseconds) leaves out what began
    before. ``None`` where nothing changed beyond ``threshold`` and chance.
    """
    worse: list[Regression] = []
    better: list[Regression] = []
    for detect in (history_regressions, history_patterns):
        found, improved = detect(series, threshold=threshold)
        worse, better = [*worse, *found], [*better, *improved]
    # A rise that only takes back a fall is no gain.
    gains = [item for item in better if not any(_takes_back(item, fall) for fall in worse)]
    report = regression_report("", "", "", worse, gains)
    for items in (report.regressions, report.improvements):
        left = [item for item in items if after is None or (item.since or 0) > after]
        if left:
            return min(left, key=_place)
    return None


def judged_by_history(row: ChangeRow, finding: Regression) -> ChangeRow:
    """The row with the verdict of a finding; what it said before, which is why no cases compare, is told after it."""
    verdict: ChangeVerdict = BETTER if finding.improvement else WORSE
    return replace(
        row,
        verdict=verdict,
        summary=f"{verdict.capitalize()} by its history: {finding.explanation}. {row.summary}",
        since=finding.version or row.version,
        severity=None if finding.improvement else finding.severity,
        evidence=HISTORY,
        finding=finding,
    )


def spark_of(history: History) -> History:
    """The last 30 points, with the changes among them."""
    cut = max(0, len(history.points) - SPARK_POINTS)
    if not cut:
        return history
    changes = tuple(replace(item, index=item.index - cut) for item in history.changes if item.index >= cut)
    return replace(history, points=history.points[cut:], changes=changes)


def choose_spark(metric: str, made: Callable[[str], History]) -> History | None:
    """Of the metric where it has four points or more, else of accuracy, or of what else is known; at most 30 points.

    ``None`` where nothing has a point. A history is ``made`` only when it is looked at.
    """
    for name, least in ((metric, ENOUGH_POINTS), *((name, 2) for name in _SHOWN), *((name, 1) for name in _SHOWN)):
        found = made(name)
        if len(found.points) >= least:
            return spark_of(found)
    own = made(metric)
    return own if own.points else None


def _takes_back(rise: Regression, fall: Regression) -> bool:
    if fall.undone_at is None or (rise.metric, rise.benchmark) != (fall.metric, fall.benchmark):
        return False
    return (fall.since or 0) <= (rise.since or 0) <= fall.undone_at


def _place(item: Regression) -> tuple[int, bool, int, float]:
    """The gravest first, the confirmed of equals, then whether answers are right, then by how much."""
    of = dimension_of(item.metric)
    told = _FIRST.index(of) if of in _FIRST else len(_FIRST)
    return -RANKS[item.severity], not item.confirmed, told, -abs(item.amount)
