"""The few messages of OTLP traces, decoded from protobuf into the form that OTLP/JSON has.

Written by hand because it is small: the wire format is a list of (field number, type, value), and only fields that
trajectories need are looked at; others are skipped, as protobuf wants it. What is not well-formed is ``BadTrace``.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_DEEPEST = 32
"""Of lists and maps in an attribute."""
_LONGEST_VARINT = 10
Field = tuple[int, int, int | bytes]
Plain = dict[str, object]


class BadTrace(ValueError):
    """The bytes, or the document, are no OTLP traces; the message says where."""


def decode_request(data: bytes) -> Plain:
    """An ``ExportTraceServiceRequest`` as OTLP/JSON spells it."""
    return {"resourceSpans": [_resource_spans(part) for part in _messages(data, 1, "request")]}


def _resource_spans(data: bytes) -> Plain:
    resources = [_attributes(part, 1, "resource") for part in _messages(data, 1, "resourceSpans")]
    scopes = [
        {"spans": [_span(span) for span in _messages(part, 2, "scopeSpans")]}
        for part in _messages(data, 2, "resourceSpans")
    ]
    return {"resource": {"attributes": resources[-1] if resources else []}, "scopeSpans": scopes}


def _span(data: bytes) -> Plain:
    found: Plain = {"attributes": _attributes(data, 9, "span"), "events": []}
    texts = {1: "traceId", 2: "spanId", 4: "parentSpanId"}
    times = {7: "startTimeUnixNano", 8: "endTimeUnixNano"}
    events = []
    for number, kind, value in fields(data, "span"):
        if number in texts and isinstance(value, bytes):
            found[texts[number]] = value.hex()
        elif number in times and isinstance(value, int) and kind == _FIXED64:
            found[times[number]] = value
        elif number == 5 and isinstance(value, bytes):
            found["name"] = _text(value)
        elif number == 11 and isinstance(value, bytes):
            events.append(_event(value))
        elif number == 15 and isinstance(value, bytes):
            found["status"] = _status(value)
    found["events"] = events
    return found


def _event(data: bytes) -> Plain:
    found: Plain = {"attributes": _attributes(data, 3, "event")}
    for number, kind, value in fields(data, "event"):
        if number == 1 and kind == _FIXED64:
            found["timeUnixNano"] = value
        elif number == 2 and isinstance(value, bytes):
            found["name"] = _text(value)
    return found


def _status(data: bytes) -> Plain:
    found: Plain = {}
    for number, kind, value in fields(data, "status"):
        if number == 2 and isinstance(value, bytes):
            found["message"] = _text(value)
        elif number == 3 and kind == _VARINT:
            found["code"] = value
    return found


def _attributes(data: bytes, wanted: int, where: str) -> list[Plain]:
    return [_key_value(part, 0) for part in _messages(data, wanted, where)]


def _key_value(data: bytes, depth: int) -> Plain:
    key, value = "", Plain()
    for number, _, part in fields(data, "attribute"):
        if number == 1 and isinstance(part, bytes):
            key = _text(part)
        elif number == 2 and isinstance(part, bytes):
            value = _any_value(part, depth)
    return {"key": key, "value": value}


def _any_value(data: bytes, depth: int) -> Plain:
    if depth > _DEEPEST:
        raise BadTrace("an attribute is nested too deeply")
    found: Plain = {}
    for number, kind, value in fields(data, "value"):
        read = _READERS.get((number, kind))
        if read is not None:
            found = read(value, depth)
    return found


def _array(value: int | bytes, depth: int) -> Plain:
    assert isinstance(value, bytes)
    return {"arrayValue": {"values": [_any_value(part, depth + 1) for part in _messages(value, 1, "array")]}}


def _map(value: int | bytes, depth: int) -> Plain:
    assert isinstance(value, bytes)
    return {"kvlistValue": {"values": [_key_value(part, depth + 1) for part in _messages(value, 1, "map")]}}


_READERS: dict[tuple[int, int], Callable[[int | bytes, int], Plain]] = {
    (1, _BYTES): lambda value, _: {"stringValue": _text(value)},
    (2, _VARINT): lambda value, _: {"boolValue": bool(value)},
    (3, _VARINT): lambda value, _: {"intValue": _signed(value)},
    (4, _FIXED64): lambda value, _: {"doubleValue": struct.unpack("<d", struct.pack("<Q", value))[0]},
    (5, _BYTES): _array,
    (6, _BYTES): _map,
    (7, _BYTES): lambda value, _: {"bytesValue": value.hex() if isinstance(value, bytes) else ""},
}


def _messages(data: bytes, wanted: int, where: str) -> Iterator[bytes]:
    for number, _, value in fields(data, where):
        if number == wanted:
            if not isinstance(value, bytes):
                raise BadTrace(f"{where}: field {number} is no message")
            yield value


def fields(data: bytes, where: str) -> Iterator[Field]:
    """The fields of a message in their order: number, wire type, and an integer or bytes."""
    place, end = 0, len(data)
    while place < end:
        tag, place = _varint(data, place, where)
        number, kind = tag >> 3, tag & 7
        if number == 0:
            raise BadTrace(f"{where}: field 0")
        value: int | bytes
        if kind == _VARINT:
            value, place = _varint(data, place, where)
        elif kind in (_FIXED64, _FIXED32):
            size = 8 if kind == _FIXED64 else 4
            value, place = int.from_bytes(_taken(data, place, size, where), "little"), place + size
        elif kind == _BYTES:
            size, place = _varint(data, place, where)
            value, place = _taken(data, place, size, where), place + size
        else:
            raise BadTrace(f"{where}: wire type {kind}")
        yield number, kind, value


def _taken(data: bytes, place: int, size: int, where: str) -> bytes:
    if place + size > len(data):
        raise BadTrace(f"{where}: ends in the middle of a field")
    return data[place : place + size]


def _varint(data: bytes, place: int, where: str) -> tuple[int, int]:
    value = shift = 0
    for count in range(_LONGEST_VARINT):
        if place + count >= len(data):
            raise BadTrace(f"{where}: ends in the middle of a number")
        byte = data[place + count]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFF_FFFF_FFFF_FFFF, place + count + 1
        shift += 7
    raise BadTrace(f"{where}: a number of more than {_LONGEST_VARINT} bytes")


def _signed(value: int | bytes) -> int:
    assert isinstance(value, int)
    return value - (1 << 64) if value >= 1 << 63 else value


def _text(value: int | bytes) -> str:
    assert isinstance(value, bytes)
    return value.decode("utf-8", "replace")
