"""One question to one agent, on the way that a suite takes, without a store."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from agentdyno.agents.foreign.agent import ForeignAgent
from agentdyno.agents.foreign.conformance import AT_ONCE, ConformanceCheck, check_conformance
from agentdyno.agents.resolve import make_agent
from agentdyno.errors import SpecError
from agentdyno.model import AgentUse, Benchmark, Case, Phase, Response, Rubric, Sample, Spec, Suite, Trial, Workspace
from agentdyno.runner.cases.call import CaseJudgement
from agentdyno.runner.executors.cases import CaseExecutor
from agentdyno.runs.kind import Choices, Say, Tools
from agentdyno.runs.lineup import Named
from agentdyno.runs.suite.prepare import preparing, suite_request
from agentdyno.specs import LoadedSuite

CASE = "try"


@dataclass(frozen=True, slots=True)
class Attempt:
    """The answer as a sample, and who gave it."""

    agent: str
    version: str
    uses: str
    sample: Sample


def try_agent(
    agent: Named,
    text: str,
    workspace: Workspace,
    *,
    time_limit_s: float | None = None,
    environ: Mapping[str, str],
    say: Say = lambda _: None,
) -> Attempt:
    """Asks once. What goes wrong with the set-up is raised; what goes wrong with the answer is in the sample."""
    benchmark = Benchmark("try", (Case(CASE, text),), rubric=Rubric(()))
    benchmark = replace(benchmark, constraints=replace(benchmark.constraints, time_limit_s=time_limit_s))
    suite = Suite("try", (benchmark,), epochs=1, warmup=0, base_dir=str(Path.cwd()))
    settings = Spec("try", (), base_dir=str(Path.cwd()), source="try")
    tools = Tools(workspace=workspace, environ=environ, say=say, choices=Choices((agent,)))
    with preparing(suite_request(LoadedSuite(suite, settings)), tools) as prepared:
        jobs = {arm_id: replace(job, judge=_no_opinion) for arm_id, job in prepared.jobs.items()}
        ((arm_id, entrant),) = prepared.entrants.items()
        executor = CaseExecutor(jobs, prepared.conduct, {arm_id: entrant.use.name})
        executor.open()
        try:
            executor.submit(Trial(arm_id, Phase.MEASURED, 0, CASE))
            sample = executor.wait().sample
        finally:
            executor.close()
        if executor.facts.fatal is not None:
            raise executor.facts.fatal
        assert sample is not None, "a case has one sample"
        return Attempt(entrant.use.name, entrant.version.version, entrant.use.uses, sample)


def try_protocol(use: AgentUse, environ: Mapping[str, str]) -> tuple[ConformanceCheck, ...]:
    """Whether a program keeps to the protocol of ``stdio:`` agents. Raises ``SpecError`` for any other agent."""
    agent = make_agent(use, workers=AT_ONCE, environ=environ)
    if not isinstance(agent, ForeignAgent):
        raise SpecError(
            f"{use.uses} is no program that speaks in lines",
            where="--conformance",
            remedy="Name one as stdio:PROGRAM; docs/reference/agent-protocol.md tells how it has to speak.",
        )
    return asyncio.run(check_conformance(agent))


async def _no_opinion(_case: Case, _response: Response) -> CaseJudgement:
    return CaseJudgement({})
