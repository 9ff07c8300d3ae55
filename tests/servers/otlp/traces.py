"""OTLP traces for tests: written as JSON, and as protobuf by a small encoder of the tests' own."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any

from agentdyno.servers.otlp.document import encode_attributes

SECOND_NS = 1_000_000_000


def span(
    span_id: str,
    start_s: float,
    end_s: float,
    *,
    parent: str = "",
    name: str = "",
    trace: str = "11",
    error: str | None = None,
    **attributes: object,
) -> dict[str, Any]:
    """Attributes are given with ``__`` for dots."""
    plain: dict[str, Any] = {
        "traceId": trace.rjust(32, "0"),
        "spanId": span_id.rjust(16, "0"),
        "parentSpanId": parent.rjust(16, "0") if parent else "",
        "name": name or span_id,
        "startTimeUnixNano": str(int(start_s * SECOND_NS)),
        "endTimeUnixNano": str(int(end_s * SECOND_NS)),
        "attributes": encode_attributes({key.replace("__", "."): value for key, value in attributes.items()}),
    }
    if error is not None:
        plain["status"] = {"code": 2, "message": error}
    return plain


def request(*spans: dict[str, Any], resource: Mapping[str, object] | None = None) -> dict[str, Any]:
    return {
        "resourceSpans": [
            {"resource": {"attributes": encode_attributes(resource or {})}, "scopeSpans": [{"spans": list(spans)}]}
        ]
    }


def protobuf(document: Mapping[str, Any]) -> bytes:
    """The same document as an exporter sends it."""
    return b"".join(_field(1, _resource_spans(part)) for part in document["resourceSpans"])


def _resource_spans(part: Mapping[str, Any]) -> bytes:
    resource = b"".join(_field(1, _key_value(item)) for item in part["resource"]["attributes"])
    scopes = b""
    for scope in part["scopeSpans"]:
        name = _field(1, _field(1, b"tests"))
        scopes += _field(2, name + b"".join(_field(2, _span(item)) for item in scope["spans"]))
    return _field(1, resource) + scopes


def _span(item: Mapping[str, Any]) -> bytes:
    found = _field(1, bytes.fromhex(item["traceId"])) + _field(2, bytes.fromhex(item["spanId"]))
    if item["parentSpanId"]:
        found += _field(4, bytes.fromhex(item["parentSpanId"]))
    found += _field(5, item["name"].encode()) + _varint(6 << 3) + _varint(1)
    for number, name in ((7, "startTimeUnixNano"), (8, "endTimeUnixNano")):
        found += _varint(number << 3 | 1) + struct.pack("<Q", int(item[name]))
    found += b"".join(_field(9, _key_value(one)) for one in item["attributes"])
    if "status" in item:
        code = _varint(3 << 3) + _varint(item["status"]["code"])
        found += _field(15, _field(2, item["status"]["message"].encode()) + code)
    return found


def _key_value(item: Mapping[str, Any]) -> bytes:
    return _field(1, item["key"].encode()) + _field(2, _value(item["value"]))


def _value(value: Mapping[str, Any]) -> bytes:
    ((kind, told),) = value.items()
    if kind == "stringValue":
        return _field(1, told.encode())
    if kind == "boolValue":
        return _varint(2 << 3) + _varint(int(told))
    if kind == "intValue":
        return _varint(3 << 3) + _varint(int(told) % (1 << 64))
    if kind == "doubleValue":
        return _varint(4 << 3 | 1) + struct.pack("<d", told)
    if kind == "arrayValue":
        return _field(5, b"".join(_field(1, _value(one)) for one in told["values"]))
    return _field(6, b"".join(_field(1, _key_value(one)) for one in told["values"]))


def _field(number: int, data: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    found = b""
    while value >= 0x80:
        found += bytes([value & 0x7F | 0x80])
        value >>= 7
    return found + bytes([value])
