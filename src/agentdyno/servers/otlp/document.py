"""Spans out of OTLP documents, whichever of their spellings."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from agentdyno.servers.otlp.protobuf import BadTrace, Plain

MOST_SPANS = 200_000
"""In one document."""
_ERROR_CODES = (2, "2", "STATUS_CODE_ERROR", "ERROR")
_DEEPEST = 32


@dataclass(frozen=True, slots=True)
class TraceSpan:
    """One span as it was exported; ids are hexadecimal, ``parent_id`` is "" at the top. Times are UTC nanoseconds."""

    trace_id: str
    span_id: str
    parent_id: str
    name: str
    start_ns: int
    end_ns: int
    attributes: Mapping[str, object] = field(default_factory=dict)
    resource: Mapping[str, object] = field(default_factory=dict)
    failed: bool = False
    message: str = ""


def read_documents(text: str) -> list[TraceSpan]:
    """All spans of a file: one document, a list of them, or one on each line."""
    try:
        documents = [json.loads(text)]
    except ValueError:
        try:
            documents = [json.loads(line) for line in text.splitlines() if line.strip()]
        except ValueError as error:
            raise BadTrace(f"no JSON: {error}") from None
    except RecursionError:
        raise BadTrace("no JSON that can be read: nested too deeply") from None
    flat = [item for document in documents for item in (document if isinstance(document, list) else [document])]
    return [span for document in flat for span in spans_of(document)]


def spans_of(document: object) -> list[TraceSpan]:
    """The spans of one document; ``BadTrace`` where it is none."""
    if not isinstance(document, Mapping):
        raise BadTrace(f"expected an object with resourceSpans, got {type(document).__name__}")
    if "resourceSpans" not in document and "resource_spans" not in document:
        raise BadTrace("expected resourceSpans, which is not there")
    found: list[TraceSpan] = []
    for span in _all(document):
        found.append(span)
        if len(found) > MOST_SPANS:
            raise BadTrace(f"more than {MOST_SPANS:,} spans in one document")
    return found


def _all(document: Mapping[str, object]) -> Iterator[TraceSpan]:
    for place, part in enumerate(_list(document, "resourceSpans", "resource_spans", "document")):
        where = f"resourceSpans[{place}]"
        resource = part.get("resource")
        told = _attributes(resource, f"{where}.resource") if isinstance(resource, Mapping) else {}
        for number, scope in enumerate(_list(part, "scopeSpans", "scope_spans", where)):
            inside = f"{where}.scopeSpans[{number}]"
            for index, span in enumerate(_list(scope, "spans", "spans", inside)):
                yield _span(span, told, f"{inside}.spans[{index}]")


def _span(plain: Mapping[str, object], resource: Mapping[str, object], where: str) -> TraceSpan:
    start_ns = _time(plain, "startTimeUnixNano", "start_time_unix_nano", where)
    end_ns = _time(plain, "endTimeUnixNano", "end_time_unix_nano", where)
    status = plain.get("status")
    told: Mapping[str, object] = status if isinstance(status, Mapping) else {}
    return TraceSpan(
        _id(plain, "traceId", "trace_id", where),
        _id(plain, "spanId", "span_id", where),
        _id(plain, "parentSpanId", "parent_span_id", where, needed=False),
        str(plain.get("name", "")),
        start_ns,
        max(start_ns, end_ns),
        _attributes(plain, where),
        resource,
        told.get("code") in _ERROR_CODES,
        str(told.get("message", "")),
    )


def _list(plain: Mapping[str, object], name: str, other: str, where: str) -> Sequence[Mapping[str, object]]:
    value = plain.get(name, plain.get(other, ()))
    if not isinstance(value, list | tuple):
        raise BadTrace(f"{where}.{name}: expected a list, got {type(value).__name__}")
    for index, item in enumerate(value):
        if not isinstance(item, Mapping):
            raise BadTrace(f"{where}.{name}[{index}]: expected an object, got {type(item).__name__}")
    return value


def _id(plain: Mapping[str, object], name: str, other: str, where: str, *, needed: bool = True) -> str:
    value = plain.get(name, plain.get(other, ""))
    if not isinstance(value, str) or len(value) > 64:
        raise BadTrace(f"{where}.{name}: expected an id")
    if needed and not value:
        raise BadTrace(f"{where}.{name}: is missing")
    return value.lower() if value.strip("0") else ""


def _time(plain: Mapping[str, object], name: str, other: str, where: str) -> int:
    value = plain.get(name, plain.get(other, 0))
    if isinstance(value, str) and value.isdecimal() and len(value) <= 20:
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 64:
        return value
    raise BadTrace(f"{where}.{name}: expected nanoseconds, got {str(value)[:40]!r}")


def _attributes(plain: Mapping[str, object], where: str) -> dict[str, object]:
    found: dict[str, object] = {}
    for item in _list(plain, "attributes", "attributes", where):
        value = item.get("value")
        found[str(item.get("key", ""))] = plain_value(value, f"{where}.attributes") if value is not None else None
    return found


def plain_value(value: object, where: str, depth: int = 0) -> object:
    """What an ``AnyValue`` stands for."""
    if not isinstance(value, Mapping):
        raise BadTrace(f"{where}: expected a value such as {{'stringValue': …}}")
    if depth > _DEEPEST:
        raise BadTrace(f"{where}: nested too deeply")
    for name, told in value.items():
        kind = str(name).replace("_v", "V")
        if kind == "intValue":
            return _integer(told, where)
        if kind in ("stringValue", "bytesValue"):
            return str(told)
        if kind == "boolValue":
            return bool(told)
        if kind == "doubleValue":
            return _double(told, where)
        if kind == "arrayValue" and isinstance(told, Mapping):
            return [plain_value(item, where, depth + 1) for item in _list(told, "values", "values", where)]
        if kind == "kvlistValue" and isinstance(told, Mapping):
            return {
                str(item.get("key", "")): plain_value(item.get("value"), where, depth + 1)
                for item in _list(told, "values", "values", where)
            }
    return None


def _integer(value: object, where: str) -> int:
    try:
        return int(value) if isinstance(value, int | str) else int(str(value))
    except ValueError:
        raise BadTrace(f"{where}: expected an integer, got {str(value)[:40]!r}") from None


def _double(value: object, where: str) -> float | None:
    try:
        number = float(value) if isinstance(value, int | float | str) else math.nan
    except ValueError:
        raise BadTrace(f"{where}: expected a number, got {str(value)[:40]!r}") from None
    return number if math.isfinite(number) else None


def encode_value(value: object) -> Plain:
    """Any JSON value as an ``AnyValue``."""
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    if isinstance(value, float):
        return {"doubleValue": value}
    if isinstance(value, list | tuple):
        return {"arrayValue": {"values": [encode_value(item) for item in value]}}
    if isinstance(value, Mapping):
        return {"kvlistValue": {"values": encode_attributes(value)}}
    return {"stringValue": "" if value is None else str(value)}


def encode_attributes(attributes: Mapping[str, object]) -> list[Plain]:
    """Attributes as OTLP/JSON spells them; what is ``None`` is left out."""
    return [{"key": str(key), "value": encode_value(value)} for key, value in attributes.items() if value is not None]
