"""The stand that a program is measured on: model servers, the proxy before them, and the program itself.

Every figure is taken here or by the proxy. A program is asked nothing about itself but which runtime it runs on.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from agentdyno import (
    Case,
    ForeignAgent,
    ModelCall,
    RecordingProxy,
    Response,
    RunError,
    SimulatedModel,
    SpecError,
)
from agentdyno_workloads.llm.serving import OF_THE_SERVER, ServerChoice, Serving, choose
from agentdyno_workloads.llm.workflow import ModelAnswer, Worked
from agentdyno_workloads.polyglot.programs import Program

ZERO = "zero"
"""An endpoint that answers at once: what is measured there is the client's own."""
STAGES = ("analysis", "report")


@dataclass(frozen=True, slots=True)
class ModelPlace:
    """Where a model is asked: ``target`` is the proxy's name for its server, ``path`` what follows its address."""

    target: str
    path: str
    dialect: str
    model: str


@dataclass(frozen=True, slots=True)
class AskedProgram:
    """One case: what the proxy saw of it (``worked``), and what the program's lines showed."""

    worked: Worked
    ttft_s: float | None
    client_s: float
    runtime: str


@dataclass(frozen=True, slots=True)
class StandOptions:
    """``endpoints``: ``local``, ``zero``, or addresses of servers that are asked for ``agent``."""

    endpoints: tuple[str, ...]
    agent: str
    slots: int
    max_tokens: int
    documents: Path


class Stand:
    """Starts what has to be started with ``open``; ``close`` ends all of it."""

    def __init__(self, options: StandOptions) -> None:
        self.options = options
        self.places: list[ModelPlace] = []
        self._proxy: RecordingProxy | None = None
        self._stack = ExitStack()
        self._cases = 0

    def open(self) -> None:
        with ExitStack() as stack:
            targets: dict[str, str] = {}
            for number, endpoint in enumerate(self.options.endpoints):
                target = f"server{number}"
                url, dialect, model = self._served(stack, endpoint)
                parts = urlsplit(url)
                targets[target] = f"{parts.scheme}://{parts.netloc}"
                self.places.append(ModelPlace(target, parts.path.rstrip("/"), dialect, model))
            self._proxy = RecordingProxy(targets)
            stack.callback(self._proxy.stop)
            self._stack = stack.pop_all()

    def close(self) -> None:
        self._stack.close()

    @property
    def added_s(self) -> float | None:
        """What the proxy adds to a streamed request, as measured when it started."""
        cost = self._proxy.cost if self._proxy is not None else None
        return None if cost is None else cost.streamed_s

    async def ask(self, program: ForeignAgent, agent: int, options: Mapping[str, float]) -> AskedProgram:
        """Puts one case to the program: agent ``agent`` (from 0), which has its endpoint in turn."""
        proxy = self._proxy
        if proxy is None:
            raise RunError("the stand is not open")
        self._cases += 1
        place, scope = self.places[agent % len(self.places)], f"case/{self._cases}"
        given = {
            "documents": str(self.options.documents),
            "url": proxy.url(scope, place.target, place.path),
            "dialect": place.dialect,
            "model": place.model,
            "options": {**options, "max_tokens": self.options.max_tokens},
        }
        started_at = time.perf_counter()
        response = await program.run(Case(f"agent-{agent + 1}", given))
        calls = await proxy.collect(scope)
        return _asked(f"agent {agent + 1}", started_at, response, calls)

    def _served(self, stack: ExitStack, endpoint: str) -> tuple[str, str, str]:
        """Address, dialect and model of an endpoint, which is started where it is one of ours."""
        if endpoint == ZERO:
            server = stack.enter_context(SimulatedModel(output_tokens=self.options.max_tokens))
            return server.openai_url, "openai", ZERO
        serving = Serving(self._choice(endpoint), slots=self.options.slots)
        stack.callback(serving.close)
        serving.open()
        dialect = "ollama" if serving.choice.protocol == "ollama" else "openai"
        return serving.url, dialect, serving.model_name or "default"

    def _choice(self, endpoint: str) -> ServerChoice:
        if endpoint == "local":
            return choose("local")
        return choose(self.options.agent, endpoint) if self.options.agent else choose(endpoint)


def endpoints_in(text: str) -> tuple[str, ...]:
    """``local,zero,URL`` one by one; raises ``SpecError`` where there is none."""
    found = tuple(item.strip() for item in text.split(",") if item.strip())
    if not found:
        raise SpecError(
            "no endpoint is named",
            where="params.endpoints",
            remedy="Write local, zero or URL, or several: local,local.",
        )
    return found


def checked_options(options: Mapping[str, float | None], endpoints: Sequence[str], agent: str) -> dict[str, float]:
    """The options that are given; raises ``SpecError`` for what a server would silently ignore."""
    given = {name: value for name, value in options.items() if value is not None}
    foreign = [name for name in OF_THE_SERVER if name in given]
    if foreign and not (agent.startswith("ollama:") and not {"local", ZERO} & set(endpoints)):
        raise SpecError(
            f"only Ollama takes {' and '.join(foreign)} in a request",
            where=f"params.{foreign[0]}",
            remedy="Use -p agent=ollama:NAME with the address of an Ollama, or leave it out.",
        )
    return given


def program_agent(program: Program) -> ForeignAgent:
    return ForeignAgent(f"{program.language}-{program.runtime}", program.argv)


def _asked(name: str, started_at: float, response: Response, calls: Sequence[ModelCall]) -> AskedProgram:
    broken = next((call for call in calls if not call.ok), None)
    if len(calls) != len(STAGES) or broken is not None or not response.output:
        seen = f"{len(calls)} requests" if broken is None else broken.error or broken.problem or broken.ended
        raise RunError(f"{name} did not ask its model twice and report: {seen}")
    took_s = response.readings["duration_s"]
    answers = tuple(_answer(stage, call) for stage, call in zip(STAGES, calls, strict=True))
    model_s = sum(answer.answer_s for answer in answers)
    simulated = any(call.simulated for call in calls)
    worked = Worked(name, started_at, started_at + took_s, answers, calls[-1].model, simulated)
    runtime = str(response.observed.get("runtime", ""))
    return AskedProgram(worked, response.readings.get("ttft_s"), took_s - model_s, runtime)


def _answer(stage: str, call: ModelCall) -> ModelAnswer:
    took_s = ((call.done_ns or call.started_ns) - call.started_ns) / 1e9
    tokens = call.usage.output_tokens if call.usage is not None else None
    return ModelAnswer(stage, took_s, call.readings.get("ttft_s"), call.readings.get("tokens_per_s"), tokens)
