"""Baseline against candidate: better, worse, same or inconclusive, and why."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agentdyno.analysis.values import PER_PROCESS, metric_values, per_process
from agentdyno.model import ArmResult, Direction, Metric, MetricComparison, Sample, Verdict
from agentdyno.stats import (
    equivalent,
    hodges_lehmann_ratio,
    holm,
    mann_whitney,
    minimum_detectable_ratio,
    paired_ratio,
    samples_to_decide,
    wilcoxon_signed_rank,
)

MIN_SAMPLES = 4
"""Per side; below it no verdict is given."""


@dataclass(frozen=True, slots=True)
class Judging:
    """``tolerance`` and ``noise_floor`` are relative changes; the larger is what counts as an effect."""

    tolerance: float = 0.03
    alpha: float = 0.01
    noise_floor: float | None = None
    same_machine: bool = True
    paired: bool = False

    @property
    def threshold(self) -> float:
        return max(self.tolerance, self.noise_floor or 0.0)


def compare_arms(baseline: ArmResult, candidate: ArmResult, judging: Judging) -> tuple[MetricComparison, ...]:
    """Every metric that both sides have, judged ones first. Verdicts are not yet corrected for their number."""
    names = [name for name in baseline.metrics if name in candidate.metrics]
    rows = []
    for name in names:
        metric = candidate.metrics[name].as_metric(name)
        first, second, paired = _sides(baseline.samples, candidate.samples, metric, judging)
        if first and second:
            rows.append(_compare(metric, first, second, replace(judging, paired=paired)))
    return tuple(sorted(rows, key=lambda row: row.verdict is None))


def correct_family(rows: Sequence[MetricComparison], alpha: float) -> list[MetricComparison]:
    """Holm over all judged rows of a table: a change that no longer stands out becomes inconclusive."""
    judged = [i for i, row in enumerate(rows) if row.p_value is not None and row.verdict is not None]
    adjusted = holm([rows[i].p_value or 0.0 for i in judged]) if judged else []
    corrected = list(rows)
    for i, p_value in zip(judged, adjusted, strict=True):
        row = rows[i]
        changed = row.verdict in (Verdict.BETTER, Verdict.WORSE) and p_value >= alpha
        corrected[i] = replace(
            row,
            p_value=p_value,
            verdict=Verdict.INCONCLUSIVE if changed else row.verdict,
            reason=f"not significant among {len(judged)} comparisons" if changed else row.reason,
        )
    return corrected


def _sides(
    baseline: Sequence[Sample], candidate: Sequence[Sample], metric: Metric, judging: Judging
) -> tuple[list[float], list[float], bool]:
    name = metric.name
    if name in PER_PROCESS:
        return _maxima(baseline, name), _maxima(candidate, name), False
    if judging.paired:
        first = {(s.iteration, s.case_id): s.readings[name] for s in baseline if s.usable and name in s.readings}
        second = {(s.iteration, s.case_id): s.readings[name] for s in candidate if s.usable and name in s.readings}
        common = [key for key in first if key in second]
        if common:
            return [first[key] for key in common], [second[key] for key in common], True
    return metric_values(baseline).get(name, []), metric_values(candidate).get(name, []), False


def _maxima(samples: Sequence[Sample], name: str) -> list[float]:
    return [max(values) for values in per_process(samples, name).values()]


def _compare(metric: Metric, baseline: list[float], candidate: list[float], judging: Judging) -> MetricComparison:
    row = MetricComparison(
        metric=metric,
        baseline_n=len(baseline),
        candidate_n=len(candidate),
        baseline=_median(baseline),
        candidate=_median(candidate),
        ratio=None,
        interval=None,
        p_value=None,
        verdict=None,
        reason="",
        threshold=judging.threshold,
        paired=judging.paired,
    )
    reason = _not_judged(metric, baseline, candidate, judging)
    if min(*baseline, *candidate) <= 0:
        return replace(row, reason=reason or "not judged: values of zero or below have no ratio")
    if reason and min(len(baseline), len(candidate)) < MIN_SAMPLES:
        return replace(row, ratio=row.candidate / row.baseline, reason=reason)
    row = _estimate(row, baseline, candidate, judging)
    if reason:
        return replace(row, p_value=None, reason=reason)
    return _judge(row, baseline, candidate, judging)


def _not_judged(metric: Metric, baseline: list[float], candidate: list[float], judging: Judging) -> str:
    if metric.direction is Direction.UNKNOWN:
        return "not judged: no direction declared"
    if metric.name == "throughput_per_s":
        return "not judged: duration_s seen from the other side"
    if metric.machine_dependent and not judging.same_machine:
        return "not judged: different machines"
    fewest = min(len(baseline), len(candidate))
    if metric.name in PER_PROCESS and fewest < MIN_SAMPLES:
        return f"not judged: one value per process; `processes: {MIN_SAMPLES}` or more would"
    if fewest < MIN_SAMPLES:
        return f"not judged: {fewest} samples, at least {MIN_SAMPLES} a side are needed"
    return ""


def _estimate(
    row: MetricComparison, baseline: list[float], candidate: list[float], judging: Judging
) -> MetricComparison:
    confidence = 1 - judging.alpha
    if judging.paired:
        test = wilcoxon_signed_rank([math.log(c / b) for b, c in zip(baseline, candidate, strict=True)])
        estimate = paired_ratio(baseline, candidate, confidence)
        method = "Wilcoxon signed-rank on pairs"
    else:
        test = mann_whitney(baseline, candidate)
        estimate = hodges_lehmann_ratio(baseline, candidate, confidence)
        method = "Mann-Whitney"
    return replace(
        row,
        ratio=estimate.point,
        interval=(estimate.interval.low, estimate.interval.high),
        p_value=test.p_value,
        method=method,
        detectable=minimum_detectable_ratio(baseline, len(candidate), alpha=judging.alpha),
    )


def _judge(
    row: MetricComparison, baseline: list[float], candidate: list[float], judging: Judging
) -> MetricComparison:
    assert row.ratio is not None
    assert row.interval is not None
    assert row.p_value is not None
    limit = math.log1p(judging.threshold)
    effect = math.log(row.ratio)
    significant = row.p_value < judging.alpha
    percent = f"{judging.threshold:.1%}"
    if significant and abs(effect) >= limit:
        improved = (effect < 0) == (row.metric.direction is Direction.LOWER)
        verdict = Verdict.BETTER if improved else Verdict.WORSE
        return replace(row, verdict=verdict, reason=f"significant and beyond ±{percent}")
    low, high = row.interval
    if low > 0 and math.isfinite(high) and _inside(low, high, limit, judging.alpha):
        return replace(row, verdict=Verdict.SAME, reason=f"the interval lies within ±{percent}")
    more = samples_to_decide(baseline, candidate, judging.threshold, alpha=judging.alpha)
    reason = f"the interval reaches beyond ±{percent}" if significant else "not significant"
    return replace(row, verdict=Verdict.INCONCLUSIVE, reason=reason, more_samples=more)


def _inside(low: float, high: float, limit: float, alpha: float) -> bool:
    from agentdyno.stats import Interval

    return equivalent(Interval(math.log(low), math.log(high), 1 - alpha), -limit, limit)


def _median(values: Sequence[float]) -> float:
    ordered = sorted(values)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
