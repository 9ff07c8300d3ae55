"""Runs of suites: as small as a test can have them, with everything filled in that it does not care about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from agentdyno.model import (
    AgentUse,
    Arm,
    ArmResult,
    BaselineScores,
    Benchmark,
    Case,
    CaseFigures,
    Category,
    Phase,
    RunResult,
    RunStatus,
    Sample,
    ScorerUse,
    Spec,
    Status,
    Suite,
)
from agentdyno.model.suite import Rubric
from agentdyno.store import Store

from .builders import ENVIRONMENT, FIRST_ID

DAY_MS = 86_400_000
MONDAY = 1_700_000_000_000

SUITE = Suite(
    "Daily work",
    (
        Benchmark(
            "Sums",
            (Case("one", "1 + 1", "2", {"hard": False}), Case("two", ["2", "\x00"], {"n": 4}, group="g")),
            category=Category.ACCURACY,
            rubric=Rubric((ScorerUse("numeric", 2.0, {"tolerance": 0.1}),), targets={"duration_s": 0.5}),
        ),
        Benchmark("Talks", (Case("t", "hello", turns=("hello", "again")),), category=Category.SPEED, epochs=2),
    ),
    agents=(AgentUse("quick", "agent.py@quick", "1", {"temperature": 0}), AgentUse("slow@home", "cmd:slow")),
    baseline_scores=(BaselineScores("quick", {"accuracy": 0.8}),),
    source="suite.yaml",
)
AGENTS = ("quick@1", "slow@home@abc")


def arm_of(benchmark: str, agent: str) -> Arm:
    name = f"{benchmark} · {agent}"
    return Arm(f"arm {name}", name, "suite", benchmark=benchmark, agent=agent)


def suite_header(
    identity: str = FIRST_ID, *, suite: Suite = SUITE, started_at: int = MONDAY, workspace: str = "default"
) -> RunResult:
    return RunResult(
        identity,
        "suite",
        suite.name,
        RunStatus.RUNNING,
        started_at,
        None,
        7,
        Spec(suite.name, ()),
        ENVIRONMENT,
        None,
        suite=suite,
        pricing={"models": {"m": {"input": 0.1}}},
        targets={"sums": {"duration_s": (0.5, 5.0)}},
        workspace=workspace,
    )


def answer(
    arm_id: str, case_id: str, epoch: int = 0, *, score: float | None = 1.0, status: Status | None = None
) -> Sample:
    return Sample(
        arm_id,
        Phase.MEASURED,
        epoch,
        status or (Status.OK if (score or 0) >= 0.5 else Status.FAILED),
        MONDAY + epoch,
        {"duration_s": 0.25, "cpu_s": 0.1},
        case_id,
        scores={"score": score, "correctness": score, "completeness": None},
        details={"events": [], "simulated": False},
    )


def arm_result(arm: Arm, *, accuracy: float | None = 0.5, planned: int = 1, **changes: object) -> ArmResult:
    found = ArmResult(
        arm.arm_id,
        arm.name,
        arm.experiment,
        benchmark=arm.benchmark,
        agent=arm.agent,
        observed={"model": "m-1"},
        scores={
            "accuracy": accuracy,
            "speed": 0.25,
            "efficiency": None,
            "cost": 0.75,
            "reliability": 1.0,
            "overall": 0.6,
        },
        planned=planned,
        case_figures=CaseFigures(2, 2, accuracy, 0.125, 1, 2),
        totals={"duration_s": 2.0, "total_tokens": 30.0, "api_calls": 4.0, "cost_usd": 0.002},
    )
    return replace(found, **changes)  # type: ignore[arg-type]


def begin_suite(store: Store, header: RunResult, agents: Sequence[str] = AGENTS, planned: int = 1) -> tuple[Arm, ...]:
    assert header.suite is not None
    arms = tuple(arm_of(item.benchmark_id, agent) for item in header.suite.benchmarks for agent in agents)
    store.runs.begin(header, arms, {arm.arm_id: planned for arm in arms})
    return arms


def run_suite(
    store: Store,
    header: RunResult,
    accuracies: Mapping[str, float | None],
    *,
    finished_at: int | None = None,
    samples: int = 1,
) -> RunResult:
    """A whole run: each agent gives ``samples`` of one planned answer per benchmark."""
    arms = begin_suite(store, header, tuple(accuracies))
    for arm in arms:
        for epoch in range(samples):
            store.runs.append(header.run_id, answer(arm.arm_id, "one", epoch))
    result = replace(
        header,
        status=RunStatus.COMPLETE,
        finished_at=header.started_at + 1_000 if finished_at is None else finished_at,
        arms=tuple(arm_result(arm, accuracy=accuracies[arm.agent or ""]) for arm in arms),
    )
    store.runs.finish(result)
    return result
