"""The end of a suite's run: figures, scores and warnings of every arm, from samples at hand or taken one by one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from agentdyno.findings.figures.cases import ArmFigures, accuracy_interval
from agentdyno.findings.figures.dimensions import (
    RELIABLE_TRIES,
    Quantities,
    Targets,
    dimension_scores,
    measured_dimensions,
    only_measured,
    targets_for,
    used_by,
)
from agentdyno.findings.figures.resampling import resampling_seed, sampled_draws, score_errors
from agentdyno.findings.figures.spread import RunBefore, spread_of
from agentdyno.findings.figures.summarise import summary_of
from agentdyno.findings.run.judge_cautions import suite_cautions
from agentdyno.model import (
    ArmResult,
    Benchmark,
    Direction,
    Metric,
    MetricSummary,
    Provenance,
    RunResult,
    Status,
    Suite,
    known_metric,
)
from agentdyno.model.form import WHOLE
from agentdyno.model.metric import is_reserved
from agentdyno.model.naming import with_shown_arms
from agentdyno.model.result import ScoreSpread, form_of
from agentdyno.stats import clustered_mean_interval, median_interval, pass_hat_k
from agentdyno.stats.samples import median_of

QUALITIES = ("correctness", "completeness", "relevance")
_FEWEST_CASES = 6
"""Independent cases below which a median has no interval."""


class ArmBefore(NamedTuple):
    """What an agent did in the same cases before, and how far that could be trusted."""

    figures: ArmFigures
    spread: ScoreSpread | None = None
    scores: Mapping[str, float | None] = {}


def close_suite(
    result: RunResult,
    figures: Mapping[str, ArmFigures] | None = None,
    before: Mapping[str, Sequence[ArmBefore]] | None = None,
) -> RunResult:
    """``result`` with metrics, scores, case figures, totals, statuses and warnings.

    ``figures`` are those of the arms by id, fed while the samples passed by; without them they are made from the
    samples in the result. ``result.targets`` are used where a benchmark has some there, else what its rubric says;
    the result holds those that were used. ``before`` are the same agents' runs before this one, the last first,
    where there are some: they tell how much of the spread runs have in common.
    """
    suite = suite_of(result)
    taken = figures if figures is not None else figures_of(result)
    targets: dict[str, Targets] = {
        item.benchmark_id: {
            **_first_targets(result, item, taken),
            **(result.targets.get(item.benchmark_id) or targets_for(item)),
        }
        for item in suite.benchmarks
    }
    arms = tuple(
        close_arm(arm, own, targets[own.benchmark.benchmark_id], (before or {}).get(arm.arm_id, ()))
        if (own := taken.get(arm.arm_id))
        else arm
        for arm in result.arms
    )
    closed = replace(result, arms=arms, targets={name: dict(bounds) for name, bounds in targets.items()})
    known = {(warning.code, warning.arm_id) for warning in result.warnings}
    found = (item for item in suite_cautions(with_shown_arms(closed), taken) if (item.code, item.arm_id) not in known)
    return replace(closed, warnings=(*result.warnings, *found))


def _first_targets(result: RunResult, benchmark: Benchmark, figures: Mapping[str, ArmFigures]) -> Targets:
    """What a whole run of the suite's baseline agent makes of itself: it holds where nothing was set before."""
    suite = suite_of(result)
    if not suite.baseline_scores or form_of(result) not in WHOLE:
        return {}
    wanted = suite.baseline_scores[0].agent_id
    for arm in result.arms:
        own = figures.get(arm.arm_id)
        named = arm.agent is not None and wanted in (arm.agent, arm.agent.rpartition("@")[0])
        if not named or own is None or arm.benchmark != benchmark.benchmark_id:
            continue
        recorded = sum(count for status, count in own.statuses.items() if status != Status.CANCELLED)
        if recorded >= arm.planned:
            filled = replace(arm, metrics=metrics_of(own), case_figures=own.figures(), totals=own.totals())
            return targets_for(benchmark, filled)
    return {}


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


def close_arm(arm: ArmResult, figures: ArmFigures, targets: Targets, before: Sequence[ArmBefore] = ()) -> ArmResult:
    """The arm with everything that its figures say. ``before`` are the runs before it, of the same cases, the last
    first."""
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
    seed = resampling_seed(figures.benchmark)
    draws, share = sampled_draws(figures, targets, scores, seed)
    earlier = [
        RunBefore(sampled_draws(run.figures, targets, scores, seed)[0], run.spread, run.scores)
        for run in before
        if run.figures.clusters().keys() == figures.clusters().keys()
    ]
    accuracy = accuracy_interval(figures.case_scores(), figures.clusters()) if draws else None
    return replace(
        closed,
        scores=scores,
        score_errors=score_errors(draws, share, scores),
        spread=spread_of(draws, scores, accuracy, share=share, before=earlier),
    )


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
    below = (values <= median_of(values)).astype(np.float64)
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
    scores = only_measured(
        dimension_scores(quantities, targets), measured_dimensions(figures.benchmark.metrics_measured)
    )
    return {**scores, **qualities}
