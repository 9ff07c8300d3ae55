"""The newest version of an agent against its baseline, as one verdict; and many of them with the worst first.

**Verdict.** The rows are those of the engine's one judgement. Accuracy, time per case and cost per case decide,
reliability where it changed, and the error rate where a side had errors. A case that costs less does not count where
a success does not. Worse in one of them is ``worse``; else better in one is ``better``; all within the tolerance are
``same``; anything else is ``inconclusive``, and so is ``better`` where cases were seen to break while accuracy is not
settled: being quicker is no help to who answers wrongly.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from agentdyno.errors import NotComparable
from agentdyno.findings.change.model import (
    BETTER,
    HISTORY,
    INCONCLUSIVE,
    SAME,
    VERDICTS,
    WORSE,
    Alert,
    ChangeRow,
    ChangeVerdict,
)
from agentdyno.findings.change.words import facts_first, history_beside_text, more_cases_of, summary_text
from agentdyno.findings.duel.model import PairedRow
from agentdyno.findings.duel.words import accuracy_is_open, saves_on_failures
from agentdyno.findings.engine.judgement import judgement
from agentdyno.findings.engine.severity import DEFAULT_THRESHOLD, RANKS, dimension_of, severity_of
from agentdyno.findings.engine.steady import steady_breaks
from agentdyno.findings.figures.cases import ArmFigures
from agentdyno.findings.gate.judge import changed_cases
from agentdyno.findings.history.judge_health import regression_report
from agentdyno.findings.history.judge_versions import row_change
from agentdyno.findings.history.judge_watched import OverTime
from agentdyno.findings.history.model import History
from agentdyno.findings.history.model_regression import Regression, Severity
from agentdyno.model import Verdict
from agentdyno.model.case import CaseKey
from agentdyno.model.identity import digest
from agentdyno.model.policy import DEFAULT_POLICY, GatePolicy
from agentdyno.model.record import UNKNOWN_SPREAD, AgentRecord, ErrorClass, RunSpread
from agentdyno.stats import quantile

METRICS = ("accuracy", "speed", "cost")
RELIABILITY = "reliability"
ERROR_RATE = "error_rate"
MOST_ERRORS = 5
"""Classes of errors that a row names."""
_DECIDED = (Verdict.WORSE, Verdict.BETTER)
_FIRST = ("accuracy", RELIABILITY, ERROR_RATE, "speed", "cost")
"""What is told first of equals: a wrong answer is no help, however cheap."""
_SERIES = {"speed": "duration_s", "cost": "cost_usd", ERROR_RATE: "failure_rate"}


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of a candidate. ``metric`` is the name, in histories, of what changed most.

    ``rows`` are accuracy, speed and cost; ``error_rate`` is ``None`` where no side had an error, ``reliability``
    where it does not compare.
    """

    verdict: ChangeVerdict
    summary: str
    rows: tuple[PairedRow, PairedRow, PairedRow]
    error_rate: PairedRow | None
    broken: tuple[CaseKey, ...]
    fixed: tuple[CaseKey, ...]
    keys: tuple[CaseKey, ...]
    more_cases: int | None = None
    severity: Severity | None = None
    metric: str = "accuracy"
    reliability: PairedRow | None = None
    steady_broken: tuple[CaseKey, ...] = ()


def judge_change(
    baseline: AgentRecord,
    candidate: AgentRecord,
    spread: RunSpread = UNKNOWN_SPREAD,
    policy: GatePolicy = DEFAULT_POLICY,
) -> Judged:
    """By the rules above; ``NotComparable`` where no case is common."""
    found = judgement(baseline, candidate, policy, spread)
    pairing, judged = found.pairing, found.rows
    if not pairing.keys:
        raise NotComparable(
            f"{baseline.agent} and {candidate.agent} have no case in common",
            remedy="Run both on one version of the suite.",
        )
    lasting = judged[RELIABILITY]
    errors = [judged[ERROR_RATE]] if pairing.had_errors else []
    rows = [judged[name] for name in METRICS]
    # What was not tried often enough to tell about reliability does not keep the rest undecided.
    counted = [row for row in rows if row.verdict not in _DECIDED or not saves_on_failures(row)]
    deciding = [*counted, *([lasting] if lasting.verdict in _DECIDED else []), *errors]
    steady = steady_breaks(pairing)
    verdict = verdict_of(deciding)
    if verdict == BETTER and steady and accuracy_is_open(deciding):
        verdict = INCONCLUSIVE
    telling = _in_order([row for row in deciding if row.verdict is not None and row.verdict.value == verdict])
    broken, fixed = changed_cases(pairing)
    flips = len(broken) - len(steady), len(fixed)
    return Judged(
        verdict=verdict,
        summary=facts_first(steady, summary_text(verdict, deciding, telling, flips, pairing)),
        rows=(rows[0], rows[1], rows[2]),
        error_rate=errors[0] if errors else None,
        broken=tuple(item.key for item in broken),
        fixed=fixed,
        keys=pairing.keys,
        more_cases=more_cases_of(deciding) if verdict == INCONCLUSIVE else None,
        severity=row_severity(telling[0]) if verdict == WORSE else None,
        metric=_changed_most(telling) if verdict in (WORSE, BETTER) else "accuracy",
        reliability=lasting if lasting.verdict is not None else None,
        steady_broken=steady,
    )


def verdict_of(rows: Iterable[PairedRow]) -> ChangeVerdict:
    """One for several; rows that do not compare have no say."""
    found = {row.verdict.value for row in rows if row.verdict is not None}
    strongest_first: tuple[ChangeVerdict, ...] = (WORSE, BETTER, INCONCLUSIVE, SAME)
    return next((verdict for verdict in strongest_first if verdict in found), INCONCLUSIVE)


def in_order(rows: Iterable[ChangeRow]) -> list[ChangeRow]:
    """The worst first: by verdict, then severity; of equals those that were compared, and then the newest."""
    return sorted(
        rows,
        key=lambda row: (
            VERDICTS.index(row.verdict),
            -1 if row.severity is None else -RANKS[row.severity] - 2,
            row.accuracy is None,
            -row.finished_at,
            row.name,
            row.suite_id,
        ),
    )


def count_verdicts(rows: Iterable[ChangeRow]) -> dict[str, int]:
    """Every verdict, those that nobody has too."""
    counts = Counter(row.verdict for row in rows)
    return {verdict: counts[verdict] for verdict in VERDICTS}


def since_version(history: History, verdict: str, baseline: AgentRecord, newest: str) -> str:
    """The version from which the present level holds, where the history shows it; else the newest."""
    later = [change for change in history.changes if change.comparable and change.at >= baseline.finished_at]
    if verdict not in (WORSE, BETTER) or not later:
        return newest
    last = later[-1]
    shown = last.better is not None and last.better == (verdict == BETTER)
    return last.version_after if shown and last.version_after not in ("", baseline.version) else newest


def p95_seconds(figures: Sequence[ArmFigures], keys: Iterable[CaseKey]) -> float | None:
    """Over all executions of these cases that answered; ``None`` where no time is known."""
    wanted = {(key.benchmark, key.case_id) for key in keys}
    found = []
    for own in figures:
        if "duration_s" not in own.values:
            continue
        places = [at for name, at in own.positions.items() if (own.benchmark.benchmark_id, name) in wanted]
        values = np.asarray(own.values["duration_s"], dtype=np.float64)
        found.append(values[np.isin(np.asarray(own.owners["duration_s"]), places)])
    pooled = np.concatenate(found) if found else np.empty(0)
    return float(quantile(pooled, 0.95)) if pooled.size else None


def frequent_errors(record: AgentRecord) -> tuple[ErrorClass, ...]:
    """The classes of failures over all benchmarks, the most frequent first."""
    classes = [item for benchmark in record.benchmarks for item in benchmark.errors]
    return tuple(sorted(classes, key=lambda item: -item.count)[:MOST_ERRORS])


def alert_id(agent: str, suite_id: str, item: Regression) -> str:
    """The same for the same finding, whatever its numbers are by now."""
    return digest([agent, suite_id, item.detector, item.kind, item.metric, item.benchmark, item.version])


def alerts_in_order(alerts: Iterable[Alert]) -> list[Alert]:
    """The worst first; of equals the confirmed, then the newest."""
    return sorted(
        alerts,
        key=lambda alert: (
            -RANKS[alert.regression.severity],
            not alert.regression.confirmed,
            -(alert.regression.since or 0),
            alert.agent,
            alert.alert_id,
        ),
    )


def _in_order(rows: Sequence[PairedRow]) -> list[PairedRow]:
    """What to read first: of what changed the gravest, and of equals whether answers are right, then the rest."""

    def place(row: PairedRow) -> tuple[int, int]:
        return -RANKS[row_severity(row)] if row.verdict in _DECIDED else 0, _FIRST.index(row.metric)

    return sorted(rows, key=place)


def row_severity(row: PairedRow) -> Severity:
    change = row_change(row)
    if change is None or row.candidate is None:
        return Severity.LOW
    return severity_of(row.metric, change, row.candidate, DEFAULT_THRESHOLD)


def _changed_most(telling: Sequence[PairedRow]) -> str:
    metric = telling[0].metric
    return _SERIES.get(metric, metric)


ENOUGH_POINTS = 4
"""Points from which a line shows more than two levels."""
SPARK_POINTS = 30
_SHOWN = ("accuracy", "overall", "pass_rate", "duration_s")
"""What is drawn where the metric of the verdict has too few points."""
_FIRST_IN_HISTORY = ("accuracy", "reliability", "speed", "cost", "efficiency")
"""What is told first of equals, by dimension."""


def history_finding(found: OverTime, *, after: int | None = None) -> Regression | None:
    """The gravest change for the worse that stands in the histories of one agent, else the largest for the better.

    By the rules of the report on its regressions; ``after`` (UTC milliseconds) leaves out what began before. ``None``
    where nothing changed beyond threshold and chance.
    """
    # A rise that only takes back a fall is no gain.
    gains = [item for item in found.better if not any(_takes_back(item, fall) for fall in found.worse)]
    report = regression_report("", "", "", found.worse, gains)
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


def beside_history(row: ChangeRow, finding: Regression, command: str) -> ChangeRow:
    """The row with its verdict over cases, and what the history says beyond it; ``command`` prints that."""
    told = history_beside_text(finding)
    return replace(row, summary=f"{row.summary} {told}: `{command}`.", finding=finding)


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
    told = _FIRST_IN_HISTORY.index(of) if of in _FIRST_IN_HISTORY else len(_FIRST_IN_HISTORY)
    return -RANKS[item.severity], not item.confirmed, told, -abs(item.amount)
