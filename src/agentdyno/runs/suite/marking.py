"""Judging answers as a benchmark's rubric says, and what that needs: scorers of local code, agents that are asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from agentdyno.contracts import Agent, Scorer
from agentdyno.errors import SpecError
from agentdyno.model import (
    AgentUse,
    Benchmark,
    Case,
    Event,
    Response,
    Sample,
    Score,
    ScorerUse,
    Suite,
    Usage,
    Workspace,
)
from agentdyno.model.codec import from_plain, to_plain
from agentdyno.model.metric import reported_name
from agentdyno.model.sample import RAISED, problem_code
from agentdyno.pricing import PriceBook
from agentdyno.registry.local import load_import
from agentdyno.runner.cases.call import CaseJudgement
from agentdyno.runs.lineup import LocalServer, Maker, find_judge
from agentdyno.scorers.adapt import make_scorer
from agentdyno.scorers.outcome import combine

Judges = Callable[[str], Agent]
_MOST_COLUMNS = 8


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
                    remedy=_remedy(case),
                )
    return Marking(scorers)


def _remedy(case: Case) -> str:
    """With the columns of a table that were taken for metadata, where the target may be one of them."""
    other = "Change the target, or choose another scorer (`dyno list scorers`)."
    names = [*case.metadata][:_MOST_COLUMNS]
    if case.target is not None or not names:
        return other
    columns = f"columns: {{target: {names[0]}}}"
    return f"{other} Or say which column has it: `{columns}`; besides the input there are {', '.join(names)}."


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


@dataclass(slots=True)
class JudgingAgent:
    """An agent that judges. ``digest`` is of all it is made of: a declared version may stay while that changes."""

    agent: Agent
    digest: str
    name: str = field(init=False)
    version: str = field(init=False)
    config: Mapping[str, object] = field(init=False)
    paid: bool = field(init=False)

    def __post_init__(self) -> None:
        self.name, self.version = self.agent.name, self.agent.version
        self.config, self.paid = self.agent.config, self.agent.paid

    async def run(self, case: Case) -> Response:
        return await self.agent.run(case)

    async def start(self) -> None:
        await self.agent.start()

    async def close(self) -> None:
        await self.agent.close()


@dataclass(slots=True)
class JudgingAgents:
    """Agents that scorers ask, one object per reference."""

    workspace: Workspace
    base_dir: Path
    maker: Maker
    local: LocalServer
    made: dict[str, Agent] = field(default_factory=dict)
    uses: list[AgentUse] = field(default_factory=list)

    def named(self, reference: str) -> Agent:
        if reference not in self.made:
            judge = find_judge(reference, self.workspace, self.base_dir)
            maker = replace(self.maker, local_url=self.local.url) if judge.wants_local_model else self.maker
            self.uses.append(judge.use)
            self.made[reference] = JudgingAgent(judge.make(maker, None), judge.version.digest)
        return self.made[reference]


def load_imports(suite: Suite) -> None:
    """Loads the files and modules that a suite imports, so that what they register is known."""
    for item in suite.imports:
        load_import(str((Path(suite.base_dir) / item).resolve()) if item.endswith(".py") else item)
