"""Agents made of numbers, whose true differences are known: what calibration draws its records from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agentdyno.findings.figures.dimensions import FRUGAL, WEIGHTS
from agentdyno.model.record import AgentRecord, BenchmarkRecord, CaseRecord

Numbers = npt.NDArray[np.float64]

TARGETS = {
    "duration_s": (0.4, 12.0),
    "cost_usd": (0.0003, 0.04),
    "total_tokens": (150.0, 12_000.0),
    "cpu_s": (0.03, 2.0),
    "peak_rss_bytes": (3e7, 6e8),
}
ERRORS = 0.02
_TIME_NOISE, _COST_NOISE, _MEMORY_NOISE = 0.25, 0.3, 0.05
_POPULATION = 100_000


@dataclass(frozen=True, slots=True)
class Skill:
    """``gain`` closes that part of the way to a certain answer; the others are factors on what an execution uses."""

    gain: float = 0.0
    time: float = 1.0
    cost: float = 1.0


@dataclass(frozen=True, slots=True)
class Setting:
    """How many cases and repeats; ``group`` cases share a fate, which every agent meets in its own way."""

    cases: int
    epochs: int
    group: int = 1
    benchmarks: int = 1


@dataclass(frozen=True, slots=True)
class Questions:
    """What belongs to the cases and not to the agents."""

    right: Numbers
    seconds: Numbers
    dollars: Numbers
    tokens: Numbers


def draw_questions(count: int, random: np.random.Generator) -> Questions:
    """Chances to be answered, seconds, dollars and tokens, each different from case to case."""
    return Questions(
        right=random.beta(2.0, 1.2, count),
        seconds=np.exp(random.normal(0.7, 0.6, count)),
        dollars=np.exp(random.normal(-6.0, 0.8, count)),
        tokens=np.exp(random.normal(7.0, 0.7, count)),
    )


@dataclass(frozen=True, slots=True)
class Answers:
    """One agent's executions summed up per case: counts, and what one execution used."""

    passed: Numbers
    errors: Numbers
    used: dict[str, Numbers]


def answer(of: Questions, skill: Skill, setting: Setting, random: np.random.Generator) -> Answers:
    count, epochs = of.right.size, setting.epochs
    mood = np.zeros(count)
    if setting.group > 1:
        mood = np.repeat(random.normal(0.0, 1.0, -(-count // setting.group)), setting.group)[:count]
    odds = np.log(of.right / (1.0 - of.right)) + 0.5 * mood
    right = 1.0 / (1.0 + np.exp(-odds))
    right = right + skill.gain * (1.0 - right)
    failed = random.random((count, epochs)) < ERRORS
    passed = (random.random((count, epochs)) < right[:, None]) & ~failed
    pace = np.exp(0.1 * mood)[:, None]

    def noisy(base: Numbers, spread: float) -> Numbers:
        return base[:, None] * pace * np.exp(random.normal(0.0, spread, (count, epochs)))

    seconds = noisy(of.seconds * skill.time, _TIME_NOISE)
    return Answers(
        passed.sum(axis=1).astype(np.float64),
        failed.sum(axis=1).astype(np.float64),
        {
            "duration_s": np.median(seconds, axis=1),
            "cost_usd": noisy(of.dollars * skill.cost, _COST_NOISE).mean(axis=1),
            "total_tokens": noisy(of.tokens * skill.cost, _COST_NOISE).mean(axis=1),
            "cpu_s": 0.1 * seconds.mean(axis=1),
            "peak_rss_bytes": noisy(np.full(count, 6e7), _MEMORY_NOISE).mean(axis=1),
        },
    )


def make_record(agent: str, answers: Answers, setting: Setting) -> AgentRecord:
    """The answers as a record; cases go round the benchmarks, group by group."""
    cases = []
    names = list(answers.used)
    used = np.stack([answers.used[name] for name in names], axis=1).tolist()
    for place, (passed, errors) in enumerate(zip(answers.passed.tolist(), answers.errors.tolist(), strict=True)):
        group = place // setting.group
        scored = setting.epochs - int(errors)
        cases.append(
            CaseRecord(
                benchmark=f"b{group % setting.benchmarks}",
                case_id=f"c{place:04}",
                digest=str(place),
                tries=setting.epochs,
                scored=scored,
                passed=int(passed),
                score=passed / scored if scored else None,
                statuses={"error": int(errors)},
                used=dict(zip(names, used[place], strict=True)),
                group=f"g{group}" if setting.group > 1 else None,
            )
        )
    benchmarks = tuple(
        BenchmarkRecord(f"b{i}", f"b{i}", "accuracy", "same", 0.5, len(cases), 0, "run", targets=TARGETS)
        for i in range(setting.benchmarks)
    )
    return AgentRecord(agent, agent, "1", "suite", "suite", "suite", "1", 0, "machine", benchmarks, tuple(cases))


def draw_pair(setting: Setting, skill: Skill, random: np.random.Generator) -> tuple[AgentRecord, AgentRecord]:
    """A baseline without and a candidate with the skill, on the same questions."""
    questions = draw_questions(setting.cases, random)
    first, second = (answer(questions, own, setting, random) for own in (Skill(), skill))
    return make_record("first@1", first, setting), make_record("second@1", second, setting)


def true_changes(setting: Setting, skill: Skill, seed: int) -> dict[str, float]:
    """By dimension and ``overall`` the change in the whole population, computed directly from 100,000 cases."""
    random = np.random.default_rng([seed, 1])
    questions = draw_questions(_POPULATION, random)
    sides = [_levels(answer(questions, own, setting, random), setting.epochs) for own in (Skill(), skill)]
    found = {name: sides[1][name] - sides[0][name] for name in ("accuracy", "reliability", "overall")}
    found |= {name: sides[1][name] / sides[0][name] - 1.0 for name in ("cost", "efficiency")}
    # The same factor for every case: the ratio of paired cases is that factor.
    return {**found, "speed": skill.time - 1.0}


def _levels(answers: Answers, epochs: int) -> dict[str, float]:
    scored = epochs - answers.errors
    successes = answers.passed.sum()
    per_success = {name: float(values.sum() * epochs / successes) for name, values in answers.used.items()}
    per_success["duration_s"] = float(np.median(answers.used["duration_s"]))
    scores = {name: _score(value, TARGETS[name]) for name, value in per_success.items()}
    accuracy = float((answers.passed[scored > 0] / scored[scored > 0]).mean())
    dimensions = {
        "accuracy": accuracy,
        "speed": scores["duration_s"],
        "cost": scores["cost_usd"],
        "efficiency": float(np.mean([scores[name] for name in FRUGAL])),
    }
    reliability = 0.0
    if epochs >= 3:
        passed = answers.passed
        lasting = passed * (passed - 1) * (passed - 2) / (epochs * (epochs - 1) * (epochs - 2))
        reliability = float(lasting.mean() * (1.0 - answers.errors.sum() / (epochs * passed.size)))
        dimensions["reliability"] = reliability
    weight = sum(WEIGHTS[name] for name in dimensions)
    return {
        "accuracy": accuracy,
        "reliability": reliability,
        "cost": per_success["cost_usd"],
        "efficiency": float(np.exp(np.mean([np.log(per_success[name]) for name in FRUGAL]))),
        "overall": sum(WEIGHTS[name] * value for name, value in dimensions.items()) / weight,
    }


def _score(value: float, bounds: tuple[float, float]) -> float:
    target, limit = np.log(bounds)
    return float(np.clip((limit - np.log(value)) / (limit - target), 0.0, 1.0))
