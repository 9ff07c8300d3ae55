"""The order of a run is fixed by the spec and its seed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.errors import SpecError
from agentdyno.model import Arm, AutoStop, Entry, Isolation, Iterations, Order, Phase, Plan, Side, Spec, Trial
from agentdyno.model.identity import derive_seed, experiment_arm_id
from agentdyno.specs import MAX_LIVE_ARMS, interleaving_warning, make_plan, plan_groups

SPEC = Spec("run", (Entry("x"),), seed=42, source="spec.yaml")
TEN = Iterations(measured=10)


def make_arms(count: int, *, sides: bool = False) -> list[Arm]:
    chosen: list[Side | None] = [Side.BASELINE, Side.CANDIDATE] if sides else [None]
    return [
        Arm(
            experiment_arm_id("x", {"n": n}, side),
            f"x n={n}" + (f" [{side}]" if side else ""),
            "x",
            {"n": n},
            side=side,
        )
        for n in range(count)
        for side in chosen
    ]


def measured(plan: Plan) -> list[Trial]:
    return [trial for trial in plan.trials if trial.phase is Phase.MEASURED]


@given(
    counts=st.lists(st.integers(1, 6), min_size=1, max_size=40),
    order=st.sampled_from(Order),
    isolation=st.sampled_from(Isolation),
    seed=st.integers(0, 2**63 - 1),
)
def test_every_iteration_of_every_arm_is_planned_exactly_once(
    counts: list[int], order: Order, isolation: Isolation, seed: int
) -> None:
    spec = replace(SPEC, order=order, isolation=isolation, seed=seed)
    arms = make_arms(len(counts))
    pairs = [(arm, Iterations(measured=n)) for arm, n in zip(arms, counts, strict=True)]
    plan = make_plan(spec, pairs, ["cprofile"])
    expected = {(arm.arm_id, i) for arm, n in zip(arms, counts, strict=True) for i in range(n)}
    found = [(trial.arm_id, trial.iteration) for trial in measured(plan)]
    assert len(found) == len(expected)
    assert set(found) == expected
    assert len({trial.key for trial in plan.trials}) == len(plan.trials)
    assert plan == make_plan(spec, pairs, ["cprofile"])


def test_each_block_holds_each_arm_once_in_an_order_of_its_own() -> None:
    arms = make_arms(6)
    trials = measured(make_plan(SPEC, [(arm, TEN) for arm in arms], []))
    blocks = [trials[i : i + 6] for i in range(0, 60, 6)]
    assert all({t.arm_id for t in block} == {arm.arm_id for arm in arms} for block in blocks)
    assert all(t.iteration == i for i, block in enumerate(blocks) for t in block)
    assert len({tuple(t.arm_id for t in block) for block in blocks}) > 5


def test_arms_with_fewer_iterations_drop_out_of_later_blocks() -> None:
    first, second = make_arms(2)
    plan = make_plan(SPEC, [(first, Iterations(measured=1)), (second, Iterations(measured=3, warmup=5))], [])
    assert [t.iteration for t in measured(plan)] == [0, 0, 1, 2]
    assert {t.arm_id for t in measured(plan)[2:]} == {second.arm_id}
    assert plan.warmups == {first.arm_id: 1, second.arm_id: 5}


def test_sequential_order_runs_arm_after_arm() -> None:
    arms = make_arms(3)
    plan = make_plan(replace(SPEC, order=Order.SEQUENTIAL), [(arm, Iterations(measured=2)) for arm in arms], [])
    assert [(t.arm_id, t.iteration) for t in plan.trials] == [(arm.arm_id, i) for arm in arms for i in range(2)]
    assert interleaving_warning(plan) is None


def test_the_seed_of_a_trial_is_the_same_in_every_arm_and_differs_by_iteration() -> None:
    plan = make_plan(SPEC, [(arm, TEN) for arm in make_arms(3)], ["cprofile"])
    seeds = {(t.phase, t.iteration, t.seed) for t in plan.trials}
    assert len(seeds) == 11
    assert (Phase.MEASURED, 3, derive_seed(42, "measured", 3, "")) in seeds


def test_another_seed_gives_another_order() -> None:
    pairs = [(arm, TEN) for arm in make_arms(5)]
    first, second = make_plan(SPEC, pairs, []), make_plan(replace(SPEC, seed=43), pairs, [])
    assert [t.arm_id for t in first.trials] != [t.arm_id for t in second.trials]


def test_perturbing_instruments_get_passes_of_their_own_after_all_measured_ones() -> None:
    arms = make_arms(2)
    counts = [Iterations(measured=2, instrumented=2), Iterations(measured=2, instrumented=0)]
    plan = make_plan(SPEC, list(zip(arms, counts, strict=True)), ["cprofile", "tracemalloc"])
    phases = [t.phase for t in plan.trials]
    assert phases == [Phase.MEASURED] * 4 + [Phase.INSTRUMENTED] * 4
    assert [(t.arm_id, t.instrument, t.iteration) for t in plan.trials[4:]] == [
        (arms[0].arm_id, name, i) for name in ("cprofile", "tracemalloc") for i in range(2)
    ]


def test_iterations_spread_over_fresh_processes() -> None:
    (arm,) = make_arms(1)
    spec = replace(SPEC, processes=3)
    plan = make_plan(spec, [(arm, Iterations(measured=7))], ["cprofile"])
    assert [t.process for t in plan.trials] == [0, 0, 0, 1, 1, 2, 2, 2]
    auto = make_plan(spec, [(arm, Iterations(auto=AutoStop(0.02, 6, 9)))], [])
    assert [t.process for t in auto.trials] == [0, 0, 1, 1, 2, 2, 2, 2, 2]


def test_automatic_iterations_are_planned_up_to_their_maximum() -> None:
    (arm,) = make_arms(1)
    assert len(make_plan(SPEC, [(arm, Iterations(auto=AutoStop(maximum=77)))], []).trials) == 77


@pytest.mark.parametrize(
    ("count", "sides", "groups"), [(33, False, 2), (100, False, 4), (33, True, 3), (32, True, 2)]
)
def test_many_arms_in_processes_are_interleaved_in_balanced_groups(count: int, sides: bool, groups: int) -> None:
    arms = make_arms(count, sides=sides)
    plan = make_plan(SPEC, [(arm, Iterations(measured=3)) for arm in arms], ["cprofile"])
    found = plan_groups(plan)
    assert len(found) == groups
    assert max(map(len, found)) <= MAX_LIVE_ARMS
    assert max(map(len, found)) - min(map(len, found)) <= 2
    assert Counter(arm_id for group in found for arm_id in group) == Counter(arm.arm_id for arm in arms)
    homes = {arm_id: i for i, group in enumerate(found) for arm_id in group}
    by_configuration: dict[object, set[int]] = {}
    for arm in arms:
        by_configuration.setdefault(arm.params["n"], set()).add(homes[arm.arm_id])
    assert all(len(places) == 1 for places in by_configuration.values())
    warning = interleaving_warning(plan)
    assert warning is not None
    assert f"{len(arms)} arms are interleaved in {groups} groups" in warning.message
    assert "isolation: inline" in warning.remedy


def test_mixed_pairs_and_single_arms_never_overfill_a_group() -> None:
    arms = [arm for arm in make_arms(33, sides=True) if arm.params["n"] not in (0, 1) or arm.side is Side.BASELINE]
    assert len(arms) == 64
    plan = make_plan(SPEC, [(arm, Iterations(measured=2)) for arm in arms], [])
    assert [len(group) for group in plan_groups(plan)] == [32, 32]


def test_many_arms_inline_stay_in_one_block() -> None:
    arms = make_arms(50)
    plan = make_plan(replace(SPEC, isolation=Isolation.INLINE), [(arm, Iterations(measured=2)) for arm in arms], [])
    assert len(plan_groups(plan)) == 1
    assert interleaving_warning(plan) is None


def test_names_of_arms_are_unique_in_the_plan() -> None:
    arms = [replace(arm, name="x") for arm in make_arms(2)]
    assert [a.name for a in make_plan(SPEC, [(arm, TEN) for arm in arms], []).arms] == ["x n=0", "x n=1"]


def test_the_same_arm_twice_is_refused() -> None:
    (arm,) = make_arms(1)
    with pytest.raises(SpecError, match="2 times with the same parameters") as caught:
        make_plan(SPEC, [(arm, TEN), (arm, TEN)], [])
    assert caught.value.where == "spec.yaml: experiments"
    assert caught.value.remedy


def test_a_plan_of_more_than_a_million_trials_is_refused() -> None:
    arms = make_arms(2)
    with pytest.raises(SpecError, match="at most 1,000,000 trials, got 1,200,002") as caught:
        make_plan(SPEC, [(arm, Iterations(measured=600_000)) for arm in arms], ["cprofile"])
    assert caught.value.where == "spec.yaml: iterations"


def test_a_plan_without_arms_is_empty() -> None:
    assert make_plan(SPEC, [], ["cprofile"]).trials == ()
