"""The end of a suite's run: figures, scores and warnings of every arm, from samples at hand or taken one by one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from agentdyno.findings.figures.cases import ArmFigures
from agentdyno.findings.figures.dimensions import (
    RELIABLE_TRIES,
    Quantities,
    Targets,
    dimension_scores,
    targets_for,
    used_by,
)
from agentdyno.findings.figures.resampling import score_errors
from agentdyno.findings.figures.summarise import summary_of
from agentdyno.findings.run.judge_cautions import suite_cautions
from agentdyno.model import ArmResult, Direction, Metric, MetricSummary, Provenance, RunResult, Suite, known_metric
from agentdyno.model.identity import derive_seed
from agentdyno.model.metric import is_reserved
from agentdyno.stats import clustered_mean_interval, median_interval, pass_hat_k

QUALITIES = ("correctness", "completeness", "relevance")
_FEWEST_CASES = 6
"""Independent cases below which a median has no interval."""


def close_suite(result: RunResult, figures: Mapping[str, ArmFigures] | None = None) -> RunResult:
    """``result`` with metrics, scores, case figures, totals, statuses and warnings.

    ``figures`` are those of the arms by id, fed while the samples passed by; without them they are made from the
    samples in the result. ``result.targets`` are used where a benchmark has some there, else what its rubric says;
    the result holds those that were used.
    """
    suite = suite_of(result)
    taken = figures if figures is not None else figures_of(result)
    targets: dict[str, Targets] = {
        item.benchmark_id: result.targets.get(item.benchmark_id) or targets_for(item) for item in suite.benchmarks
    }
    arms = tuple(
        close_arm(arm, own, targets[own.benchmark.benchmark_id], derive_seed(result.seed, arm.arm_id))
        if (own := taken.get(arm.arm_id))
        else arm
        for arm in result.arms
    )
    closed = replace(result, arms=arms, targets={name: dict(bounds) for name, bounds in targets.items()})
    known = {(warning.code, warning.arm_id) for warning in result.warnings}
    found = (item for item in suite_cautions(closed, taken) if (item.code, item.arm_id) not in known)
    return replace(closed, warnings=(*result.warnings, *found))


def suite_of(result: RunResult) -> Suite:
    """The suite of a result of kind ``suite``."""
    if result.suite is None:
        raise ValueError(f"run {result.run_id} is no run of a suite")
    return result.suite


def figures_of(result: RunResult) -> dict[str, ArmFigures]:
    """Figures by arm id from the samples in the result; arms of which samples are missing there have none."""
    suite = suite_of(result)
    found = {}
    for arm in result.arms:
        benchmark = next((item for item in suite.benchmarks if item.benchmark_id == arm.benchmark), None)
        if benchmark is None:
            continue
        figures = ArmFigures.of(benchmark, arm.samples)
        if sum(figures.statuses.values()) >= sum(arm.statuses.values()):
            found[arm.arm_id] = figures
    return found


def close_arm(arm: ArmResult, figures: ArmFigures, targets: Targets, seed: int = 0) -> ArmResult:
    """The arm with everything that its figures say. ``seed`` is that of drawing the cases again."""
    remarks = figures.remarks
    observed = {**remarks.observed, **arm.observed}
    if remarks.models:
        observed.setdefault("model", remarks.models.most_common(1)[0][0])
    measured = sum(figures.statuses.values())
    closed = replace(
        arm,
        observed=observed,
        metrics=metrics_of(figures),
        statuses=dict(sorted(figures.statuses.items())),
        samples_total=max(arm.samples_total, measured),
        case_figures=figures.figures(),
        totals=figures.totals(),
    )
    scores = _scores(closed, figures, targets)
    return replace(closed, scores=scores, score_errors=score_errors(figures, targets, scores, seed))


def metrics_of(figures: ArmFigures) -> dict[str, MetricSummary]:
    """Readings over executions, ``duration_s`` first, with intervals over cases; scores over cases."""
    clusters = list(figures.clusters().values())
    simulated = figures.remarks.simulated > 0
    names = sorted(figures.values, key=lambda name: (name != "duration_s", name != "cpu_s", name))
    metrics: dict[str, MetricSummary] = {}
    for name in names:
        values = np.array(figures.values[name])
        labels = [clusters[owner] for owner in figures.owners[name]]
        metric = _unless_simulated(_reading(name, figures), simulated)
        metrics[name] = summary_of(metric, values, _median_interval(values, labels))
    scores = [score for score in figures.case_scores().values() if score is not None]
    for name, means in {"score": scores, **figures.named_means()}.items():
        if means:
            metric = Metric(name, "ratio", Direction.HIGHER, machine_dependent=False)
            exact = median_interval(means)
            ci = None if exact is None else (exact.low, exact.high)
            metrics[name] = summary_of(_unless_simulated(metric, simulated), means, ci)
    return metrics


def _unless_simulated(metric: Metric, simulated: bool) -> Metric:
    return replace(metric, provenance=Provenance.SIMULATED) if simulated else metric


def _reading(name: str, figures: ArmFigures) -> Metric:
    """A reading that the bench has no name for is the agent's own.

    Runs of other tools, and those from before agents' own figures had a name of their own, have the dollars that were
    reported as their cost.
    """
    metric, sources = known_metric(name), figures.remarks.priced_by.keys()
    if not is_reserved(name) or (name == "cost_usd" and "reported" in sources and not figures.unknown[name]):
        return replace(metric, provenance=Provenance.REPORTED)
    computed = name == "cost_usd" and sources & {"priced", "derived"}
    return replace(metric, provenance=Provenance.DERIVED) if computed else metric


def _median_interval(values: np.ndarray, labels: list[str]) -> tuple[float, float] | None:
    """Of the median of all executions, 95 %. Executions of one case, or group of cases, are not independent.

    The share of values below the median has a cluster-robust interval; the values at its ends bound the median. It is
    never narrower than that of independent values.
    """
    count = len(set(labels))
    if count == len(labels):
        exact = median_interval(values)
        return None if exact is None else (exact.low, exact.high)
    if count < _FEWEST_CASES:
        return None
    below = (values <= np.median(values)).astype(np.float64)
    share = clustered_mean_interval(below, labels)
    if share is None:
        return None
    half = max((share.high - share.low) / 2.0, 1.96 * 0.5 / math.sqrt(len(values)))
    low, high = np.quantile(values, [max(0.0, 0.5 - half), min(1.0, 0.5 + half)])
    return float(low), float(high)


def _scores(arm: ArmResult, figures: ArmFigures, targets: Targets) -> dict[str, float | None]:
    tallies = figures.tallies.values()
    lasting = [pass_hat_k(tally.tries, tally.passed, RELIABLE_TRIES) for tally in tallies]
    known = [value for value in lasting if value is not None]
    tries = sum(tally.tries for tally in tallies)
    quantities = Quantities(
        accuracy=arm.case_figures.mean if arm.case_figures is not None else None,
        used=used_by(arm),
        error_rate=sum(tally.errors for tally in tallies) / tries if tries else None,
        reliable=math.fsum(known) / len(known) if known else None,
    )
    means = figures.named_means()
    qualities = {name: math.fsum(means[name]) / len(means[name]) for name in QUALITIES if means.get(name)}
    return {**dimension_scores(quantities, targets), **qualities}
