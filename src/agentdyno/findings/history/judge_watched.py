"""What became worse or better over time in any of the metrics of one subject: what both detectors find."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from agentdyno.findings.engine.severity import DEFAULT_THRESHOLD
from agentdyno.findings.figures.dimensions import DIMENSIONS
from agentdyno.findings.history.judge import history_regressions, metric_history
from agentdyno.findings.history.judge_patterns import history_patterns
from agentdyno.findings.history.judge_series import Executed, watched_points
from agentdyno.findings.history.model import History
from agentdyno.findings.history.model_regression import Regression
from agentdyno.model.form import Form, RunWarning
from agentdyno.stats.series.short import FEWEST_POINTS

WATCHED = (*DIMENSIONS, "failure_rate")
"""The metrics whose history is looked at for regressions."""


@dataclass(frozen=True, slots=True)
class OverTime:
    """What was found in series of one subject, in the order of the detectors and of the series.

    ``judged``: at least one series is long enough for a change to be seen. ``suite`` is what the series are of.
    """

    worse: tuple[Regression, ...] = ()
    better: tuple[Regression, ...] = ()
    warnings: tuple[RunWarning, ...] = ()
    judged: bool = False
    suite: str = ""


def over_time(agent: str, rows: Sequence[Executed], threshold: Mapping[str, float]) -> OverTime:
    """Every watched metric of an agent in one suite."""
    found = judge_series([metric_history(agent, *watched_points(rows, metric)) for metric in WATCHED], threshold)
    return replace(found, warnings=(*found.warnings, *of_unknown_form(rows)))


def judge_series(series: Sequence[History], threshold: Mapping[str, float] | float = DEFAULT_THRESHOLD) -> OverTime:
    """What the detectors find in these series."""
    worse: list[Regression] = []
    better: list[Regression] = []
    for detect in (history_regressions, history_patterns):
        found, improved = detect(series, threshold=threshold)
        worse, better = [*worse, *found], [*better, *improved]
    judged = any(len(item.points) >= FEWEST_POINTS for item in series)
    return OverTime(tuple(worse), tuple(better), tuple(_thin(series)), judged)


def of_unknown_form(rows: Sequence[Executed]) -> list[RunWarning]:
    """One note where runs are older than what says whether they were whole ones."""
    runs = len({row.run_id or str(row.at) for row in rows if row.form == Form.UNKNOWN})
    said = "1 run was a whole one" if runs == 1 else f"{runs} runs were whole ones"
    text = f"Whether {said} is not known: recorded before that was kept, or by another tool"
    return [RunWarning("unknown-form", text)] if runs else []


def _thin(series: Sequence[History]) -> list[RunWarning]:
    """One note where no metric has enough points for a change to be seen."""
    longest = max(series, key=lambda item: len(item.points), default=None)
    if longest is None or not longest.note or longest.changes:
        return []
    return [RunWarning("short-history", f"{longest.metric}: {longest.note}")]
