"""Baseline against candidate: the verdict of every kind of difference."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.findings.engine.measure_samples import MIN_PROCESSES, SampleJudging, compare_arms, correct_family
from agentdyno.model import ArmResult, Direction, Metric, MetricComparison, Phase, Provenance, Status, Verdict

from ...properties import examples
from ..builders import arm, arm_of, noisy, samples

BETTER, WORSE, SAME, INCONCLUSIVE = Verdict.BETTER, Verdict.WORSE, Verdict.SAME, Verdict.INCONCLUSIVE
SCORE = Metric("result.score", "", Direction.HIGHER, machine_dependent=False)
COST = Metric("result.cost", "", Direction.LOWER, machine_dependent=False)


def row(
    baseline: ArmResult, candidate: ArmResult, judging: SampleJudging | None = None, name: str = "duration_s"
) -> MetricComparison:
    (found,) = [
        row for row in compare_arms(baseline, candidate, judging or SampleJudging()) if row.metric.name == name
    ]
    return found


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("metric", [SCORE, COST], ids=["higher is better", "lower is better"])
@pytest.mark.parametrize(
    ("factor", "spread", "n", "change"),
    [
        (1.20, 0.02, 30, "up"),
        (0.80, 0.02, 30, "down"),
        (1.05, 0.005, 30, "up"),
        (3.00, 0.50, 30, "up"),
        (1.00, 0.005, 30, "same"),
        (1.01, 0.005, 40, "same"),
        (0.99, 0.005, 40, "same"),
        (1.02, 0.10, 8, "inconclusive"),
        (1.50, 0.02, 4, "inconclusive"),
    ],
)
@pytest.mark.parametrize("paired", [False, True])
def test_every_difference_has_its_verdict(
    metric: Metric, factor: float, spread: float, n: int, change: str, paired: bool
) -> None:
    generator = rng()
    first = arm({metric.name: noisy(generator, 10, n=n, spread=spread)}, metrics=[metric])
    second = arm({metric.name: noisy(generator, 10 * factor, n=n, spread=spread)}, metrics=[metric])
    found = row(first, second, SampleJudging(paired=paired), metric.name)
    rising = BETTER if metric.direction is Direction.HIGHER else WORSE
    falling = WORSE if metric.direction is Direction.HIGHER else BETTER
    assert found.verdict == {"up": rising, "down": falling, "same": SAME, "inconclusive": INCONCLUSIVE}[change]
    assert found.paired is paired
    assert found.ratio is not None
    assert found.interval is not None
    assert found.interval[0] <= found.ratio <= found.interval[1]
    if n >= 30:
        assert found.ratio == pytest.approx(factor, rel=3 * spread)


def test_from_twelve_pairs_of_processes_on_an_exact_test_must_agree() -> None:
    ups = [math.exp(0.2 + 0.001 * i) for i in range(11)]
    found = row(arm([1.0] * 12, processes=12), arm([*ups, 0.05], processes=12), SampleJudging(paired=True))
    # The trimmed t test drops the one that went down; by ranks 70 of 4,096 signs are as far off on each side.
    assert found.p_value == pytest.approx(2 * 70 / 4096)
    assert found.verdict is INCONCLUSIVE
    assert found.interval is not None
    assert found.interval[0] < 1 < found.interval[1]
    fewer = row(arm([1.0] * 11, processes=11), arm([*ups[:10], 0.05], processes=11), SampleJudging(paired=True))
    assert fewer.verdict is WORSE


def test_swapping_the_sides_turns_the_verdict_and_inverts_the_ratio() -> None:
    generator = rng()
    first, second = arm(noisy(generator)), arm(noisy(generator, 0.013))
    there, back = row(first, second), row(second, first)
    assert (there.verdict, back.verdict) == (WORSE, BETTER)
    assert there.ratio == pytest.approx(1 / (back.ratio or 0))


def test_a_significant_change_below_the_tolerance_is_no_change() -> None:
    generator = rng()
    first, second = arm(noisy(generator, n=200, spread=0.002)), arm(noisy(generator, 0.0102, n=200, spread=0.002))
    found = row(first, second)
    assert (found.p_value or 1) < 1e-6
    assert found.verdict is SAME
    assert row(first, second, SampleJudging(tolerance=0.01)).verdict is WORSE
    assert row(first, second, SampleJudging(tolerance=0.02)).verdict is INCONCLUSIVE


def test_an_inconclusive_verdict_says_how_many_more_samples_would_decide() -> None:
    generator = rng(3)
    found = row(arm(noisy(generator, n=10, spread=0.05)), arm(noisy(generator, n=10, spread=0.05)))
    assert found.verdict is INCONCLUSIVE
    assert found.reason == "not significant"
    assert found.more_samples is not None
    assert 10 < found.more_samples < 1000


@pytest.mark.parametrize(("paired", "n", "missing"), [(False, 4, 1), (True, 4, 4), (True, 7, 1)])
def test_samples_that_could_never_decide_are_called_too_few(paired: bool, n: int, missing: int) -> None:
    for second in ([1.0] * n, [2.0] * n):
        found = row(arm([1.0] * n), arm(second), SampleJudging(paired=paired))
        assert (found.verdict, found.reason) == (INCONCLUSIVE, "too few samples for any certainty")
        assert found.more_samples == missing
        decided = row(arm([1.0] * (n + missing)), arm((second * 2)[: n + missing]), SampleJudging(paired=paired))
        assert decided.verdict is (SAME if second[0] == 1 else WORSE)


def test_planning_knows_that_pairs_cancel_what_disturbs_both_sides() -> None:
    generator = rng()
    drift = np.exp(np.cumsum(generator.normal(0, 0.1, 20)))
    first, second = ([float(v) for v in drift * np.exp(generator.normal(0, 0.02, 20))] for _ in range(2))
    alone, pairs = row(arm(first), arm(second)), row(arm(first), arm(second), SampleJudging(paired=True))
    assert alone.detectable is not None
    assert pairs.detectable is not None
    assert pairs.detectable < 0.04 < 0.08 < alone.detectable
    assert (alone.more_samples or 0) > 100
    assert (alone.verdict, pairs.verdict) == (INCONCLUSIVE, SAME)
    fewer = row(arm(first[:10]), arm(second[:10]), SampleJudging(paired=True))
    assert fewer.verdict is INCONCLUSIVE
    assert 0 < (fewer.more_samples or 0) < 30


def test_the_smallest_visible_change_shrinks_with_more_samples() -> None:
    def visible(n: int) -> float:
        generator = rng()
        found = row(arm(noisy(generator, n=n)), arm(noisy(generator, n=n))).detectable
        assert found is not None
        return found

    assert 0.01 < visible(20) < 0.05
    assert visible(200) < visible(20) / 2


@pytest.mark.parametrize("value", [0.0, -1.0])
def test_values_of_zero_or_below_are_shown_and_not_judged(value: float) -> None:
    found = row(
        arm({"result.score": [1.0] * 9 + [value]}, metrics=[SCORE]),
        arm({"result.score": [2.0] * 10}, metrics=[SCORE]),
        name="result.score",
    )
    assert (found.verdict, found.ratio, found.p_value) == (None, None, None)
    assert found.reason == "not judged: values of zero or below have no ratio"
    assert (found.baseline, found.candidate) == (1.0, 2.0)


def test_a_metric_without_a_direction_is_never_judged_however_clear_its_change() -> None:
    found = row(arm({"result.other": [1.0, 1.1] * 20}), arm({"result.other": [9.0, 9.9] * 20}), name="result.other")
    assert (found.verdict, found.p_value, found.reason) == (None, None, "not judged: no direction declared")
    assert found.ratio == pytest.approx(9, rel=0.1)


def test_throughput_is_shown_as_the_other_side_of_duration() -> None:
    generator = rng()
    first, second = arm(noisy(generator, processes=5)), arm(noisy(generator, 0.02, processes=5))
    metrics = {"throughput_per_s": replace(first.metrics["duration_s"], unit="/s", direction=Direction.HIGHER)}
    first, second = (replace(item, metrics={**item.metrics, **metrics}) for item in (first, second))
    for judging in (SampleJudging(), SampleJudging(paired=True)):
        duration = row(first, second, judging)
        throughput = row(first, second, judging, "throughput_per_s")
        assert throughput.verdict is None
        assert throughput.reason == "not judged: duration_s seen from the other side"
        assert throughput.ratio == pytest.approx(1 / (duration.ratio or 0), rel=0.01)
        assert (throughput.unit, throughput.paired) == (duration.unit, duration.paired)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_too_few_samples_are_shown_with_their_ratio_and_not_judged(n: int) -> None:
    found = row(arm([1.0] * n), arm([2.0] * 30))
    assert (found.verdict, found.ratio, found.interval) == (None, 2.0, None)
    assert found.reason == f"not judged: {n} samples, at least 4 a side are needed"
    assert (found.baseline_n, found.candidate_n) == (n, 30)


def test_an_arm_whose_samples_all_failed_has_nothing_to_compare() -> None:
    failed = arm_of(samples({"duration_s": [1.0] * 10}, status=Status.ERROR))
    assert compare_arms(arm([1.0] * 10), failed, SampleJudging()) == ()
    assert compare_arms(failed, arm([1.0] * 10), SampleJudging(paired=True)) == ()


def test_times_are_shown_and_not_judged_where_the_bench_stood_still_too_often() -> None:
    calm, slower = arm([1.0, 1.01] * 10), arm([2.0, 2.01] * 10)
    left_out = {"disturbed": {"paused_s": 5.0, "readings": {"duration_s": 7.0}}}
    still = replace(slower.samples[0], iteration=20, readings={}, details=left_out)
    assert row(calm, replace(slower, samples=(*slower.samples, still))).verdict is Verdict.WORSE
    twice = (*slower.samples, still, replace(still, iteration=21))
    found = row(calm, replace(slower, samples=twice))
    assert (found.verdict, found.p_value) == (Verdict.INCONCLUSIVE, None)
    assert found.reason == "the bench itself stood still during 9% of one side's samples"
    assert (found.baseline, found.candidate) == (1.005, 2.005)


def test_failed_samples_do_not_enter_and_wrong_answers_do() -> None:
    generator = rng()
    good = samples({"duration_s": noisy(generator)})
    slow = [replace(item, status=Status.TIMEOUT, readings={"duration_s": 99.0}) for item in good[:5]]
    wrong = [replace(item, status=Status.FAILED) for item in good[5:]]
    found = row(arm_of(good), arm_of([*slow, *wrong]), SampleJudging(paired=True))
    assert (found.baseline_n, found.candidate_n) == (25, 25)
    assert found.ratio == 1.0


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("processes", [1, 10])
@pytest.mark.parametrize("value", [0.01, 1 / 3, 1e-9])
def test_constant_and_equal_series_are_the_same(paired: bool, processes: int, value: float) -> None:
    constant = arm([value] * 30, processes=processes)
    found = row(constant, constant, SampleJudging(paired=paired))
    assert (found.verdict, found.ratio) == (SAME, 1.0)
    assert row(constant, arm([value] * 20, processes=processes), SampleJudging()).verdict is SAME


@pytest.mark.parametrize("processes", [1, 10])
def test_constant_and_different_series_are_decided(processes: int) -> None:
    found = row(
        arm([1.0] * 30, processes=processes), arm([2.0] * 30, processes=processes), SampleJudging(paired=True)
    )
    assert (found.verdict, found.ratio) == (WORSE, 2.0)


def test_identical_arms_are_the_same() -> None:
    own = arm(noisy(rng(), n=40, spread=0.05), processes=10)
    found = row(own, own, SampleJudging(paired=True))
    assert (found.verdict, found.ratio) == (SAME, 1.0)


def test_different_machines_block_what_depends_on_the_machine_only() -> None:
    generator = rng()
    local = Metric("result.rows", "", Direction.HIGHER)
    first, second = (
        arm(
            {name: noisy(generator, centre) for name in ("duration_s", "result.score", "result.rows")},
            metrics=[SCORE, local],
        )
        for centre in (1.0, 2.0)
    )
    found = {item.metric.name: item for item in compare_arms(first, second, SampleJudging(same_machine=False))}
    assert found["result.score"].verdict is BETTER
    for name in ("duration_s", "result.rows"):
        assert (found[name].verdict, found[name].p_value) == (None, None)
        assert found[name].reason == "not judged: different machines"
        assert found[name].ratio == pytest.approx(2, rel=0.05)
    assert [item.verdict is None for item in compare_arms(first, second, SampleJudging(same_machine=False))] == [
        False,
        True,
        True,
    ]


@pytest.mark.parametrize(
    ("tolerance", "floor", "processes", "expected"),
    [
        (0.03, None, 1, 0.03),
        (0.03, 0.0, 1, 0.03),
        (0.03, 0.02, 1, 0.03),
        (0.03, 0.12, 1, 0.12),
        (0.03, 0.12, 4, 0.06),
        (0.03, 0.12, 9, 0.04),
        (0.03, 0.12, 100, 0.03),
        (0.03, 0.12, 0, 0.12),
    ],
)
def test_the_noise_floor_shrinks_with_the_root_of_the_processes(
    tolerance: float, floor: float | None, processes: int, expected: float
) -> None:
    assert SampleJudging(tolerance, noise_floor=floor).threshold(processes) == pytest.approx(expected)


@pytest.mark.parametrize(("processes", "verdict"), [(1, INCONCLUSIVE), (2, INCONCLUSIVE), (9, WORSE)])
def test_a_change_within_the_noise_floor_is_not_called_worse(processes: int, verdict: Verdict) -> None:
    generator = rng()
    first, second = (arm(noisy(generator, centre, n=36, spread=0.01), processes=processes) for centre in (1.0, 1.10))
    found = row(first, second, SampleJudging(noise_floor=0.15))
    assert found.verdict is not WORSE if verdict is not WORSE else found.verdict is WORSE
    assert found.threshold == pytest.approx(max(0.03, 0.15 / math.sqrt(processes)))
    assert row(first, second, SampleJudging(noise_floor=None)).verdict is WORSE


@pytest.mark.parametrize("paired", [False, True])
def test_from_four_processes_on_processes_are_compared_and_not_samples(paired: bool) -> None:
    generator = rng()
    for processes in (1, MIN_PROCESSES - 1, MIN_PROCESSES, 10):
        first, second = (arm(noisy(generator, n=40), processes=processes) for _ in range(2))
        found = row(first, second, SampleJudging(paired=paired))
        per_process = processes >= MIN_PROCESSES
        assert (found.unit, found.baseline_n) == (("processes", processes) if per_process else ("samples", 40))
        assert ("process" in found.method) is per_process
        assert found.paired is paired


def test_pairs_that_too_few_processes_hold_are_compared_as_samples() -> None:
    first = arm(noisy(rng(), n=40), processes=10)
    missing = [item for item in first.samples if item.process < MIN_PROCESSES - 1 or item.iteration % 2]
    second = arm_of([replace(item, status=Status.ERROR) if item.process >= 3 else item for item in missing])
    found = row(first, second, SampleJudging(paired=True))
    assert (found.unit, found.baseline_n) == ("samples", 12)


def test_the_smaller_number_of_processes_decides_what_is_compared() -> None:
    generator = rng()
    found = row(arm(noisy(generator, n=40), processes=10), arm(noisy(generator, n=40), processes=2))
    assert (found.unit, found.baseline_n, found.candidate_n) == ("samples", 40, 40)


def test_the_luck_of_a_process_is_not_taken_for_a_change() -> None:
    """Each process has a speed of its own: many samples of few processes look significant and are not."""
    generator = rng(11)
    first, second = (noisy(generator, n=400, spread=0.001, processes=8, own=0.06) for _ in range(2))
    assert (row(arm(first), arm(second)).p_value or 0) < 0.01
    for paired in (False, True):
        judged = row(arm(first, processes=8), arm(second, processes=8), SampleJudging(paired=paired))
        assert judged.verdict is INCONCLUSIVE
        assert judged.more_samples is None or judged.more_samples >= 0


def test_pairing_removes_what_disturbs_both_sides_alike() -> None:
    generator = rng()
    drift = np.exp(np.cumsum(generator.normal(0, 0.1, 40)))
    first = [float(v) for v in drift * np.exp(generator.normal(0, 0.005, 40))]
    second = [float(v) for v in 1.05 * drift * np.exp(generator.normal(0, 0.005, 40))]
    assert row(arm(first), arm(second), SampleJudging(paired=True)).verdict is WORSE
    assert row(arm(first), arm(second)).verdict is INCONCLUSIVE
    assert row(arm(first, processes=10), arm(second, processes=10), SampleJudging(paired=True)).verdict is WORSE


def test_peak_memory_has_one_value_per_process() -> None:
    peaks = [float(v) for v in (np.arange(40) // 4 + 1000) * 2**20]
    one = arm({"peak_rss_bytes": peaks})
    found = row(one, one, name="peak_rss_bytes")
    assert (found.verdict, found.baseline_n, found.ratio) == (None, 1, 1.0)
    assert found.reason == f"not judged: one value per process, `processes: {MIN_PROCESSES}` or more are needed"
    ten, more = (
        arm({"peak_rss_bytes": peaks}, processes=10),
        arm({"peak_rss_bytes": [2 * v for v in peaks]}, processes=10),
    )
    found = row(ten, more, SampleJudging(paired=True), "peak_rss_bytes")
    assert (found.verdict, found.baseline_n, found.unit) == (WORSE, 10, "processes")


def test_what_an_instrument_read_in_its_own_passes_is_compared_where_a_direction_is_declared() -> None:
    peak = Metric("tracemalloc.peak_bytes", "bytes", Direction.LOWER)

    def watched(values: list[float]) -> ArmResult:
        own = samples({peak.name: values, "result.score": [99.0] * len(values)})
        passes = [replace(item, phase=Phase.INSTRUMENTED, instrument="tracemalloc") for item in own]
        return arm_of([*samples({"duration_s": [1.0] * 9}), *passes], metrics=[peak])

    found = compare_arms(watched([100.0, 101] * 5), watched([200.0, 202] * 5), SampleJudging(paired=True))
    assert {item.metric.name: item.verdict for item in found} == {"duration_s": SAME, peak.name: WORSE}


def comparison(p_value: float, verdict: Verdict | None) -> MetricComparison:
    metric = Metric("x", "", Direction.LOWER, Provenance.MEASURED)
    return MetricComparison(metric, 9, 9, 1, 2, 2, (1.5, 2.5), p_value, verdict, "as it was", 0.03)


def test_holm_corrects_all_judged_rows_of_a_table_together() -> None:
    rows = [comparison(0.004, WORSE), comparison(0.0001, BETTER), comparison(0.5, SAME), comparison(0.006, WORSE)]
    shown = [*rows, comparison(0.0, None)]
    corrected = correct_family(shown, 0.01)
    assert [item.adjusted_p for item in corrected] == [*map(pytest.approx, [0.012, 0.0004, 0.5, 0.012]), None]
    assert [item.family for item in corrected] == [4, 4, 4, 4, 0]
    assert [item.p_value for item in corrected] == [0.004, 0.0001, 0.5, 0.006, 0.0]  # what goes with the interval
    assert [item.verdict for item in corrected] == [INCONCLUSIVE, BETTER, SAME, INCONCLUSIVE, None]
    assert corrected[0].reason == "not significant among 4 comparisons"
    assert [item.reason for item in corrected[1:3]] == ["as it was", "as it was"]


def test_one_row_alone_needs_no_correction() -> None:
    assert correct_family([comparison(0.009, WORSE)], 0.01)[0].verdict is WORSE
    assert correct_family([], 0.01) == []


@pytest.mark.parametrize("processes", [5, 10])
def test_a_clear_change_stands_out_among_many_rows(processes: int) -> None:
    """A doubling is found in every arm of a sweep, although each arm has a few processes only."""
    generator = rng()
    first, second = (
        arm(
            {"duration_s": noisy(generator, c, n=30, spread=0.01), "cpu_s": noisy(generator, c, spread=0.01)},
            processes=processes,
        )
        for c in (1.0, 2.0)
    )
    rows = [item for _ in range(6) for item in compare_arms(first, second, SampleJudging(paired=True))]
    assert {item.verdict for item in correct_family(rows, 0.01)} == {WORSE}


@given(
    st.integers(0, 2**32 - 1),
    st.integers(4, 30),
    st.sampled_from([1, 4, 12, 30]),
    st.sampled_from([0.0, 0.0, 0.02, 0.1]),
    st.sampled_from([0.0, 0.01, 0.05]),
    st.booleans(),
)
@examples(120)
def test_p_is_below_the_level_exactly_where_the_interval_of_the_ratio_leaves_one(
    seed: int, count: int, processes: int, change: float, tick: float, paired: bool
) -> None:
    random = np.random.default_rng(seed)
    sides = [np.exp(random.normal(shift, 0.05, count)) for shift in (0.0, change)]
    coarse = [np.maximum(tick, np.round(side / tick) * tick) if tick else side for side in sides]
    first, second = (
        arm({"duration_s": side.tolist(), "cpu_s": (1.1 * side).tolist()}, processes=min(processes, count))
        for side in coarse
    )
    rows = correct_family(compare_arms(first, second, SampleJudging(paired=paired)), 0.01)
    judged = [item for item in rows if item.verdict is not None]
    assert judged
    for item in judged:
        assert item.p_value is not None
        assert item.ratio is not None
        assert item.interval is not None
        low, high = item.interval
        assert (item.p_value < item.level) == (not low <= 1.0 <= high), item
        assert low - 1e-12 <= item.ratio <= high + 1e-12
        assert item.p_value <= (item.adjusted_p or 0.0) <= 1.0
        assert item.family == len(judged)
        if item.verdict in (BETTER, WORSE):
            assert (item.adjusted_p or 0.0) < item.level
