"""Traces of OpenTelemetry (OTLP/JSON, as a collector writes it): each trace is a case that was run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agentdyno.errors import ImportFailed
from agentdyno.importers.content import outline
from agentdyno.importers.document import WRITE_AGAIN, ImportedDocument, printable, read_text_document
from agentdyno.importers.evals.evaluated import Evaluation, Tested, evaluated, version_of
from agentdyno.model import (
    AgentUse,
    Benchmark,
    Case,
    Category,
    Phase,
    Rubric,
    RunResult,
    RunWarning,
    Sample,
    ScorerUse,
    Status,
)
from agentdyno.model.case import Event
from agentdyno.model.codec import to_plain
from agentdyno.servers.otlp.document import TraceSpan, read_documents
from agentdyno.servers.otlp.protobuf import BadTrace
from agentdyno.servers.otlp.secrets import hide_secrets
from agentdyno.servers.otlp.trajectory import answered, asked, events_of

_TOOL = "otlp"
_BENCHMARK = "traces"
_UNNAMED = "agent"
_AGENT = ("gen_ai.agent.name", "agent.name")
_TOKENS = ("input_tokens", "output_tokens", "cached_tokens", "reasoning_tokens")


class OtlpImporter:
    """Traces as trajectories: every trace a case, every service or agent an agent. What looks secret is hidden."""

    name = _TOOL
    description = "OpenTelemetry traces (OTLP/JSON, one document or one on each line)"

    def recognises(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        return "resourceSpans" in outline(head)

    def read(self, path: Path) -> Sequence[RunResult]:
        text, document = read_text_document(path)
        try:
            spans = read_documents(text)
        except BadTrace as error:
            raise ImportFailed(f"no OTLP traces: {error}", where=printable(path.name), remedy=WRITE_AGAIN) from None
        if not spans:
            raise ImportFailed("the file holds no span", where=printable(path.name), remedy=WRITE_AGAIN)
        return [evaluated(_evaluation(spans, document), document)]


def traces_of(spans: Sequence[TraceSpan]) -> dict[str, list[TraceSpan]]:
    """Spans by trace, in the order in which the traces began."""
    found: dict[str, list[TraceSpan]] = {}
    for span in sorted(spans, key=lambda item: item.start_ns):
        found.setdefault(span.trace_id, []).append(span)
    return found


def case_of(trace_id: str, spans: Sequence[TraceSpan], file: str) -> Case:
    """A trace as a case: what was asked, and where it comes from. Its answer is no target: nobody judged it."""
    provenance = {"tool": _TOOL, "file": file, "trace": trace_id, "start_ms": spans[0].start_ns // 1_000_000}
    return Case(trace_id, hide_secrets(asked(spans)) or "", metadata={"provenance": provenance})


def _evaluation(spans: Sequence[TraceSpan], document: ImportedDocument) -> Evaluation:
    traces = traces_of(spans)
    file = printable(document.path.name)
    samples: dict[str, list[Sample]] = {}
    for trace_id, own in traces.items():
        samples.setdefault(_agent(own), []).append(_sample(trace_id, own))
    cases = tuple(case_of(trace_id, own, file) for trace_id, own in traces.items())
    benchmark = Benchmark(
        _BENCHMARK, cases, _BENCHMARK, category=Category.COMPREHENSIVE, rubric=Rubric((ScorerUse("otlp:unjudged"),))
    )
    return Evaluation(
        _TOOL,
        "",
        document.stem,
        [benchmark],
        [
            Tested(_BENCHMARK, AgentUse(name, f"otlp:{name}", version_of(name)), own, len(own))
            for name, own in samples.items()
        ],
        started_at=min(span.start_ns for span in spans) // 1_000_000,
        finished_at=max(span.end_ns for span in spans) // 1_000_000,
        warnings=(
            RunWarning(
                "not-judged", "Traces were not judged: they have no scores", "dyno profile shows their phases."
            ),
        ),
    )


def _agent(spans: Sequence[TraceSpan]) -> str:
    for span in spans:
        for name in _AGENT:
            if span.attributes.get(name):
                return printable(str(span.attributes[name]))
    return printable(str(spans[0].resource.get("service.name") or _UNNAMED))


def _sample(trace_id: str, spans: Sequence[TraceSpan]) -> Sample:
    start_ns = min(span.start_ns for span in spans)
    duration_s = (max(span.end_ns for span in spans) - start_ns) / 1e9
    events = events_of(spans, start_ns)
    usage = _usage(events)
    readings = {"duration_s": duration_s, **{name: usage[name] for name in _TOKENS[:2] if name in usage}}
    if readings.keys() >= {"input_tokens", "output_tokens"}:
        readings["total_tokens"] = readings["input_tokens"] + readings["output_tokens"]
    return Sample(
        "",
        Phase.MEASURED,
        0,
        Status.OK,
        start_ns // 1_000_000,
        readings,
        case_id=trace_id,
        usage=usage,
        output=hide_secrets(answered(spans)),
        details={"events": hide_secrets([to_plain(event) for event in events])},
    )


def _usage(events: Sequence[Event]) -> dict[str, float]:
    found: dict[str, float] = {}
    for event in events:
        told = event.details.get("usage")
        for name, value in told.items() if isinstance(told, dict) else ():
            found[name] = found.get(name, 0.0) + value
    return found
