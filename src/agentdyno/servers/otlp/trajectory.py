"""Spans of both dialects, ``gen_ai.*`` and OpenInference, as the events of one trajectory.

A span that repeats the tokens of calls below it (a framework around its client, an agent's root) counts as work of
its own and not as a model call: tokens are told once.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence

from agentdyno.model.case import Event
from agentdyno.servers.otlp.document import TraceSpan

OPERATIONS = {
    "chat": "model_call",
    "text_completion": "model_call",
    "generate_content": "model_call",
    "embeddings": "model_call",
    "execute_tool": "tool_call",
    "retrieval": "retrieval",
    "invoke_agent": "step",
    "create_agent": "step",
    "invoke_workflow": "step",
}
"""By ``gen_ai.operation.name``."""
KINDS = {
    "LLM": "model_call",
    "EMBEDDING": "model_call",
    "TOOL": "tool_call",
    "RETRIEVER": "retrieval",
    "RERANKER": "retrieval",
    "AGENT": "step",
    "CHAIN": "step",
}
"""By ``openinference.span.kind``."""
_USAGE = {
    "input_tokens": ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt"),
    "output_tokens": ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion"),
    "cached_tokens": (
        "gen_ai.usage.cache_read.input_tokens",
        "gen_ai.usage.cache_read_input_tokens",
        "gen_ai.usage.details.cache_read_tokens",
        "llm.token_count.prompt_details.cache_read",
    ),
    "reasoning_tokens": (
        "gen_ai.usage.reasoning.output_tokens",
        "gen_ai.usage.details.reasoning_tokens",
        "llm.token_count.completion_details.reasoning",
    ),
}
_MODEL = ("gen_ai.response.model", "gen_ai.request.model", "llm.model_name", "embedding.model_name")
_TOOL = ("gen_ai.tool.name", "tool.name")
_ARGUMENTS = ("gen_ai.tool.call.arguments", "tool.parameters", "input.value")
_RESULT = ("gen_ai.tool.call.result", "output.value")
_INPUT = ("input.value", "gen_ai.input.messages", "gen_ai.prompt")
_OUTPUT = ("output.value", "gen_ai.output.messages", "gen_ai.completion")
_FIRST_TOKEN = ("gen_ai.response.time_to_first_chunk", "gen_ai.server.time_to_first_token")


def events_of(spans: Iterable[TraceSpan], start_ns: int) -> tuple[Event, ...]:
    """The spans as events, in the order of their starts; ``start_ns`` is when the case began."""
    listed = sorted(spans, key=lambda span: (span.start_ns, -span.end_ns))
    outer = _around_model_calls(listed)
    return tuple(_event(span, start_ns, is_outer=span.span_id in outer) for span in listed)


def kind_of(span: TraceSpan) -> str:
    """What kind of event a span is, by either dialect."""
    told = span.attributes
    operation, kind = told.get("gen_ai.operation.name"), told.get("openinference.span.kind")
    if isinstance(operation, str) and operation in OPERATIONS:
        return OPERATIONS[operation]
    if isinstance(kind, str) and kind.upper() in KINDS:
        return KINDS[kind.upper()]
    if _first(told, _TOOL) is not None:
        return "tool_call"
    if operation is None and kind is None and ("gen_ai.request.model" in told or "llm.model_name" in told):
        return "model_call"
    return "span"


def asked(spans: Sequence[TraceSpan]) -> object:
    """What the outermost span that tells it was given; ``None`` where none does."""
    return _told(spans, _INPUT)


def answered(spans: Sequence[TraceSpan]) -> object:
    """What the outermost span that tells it gave back."""
    return _told(spans, _OUTPUT)


def _told(spans: Sequence[TraceSpan], names: Sequence[str]) -> object:
    ids = {span.span_id for span in spans}
    order = sorted(spans, key=lambda span: (span.parent_id in ids, span.start_ns, -span.end_ns))
    for span in order:
        value = _first(span.attributes, names)
        if value is not None:
            return _parsed(value)
    return None


def _parsed(value: object) -> object:
    """Texts that hold JSON objects or lists are these; other texts stay."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _around_model_calls(spans: Sequence[TraceSpan]) -> set[str]:
    """Ids of the spans above a model call that told its tokens."""
    by_id = {span.span_id: span for span in spans}
    found: set[str] = set()
    for span in spans:
        if kind_of(span) != "model_call" or not _usage(span):
            continue
        above = by_id.get(span.parent_id)
        while above is not None and above.span_id not in found:
            found.add(above.span_id)
            above = by_id.get(above.parent_id)
    return found


def _event(span: TraceSpan, start_ns: int, *, is_outer: bool) -> Event:
    kind = kind_of(span)
    if kind == "model_call" and is_outer:
        kind = "span"
    told = span.attributes
    details: dict[str, object] = {"span": span.span_id}
    if span.parent_id:
        details["parent"] = span.parent_id
    if span.failed:
        details["status"] = "error"
        details["error"] = span.message or "failed"
    name, content = span.name, None
    if kind == "model_call":
        name = str(_first(told, _MODEL) or span.name)
        details |= _call_details(span)
    elif kind in ("tool_call", "retrieval"):
        name = str(_first(told, _TOOL) or span.name)
        content = _parsed(_first(told, _ARGUMENTS))
        result = _first(told, _RESULT)
        if result is not None:
            details["result"] = _parsed(result)
    return Event(kind, (span.start_ns - start_ns) / 1e9, name, content, (span.end_ns - span.start_ns) / 1e9, details)


def _call_details(span: TraceSpan) -> dict[str, object]:
    found: dict[str, object] = {}
    usage = _usage(span)
    if usage:
        found["usage"] = usage
    reasons = span.attributes.get("gen_ai.response.finish_reasons")
    if isinstance(reasons, list) and reasons:
        found["finish_reason"] = str(reasons[0])
    first_s = _first(span.attributes, _FIRST_TOKEN)
    if isinstance(first_s, int | float) and not isinstance(first_s, bool):
        found["ttft_s"] = float(first_s)
    return found


def _usage(span: TraceSpan) -> dict[str, int]:
    found = {}
    for name, spelled in _USAGE.items():
        value = _first(span.attributes, spelled)
        if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
            found[name] = int(value)
    return found


def _first(attributes: Mapping[str, object], names: Sequence[str]) -> object:
    return next((attributes[name] for name in names if attributes.get(name) is not None), None)
