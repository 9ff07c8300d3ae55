"""A version of an agent against a baseline: what became worse, by how much, and where."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from agentdyno.findings.duel.model import PairedRow
from agentdyno.findings.duel.words import saves_on_failures
from agentdyno.findings.engine.judgement import judgement, restates_pass_rate
from agentdyno.findings.engine.severity import (
    DEFAULT_THRESHOLD,
    CasePair,
    Worsening,
    impact_of,
    overall_loss,
    paired_cases,
    severity_of,
    threshold_of,
    worsening,
)
from agentdyno.findings.figures.dimensions import DIMENSIONS
from agentdyno.findings.history.model_regression import Detector, Impact, Regression
from agentdyno.model.form import RunWarning
from agentdyno.model.metric import Verdict, format_value
from agentdyno.model.policy import DEFAULT_POLICY, GatePolicy
from agentdyno.model.record import UNKNOWN_SPREAD, AgentRecord, RunSpread

METRICS = (*DIMENSIONS, "error_rate")
Found = tuple[list[Regression], list[Regression]]
"""Regressions and improvements."""


def version_rows(
    baseline: AgentRecord,
    candidate: AgentRecord,
    spread: RunSpread = UNKNOWN_SPREAD,
    policy: GatePolicy = DEFAULT_POLICY,
) -> list[PairedRow]:
    """The five dimensions and ``error_rate`` as the engine judges them, for the suite and for each common benchmark.

    With one benchmark there are only the rows of the suite: the others would say the same again.
    """
    judged = judgement(baseline, candidate, policy, spread)
    rows = [judged.rows[metric] for metric in METRICS]
    return rows if len(judged.pairing.benchmarks) < 2 else [*rows, *judged.parts.values()]


def judge_rows(
    rows: Sequence[PairedRow],
    baseline: AgentRecord,
    candidate: AgentRecord,
    thresholds: Mapping[str, float] | float = DEFAULT_THRESHOLD,
) -> Found:
    """The rows whose verdict is worse or better, by more than their threshold, as findings.

    What a success takes is none where an execution takes the same: it only tells the pass rate again. Nor is a case
    that costs less where a success does not.
    """
    pairs = paired_cases(baseline, candidate)
    worse, better = [], []
    for row in rows:
        threshold = threshold_of(thresholds, row.metric, row.quantity)
        change = row_change(row)
        if change is None or row.adjusted_p is None or restates_pass_rate(row) or saves_on_failures(row):
            continue
        told = threshold, row.adjusted_p
        if row.verdict is Verdict.WORSE and change.exceeds(threshold):
            worse.append(_finding(row, change, told, (baseline, candidate), pairs))
        elif row.verdict is Verdict.BETTER and change.improves(threshold):
            better.append(_finding(row, change, told, (baseline, candidate), pairs))
    return worse, better


def row_change(row: PairedRow) -> Worsening | None:
    """By how much the candidate is worse in a row; ``None`` where a side is not known."""
    before, after = row.baseline, row.candidate
    if before is None or after is None or not (math.isfinite(before) and math.isfinite(after)):
        return None
    return worsening(row.metric, before, after, higher_is_better=row.higher_is_better, unit=row.unit)


def not_comparable(rows: Sequence[PairedRow]) -> tuple[RunWarning, ...]:
    """What could not be set side by side, and why: one warning for all rows with the same reason."""
    reasons: dict[str, list[str]] = {}
    for row in rows:
        if row.verdict is None and row.reason:
            name = f"{row.metric} in {row.benchmark}" if row.benchmark else row.metric
            reasons.setdefault(row.reason, []).append(name)
    return tuple(
        RunWarning("not-comparable", f"{', '.join(names)}: {reason}", "") for reason, names in reasons.items()
    )


def _finding(
    row: PairedRow,
    change: Worsening,
    judged: tuple[float, float],
    sides: tuple[AgentRecord, AgentRecord],
    pairs: Sequence[CasePair],
) -> Regression:
    threshold, p_value = judged
    baseline, candidate = sides
    before, after = row.baseline or 0.0, row.candidate or 0.0
    improved = change.amount < 0
    impact = Impact(overall=overall_loss(row, baseline)) if improved else impact_of(row, pairs, baseline, threshold)
    return Regression(
        detector=Detector.VERSION,
        kind="drop",
        metric=row.metric,
        baseline=before,
        current=after,
        amount=change.amount,
        relative=change.relative,
        threshold=threshold,
        severity=severity_of(row.metric, change, after, threshold),
        explanation=_explanation(row, change, threshold, p_value),
        benchmark=row.benchmark,
        category=_category(baseline, row.benchmark),
        p_value=p_value,
        improvement=improved,
        since=candidate.finished_at,
        version=candidate.version,
        impact=impact,
        unit=row.unit,
    )


def _category(record: AgentRecord, benchmark: str) -> str:
    """Of a benchmark; of the whole suite where all its benchmarks share one."""
    own = {item.category for item in record.benchmarks if benchmark in ("", item.benchmark_id)}
    return own.pop() if len(own) == 1 else ""


def _explanation(row: PairedRow, change: Worsening, threshold: float, p_value: float) -> str:
    where = row.benchmark or "the whole suite"
    name = f"{row.metric} ({row.quantity})" if row.metric in ("speed", "cost", "efficiency") else row.metric
    values = f"{format_value(row.baseline, row.unit)} → {format_value(row.candidate, row.unit)}"
    return (
        f"{name} in {where}: {values}, {change.text(threshold, row.unit)}; "
        f"p = {p_value:.2g} after correction over {row.family} row{'s' * (row.family != 1)}, {row.cases} cases"
    )
