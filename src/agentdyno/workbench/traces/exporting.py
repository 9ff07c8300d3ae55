"""A run as OTLP/JSON: one trace per execution, its events as spans, its scores as ``gen_ai.evaluation.result``."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from agentdyno.errors import SpecError
from agentdyno.findings.case.ask import events_of
from agentdyno.findings.profile.judge_spans import token_counts
from agentdyno.model import Phase, RunResult, Sample, Status
from agentdyno.model.case import Event
from agentdyno.servers.otlp.document import encode_attributes
from agentdyno.servers.otlp.protobuf import Plain
from agentdyno.store import Store

_OPERATIONS = {"model_call": "chat", "tool_call": "execute_tool", "tool_result": "execute_tool"}
_NS = 1_000_000_000


def export_otlp(store: Store, reference: str, file: Path) -> int:
    """Writes the executions of a run of a suite, one document a line; returns how many there are."""
    header = store.runs.load(store.runs.find(reference), samples=False)
    if header.suite is None:
        raise SpecError(
            f"run {header.run_id[:13]} is no run of a suite: only executions of agents are traces",
            where="--format otlp",
            remedy="dyno report RUN --format json writes any run.",
        )
    count = 0
    with file.open("w", encoding="utf-8") as stream:
        for document in _documents(store, header):
            stream.write(json.dumps(document, ensure_ascii=False) + "\n")
            count += 1
    return count


def _documents(store: Store, header: RunResult) -> Iterator[Plain]:
    for arm in header.arms:
        resource = {
            "service.name": (arm.agent or arm.name).rpartition("@")[0] or arm.name,
            "service.version": (arm.agent or "").rpartition("@")[2],
            "dyno.run": header.run_id,
            "dyno.benchmark": arm.benchmark,
        }
        for sample in store.runs.iter_samples(header.run_id, arm_id=arm.arm_id, details=True):
            if sample.phase is not Phase.WARMUP:
                spans = _spans(header.run_id, arm.agent or arm.name, sample)
                scopes = [{"scope": {"name": "agentdyno"}, "spans": spans}]
                yield {
                    "resourceSpans": [{"resource": {"attributes": encode_attributes(resource)}, "scopeSpans": scopes}]
                }


def _spans(run_id: str, agent: str, sample: Sample) -> list[Plain]:
    trace = _id(f"{run_id}/{sample.key}/{sample.part}", 16)
    start_ns = sample.started_at_ms * 1_000_000
    events = [event for event in events_of(sample.details.get("events")) if event.duration_s is not None]
    lasted_s = sample.readings.get("duration_s", 0.0)
    root = _id(f"{trace}/root", 8)
    own: dict[str, object] = {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": agent.rpartition("@")[0] or agent,
        "openinference.span.kind": "AGENT",
        "dyno.case": sample.case_id,
        "dyno.epoch": sample.iteration + 1,
        "dyno.status": sample.status.value,
        "dyno.instrument": sample.instrument or None,
        "output.value": None if sample.output is None else _text(sample.output),
    }
    failed = sample.status not in (Status.OK, Status.FAILED)
    message = "" if sample.failure is None else sample.failure.message
    found = [
        {
            **_span(trace, root, "", f"case {sample.case_id}", (start_ns, start_ns + int(lasted_s * _NS))),
            "attributes": encode_attributes(own),
            "events": _evaluations(sample, start_ns + int(lasted_s * _NS)),
            "status": {"code": 2 if failed else 1, "message": message},
        }
    ]
    ids = {str(event.details["span"]) for event in events if event.details.get("span") is not None}
    for place, event in enumerate(events):
        found.append(_child((trace, root), event, place, start_ns, ids))
    return found


def _child(place_of: tuple[str, str], event: Event, place: int, start_ns: int, ids: set[str]) -> Plain:
    trace, root = place_of
    told, above = event.details.get("span"), event.details.get("parent")
    own = _id(f"{trace}/{told if told is not None else f'event {place}'}", 8)
    parent = _id(f"{trace}/{above}", 8) if above is not None and str(above) in ids else root
    begins = start_ns + int(event.at_s * _NS)
    usage = token_counts(event)
    reason = event.details.get("finish_reason")
    attributes: dict[str, object] = {
        "gen_ai.operation.name": _OPERATIONS.get(event.kind),
        "dyno.kind": event.kind,
        "gen_ai.request.model": event.name if event.kind == "model_call" else None,
        "gen_ai.tool.name": event.name if event.kind in ("tool_call", "tool_result") else None,
        "gen_ai.usage.input_tokens": usage.get("input_tokens"),
        "gen_ai.usage.output_tokens": usage.get("output_tokens"),
        "gen_ai.usage.cache_read.input_tokens": usage.get("cached_tokens"),
        "gen_ai.response.finish_reasons": [str(reason)] if reason else None,
        "gen_ai.tool.call.arguments": _text(event.content)
        if event.kind == "tool_call" and event.content is not None
        else None,
    }
    ends = begins + int((event.duration_s or 0.0) * _NS)
    error = event.details.get("error")
    return {
        **_span(trace, own, parent, event.name or event.kind, (begins, ends)),
        "attributes": encode_attributes(attributes),
        "status": {"code": 2 if error else 0, "message": str(error or "")},
    }


def _span(trace: str, own: str, parent: str, name: str, times: tuple[int, int]) -> Plain:
    return {
        "traceId": trace,
        "spanId": own,
        "parentSpanId": parent,
        "name": name,
        "kind": 1,
        "startTimeUnixNano": str(times[0]),
        "endTimeUnixNano": str(times[1]),
    }


def _evaluations(sample: Sample, at_ns: int) -> list[Plain]:
    why = _explanations(sample)
    return [
        {
            "timeUnixNano": str(at_ns),
            "name": "gen_ai.evaluation.result",
            "attributes": encode_attributes(
                {
                    "gen_ai.evaluation.name": name,
                    "gen_ai.evaluation.score.value": None if value is None else float(value),
                    "gen_ai.evaluation.score.label": sample.status.value if name == "score" else None,
                    "gen_ai.evaluation.explanation": why if name == "score" else None,
                }
            ),
        }
        for name, value in sample.scores.items()
    ]


def _explanations(sample: Sample) -> str | None:
    scoring = sample.details.get("scoring")
    items: Sequence[object] = scoring if isinstance(scoring, list | tuple) else ()
    told = [str(item["explanation"]) for item in items if isinstance(item, Mapping) and item.get("explanation")]
    return "; ".join(told) or None


def _text(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _id(text: str, size: int) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[: 2 * size]
