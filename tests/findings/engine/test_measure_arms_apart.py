"""Arms of separate runs are judged by runs, or not at all."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from agentdyno.findings.engine.match import compare
from agentdyno.findings.engine.measure_samples import SampleJudging, compare_arms
from agentdyno.model import ArmResult, Metric, MetricComparison, Verdict, known_metric
from agentdyno.model.metric import Direction
from agentdyno.model.record import UNKNOWN_SPREAD, QuantitySpread, RunSpread
from agentdyno.model.result import LOAD_KIND

from ..builders import arm, noisy, operand

COMMAND = "separate runs, not judged: `dyno run SPEC --against REF` measures both interleaved"
SCORE = Metric("result.score", direction=Direction.HIGHER, machine_dependent=False)


def timed(centre: float, *, seed: int, spread: float = 0.0, **medians: float) -> ArmResult:
    """An arm of 40 samples; ``medians`` are figures of the whole arm, such as its normalised time."""
    made = arm(noisy(np.random.default_rng(seed), centre, n=40, spread=spread))
    figures = made.metrics["duration_s"]
    more = {name: replace(figures, median=value) for name, value in medians.items()}
    return replace(made, metrics={**made.metrics, **more})


def known(**quantities: QuantitySpread) -> RunSpread:
    return RunSpread("host", quantities)


def row(first: ArmResult, second: ArmResult, spread: RunSpread, name: str = "duration_s") -> MetricComparison:
    return next(item for item in compare_arms(first, second, SampleJudging(), spread) if item.metric.name == name)


def test_many_samples_that_agree_say_nothing_where_the_noise_between_runs_is_not_known() -> None:
    found = row(timed(1.0, seed=1, spread=0.01), timed(1.5, seed=2, spread=0.01), UNKNOWN_SPREAD)
    assert (found.verdict, found.p_value, found.interval, found.detectable) == (None, None, None, None)
    assert found.reason == COMMAND
    assert found.ratio == pytest.approx(1.5, rel=0.01)


def test_against_a_known_spread_it_is_a_t_test_over_runs() -> None:
    spread = known(duration_s=QuantitySpread(0.05, 5, "own", baseline_runs=6))
    found = row(timed(1.0, seed=1), timed(1.4, seed=2), spread)
    error = 0.05 * math.sqrt(1 / 6 + 1)
    assert found.p_value == pytest.approx(2 * stats.t.sf(math.log(1.4) / error, 5))
    assert found.interval == pytest.approx(np.exp(math.log(1.4) + np.array([-1, 1]) * stats.t.ppf(0.995, 5) * error))
    assert (found.verdict, found.baseline_n, found.candidate_n, found.unit) == (Verdict.WORSE, 6, 1, "runs")
    assert row(timed(1.0, seed=1), timed(1.2, seed=2), spread).verdict is Verdict.INCONCLUSIVE
    assert row(
        timed(1.0, seed=1), timed(1.001, seed=2), known(duration_s=QuantitySpread(0.005, 50, "own"))
    ).verdict is (Verdict.SAME)


def test_a_run_that_was_restless_in_itself_is_less_sure_of_its_figure() -> None:
    spread = known(duration_s=QuantitySpread(0.02, 10, "own"))
    scattered = [arm([1.2 * math.exp(reach * place) for place in np.linspace(-1, 1, 41)]) for reach in (0.0, 0.7)]
    calm, restless = (row(arm([1.0] * 9), other, spread) for other in scattered)
    assert calm.ratio == pytest.approx(restless.ratio)
    assert calm.verdict is Verdict.WORSE
    assert restless.verdict is Verdict.INCONCLUSIVE
    assert (restless.detectable or 0) > 1.5 * (calm.detectable or 0)


def test_normalised_times_are_compared_where_both_sides_and_the_spread_have_them() -> None:
    first, second = timed(1.0, seed=1, duration_norm_s=0.8), timed(2.0, seed=2, duration_norm_s=0.81)
    both = known(duration_s=QuantitySpread(0.01, 9, "own"), duration_norm_s=QuantitySpread(0.01, 9, "own"))
    found = row(first, second, both)
    assert (found.baseline, found.candidate, found.verdict) == (0.8, 0.81, Verdict.INCONCLUSIVE)
    assert found.method.endswith("of normalised times")
    assert row(first, timed(2.0, seed=2), both).verdict is Verdict.WORSE


def test_cpu_time_that_is_all_of_the_time_is_no_second_question() -> None:
    values = {"duration_s": [1.0] * 9, "cpu_s": [1.0] * 9}
    spread = known(cpu_s=QuantitySpread(0.01, 9, "own"), cpu_norm_s=QuantitySpread(0.01, 9, "own"))

    def with_cpu(share: float) -> ArmResult:
        made = arm(values)
        figures = made.metrics["duration_s"]
        own = {"duration_norm_s": 1.0, "cpu_norm_s": share}
        more = {name: replace(figures, median=value) for name, value in own.items()}
        return replace(made, metrics={**made.metrics, **more})

    told = row(with_cpu(0.99), with_cpu(0.99), spread, "cpu_s")
    assert (told.verdict, told.p_value) == (None, None)
    assert told.reason == "not judged: the CPU was busy throughout, so that duration_s says the same"
    waiting = row(with_cpu(0.5), with_cpu(0.4), spread, "cpu_s")
    assert (waiting.baseline, waiting.candidate, waiting.verdict) == (0.5, 0.4, Verdict.BETTER)


def test_what_does_not_depend_on_the_machine_is_judged_by_its_samples() -> None:
    first, second = (
        arm({"result.score": [value + 0.001 * i for i in range(20)]}, metrics=[SCORE]) for value in (1.0, 2.0)
    )
    found = row(first, second, UNKNOWN_SPREAD, "result.score")
    assert (found.verdict, found.unit) == (Verdict.BETTER, "samples")


def test_two_runs_of_load_are_compared_by_their_windows() -> None:
    first, second = (operand(name, timed(1.0, seed=seed, spread=0.01)) for seed, name in enumerate(("old", "new")))
    loads = [replace(item, result=replace(item.result, kind=LOAD_KIND)) for item in (first, second)]
    for sides, verdict in ((loads, Verdict.SAME), ((first, second), None)):
        (found,) = compare(sides[0], sides[1], SampleJudging()).arms[0].metrics
        assert found.verdict is verdict


def test_alarms_and_detectable_changes_are_as_told_whatever_the_spread() -> None:
    """Six runs known and one new, 2,000 times: at most 1 % alarms on equal code, and four of five of the changes that
    the row says it can show."""
    rng = np.random.default_rng(14)
    alarms = found = 0
    template, metric = timed(1.0, seed=1), known_metric("duration_s")
    for _ in range(2000):
        runs = rng.normal(0.0, 0.04, 7)
        before, now = runs[:6], runs[6]
        spread = QuantitySpread(
            float(before.std(ddof=1)), 5, "own", baseline_runs=6, offset=float(before.mean() - before[-1])
        )
        shown = _judged(template, float(now - before[-1]), spread, metric)
        alarms += (shown.p_value or 1) < 0.01
        more = _judged(template, float(now - before[-1] + math.log1p(shown.detectable or 0)), spread, metric)
        found += (more.p_value or 1) < 0.01 and (more.ratio or 0) > 1
    assert alarms <= 20 + 3 * math.sqrt(20)
    assert 0.77 < found / 2000 < 0.90


def _judged(template: ArmResult, log_ratio: float, spread: QuantitySpread, metric: Metric) -> MetricComparison:
    """Two arms without scatter, so far apart."""
    sides = [
        replace(
            template, samples=tuple(replace(item, readings={metric.name: value}) for item in template.samples[:4])
        )
        for value in (1.0, math.exp(log_ratio))
    ]
    return row(sides[0], sides[1], known(duration_s=spread))
