"""Each warning fires on what it warns of and stays silent on clean data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from agentdyno.findings.figures.summarise import status_counts, summarise
from agentdyno.findings.run.judge_cautions import cautions
from agentdyno.model import ArmResult, Failure, FailureKind, RunWarning, Sample, Side, Status

from ..builders import arm_of, noisy, samples

MIB = 2.0**20


def closed(own: Sequence[Sample], **fields: object) -> ArmResult:
    """An arm as it is when its run closes."""
    made = arm_of(own, **fields)  # type: ignore[arg-type]
    return replace(made, metrics=summarise(own), statuses=status_counts(own))


def steady(n: int = 30, spread: float = 0.01, seed: int = 1, centre: float = 0.01) -> list[float]:
    return noisy(np.random.default_rng(seed), centre, n=n, spread=spread)


def codes(*arms: ArmResult, overhead_s: float | None = 5e-8) -> list[str]:
    return [warning.code for warning in cautions(arms, overhead_s)]


def only(*arms: ArmResult, overhead_s: float | None = 5e-8) -> RunWarning:
    (warning,) = cautions(arms, overhead_s)
    return warning


@pytest.mark.parametrize(
    ("processes", "seed"), [*((1, seed) for seed in range(20)), *((10, seed) for seed in range(4))]
)
def test_clean_data_raise_no_warning(processes: int, seed: int) -> None:
    values = {
        "duration_s": steady(40, seed=seed),
        "rss_bytes": [200 * MIB] * 40,
        "pressure.disturbed": [0.0] * 39 + [1.0],
    }
    own = closed(
        samples(values, processes=processes), observed={"python": "3.11", "index": "tree"}, params={"index": "tree"}
    )
    other = replace(own, params={"index": "scan"}, observed={"python": "3.11", "index": "scan"})
    assert codes(own, other) == []
    assert codes(own, overhead_s=None) == []


def test_executions_in_which_the_bench_stood_still_are_named_with_what_they_would_change() -> None:
    calm = samples({"duration_s": [0.01] * 19})
    left_out = {"paused_s": 20.0, "readings": {"duration_s": 20.01}}
    still = replace(calm[0], iteration=19, readings={}, details={"disturbed": left_out})
    (warning,) = [item for item in cautions([closed([*calm, still])], None) if item.code == "disturbed"]
    assert warning.message == (
        "the bench itself stood still for 20.0 s, in 1 of 20 executions: the times of these do not count; "
        "the mean of duration_s is 10 ms, 1.01 s with them"
    )


def test_an_arm_without_samples_raises_none_either() -> None:
    assert codes(closed(())) == []
    assert codes() == []


def test_figures_without_their_samples_raise_none_either() -> None:
    assert codes(replace(closed(samples({"duration_s": steady()})), samples=())) == []


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("ValueError: no data\nsecond line", "ValueError: no data"),
        ("", "no message"),
        ("\n", "no message"),
        ("x" * 300, "x" * 120),
    ],
)
def test_failures_are_counted_and_the_first_is_quoted(message: str, shown: str) -> None:
    good = samples({"duration_s": steady(10)})
    bad = [
        replace(item, status=status, readings={}, failure=Failure(FailureKind.EXCEPTION, message))
        for item, status in zip(good, (Status.ERROR, Status.TIMEOUT, Status.LIMIT), strict=False)
    ]
    warning = only(closed([*bad, *good[3:]]))
    assert (warning.code, warning.arm_id) == ("failures", "a")
    assert warning.message == "3 of 10 samples failed"
    assert f"({shown})" in warning.remedy


def test_wrong_answers_are_no_failures() -> None:
    assert codes(closed(samples({"duration_s": steady(10)}, status=Status.FAILED))) == []


def test_an_arm_that_failed_altogether_says_only_that() -> None:
    assert codes(closed(samples({"duration_s": [1.0] * 10}, status=Status.ERROR))) == ["failures"]


def test_too_few_samples_for_an_interval() -> None:
    warning = only(closed(samples({"duration_s": steady(5)})))
    assert (warning.code, warning.message) == ("few-samples", "5 samples are too few for an interval")
    assert codes(closed(samples({"duration_s": steady(6)}))) == []


def test_noise_is_told_by_the_typical_deviation_and_not_by_outliers() -> None:
    warning = only(closed(samples({"duration_s": [1.0, 1.2, 0.8, 1.15, 0.85, 1.0, 1.2, 0.8]})))
    assert (warning.code, warning.message) == ("noisy", "typical deviation is 18% of the median")
    assert codes(closed(samples({"duration_s": [*steady(12), 5.0, *steady(12, seed=2)]}))) == []


def test_a_warm_up_that_goes_on_into_the_measured_samples() -> None:
    warning = only(closed(samples({"duration_s": [*(0.03, 0.025, 0.02, 0.016), *steady(30)]})))
    assert warning.code == "still-warming-up"
    assert warning.message == "the first measured samples (4 of 34) differ from the rest as a warm-up does"
    assert warning.remedy == "Raise iterations.warmup by 4."


def growing(n: int, step: float) -> list[float]:
    return [100 * MIB + step * i for i in range(n)]


@pytest.mark.parametrize(
    ("resident", "expected"),
    [
        (growing(30, MIB), ["memory-grows"]),
        (growing(10, MIB), ["memory-grows"]),
        (growing(9, MIB), []),
        (growing(30, 0.1 * MIB), []),
        (growing(30, -MIB), []),
        ([100 * MIB] * 30, []),
        ([100 * MIB, 130 * MIB] * 15, []),
        ([100 * MIB] * 5 + [200 * MIB] * 25, []),
        ([0.1 * MIB + 1000 * i for i in range(30)], []),
    ],
    ids=["leak", "just enough", "too few", "small", "shrinks", "constant", "up and down", "one step", "under a MiB"],
)
def test_memory_that_grows_with_every_sample(resident: list[float], expected: list[str]) -> None:
    own = closed(samples({"duration_s": steady(len(resident)), "rss_bytes": resident}))
    assert codes(own) == expected


def test_growth_is_looked_for_within_a_process() -> None:
    durations = steady(48)
    sawtooth = growing(12, MIB) * 4
    assert codes(closed(samples({"duration_s": durations, "rss_bytes": sawtooth}, processes=4))) == ["memory-grows"]
    stairs = [100 * MIB + 10 * MIB * (i // 12) for i in range(48)]
    assert codes(closed(samples({"duration_s": durations, "rss_bytes": stairs}, processes=4))) == []


def test_the_clocks_own_cost_matters_for_short_calls_that_are_not_batched() -> None:
    own = closed(samples({"duration_s": steady(centre=1e-6)}))
    warning = only(own, overhead_s=5e-8)
    assert warning.code == "overhead"
    assert warning.message == "the clock's own 50 ns are more than 1 % of a call"
    assert codes(own, overhead_s=None) == codes(own, overhead_s=5e-9) == []
    batched = closed([replace(item, inner_loops=1000) for item in own.samples])
    assert codes(batched, overhead_s=5e-8) == []


def test_a_disturbed_machine() -> None:
    own = closed(samples({"duration_s": steady(20), "pressure.disturbed": [1.0, 0.0, 0.0, 0.0] * 5}))
    warning = only(own)
    assert (warning.code, warning.message) == ("disturbed", "the machine was disturbed during 25% of the samples")
    calm = closed(samples({"duration_s": steady(20), "pressure.disturbed": [1.0, 1.0] + [0.0] * 18}))
    assert codes(calm) == []


def observed(params: dict[str, object], seen: dict[str, object], name: str, **fields: object) -> ArmResult:
    return closed(samples({"duration_s": steady()}), params=params, observed=seen, name=name, arm_id=name, **fields)


def test_arms_that_were_asked_to_differ_and_do_not() -> None:
    seen: dict[str, object] = {"journal": "memory", "python": "3.11.7", "cpu": 1}
    first, second = (observed({"journal": journal}, seen, f"db {journal}") for journal in ("wal", "memory"))
    warning = only(first, second)
    assert (warning.code, warning.arm_id) == ("identical-arms", None)
    assert warning.message == "db wal and db memory were observed to be the same thing (journal: memory)"
    assert "noise" in warning.remedy


def test_every_arm_that_is_the_same_as_an_earlier_one_is_named() -> None:
    arms = [observed({"size": size}, {"size": 5}, f"s{size}") for size in (1, 2, 3)]
    assert [warning.message.partition(" were")[0] for warning in cautions(arms, None)] == ["s1 and s2", "s1 and s3"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ({}, {}),
        ({"python": "3.11", "cpu": 3}, {"python": "3.11", "cpu": 3}),
        ({"journal": "wal"}, {"journal": "memory"}),
        ({"journal": "wal"}, {}),
        ({"journal": {"mode": ["wal"]}}, {"journal": {"mode": ["memory"]}}),
        ({"tables": 5}, {"tables": 5}),
    ],
    ids=["nothing seen", "only the environment", "different", "one sided", "deep", "something else"],
)
def test_arms_that_differ_or_do_not_observe_the_parameter_are_not_called_identical(
    first: dict[str, object], second: dict[str, object]
) -> None:
    assert codes(observed({"journal": 1}, first, "a"), observed({"journal": 2}, second, "b")) == []


def test_different_experiments_may_observe_the_same() -> None:
    first = observed({"journal": 1}, {"journal": "wal"}, "a")
    assert codes(first, replace(observed({"journal": 2}, {"journal": "wal"}, "b"), experiment="other")) == []


def test_each_parameter_of_a_sweep_is_looked_at_by_itself() -> None:
    """A sweep over the number of queries leaves the observed index as it is; a sweep over the index must not."""
    seen: dict[str, object] = {"index": "Tree", "documents": 100}
    first, second = (
        observed({"index": "tree", "documents": 100, "queries": queries}, seen, f"q{queries}") for queries in (1, 2)
    )
    assert codes(first, second) == []
    third = observed({"index": "scan", "documents": 100, "queries": 1}, seen, "scan")
    assert codes(first, third) == ["identical-arms"]


def test_two_sides_of_one_configuration_observe_the_same_and_ran_different_code() -> None:
    def side(which: Side, code: str, index: str = "tree") -> ArmResult:
        return observed({"index": index}, {"index": index, "loaded_code": code}, f"{index} [{which}]", side=which)

    assert codes(side(Side.BASELINE, "aa"), side(Side.CANDIDATE, "bb")) == []
    assert codes(side(Side.BASELINE, "aa", "scan"), side(Side.CANDIDATE, "aa")) == []
    warning = only(side(Side.BASELINE, "aa"), side(Side.CANDIDATE, "aa"))
    assert (
        warning.message == "tree [baseline] and tree [candidate] were observed to be the same thing (loaded_code: aa)"
    )


def test_observations_with_odd_keys_can_be_compared() -> None:
    seen: dict[str, object] = {"table": {1: "a", "b": "\ud800"}}
    assert codes(observed({"table": 1}, seen, "a"), observed({"table": 2}, seen, "b")) == ["identical-arms"]


def test_a_start_that_differs_by_less_than_two_percent_is_no_warm_up() -> None:
    slow = [1.01 + 0.0001 * (i % 3) for i in range(10)]
    rest = [1.0 + 0.0001 * (i % 3) for i in range(50)]
    assert codes(closed(samples({"duration_s": slow + rest}))) == []
    assert codes(closed(samples({"duration_s": [value * 1.05 for value in slow] + rest}))) == ["still-warming-up"]
