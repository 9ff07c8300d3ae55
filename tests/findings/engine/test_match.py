"""Which arms of two results belong together, and what is said about the comparison as a whole."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from agentdyno.errors import NotComparable
from agentdyno.findings.engine.match import (
    Operand,
    compare,
    compare_sides,
    compare_with_first,
    pair_arms,
    ratios_to_first,
    took_turns,
)
from agentdyno.findings.engine.measure_samples import SampleJudging
from agentdyno.model import ArmResult, Comparison, Order, RunWarning, Side, Verdict
from agentdyno.model.record import QuantitySpread, RunSpread

from ..builders import ENVIRONMENT, arm, noisy, operand, result, two_sided


def named(
    params: dict[str, object] | None = None,
    *,
    experiment: str = "sort",
    side: Side | None = None,
    centre: float = 1.0,
) -> ArmResult:
    params = params or {}
    rng = np.random.default_rng(len(params) + round(centre * 100))
    label = " ".join(
        [experiment, *(f"{key}={value}" for key, value in params.items()), *([f"[{side}]"] if side else [])]
    )
    made = arm(noisy(rng, centre, n=30, spread=0.01))
    return replace(made, arm_id=label, name=label, experiment=experiment, params=params, side=side)


def pairs(baseline: list[ArmResult], candidate: list[ArmResult]) -> list[tuple[str, str]]:
    return [(first.name, second.name) for first, second, _ in pair_arms(baseline, candidate)]


def spread_of(log_sd: float) -> Callable[[ArmResult, ArmResult], RunSpread]:
    """The noise between runs of the host, known from many of them."""
    return lambda _first, _second: RunSpread("host", {"duration_s": QuantitySpread(log_sd, 50, "own")})


KNOWN = spread_of(0.005)


def codes(comparison: Comparison) -> set[str]:
    return {warning.code for warning in comparison.warnings}


def test_arms_are_matched_by_experiment_and_parameters_whatever_their_order() -> None:
    first = [named({"size": 1}), named({"size": 2}), named({"size": 1}, experiment="find")]
    assert pairs(first, list(reversed(first))) == [(item.name, item.name) for item in reversed(first)]


def of_agent(agent: str, benchmark: str) -> ArmResult:
    name = f"{benchmark} {agent}"
    return replace(named(), arm_id=name, name=name, experiment="suite", agent=agent, benchmark=benchmark)


def test_arms_of_agents_pair_within_a_benchmark_and_with_the_agent_of_their_name() -> None:
    first = [of_agent("good@1", "words"), of_agent("bad@1", "words"), of_agent("good@1", "sums")]
    second = [of_agent("good@2", "sums"), of_agent("bad@1", "words"), of_agent("new@1", "words")]
    assert pairs(first, second) == [("sums good@1", "sums good@2"), ("words bad@1", "words bad@1")]
    versions = [of_agent("good@1", "words"), of_agent("good@2", "words")]
    assert pairs(versions, versions) == [(item.name, item.name) for item in versions]
    alone = [of_agent("old@1", "words"), of_agent("old@1", "sums")], [of_agent("new@1", "sums")]
    assert pairs(*alone) == [("sums old@1", "sums new@1")]


def test_arms_without_a_partner_are_listed_and_not_forced_together() -> None:
    first = operand("old", named({"size": 1}), named({"size": 2}))
    second = operand("new", named({"size": 2}), named({"size": 3}))
    found = compare(first, second, SampleJudging())
    assert [item.name for item in found.arms] == ["sort size=2"]
    assert found.only_in_baseline == ("sort size=1",)
    assert found.only_in_candidate == ("sort size=3",)


def test_a_load_whose_client_was_too_slow_is_told_in_the_comparison() -> None:
    plain, slow = operand("old", named()), operand("new", named())
    told = RunWarning("client-limited", "the client was the limit")
    slow = replace(slow, result=replace(slow.result, warnings=(told,)))
    assert "client-limited" in codes(compare(plain, slow, SampleJudging()))
    assert "client-limited" not in codes(compare(plain, plain, SampleJudging()))


def test_nothing_in_common_is_not_comparable() -> None:
    with pytest.raises(NotComparable) as caught:
        compare(operand("old", named()), operand("new", named(experiment="find")), SampleJudging())
    assert caught.value.message == "old and new have no arm in common (same experiment, same parameters)"
    assert "RUN:ARM" in str(caught.value.remedy)
    with pytest.raises(NotComparable):
        compare(operand("old"), operand("new", named()), SampleJudging())
    with pytest.raises(NotComparable):
        compare(
            operand("old", named({"size": 1}), named({"size": 2})),
            operand("new", named({"size": 3})),
            SampleJudging(),
        )


def test_two_single_arms_may_differ_in_their_parameters_and_are_flagged() -> None:
    found = compare(
        operand("old", named({"size": 1, "mode": "a"})), operand("new", named({"size": 2})), SampleJudging()
    )
    assert found.arms[0].differing == {"mode": ("a", None), "size": (1, 2)}
    (warning,) = [item for item in found.warnings if item.code == "different-parameters"]
    assert warning.message == "sort size=2: the parameters differ (mode: 'a' → None, size: 1 → 2)"


@pytest.mark.parametrize(
    ("first", "second", "same"), [(1, 1.0, True), (True, 1, False), (0, False, False), ("1", 1, False)]
)
def test_parameters_are_equal_as_json_values_are(first: object, second: object, same: bool) -> None:
    ((_, _, differing),) = pair_arms([named({"x": first})], [named({"x": second})])
    assert (differing == {}) is same


def test_a_run_of_two_sides_is_compared_with_itself_and_paired() -> None:
    run = two_sided(named(centre=1.0), named(centre=1.2))
    run = replace(run, spec=replace(run.spec, against="git:0123456789abcdef"))
    found = compare_sides(run, SampleJudging(noise_floor=0.01))
    assert (found.paired, found.verdict) == (True, Verdict.WORSE)
    assert (found.baseline, found.candidate) == ("baseline (git 0123456789)", "candidate")
    assert (found.arms[0].baseline_arm_id, found.arms[0].candidate_arm_id) == ("b", "c")
    assert all(row.paired for row in found.arms[0].metrics)
    assert found.warnings == ()
    assert found.noise_floor == 0.01


@pytest.mark.parametrize(
    ("against", "label"),
    [
        ('params:{"index": "scan", "size": 3}', "baseline (params index: scan, size: 3)"),
        ("python:/usr/bin/python3.12", "baseline (python /usr/bin/python3.12)"),
        (None, "baseline"),
    ],
)
def test_the_baseline_is_called_what_it_is(against: str | None, label: str) -> None:
    run = two_sided(named(), named())
    assert compare_sides(replace(run, spec=replace(run.spec, against=against)), SampleJudging()).baseline == label


def test_against_other_parameters_each_candidate_meets_its_nearest_baseline() -> None:
    baseline = [named({"size": size, "index": "scan"}, side=Side.BASELINE) for size in (1, 2)]
    candidate = [named({"size": size, "index": "tree"}, side=Side.CANDIDATE) for size in (1, 2)]
    found = compare_sides(result(*baseline, *candidate), SampleJudging())
    assert [(item.baseline_arm_id, item.candidate_arm_id) for item in found.arms] == [
        (first.arm_id, second.arm_id) for first, second in zip(baseline, candidate, strict=True)
    ]
    assert [item.differing for item in found.arms] == [{"index": ("scan", "tree")}] * 2
    assert "different-parameters" not in codes(found)


def test_against_one_value_of_a_sweep_every_candidate_meets_that_baseline() -> None:
    baseline = named({"size": 1}, side=Side.BASELINE)
    candidate = [named({"size": size}, side=Side.CANDIDATE) for size in (1, 2, 3)]
    found = compare_sides(result(baseline, *candidate), SampleJudging())
    assert [item.differing for item in found.arms] == [{}, {"size": (1, 2)}, {"size": (1, 3)}]
    assert found.only_in_baseline == found.only_in_candidate == ()


def test_an_ambiguous_candidate_is_left_alone() -> None:
    baseline = [named({"a": a, "b": 1 - a}, side=Side.BASELINE) for a in (0, 1)]
    candidate = named({"a": 0, "b": 0}, side=Side.CANDIDATE)
    exact = named({"a": 0, "b": 1}, side=Side.CANDIDATE)
    found = compare_sides(result(*baseline, candidate, exact), SampleJudging())
    assert [item.name for item in found.arms] == [exact.name]
    assert found.only_in_candidate == (candidate.name,)
    assert found.only_in_baseline == (baseline[1].name,)


def test_two_runs_of_two_sides_are_compared_side_by_side() -> None:
    sides = [named(side=side) for side in (Side.BASELINE, Side.CANDIDATE)]
    for candidate in (sides, list(reversed(sides))):
        assert sorted(pairs(sides, candidate)) == [(item.name, item.name) for item in sides]


def test_a_plain_run_is_compared_with_the_candidate_of_an_earlier_one() -> None:
    sides = [named(side=side) for side in (Side.BASELINE, Side.CANDIDATE)]
    assert pairs(sides, [named()]) == [("sort [candidate]", "sort")]


def test_two_runs_are_unpaired_and_say_so() -> None:
    found = compare(operand("old", named()), operand("new", named()), SampleJudging(noise_floor=0.02, paired=True))
    assert not found.paired
    assert not any(row.paired for item in found.arms for row in item.metrics)
    assert codes(found) == {"unpaired"}


def test_a_sequential_run_is_unpaired_too() -> None:
    run = two_sided(named(), named(), order=Order.SEQUENTIAL)
    found = compare_sides(run, SampleJudging(noise_floor=0.02))
    assert (found.paired, codes(found)) == (False, {"unpaired"})


def test_two_arms_of_one_run_are_paired() -> None:
    run = result(named({"size": 1}), named({"size": 2}))
    found = compare(Operand("a", run, run.arms[:1]), Operand("b", run, run.arms[1:]), SampleJudging(noise_floor=0.02))
    assert (found.paired, codes(found)) == (True, set())


def test_different_machines_and_pythons_are_flagged() -> None:
    first, second = operand("old", named()), operand("new", named(), machine="machine-2")
    newer = replace(second.result, environment=replace(ENVIRONMENT, machine_id="machine-2", python="3.13.1"))
    found = compare(first, replace(second, result=newer), SampleJudging())
    assert codes(found) == {"different-machines", "different-pythons"}
    assert {row.reason for item in found.arms for row in item.metrics} == {"not judged: different machines"}
    assert found.verdict is Verdict.INCONCLUSIVE
    assert any("3.11.7 and 3.13.1" in item.message for item in found.warnings)


def test_arms_of_one_run_that_were_measured_on_different_hosts_are_not_judged() -> None:
    first, second = operand("old", named()), operand("new", named())
    elsewhere = tuple(replace(arm, observed={"host_id": "another"}) for arm in second.arms)
    found = compare(first, replace(second, arms=elsewhere), SampleJudging())
    assert {row.reason for item in found.arms for row in item.metrics} == {"not judged: different machines"}
    both = tuple(replace(arm, observed={"host_id": "another"}) for arm in first.arms)
    together = replace(second, result=first.result, arms=elsewhere)
    found = compare(replace(first, arms=both), together, SampleJudging())
    assert "not judged: different machines" not in {row.reason for item in found.arms for row in item.metrics}


def test_a_machine_whose_noise_is_unknown_is_flagged() -> None:
    found = compare(operand("old", named()), operand("new", named()), SampleJudging())
    assert codes(found) == {"unpaired", "not-calibrated"}


def test_the_correction_covers_every_arm_of_the_table() -> None:
    """A change that would stand alone does not stand out among many that did not change."""
    quiet = [named({"size": size}, centre=size) for size in range(1, 30)]
    first, second = [1.00, 1.01, 1.02, 1.03, 1.04], [1.20, 1.21, 1.22, 1.23, 1.24]
    changed = [replace(arm(values), arm_id="x", name="x", experiment="x") for values in (first, second)]
    known = spread_of(0.042)
    alone = compare(operand("old", changed[0]), operand("new", changed[1]), SampleJudging(), known)
    among = compare(operand("old", changed[0], *quiet), operand("new", changed[1], *quiet), SampleJudging(), known)
    assert alone.arms[0].metrics[0].verdict is Verdict.WORSE
    assert among.arms[0].metrics[0].verdict is Verdict.INCONCLUSIVE
    assert among.arms[0].metrics[0].reason == "not significant among 30 comparisons"
    assert {item.metrics[0].verdict for item in among.arms[1:]} == {Verdict.INCONCLUSIVE}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ([1.0], Verdict.SAME),
        ([1.0, 1.3], Verdict.WORSE),
        ([0.7, 1.0], Verdict.BETTER),
        ([0.7, 1.3], Verdict.WORSE),
    ],
)
def test_the_whole_is_worse_if_any_part_is(changes: list[float], expected: Verdict) -> None:
    first = [named({"n": i}) for i in range(len(changes))]
    second = [replace(named({"n": i}, centre=change)) for i, change in enumerate(changes)]
    assert compare(operand("old", *first), operand("new", *second), SampleJudging(), KNOWN).verdict is expected


def test_an_undecided_part_leaves_the_whole_undecided_unless_something_is_worse() -> None:
    rng = np.random.default_rng(2)
    vague = replace(arm(noisy(rng, n=6, spread=0.3)), experiment="vague", arm_id="v", name="v")
    other = replace(arm(noisy(rng, n=6, spread=0.3)), experiment="vague", arm_id="v", name="v")
    for centre, expected in ((0.7, Verdict.INCONCLUSIVE), (1.3, Verdict.WORSE)):
        sides = operand("old", vague, named()), operand("new", other, named(centre=centre))
        found = compare(*sides, SampleJudging(), KNOWN)
        assert found.verdict is expected


def test_sides_that_are_different_experiments_pair_by_their_parameters() -> None:
    baseline = [named({"n": size}, experiment="loop", side=Side.BASELINE) for size in (1, 2)]
    candidate = [named({"n": size}, experiment="built_in", side=Side.CANDIDATE) for size in (2, 1)]
    assert pairs(baseline, candidate) == [
        ("loop n=2 [baseline]", "built_in n=2 [candidate]"),
        ("loop n=1 [baseline]", "built_in n=1 [candidate]"),
    ]


def test_arms_that_were_named_may_be_different_things() -> None:
    first, second = named({"a": 1}, experiment="loop"), named({"b": 2}, experiment="built_in", centre=2.0)
    run = result(first, second)
    with pytest.raises(NotComparable):
        compare(Operand("x", run, (first,)), Operand("y", run, (second,)), SampleJudging())
    found = compare(
        Operand("x", run, (first,), named=True), Operand("y", run, (second,), named=True), SampleJudging()
    )
    assert (found.verdict, found.paired, found.arms[0].differing) == (Verdict.WORSE, True, {})


def test_what_another_tool_measured_is_judged_as_separate_runs_are() -> None:
    first, second = named({"a": 1}), named({"a": 2}, centre=2.0)
    run = replace(result(first, second), origin={"tool": "hyperfine"})
    sides = [Operand(item.name, run, (item,), named=True) for item in (first, second)]
    found = compare(sides[0], sides[1], SampleJudging())
    assert not found.paired
    assert [row.verdict for row in found.arms[0].metrics if row.metric.machine_dependent] == [None]
    assert compare(sides[0], sides[1], SampleJudging(), KNOWN).verdict is Verdict.WORSE


def test_every_other_arm_is_held_against_the_first_as_one_family() -> None:
    run = result(named({"n": 1}), named({"n": 2}, centre=2.0), named({"n": 3}, centre=1.0))
    found = compare_with_first(run, SampleJudging())
    verdicts = [(item.name, row.verdict) for item in found.arms for row in item.metrics]
    assert (found.baseline, found.candidate) == ("sort n=1", "the others")
    assert verdicts[0] == ("sort n=2", Verdict.WORSE)
    assert verdicts[1][1] in (Verdict.SAME, Verdict.INCONCLUSIVE)


def test_ratios_are_between_arms_that_took_turns_in_a_run_of_ours() -> None:
    run = result(named({"n": 1}), named({"n": 2}, centre=2.0))
    row = ratios_to_first(run)["sort n=2"]
    assert row.ratio == pytest.approx(2.0, rel=0.02)
    assert ratios_to_first(replace(run, origin={"tool": "hyperfine"})) == {}
    assert ratios_to_first(replace(run, spec=replace(run.spec, order=Order.SEQUENTIAL))) == {}
    assert ratios_to_first(two_sided(named(side=Side.BASELINE), named(side=Side.CANDIDATE))) == {}


def _at(arm_result: ArmResult, starts: list[int]) -> ArmResult:
    own = arm_result.samples[: len(starts)]
    return replace(
        arm_result,
        samples=tuple(
            replace(item, started_at_ms=start, iteration=place)
            for place, (item, start) in enumerate(zip(own, starts, strict=True))
        ),
    )


def test_samples_show_whether_two_arms_took_turns() -> None:
    first = _at(named({"n": 1}), [0, 20, 30])
    assert took_turns(first, _at(named({"n": 2}), [10, 10, 40]))
    assert not took_turns(first, _at(named({"n": 2}), [31, 32, 33]))
    assert not took_turns(_at(named({"n": 1}), [0]), _at(named({"n": 2}), [1]))
