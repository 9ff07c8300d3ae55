"""Several small drops in one category of benchmarks that are more than chance together."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from agentdyno.findings.duel.model import PairedRow
from agentdyno.findings.engine.severity import DEFAULT_THRESHOLD, Worsening, severity_of, threshold_of
from agentdyno.findings.history.judge_versions import row_change
from agentdyno.findings.history.model_regression import Detector, Regression
from agentdyno.model.record import AgentRecord
from agentdyno.stats import holm
from agentdyno.stats.distributions import normal_cdf, normal_quantile

ALPHA = 0.01
"""What counts together; stricter than for a single drop, for a pattern is sought where nothing was found."""
FEWEST_BENCHMARKS = 3
PART = 0.3
"""What the drops must come to on average, as a part of the metric's threshold: 3 % where that is 10 %."""
_LEAST_P = 1e-15
_Small = tuple[PairedRow, Worsening]


def several_small_drops(
    rows: Sequence[PairedRow],
    baseline: AgentRecord,
    candidate: AgentRecord,
    *,
    thresholds: Mapping[str, float] | float = DEFAULT_THRESHOLD,
    alpha: float = ALPHA,
    found: Sequence[Regression] = (),
) -> list[Regression]:
    """A finding per category and metric in which at least three benchmarks became a little worse together.

    ``rows`` are those of the single benchmarks; what ``found`` already names is left out, and so is what exceeds its
    threshold alone. Their one-sided p-values are combined (Stouffer, by the root of the cases), corrected after Holm
    over categories and metrics; two thirds of the benchmarks must have become worse, on average by 0.3 of the
    threshold. Benchmarks have no case in common, so their results are independent.
    """
    known = {(item.metric, item.benchmark) for item in found}
    categories = {item.benchmark_id: item.category for item in baseline.benchmarks}
    groups: dict[tuple[str, str], list[_Small]] = {}
    for row in rows:
        change = row_change(row)
        if not row.benchmark or change is None or row.p_value is None or (row.metric, row.benchmark) in known:
            continue
        if change.from_nothing or change.exceeds(threshold_of(thresholds, row.metric, row.quantity)):
            continue
        groups.setdefault((categories.get(row.benchmark, ""), row.metric), []).append((row, change))
    tried = {key: group for key, group in groups.items() if len(group) >= FEWEST_BENCHMARKS}
    adjusted = holm([combined_p([row for row, _ in group]) for group in tried.values()])
    drops = []
    for ((category, metric), group), p_value in zip(tried.items(), adjusted, strict=True):
        threshold = threshold_of(thresholds, metric, group[0][0].quantity)
        mean = math.fsum(change.amount for _, change in group) / len(group)
        worse = sum(change.amount > 0 for _, change in group)
        if p_value < alpha and mean >= PART * threshold and 3 * worse >= 2 * len(group):
            drops.append(_finding(category, group, candidate, threshold, p_value))
    return drops


def combined_p(rows: Sequence[PairedRow]) -> float:
    """One-sided: how likely rows as bad as these are together where nothing became worse (Stouffer, weighted)."""
    total, squares = 0.0, 0.0
    for row in rows:
        change = row_change(row)
        if row.p_value is None or change is None or change.amount == 0.0:
            one_sided = 0.5
        else:
            one_sided = row.p_value / 2.0 if change.amount > 0 else 1.0 - row.p_value / 2.0
        weight = math.sqrt(max(1, row.cases))
        total += weight * -normal_quantile(min(max(one_sided, _LEAST_P), 1.0 - _LEAST_P))
        squares += weight * weight
    return normal_cdf(-total / math.sqrt(squares)) if squares else 1.0


def _finding(
    category: str, group: Sequence[_Small], candidate: AgentRecord, threshold: float, p_value: float
) -> Regression:
    first = group[0][0]
    known = [(row.baseline, row.candidate) for row, _ in group if row.baseline is not None]
    before = math.fsum(value for value, _ in known) / len(known)
    after = math.fsum(value for _, value in known if value is not None) / len(known)
    mean = math.fsum(change.amount for _, change in group) / len(group)
    change = Worsening(mean, group[0][1].relative)
    ordered = sorted(group, key=lambda item: -item[1].amount)
    worse = [row.benchmark for row, moved in ordered if moved.amount > 0]
    names = ", ".join(worse[:5]) + (f" and {len(worse) - 5} more" if len(worse) > 5 else "")
    return Regression(
        detector=Detector.PATTERN,
        kind="several-small-drops",
        metric=first.metric,
        baseline=before,
        current=after,
        amount=mean,
        relative=change.relative,
        threshold=threshold,
        severity=severity_of(first.metric, change, after, threshold),
        explanation=(
            f"{first.metric} in {len(worse)} of {len(group)} benchmarks{f' of {category}' if category else ''} "
            f"({names}): on average {change.text(threshold, first.unit)}; each within its threshold, "
            f"p = {p_value:.2g} together"
        ),
        category=category,
        p_value=p_value,
        since=candidate.finished_at,
        version=candidate.version,
        unit=first.unit,
    )
