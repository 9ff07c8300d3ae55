"""Judging answers as a benchmark's rubric says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from agentdyno.contracts import Agent, Scorer
from agentdyno.errors import SpecError
from agentdyno.model import Benchmark, Case, Event, Response, Sample, Score, ScorerUse, Usage
from agentdyno.model.codec import from_plain, to_plain
from agentdyno.model.metric import reported_name
from agentdyno.model.sample import RAISED, problem_code
from agentdyno.pricing import PriceBook
from agentdyno.runner.cases.call import CaseJudgement
from agentdyno.scorers.adapt import make_scorer
from agentdyno.scorers.outcome import combine

Judges = Callable[[str], Agent]


@dataclass(frozen=True, slots=True)
class Marking:
    """The scorers of one benchmark, ready to judge."""

    scorers: tuple[tuple[ScorerUse, Scorer], ...]

    async def __call__(self, case: Case, response: Response) -> CaseJudgement:
        given = [(use, await scorer.score(case, response)) for use, scorer in self.scorers]
        said = tuple(_said(use, score) for use, score in given)
        raised = any(
            problem_code(item) == RAISED for (use, _), item in zip(given, said, strict=True) if use.weight > 0
        )
        return CaseJudgement(combine(given), said, _cost(given), raised)


def marking_for(benchmark: Benchmark, base_dir: Path, judges: Judges, prices: PriceBook | None = None) -> Marking:
    """Makes the scorers and has each look at every case, so that a target it cannot judge costs nothing."""
    scorers = tuple(
        (use, make_scorer(use, base_dir=base_dir, judge_for=judges, prices=prices))
        for use in benchmark.rubric.scorers
    )
    for case in benchmark.cases:
        for use, scorer in scorers:
            problem = scorer.check(case)
            if problem is not None:
                raise SpecError(
                    f"the scorer {use.name} cannot judge it: {problem}",
                    where=f"benchmark {benchmark.benchmark_id}, case {case.id}",
                    remedy="Change the target, or choose another scorer (`dyno list scorers`).",
                )
    return Marking(scorers)


def _said(use: ScorerUse, score: Score) -> Mapping[str, object]:
    said: dict[str, object] = {"scorer": use.name, "weight": use.weight, "values": dict(score.values)}
    if score.explanation:
        said["explanation"] = score.explanation
    if score.details:
        said["details"] = to_plain(score.details)
    if score.usage is not None:
        said["usage"] = to_plain(score.usage)
    if score.cost is not None:
        said["cost"] = score.cost
    return said


def _cost(given: Sequence[tuple[ScorerUse, Score]]) -> float | None:
    """Dollars that judging cost: unknown where a model judged and nobody knows its price."""
    total = 0.0
    for _, score in given:
        if score.usage is not None and score.cost is None:
            return None
        total += score.cost or 0.0
    return total


def stored_answer(sample: Sample) -> Response:
    """The response behind a sample, as far as it was kept."""
    events = sample.details.get("events")
    tokens = {name: int(value) for name, value in sample.usage.items()}
    observed = sample.details.get("observed")
    model = sample.details.get("model")
    return Response(
        output=sample.output,
        usage=from_plain(Usage, tokens) if tokens else None,
        cost=sample.readings.get(reported_name("cost_usd"), sample.readings.get("cost_usd")),
        events=tuple(from_plain(Event, event) for event in events) if isinstance(events, list) else (),
        observed=observed if isinstance(observed, dict) else {},
        model=model if isinstance(model, str) else None,
        simulated=sample.details.get("simulated") is True,
    )
