"""A version of an agent against a baseline: what became worse, by how much, and where."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from agentdyno.findings.duel.model import PairedRow
from agentdyno.findings.engine.judge import judge
from agentdyno.findings.engine.measure import measure
from agentdyno.findings.engine.pairing import pair_records
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
from agentdyno.model.metric import format_value
from agentdyno.model.record import AgentRecord
from agentdyno.model.result import RunWarning
from agentdyno.stats import holm

METRICS = (*DIMENSIONS, "error_rate")
ALPHA = 0.05
Found = tuple[list[Regression], list[Regression]]
"""Regressions and improvements."""


def version_rows(baseline: AgentRecord, candidate: AgentRecord, *, seed: int = 0) -> list[PairedRow]:
    """The five dimensions and ``error_rate``, for the whole suite and for each benchmark that both have.

    With one benchmark there are only the rows of the suite: the others would say the same again.
    """
    theirs = {item.benchmark_id for item in candidate.benchmarks}
    common = [item.benchmark_id for item in baseline.benchmarks if item.benchmark_id in theirs]
    whole = pair_records(baseline, candidate)
    rows = []
    for place in ["", *common] if len(common) > 1 else [""]:
        pairing = whole.within(place) if place else whole
        rows += [judge(measure(pairing, metric, place, seed=seed)) for metric in METRICS]
    return rows


def judge_rows(
    rows: Sequence[PairedRow],
    baseline: AgentRecord,
    candidate: AgentRecord,
    thresholds: Mapping[str, float] | float = DEFAULT_THRESHOLD,
    alpha: float = ALPHA,
) -> Found:
    """The rows that changed beyond threshold and chance, as findings."""
    pairs = paired_cases(baseline, candidate)
    worse, better = [], []
    for row, p_value in corrected(rows):
        threshold = threshold_of(thresholds, row.metric, row.quantity)
        change = row_change(row)
        if change is None or not p_value < alpha:
            continue
        if change.exceeds(threshold):
            worse.append(_finding(row, change, (threshold, p_value), (baseline, candidate), pairs))
        elif change.improves(threshold):
            better.append(_finding(row, change, (threshold, p_value), (baseline, candidate), pairs))
    return worse, better


def corrected(rows: Sequence[PairedRow]) -> list[tuple[PairedRow, float]]:
    """The rows that have a p-value, each with it after correction.

    Rows of the suite and rows of its benchmarks are a family each, corrected after Holm; where there are both, their
    p-values are doubled, so that one false finding among all of them is as unlikely as ``alpha`` says.
    """
    usable = [row for row in rows if row.p_value is not None and math.isfinite(row.p_value)]
    families = [row for row in usable if not row.benchmark], [row for row in usable if row.benchmark]
    several = sum(bool(family) for family in families)
    found = []
    for family in families:
        adjusted = holm([row.p_value for row in family if row.p_value is not None])
        found += [(row, min(1.0, several * p)) for row, p in zip(family, adjusted, strict=True)]
    return found


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
        f"p = {p_value:.2g} after correction, {row.cases} cases"
    )
