"""A closed run of a suite with several agents, versions, benchmarks and every kind of end."""

from __future__ import annotations

import random
from dataclasses import replace

from agentdyno.contracts import Report
from agentdyno.findings.figures.suite_figures import close_suite
from agentdyno.model import Case, Findings, Rubric, RunResult, Sample, ScorerUse, Status

from ..findings.suite_builders import arm, benchmark, sample, suite_of, suite_result

RUBRIC = Rubric(
    scorers=(ScorerUse("numeric", options={"tolerance": 0.01}),),
    targets={"duration_s": 0.5, "cost_usd": 0.001, "total_tokens": 50},
    limits={"duration_s": 20.0, "cost_usd": 0.1, "total_tokens": 2000},
)
EVENTS = [
    {"kind": "message", "at_s": 0.0, "name": "user", "content": "What is 17 * 23?", "details": {}},
    {
        "kind": "model_call",
        "at_s": 0.01,
        "name": "smollm2-135m",
        "content": None,
        "duration_s": 0.42,
        "details": {"usage": {"input_tokens": 120, "output_tokens": 9}, "readings": {"ttft_s": 0.05}},
    },
    {"kind": "tool_call", "at_s": 0.44, "name": "calculator", "content": {"expression": "17 * 23"}, "details": {}},
    {"kind": "tool_result", "at_s": 0.44, "name": "calculator", "content": "391", "duration_s": 0.001, "details": {}},
]


def answers(agent: str, share: float, seconds: float, cases: list[Case], epochs: int = 3) -> list[Sample]:
    rng = random.Random(agent)
    difficulty = {case.id: random.Random(case.id).random() for case in cases}
    made = []
    for epoch in range(epochs):
        for case in cases:
            right = difficulty[case.id] * 0.9 + rng.random() * 0.1 < share
            tokens = float(rng.randint(80, 240))
            readings = {
                "duration_s": seconds * rng.lognormvariate(0, 0.3),
                "ttft_s": 0.08,
                "input_tokens": tokens - 20,
                "output_tokens": 20.0,
                "total_tokens": tokens,
                "api_calls": 2.0,
                "cost_usd": tokens * 1e-6,
            }
            details = {
                "events": EVENTS,
                "model": "smollm2-135m",
                "observed": {"temperature": 0},
                "cost": {"usd": tokens * 1e-6, "source": "priced"},
                "scoring": [
                    {
                        "scorer": "numeric",
                        "values": {"correctness": float(right)},
                        "explanation": "equal" if right else "391 is not 390",
                    }
                ],
            }
            output = str(case.target) if right else f"I think it is {rng.randint(0, 400)}."
            made.append(sample(case.id, float(right), epoch, readings=readings, output=output, details=details))
    return made


def comprehensive(epochs: int = 3) -> RunResult:
    """Four agents, one of them in two versions, on three benchmarks."""
    sums = [Case(f"sum-{i:02}", f"What is {i} * 23?", i * 23) for i in range(14)]
    facts = [Case(f"fact-{i:02}", f"Who wrote book {i}?", f"Author {i}", group=f"book {i // 2}") for i in range(10)]
    memory = [
        Case(f"memory-{i:02}", "My name is Ada.", "Ada", turns=("My name is Ada.", "Who am I?")) for i in range(8)
    ]
    benchmarks = {
        "arithmetic": sums,
        "retrieval-over-documents": facts,
        "multi-turn-memory": memory,
    }
    agents = {
        "smollm2@1.0": (0.45, 1.2),
        "smollm2-structured@1.0": (0.7, 1.5),
        "smollm2-tools@1.1": (0.85, 3.0),
        "smollm2-tools@0.9": (0.6, 2.7),
        "rules@1.0": (0.3, 0.001),
    }
    arms = []
    for name, cases in benchmarks.items():
        for agent, (share, seconds) in agents.items():
            taken = answers(agent + name, share, seconds, cases, epochs)
            if agent.startswith("smollm2@") and name == "arithmetic":
                taken[0] = sample(cases[0].id, Status.ERROR, 0)
                taken[1] = sample(cases[1].id, Status.TIMEOUT, 0, readings={"cost_usd": 0.0001})
            arms.append(arm(agent, name, taken, params={"temperature": 0}))
    suite = suite_of(
        *(benchmark(*cases, name=name, rubric=RUBRIC) for name, cases in benchmarks.items()),
        name="comprehensive",
        version="1.2",
        epochs=epochs,
    )
    return close_suite(suite_result(suite, *arms))


def report(*results: RunResult) -> Report:
    return Report(tuple(results), Findings())


def renamed(result: RunResult, old: str, new: str) -> RunResult:
    """The result with an agent's name changed."""
    arms = tuple(
        replace(item, agent=new, name=item.name.replace(old, new)) if item.agent == old else item
        for item in result.arms
    )
    return replace(result, arms=arms)
