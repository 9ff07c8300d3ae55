"""One agent, and several agents at once, in Python or in Rust, on the same model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

from agentdyno import Direction, Experiment, ExperimentContext, ForeignAgent, Metric, RunError, SpecError
from agentdyno_workloads.llm.concurrency import Concurrency, spread
from agentdyno_workloads.llm.multi_agent import METRICS as CONCURRENCY_METRICS
from agentdyno_workloads.llm.multi_agent import configurations
from agentdyno_workloads.llm.serving import options_by_name
from agentdyno_workloads.llm.workflow import DOCUMENTS
from agentdyno_workloads.polyglot.programs import Program, checked_runtime, find_program
from agentdyno_workloads.polyglot.stand import (
    AskedProgram,
    Stand,
    StandOptions,
    checked_options,
    endpoints_in,
    program_agent,
)

PROGRAM_METRICS = {
    metric.name: metric
    for metric in (
        Metric("start_s", "s", Direction.LOWER),
        Metric("start_cpu_s", "s", Direction.LOWER),
        Metric("cpu_per_token_s", "s", Direction.LOWER),
        Metric("peak_rss_bytes", "bytes", Direction.LOWER),
        Metric("tokens_per_s", "/s", Direction.HIGHER),
        Metric("ttft_s", "s", Direction.LOWER),
    )
}
SINGLE_METRICS = PROGRAM_METRICS | {
    metric.name: metric
    for metric in (
        Metric("case_s", "s", Direction.LOWER),
        Metric("client_s", "s", Direction.LOWER),
        Metric("model_ttft_s", "s", Direction.UNKNOWN),
        Metric("model_tokens_per_s", "/s", Direction.UNKNOWN),
        Metric("output_tokens", "", Direction.UNKNOWN),
    )
}


class _Polyglot(Experiment):
    """What both experiments share: a stand, and a program that is started anew for every execution."""

    program: Program
    stand: Stand

    def setup(self, context: ExperimentContext) -> None:
        """Starts servers and proxy, and checks that the program is there."""
        params = self.params
        self.program = find_program(params["language"], self.asked_runtime, self.at_once, self.programs)
        self.stand.open()
        facts = {"program": self.program.file, "build": self.program.build, "proxy_adds_s": self.stand.added_s}
        context.observe(**facts, servers=len(self.stand.places), requested=self.requested)

    def teardown(self, context: ExperimentContext) -> None:  # noqa: ARG002
        self.stand.close()

    def prepare(self, options: StandOptions, runtime: str, at_once: int, programs: str) -> None:
        checked_runtime(self.params["language"], runtime)
        self.asked_runtime, self.at_once, self.programs = runtime, at_once, programs
        self.requested: dict[str, Any] = {}
        self.stand = Stand(options)

    def check_runtime(self, context: ExperimentContext, asked: Sequence[AskedProgram]) -> None:
        """The program says on which runtime it ran: another one than was asked for is no result."""
        ran_on = {item.runtime for item in asked}
        if ran_on != {self.program.runtime}:
            raise RunError(f"the program ran on {', '.join(sorted(ran_on))}, not on {self.program.runtime}")
        worked = asked[0].worked
        simulated = any(item.worked.simulated for item in asked)
        context.observe(runtime=self.program.runtime, model=worked.model, simulated=simulated)


class PolyglotSingle(_Polyglot):
    """One agent that reads documents, analyses and reports; the program is started anew for every execution."""

    metrics: ClassVar = SINGLE_METRICS

    def __init__(
        self,
        language: Literal["python", "rust"] = "python",
        runtime: str = "",
        endpoint: str = "local",
        agent: str = "",
        num_gpu: int | None = None,
        num_ctx: int | None = None,
        temperature: float | None = 0.0,
        top_p: float | None = None,
        top_k: int | None = None,
        repeat_penalty: float | None = None,
        cases: int = 1,
        max_tokens: int = 48,
        documents: str = "",
        programs: str = "",
    ) -> None:
        if cases < 1:
            raise SpecError(f"{cases} cases cannot be asked", where="params.cases", remedy="Give 1 or more.")
        options = options_by_name(num_gpu, num_ctx, temperature, top_p, top_k, repeat_penalty)
        super().__init__({"language": language, "runtime": runtime, "endpoint": endpoint, **options})
        places = endpoints_in(endpoint)[:1]
        self.options, self.cases = checked_options(options, places, agent), cases
        folder = Path(documents) if documents else DOCUMENTS
        self.prepare(StandOptions(places, agent, 1, max_tokens, folder), runtime, 1, programs)
        self.requested = dict(self.options)

    def execute_once(self, context: ExperimentContext) -> dict[str, Any]:
        """Starts the program, puts the cases to it one after the other, and ends it."""
        asked, figures = asyncio.run(self._execute())
        self.check_runtime(context, asked)
        return figures

    async def _execute(self) -> tuple[list[AskedProgram], dict[str, float]]:
        program = program_agent(self.program)
        try:
            await program.start()
            before = program.used()
            asked = [await self.stand.ask(program, 0, self.options) for _ in range(self.cases)]
            figures = program_figures(program, before.cpu_s, asked)
        finally:
            await program.close()
        took_s = sum(item.worked.took_s for item in asked)
        tokens = sum(item.worked.output_tokens for item in asked)
        first = [item.worked.calls[0] for item in asked]
        rates = [call.tokens_per_s for item in asked for call in item.worked.calls]
        known: dict[str, float | None] = {
            "case_s": took_s / len(asked),
            "client_s": sum(item.client_s for item in asked) / len(asked),
            "ttft_s": _mean([item.ttft_s for item in asked]),
            "model_ttft_s": _mean([call.ttft_s for call in first]),
            "model_tokens_per_s": _mean(rates),
            "tokens_per_s": tokens / took_s if tokens else None,
            "output_tokens": float(tokens) if tokens else None,
        }
        return asked, figures | {name: value for name, value in known.items() if value is not None}


class PolyglotMulti(_Polyglot):
    """Several agents in one program at the same time, beside the same agents one after the other."""

    metrics: ClassVar = CONCURRENCY_METRICS | PROGRAM_METRICS

    def __init__(
        self,
        language: Literal["python", "rust"] = "python",
        runtime: str = "",
        scenario: Literal["baseline_vs_tuned", "heterogeneous", "homogeneous"] = "homogeneous",
        agents: int = 2,
        endpoints: str = "local,local",
        agent: str = "",
        slots: int = 1,
        num_gpu: int | None = None,
        num_ctx: int | None = None,
        temperature: float | None = 0.0,
        top_p: float | None = None,
        top_k: int | None = None,
        repeat_penalty: float | None = None,
        max_tokens: int = 48,
        documents: str = "",
        programs: str = "",
    ) -> None:
        options = options_by_name(num_gpu, num_ctx, temperature, top_p, top_k, repeat_penalty)
        given = {"language": language, "runtime": runtime, "scenario": scenario, "agents": agents}
        super().__init__({**given, "endpoints": endpoints, **options})
        places = endpoints_in(endpoints)
        self.configurations = configurations(scenario, agents, checked_options(options, places, agent))
        folder = Path(documents) if documents else DOCUMENTS
        self.prepare(StandOptions(places, agent, slots, max_tokens, folder), runtime, agents, programs)
        self.requested = {"slots": slots, "agents": [dict(item) for item in self.configurations]}

    def execute_once(self, context: ExperimentContext) -> dict[str, Any]:
        """Both turns in one process of the program, in an order drawn anew for every execution."""
        asked, figures = asyncio.run(self._execute(first_alone=context.rng.random() < 0.5))
        self.check_runtime(context, asked)
        return figures

    async def _execute(self, *, first_alone: bool) -> tuple[list[AskedProgram], dict[str, float]]:
        program = program_agent(self.program)
        try:
            await program.start()
            before = program.used()
            if first_alone:
                alone = await self._one_by_one(program)
                together = await self._at_once(program)
            else:
                together = await self._at_once(program)
                alone = await self._one_by_one(program)
            asked = [*alone, *together]
            figures = program_figures(program, before.cpu_s, asked)
        finally:
            await program.close()
        measured = Concurrency(tuple(item.worked for item in alone), tuple(item.worked for item in together))
        return asked, measured.figures() | _first_tokens(alone, together) | figures

    async def _one_by_one(self, program: ForeignAgent) -> list[AskedProgram]:
        pairs = enumerate(self.configurations)
        return [await self.stand.ask(program, number, options) for number, options in pairs]

    async def _at_once(self, program: ForeignAgent) -> list[AskedProgram]:
        pairs = enumerate(self.configurations)
        return await asyncio.gather(*(self.stand.ask(program, number, options) for number, options in pairs))


def program_figures(
    program: ForeignAgent, cpu_before_s: float | None, asked: Sequence[AskedProgram]
) -> dict[str, float]:
    """What the system says of the program's process: its start, and what its cases used."""
    used = program.used()
    tokens = sum(item.worked.output_tokens for item in asked)
    cpu_s = None if used.cpu_s is None or cpu_before_s is None else used.cpu_s - cpu_before_s
    known = {
        "start_s": used.start_s,
        "start_cpu_s": cpu_before_s,
        "cpu_per_token_s": cpu_s / tokens if cpu_s is not None and tokens else None,
        "peak_rss_bytes": used.peak_rss_bytes,
    }
    return {name: value for name, value in known.items() if value is not None}


def _first_tokens(alone: Sequence[AskedProgram], together: Sequence[AskedProgram]) -> dict[str, float]:
    """First tokens as the bench sees them come, in place of those that the proxy saw."""
    at_once = [item.ttft_s for item in together]
    known = {
        "ttft_s": _mean(at_once),
        "ttft_alone_s": _mean([item.ttft_s for item in alone]),
        "ttft_delta_s": spread(at_once),
        "model_ttft_s": _mean([item.worked.calls[0].ttft_s for item in together]),
    }
    return {name: value for name, value in known.items() if value is not None}


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None
