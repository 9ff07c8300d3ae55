"""The order of a suite's run."""

from __future__ import annotations

import tracemalloc
from collections import Counter
from dataclasses import replace
from itertools import groupby, pairwise

import pytest

from agentdyno.errors import SpecError
from agentdyno.model import AgentUse, Benchmark, Case, Phase, Plan, Suite
from agentdyno.specs import Dataset, epochs_of, parse_suite, plan_suite, trial_count

AGENTS = [(AgentUse(name, name, config={"who": name}), "1") for name in ("a", "b", "c")]


def cases(prefix: str, count: int) -> tuple[Case, ...]:
    return tuple(Case(f"{prefix}{i}", i) for i in range(count))


SUITE = Suite("S", (Benchmark("X", cases("x", 8)), Benchmark("Y", cases("y", 4), epochs=2)), epochs=3)


def plan(suite: Suite = SUITE, seed: int = 1, **options: object) -> Plan:
    return plan_suite(suite, AGENTS, seed=seed, **options)  # type: ignore[arg-type]


def test_each_agent_on_each_benchmark_is_an_arm() -> None:
    found = plan()
    assert len(found.arms) == 6
    arm = found.arms[1]
    assert (arm.name, arm.experiment, arm.benchmark, arm.agent) == ("x · b", "s/x", "x", "b@1")
    assert arm.params == {"who": "b"}
    assert arm.side is None
    assert len({arm.arm_id for arm in found.arms}) == 6


def test_every_agent_case_and_epoch_is_planned_once() -> None:
    found = plan()
    arms = {arm.arm_id: arm for arm in found.arms}
    planned = Counter((arms[t.arm_id].agent, arms[t.arm_id].benchmark, t.case_id, t.iteration) for t in found.trials)
    expected = {
        (f"{use.name}@{version}", item.benchmark_id, case.id, epoch)
        for use, version in AGENTS
        for item in SUITE.benchmarks
        for case in item.cases
        for epoch in range(epochs_of(SUITE, item))
    }
    assert set(planned) == expected
    assert set(planned.values()) == {1}
    assert len(found.trials) == trial_count(SUITE, 3) == 3 * (8 * 3 + 4 * 2)
    assert len({trial.key for trial in found.trials}) == len(found.trials)
    assert {trial.phase for trial in found.trials} == {Phase.MEASURED}


def test_epochs_follow_each_other_and_agents_take_turns_on_each_case() -> None:
    found = plan()
    assert [trial.iteration for trial in found.trials] == sorted(trial.iteration for trial in found.trials)
    arms = {arm.arm_id: arm for arm in found.arms}
    blocks = [list(block) for _, block in groupby(found.trials, key=lambda trial: (trial.iteration, trial.case_id))]
    assert all({arms[trial.arm_id].agent for trial in block} == {"a@1", "b@1", "c@1"} for block in blocks)
    assert len({tuple(arms[trial.arm_id].agent for trial in block) for block in blocks}) > 3
    orders = [[b[0].case_id for b in blocks if b[0].iteration == epoch] for epoch in range(2)]
    assert orders[0] != orders[1]
    assert orders[0] != [case.id for item in SUITE.benchmarks for case in item.cases]


def test_a_case_has_the_same_seed_for_every_agent() -> None:
    seeds: dict[tuple[int, str], set[int]] = {}
    for trial in plan(seed=5).trials:
        seeds.setdefault((trial.iteration, trial.case_id), set()).add(trial.seed)
    assert all(len(found) == 1 for found in seeds.values())
    assert len(set.union(*seeds.values())) == len(seeds)


def test_the_same_suite_agents_and_seed_give_the_same_plan() -> None:
    assert plan() == plan()
    assert plan(seed=2).trials != plan().trials
    assert [arm.arm_id for arm in plan(seed=2).arms] == [arm.arm_id for arm in plan().arms]
    other = replace(SUITE, benchmarks=(SUITE.benchmarks[0], Benchmark("Y", cases("y", 5), epochs=2)))
    assert not {arm.arm_id for arm in plan(other).arms} & {arm.arm_id for arm in plan().arms}


def test_warm_ups_are_for_agents_that_cost_nothing_unless_the_suite_says_so() -> None:
    found = plan(paid={"a@1": True, "b": True})
    assert {arm.agent: found.warmups[arm.arm_id] for arm in found.arms} == {"a@1": 0, "b@1": 0, "c@1": 3}
    told = plan(
        replace(SUITE, warmup=1, benchmarks=(SUITE.benchmarks[0], replace(SUITE.benchmarks[1], warmup=7))),
        paid={"a": True},
    )
    assert {(arm.benchmark, told.warmups[arm.arm_id]) for arm in told.arms} == {("x", 1), ("y", 7)}


def test_two_versions_of_one_agent_are_told_apart() -> None:
    use = AgentUse("bot", "bot")
    found = plan_suite(SUITE, [(use, "1"), (use, "2")], seed=0)
    assert [arm.name for arm in found.arms[:2]] == ["x · bot@1", "x · bot@2"]


GROUPED = Suite(
    "G",
    (
        Benchmark(
            "X", (Case("g1", 0), *(Case(f"x{i}", i, group=f"g{i % 4}" if i < 12 else None) for i in range(15)))
        ),
        Benchmark("Y", cases("y", 7), epochs=2),
    ),
    epochs=3,
)


def test_case_by_case_every_agent_case_and_epoch_is_planned_once_with_the_seeds_of_the_usual_order() -> None:
    usual, by_case = plan(GROUPED), plan(GROUPED, by_case=True)
    assert set(by_case.trials) == set(usual.trials)
    assert len(by_case.trials) == len(usual.trials)
    assert by_case.trials != usual.trials
    assert (by_case.arms, by_case.warmups) == (usual.arms, usual.warmups)


def test_case_by_case_a_group_is_finished_before_the_next_begins() -> None:
    found = plan(GROUPED, by_case=True)
    benchmarks = {arm.arm_id: arm.benchmark or "" for arm in found.arms}
    groups = {(item.benchmark_id, c.id): c.group or f"only {c.id}" for item in GROUPED.benchmarks for c in item.cases}
    met = [(benchmarks[t.arm_id], groups[benchmarks[t.arm_id], t.case_id]) for t in found.trials]
    runs = [key for key, _ in groupby(met)]
    assert len(runs) == len(set(runs)) == 4 + 4 + 7
    assert runs != sorted(runs)
    assert sum(first[0] != second[0] for first, second in pairwise(runs)) > 1  # benchmarks are mixed


def test_case_by_case_agents_take_turns_and_epochs_follow_each_other_within_a_group() -> None:
    found = plan(GROUPED, by_case=True)
    agents = {arm.arm_id: arm.agent for arm in found.arms}
    blocks = [found.trials[i : i + 3] for i in range(0, len(found.trials), 3)]
    assert all(len({(trial.case_id, trial.iteration) for trial in block}) == 1 for block in blocks)
    orders = Counter(tuple(agents[trial.arm_id] for trial in block) for block in blocks)
    assert len(orders) == 6
    assert all(set(order) == {"a@1", "b@1", "c@1"} for order in orders)
    group = [(block[0].iteration, block[0].case_id) for block in blocks if block[0].case_id in ("x0", "x4", "x8")]
    assert [epoch for epoch, _ in group] == [0] * 3 + [1] * 3 + [2] * 3
    assert len({tuple(case_id for epoch, case_id in group if epoch == e) for e in range(3)}) > 1


def test_case_by_case_the_seed_decides_the_order() -> None:
    assert plan(GROUPED, by_case=True) == plan(GROUPED, by_case=True)
    assert plan(GROUPED, by_case=True).trials != plan(GROUPED, seed=2, by_case=True).trials


@pytest.mark.parametrize(
    ("suite", "agents", "message"),
    [
        (SUITE, [], "no agent to run"),
        (SUITE, [AGENTS[0], AGENTS[0]], "a@1 is in the run 2 times"),
        (
            replace(SUITE, epochs=50_000),
            AGENTS,
            "expected at most 1,000,000 calls, got 1,200,024 for 12 cases and 3 agents",
        ),
    ],
)
def test_what_cannot_be_planned_is_refused(suite: Suite, agents: list[tuple[AgentUse, str]], message: str) -> None:
    with pytest.raises(SpecError) as caught:
        plan_suite(suite, agents, seed=0)
    assert caught.value.message == message
    assert caught.value.remedy


def test_a_large_plan_is_lean() -> None:
    suite = parse_suite({"dataset": Dataset(str(i) for i in range(10_000))}).suite
    tracemalloc.start()
    try:
        found = plan_suite(suite, AGENTS, seed=0)
        held, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert len(found.trials) == 150_000
    assert held / len(found.trials) < 150  # bytes
