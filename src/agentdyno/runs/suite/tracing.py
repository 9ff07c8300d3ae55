"""The pass with tracing: each case once more, by agents that export OpenTelemetry spans to a receiver of the run.

Tracing takes time of its own, so nothing of it is there while anything is timed: the receiver and the traced agents,
which are other processes than the timed ones, start with the first trial of this pass, one case at a time.
"""

from __future__ import annotations

import asyncio
import json
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import quote

from agentdyno.agents.commands.agent import CommandAgent
from agentdyno.agents.foreign.agent import ForeignAgent
from agentdyno.agents.hosting.agent import HostedAgent
from agentdyno.contracts import CASE_ENVIRON, Agent, CaseFailed
from agentdyno.errors import SpecError
from agentdyno.model import Plan, RunWarning
from agentdyno.model.case import Case, Event, Response
from agentdyno.model.plan import TRACING, Phase, Trial
from agentdyno.runner.cases.call import CaseJob
from agentdyno.runs.lineup import Entrant, Maker
from agentdyno.servers.otlp.document import TraceSpan, encode_attributes
from agentdyno.servers.otlp.receiver import OtlpReceiver
from agentdyno.servers.otlp.trajectory import events_of
from agentdyno.settings.run import OTEL

FIRST_SPAN_S = 2.0
"""How long the first span of a case is waited for after its end; spans are exported in batches."""
QUIET_S = 0.25
"""Spans of a case are complete when none has arrived for so long."""
ENOUGH_SILENT = 3
"""After so many cases of an agent without any span, none is waited for."""
EXECUTION = "dyno.execution"
UNASSIGNED = "artifacts/otel-unassigned.json"
_KEPT = f"They are kept in {UNASSIGNED} of the run's folder."
_EXPORT = {
    "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf",
    "OTEL_TRACES_EXPORTER": "otlp",
    "OTEL_METRICS_EXPORTER": "none",
    "OTEL_LOGS_EXPORTER": "none",
    "OTEL_BSP_SCHEDULE_DELAY": "100",
}
_CAUSE = (
    "The likely cause: no OpenTelemetry SDK is set up in it. Run it under opentelemetry-instrument, or set up an "
    "exporter for OTLP over HTTP; pydantic-ai needs Agent.instrument_all(), langgraph and others a package of "
    "openinference."
)


def with_tracing(plan: Plan, arm_ids: frozenset[str]) -> Plan:
    """The plan with one more trial for each case of these arms, after everything that is timed."""
    first = [trial for trial in plan.trials if trial.iteration == 0 and trial.arm_id in arm_ids]
    traced = [Trial(one.arm_id, Phase.INSTRUMENTED, 0, one.case_id, TRACING, one.seed) for one in first]
    return replace(plan, trials=(*plan.trials, *traced))


@dataclass(slots=True)
class _Told:
    """How many cases an agent was asked, and the spans that it exported."""

    asked: int = 0
    spans: int = 0


class TracingPass:
    """The receiver of a run, and what came of it."""

    def __init__(self, say: Callable[[str], None], redact: Callable[[object], object]) -> None:
        self._say = say
        self._redact = redact
        self._receiver: OtlpReceiver | None = None
        self._told: dict[str, _Told] = {}
        self._late = self._homeless = self._refused = 0
        self._executions: set[str] = set()
        self._warned = False
        self.folder: Path | None = None

    def receiver(self) -> OtlpReceiver:
        """Started when it is first needed."""
        if self._receiver is None:
            self._receiver = OtlpReceiver()
            self._receiver.__enter__()
        return self._receiver

    def environ(self) -> dict[str, str]:
        """What every traced agent is told."""
        return {"OTEL_EXPORTER_OTLP_ENDPOINT": self.receiver().url, **_EXPORT}

    async def collect(self, agent: str, execution: str, window_ns: tuple[int, int]) -> list[TraceSpan]:
        """The spans of one execution, waited for as long as more may come."""
        told = self._told.setdefault(agent, _Told())
        self._executions.add(execution)
        found: list[TraceSpan] = []
        receiver = self.receiver()
        silent = told.asked >= ENOUGH_SILENT and told.spans == 0
        until = time.monotonic() + (0.0 if silent else FIRST_SPAN_S)
        while True:
            new = receiver.take(lambda span: _belongs(span, execution, window_ns))
            found += new
            if new:
                until = time.monotonic() + QUIET_S
            if time.monotonic() >= until:
                break
            await asyncio.sleep(0.02)
        told.asked += 1
        told.spans += len(found)
        if told.asked == ENOUGH_SILENT and told.spans == 0 and not self._warned:
            self._warned = True
            self._say(f"{agent} has exported no span in {told.asked} cases. {_CAUSE}")
        return found

    def close(self) -> None:
        """Ends the receiver; what is left in it is counted and kept in the run's folder."""
        if self._receiver is None:
            return
        receiver, self._receiver = self._receiver, None
        receiver.close()
        self._refused += receiver.counts.refused
        left = receiver.take(lambda _: True)
        late = [span for span in left if span.trace_id in self._executions or _execution(span) in self._executions]
        self._late += len(late)
        self._homeless += len(left) - len(late)
        if left and self.folder is not None:
            document = {"resourceSpans": [_plain(span) for span in left]}
            text = json.dumps(self._redact(document), ensure_ascii=False)
            (self.folder / UNASSIGNED).write_text(text, encoding="utf-8")

    def warnings(self) -> tuple[RunWarning, ...]:
        """What the run should say of its spans."""
        found = []
        for agent, told in self._told.items():
            if told.asked and not told.spans:
                refused = f" {self._refused:,} requests to the receiver were refused." if self._refused else ""
                message = f"{agent} exported no span in {told.asked:,} cases with tracing.{refused}"
                found.append(RunWarning("otel-no-spans", message, _CAUSE))
        if self._late:
            found.append(RunWarning("otel-late", f"{self._late:,} spans arrived after their case had ended", _KEPT))
        if self._homeless:
            found.append(RunWarning("otel-unassigned", f"{self._homeless:,} spans belong to no case", _KEPT))
        return tuple(found)


class TracedAgent:
    """An agent as the pass with tracing calls it; made and started with its first case."""

    def __init__(self, like: Agent, make: Callable[[Mapping[str, str]], Agent], tracing: TracingPass) -> None:
        """``make`` gives an agent like ``like`` whose processes have these variables."""
        self.name, self.version, self.config, self.paid = like.name, like.version, like.config, like.paid
        self._make = make
        self._tracing = tracing
        self._agent: Agent | None = None

    async def start(self) -> None:
        """Nothing yet: what is timed comes first."""

    async def run(self, case: Case) -> Response:
        if self._agent is None:
            agent = self._make(self._tracing.environ())
            await agent.start()
            self._agent = agent
        execution, parent = secrets.token_hex(16), secrets.token_hex(8)
        told = {
            **self._tracing.environ(),
            "TRACEPARENT": f"00-{execution}-{parent}-01",
            "OTEL_RESOURCE_ATTRIBUTES": f"dyno.case={quote(case.id, safe='')},{EXECUTION}={execution}",
        }
        token = CASE_ENVIRON.set(told)
        started_ns = time.time_ns()
        try:
            response = await self._agent.run(case)
        except CaseFailed as failed:
            events = await self._events(execution, started_ns)
            failed.response = _with_events(failed.response or Response(), events)
            raise
        finally:
            CASE_ENVIRON.reset(token)
        return _with_events(response, await self._events(execution, started_ns))

    async def _events(self, execution: str, started_ns: int) -> tuple[Event, ...]:
        spans = await self._tracing.collect(f"{self.name}@{self.version}", execution, (started_ns, time.time_ns()))
        return events_of(spans, started_ns)

    async def close(self) -> None:
        if self._agent is not None:
            agent, self._agent = self._agent, None
            await agent.close()


def traced_jobs(
    entrants: Mapping[str, Entrant], jobs: Mapping[str, CaseJob], maker: Maker, tracing: TracingPass
) -> dict[str, CaseJob]:
    """The jobs of the pass, by arm id: of agents that are processes of their own."""
    made: dict[int, TracedAgent] = {}
    found = {}
    for arm_id, entrant in entrants.items():
        job = jobs[arm_id]
        if not isinstance(job.agent, CommandAgent | HostedAgent | ForeignAgent):
            continue

        def make(environ: Mapping[str, str], entrant: Entrant = entrant, job: CaseJob = job) -> Agent:
            traced = replace(maker, workers=1, environ={**maker.environ, **environ})
            return entrant.make(traced, job.constraints.memory_limit_bytes)

        agent = made.setdefault(id(job.agent), TracedAgent(job.agent, make, tracing))
        found[arm_id] = replace(job, agent=agent, warmup=0)
    if not found:
        raise SpecError(
            "none of the agents can be traced",
            where=OTEL.option,
            remedy="Commands, stdio programs and Python agents in files can; endpoints are recorded without it.",
        )
    return found


def _with_events(response: Response, events: tuple[Event, ...]) -> Response:
    """Spans of the trace take the place of those that the agent records itself: both tell of the same calls."""
    if not events:
        return response
    kept = tuple(event for event in response.events if event.duration_s is None)
    return replace(response, events=tuple(sorted((*kept, *events), key=lambda event: event.at_s)))


def _belongs(span: TraceSpan, execution: str, window_ns: tuple[int, int]) -> bool:
    """By what the span says, else by its time: only one case is under way in this pass."""
    told = _execution(span)
    if told or span.trace_id == execution:
        return execution in (told, span.trace_id)
    return window_ns[0] <= span.start_ns <= window_ns[1]


def _execution(span: TraceSpan) -> str:
    return str(span.resource.get(EXECUTION, ""))


def _plain(span: TraceSpan) -> dict[str, object]:
    own: dict[str, object] = {
        "traceId": span.trace_id,
        "spanId": span.span_id,
        "parentSpanId": span.parent_id,
        "name": span.name,
        "startTimeUnixNano": str(span.start_ns),
        "endTimeUnixNano": str(span.end_ns),
        "attributes": encode_attributes(span.attributes),
        "status": {"code": 2 if span.failed else 0, "message": span.message},
    }
    return {"resource": {"attributes": encode_attributes(span.resource)}, "scopeSpans": [{"spans": [own]}]}
