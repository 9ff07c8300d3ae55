"""Baseline against candidate: better, worse, same or inconclusive, and why."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

from agentdyno.findings.engine.measure_arms_apart import against_runs
from agentdyno.findings.figures.claims import MOST_DISTURBED, Disturbed
from agentdyno.findings.figures.summarise import (
    PER_PROCESS,
    THROUGHPUT,
    metric_values,
    per_process,
    usable_value,
    whole_trials,
)
from agentdyno.model import ArmResult, Direction, Metric, MetricComparison, Sample, Verdict
from agentdyno.model.record import RunSpread
from agentdyno.settings.judging import EXPERIMENT_ALPHA, TOLERANCE
from agentdyno.stats import (
    Interval,
    equivalent,
    hodges_lehmann_ratio,
    holm,
    minimum_detectable_ratio,
    paired_ratio,
    samples_to_decide,
    trimmed_t,
    trimmed_welch,
)
from agentdyno.stats.effects import ratio_interval, ratio_of

MIN_SAMPLES = 4
"""Per side; below it no verdict is given."""
MIN_PROCESSES = 4
"""Processes per side from which they are compared instead of the samples that each of them gave."""
EXACT_FROM = 12
"""Pairs of processes from which an exact test must agree. Of identical commands on a busy machine, whose times have
humps and long tails, a trimmed t test at 1 % called 1.1 % different and both tests together 0.6 %; fewer pairs could
hardly ever convince the exact one."""


@dataclass(frozen=True, slots=True)
class SampleJudging:
    """``tolerance`` and ``noise_floor`` are relative changes; the larger is what counts as an effect.

    The noise floor is that of one process a side; it shrinks with the square root of the number of processes.
    """

    tolerance: float = TOLERANCE.default
    alpha: float = EXPERIMENT_ALPHA
    noise_floor: float | None = None
    same_machine: bool = True
    paired: bool = False

    def threshold(self, processes: int) -> float:
        return max(self.tolerance, (self.noise_floor or 0.0) / math.sqrt(max(1, processes)))


@dataclass(frozen=True, slots=True)
class _Sides:
    """Values to compare, one of each side where ``paired``; what they are values of; how many processes gave them."""

    baseline: list[float]
    candidate: list[float]
    paired: bool
    unit: str
    processes: int


def compare_arms(
    baseline: ArmResult, candidate: ArmResult, judging: SampleJudging, apart: RunSpread | None = None
) -> tuple[MetricComparison, ...]:
    """Every metric that both sides have, judged ones first. Verdicts are not yet corrected for their number.

    ``apart`` is what is known of the noise between runs, where the arms are of separate ones: what depends on the
    machine is then judged by runs and not by samples.
    """
    names = [name for name in baseline.metrics if name in candidate.metrics]
    rows = []
    worst = max(Disturbed.among(arm.samples).share for arm in (baseline, candidate))
    still = f"the bench itself stood still during {worst:.0%} of one side's samples" if worst > MOST_DISTURBED else ""
    before, after = whole_trials(baseline.samples), whole_trials(candidate.samples)
    for name in names:
        metric = candidate.metrics[name].as_metric(name)
        sides = _sides(before, after, metric, judging)
        if not (sides.baseline and sides.candidate):
            continue
        if apart is None or not metric.machine_dependent:
            row = _compare(metric, sides, judging)
        else:
            row = _compare_apart(metric, sides, judging, ((baseline, candidate), apart))
        if still and row.verdict is not None and metric.unit in ("s", "/s") and not name.startswith("cpu"):
            row = replace(row, p_value=None, verdict=Verdict.INCONCLUSIVE, reason=still)
        rows.append(row)
    return tuple(sorted(rows, key=lambda row: row.verdict is None))


def correct_family(rows: Sequence[MetricComparison], alpha: float) -> list[MetricComparison]:
    """Holm over all judged rows of a table: a change that no longer stands out becomes inconclusive.

    The row keeps its own p-value, which its interval goes with.
    """
    judged = [i for i, row in enumerate(rows) if row.p_value is not None and row.verdict is not None]
    adjusted = holm([rows[i].p_value or 0.0 for i in judged]) if judged else []
    corrected = list(rows)
    for i, adjusted_p in zip(judged, adjusted, strict=True):
        row = rows[i]
        changed = row.verdict in (Verdict.BETTER, Verdict.WORSE) and adjusted_p >= alpha
        corrected[i] = replace(
            row,
            adjusted_p=adjusted_p,
            family=len(judged),
            verdict=Verdict.INCONCLUSIVE if changed else row.verdict,
            reason=f"not significant among {len(judged)} comparisons" if changed else row.reason,
        )
    return corrected


def _sides(baseline: Sequence[Sample], candidate: Sequence[Sample], metric: Metric, judging: SampleJudging) -> _Sides:
    name = metric.name
    first, second = per_process(baseline, name), per_process(candidate, name)
    processes = min(len(first), len(second))
    if name in PER_PROCESS:
        return _Sides(
            [max(v) for v in first.values()], [max(v) for v in second.values()], False, "processes", processes
        )
    if judging.paired and (pairs := _pairs(baseline, candidate, name)):
        groups = _by_process(pairs)
        if len(groups) >= MIN_PROCESSES:
            pairs = [_typical(group) for group in groups.values()]
            return _Sides([p.baseline for p in pairs], [p.candidate for p in pairs], True, "processes", len(pairs))
        return _Sides([p.baseline for p in pairs], [p.candidate for p in pairs], True, "samples", processes)
    if processes >= MIN_PROCESSES:
        medians = [[median(values) for values in side.values()] for side in (first, second)]
        return _Sides(medians[0], medians[1], False, "processes", processes)
    values = metric_values(baseline).get(name, []), metric_values(candidate).get(name, [])
    return _Sides(*values, paired=False, unit="samples", processes=processes)


@dataclass(frozen=True, slots=True)
class _Pair:
    process: int
    baseline: float
    candidate: float


def _pairs(baseline: Sequence[Sample], candidate: Sequence[Sample], name: str) -> list[_Pair]:
    """Usable samples of the same trial on both sides."""
    first = {(s.iteration, s.case_id): v for s in baseline if (v := usable_value(s, name)) is not None}
    return [
        _Pair(s.process, first[s.iteration, s.case_id], value)
        for s in candidate
        if (value := usable_value(s, name)) is not None and (s.iteration, s.case_id) in first
    ]


def _by_process(pairs: Sequence[_Pair]) -> dict[int, list[_Pair]]:
    groups: dict[int, list[_Pair]] = {}
    for pair in pairs:
        groups.setdefault(pair.process, []).append(pair)
    return groups


def _typical(pairs: Sequence[_Pair]) -> _Pair:
    """One pair for a process: its median baseline, and the median ratio of its pairs."""
    base = median(pair.baseline for pair in pairs)
    if any(pair.baseline <= 0 or pair.candidate <= 0 for pair in pairs):
        return _Pair(pairs[0].process, base, median(pair.candidate for pair in pairs))
    change = median(math.log(pair.candidate / pair.baseline) for pair in pairs)
    return _Pair(pairs[0].process, base, base * math.exp(change))


def _row(metric: Metric, sides: _Sides, judging: SampleJudging) -> MetricComparison:
    """The figures alone."""
    return MetricComparison(
        metric=metric,
        baseline_n=len(sides.baseline),
        candidate_n=len(sides.candidate),
        baseline=median(sides.baseline),
        candidate=median(sides.candidate),
        ratio=None,
        interval=None,
        p_value=None,
        verdict=None,
        reason="",
        threshold=judging.threshold(sides.processes),
        paired=sides.paired,
        unit=sides.unit,
        level=judging.alpha,
    )


def _compare_apart(
    metric: Metric,
    sides: _Sides,
    judging: SampleJudging,
    apart: tuple[tuple[ArmResult, ArmResult], RunSpread],
) -> MetricComparison:
    row = _row(metric, sides, judging)
    reason = _never_judged(metric, judging)
    if min(row.baseline, row.candidate) <= 0:
        return replace(row, reason=reason or "not judged: values of zero or below have no ratio")
    if reason:
        return replace(row, ratio=row.candidate / row.baseline, reason=reason)
    arms, spread = apart
    row = against_runs(row, arms, spread, judging.alpha)
    return row if row.p_value is None else _decided(row, judging.alpha)


def _compare(metric: Metric, sides: _Sides, judging: SampleJudging) -> MetricComparison:
    baseline, candidate = sides.baseline, sides.candidate
    row = _row(metric, sides, judging)
    reason = _not_judged(metric, baseline, candidate, judging)
    if min(*baseline, *candidate) <= 0:
        return replace(row, reason=reason or "not judged: values of zero or below have no ratio")
    if reason and min(len(baseline), len(candidate)) < MIN_SAMPLES:
        return replace(row, ratio=row.candidate / row.baseline, reason=reason)
    row = _estimate(row, baseline, candidate, judging.alpha)
    if reason:
        return replace(row, p_value=None, reason=reason)
    return _judge(row, baseline, candidate, judging.alpha)


def _never_judged(metric: Metric, judging: SampleJudging) -> str:
    if metric.direction is Direction.UNKNOWN:
        return "not judged: no direction declared"
    if metric.name == THROUGHPUT:
        return "not judged: duration_s seen from the other side"
    if metric.machine_dependent and not judging.same_machine:
        return "not judged: different machines"
    return ""


def _not_judged(metric: Metric, baseline: list[float], candidate: list[float], judging: SampleJudging) -> str:
    if reason := _never_judged(metric, judging):
        return reason
    fewest = min(len(baseline), len(candidate))
    if metric.name in PER_PROCESS and fewest < MIN_PROCESSES:
        return f"not judged: one value per process, `processes: {MIN_PROCESSES}` or more are needed"
    if fewest < MIN_SAMPLES:
        return f"not judged: {fewest} samples, at least {MIN_SAMPLES} a side are needed"
    return ""


def _estimate(row: MetricComparison, baseline: list[float], candidate: list[float], alpha: float) -> MetricComparison:
    """Ratio, interval and p-value of one test, or of two: then of whichever says less."""
    first, second = ([math.log(value) for value in side] for side in (baseline, candidate))
    changes = [new - old for old, new in zip(first, second, strict=True)] if row.paired else []
    confidence = 1 - alpha
    if row.unit == "processes":
        test = trimmed_t(changes, confidence) if row.paired else trimmed_welch(first, second, confidence)
        ratio, p_value = ratio_of(test.point), test.p_value
        interval = ratio_interval(test.interval.low, test.interval.high)
        method = "trimmed t test on pairs of processes" if row.paired else "trimmed Welch test on processes"
        if len(changes) >= EXACT_FROM:
            exact = paired_ratio(baseline, candidate, confidence)
            interval = (min(interval[0], exact.interval.low), max(interval[1], exact.interval.high))
            p_value = max(p_value, exact.p_value)
            method += ", and a signed-rank test"
    else:
        found = (paired_ratio if row.paired else hodges_lehmann_ratio)(baseline, candidate, confidence)
        ratio, interval, p_value = found.point, (found.interval.low, found.interval.high), found.p_value
        method = "Wilcoxon signed-rank test on pairs of samples" if row.paired else "Mann-Whitney test on samples"
    return replace(
        row,
        ratio=ratio,
        interval=interval,
        p_value=p_value,
        method=method,
        detectable=minimum_detectable_ratio(_spread_of(row, baseline, candidate)[0], len(candidate), alpha=alpha),
    )


def _spread_of(
    row: MetricComparison, baseline: list[float], candidate: list[float]
) -> tuple[list[float], list[float]]:
    """Two sides for planning, which counts two independent samples: as they are, or made from pairs.

    What decides between pairs is the spread of their changes alone. Half of its variance is given to each side, so
    that the difference of the sides is as uncertain as the mean change is.
    """
    if not row.paired:
        return baseline, candidate
    changes = [math.log(new / old) for old, new in zip(baseline, candidate, strict=True)]
    centre = median(changes)
    rest = [(change - centre) / math.sqrt(2) for change in changes]
    return [math.exp(-part) for part in rest], [math.exp(centre + part) for part in rest]


def _decided(row: MetricComparison, alpha: float) -> MetricComparison:
    """The row with its verdict, by ratio, interval and p-value."""
    assert row.ratio is not None
    assert row.interval is not None
    assert row.p_value is not None
    limit = math.log1p(row.threshold)
    effect = math.log(row.ratio)
    significant = row.p_value < alpha
    percent = f"{row.threshold:.1%}"
    if significant and abs(effect) >= limit:
        improved = (effect < 0) == (row.metric.direction is Direction.LOWER)
        verdict = Verdict.BETTER if improved else Verdict.WORSE
        return replace(row, verdict=verdict, reason=f"significant and beyond ±{percent}")
    low, high = row.interval
    if low > 0 and math.isfinite(high) and _inside(low, high, limit, alpha):
        return replace(row, verdict=Verdict.SAME, reason=f"the interval lies within ±{percent}")
    reason = f"the interval reaches beyond ±{percent}" if significant else "not significant"
    return replace(row, verdict=Verdict.INCONCLUSIVE, reason=reason)


def _judge(row: MetricComparison, baseline: list[float], candidate: list[float], alpha: float) -> MetricComparison:
    """The same, with the samples that are missing where that is undecided."""
    row = _decided(row, alpha)
    if row.verdict is not Verdict.INCONCLUSIVE:
        return row
    more = samples_to_decide(*_spread_of(row, baseline, candidate), row.threshold, alpha=alpha)
    missing = _fewest(alpha, row.paired) - min(len(baseline), len(candidate))
    if row.unit == "samples" and missing > 0:
        return replace(row, reason="too few samples for any certainty", more_samples=max(more or 0, missing))
    return replace(row, more_samples=more)


def _fewest(alpha: float, paired: bool) -> int:
    """Samples per side from which a rank test can be significant at all: 8 pairs or 5 a side at 1 %."""
    n = 1
    while 2 / (2**n if paired else math.comb(2 * n, n)) >= alpha:
        n += 1
    return n


def _inside(low: float, high: float, limit: float, alpha: float) -> bool:
    return equivalent(Interval(math.log(low), math.log(high), 1 - alpha), -limit, limit)
