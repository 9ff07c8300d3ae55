"""Both spellings of OTLP traces say the same; what is none is said to be none."""

from __future__ import annotations

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.servers.otlp.document import encode_attributes, read_documents, spans_of
from agentdyno.servers.otlp.protobuf import BadTrace, decode_request
from tests.properties import examples

from .traces import protobuf, request, span

VALUES: st.SearchStrategy[Any] = st.recursive(
    st.one_of(
        st.text(max_size=8), st.booleans(), st.integers(-(2**63), 2**63 - 1), st.floats(allow_nan=False, width=64)
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=4), inner, max_size=3)),
    max_leaves=6,
)


@examples(100)
@given(
    st.dictionaries(st.text(max_size=8), VALUES, max_size=4), st.dictionaries(st.text(max_size=8), VALUES, max_size=2)
)
def test_protobuf_and_json_give_the_same_spans(attributes: dict[str, object], resource: dict[str, object]) -> None:
    item = span("a1", 1.0, 2.5, parent="b2", name="chat ☺", error="no")
    item["attributes"] = encode_attributes(attributes)
    document = request(item, span("b2", 1.0, 3.0), resource=resource)
    assert spans_of(decode_request(protobuf(document))) == spans_of(json.loads(json.dumps(document)))


def test_a_span_has_its_ids_times_and_attributes() -> None:
    first, second = spans_of(
        request(span("a1", 1.0, 2.5, parent="b2", gen_ai__usage__input_tokens=5), span("b2", 1, 3))
    )
    assert (first.span_id, first.parent_id) == ("00000000000000a1", "00000000000000b2")
    assert (first.start_ns, first.end_ns) == (1_000_000_000, 2_500_000_000)
    assert first.attributes == {"gen_ai.usage.input_tokens": 5}
    assert second.parent_id == ""


def test_files_hold_one_document_a_list_or_one_on_each_line() -> None:
    one = request(span("a1", 1, 2))
    for text in (json.dumps(one), json.dumps([one]), f"{json.dumps(one)}\n\n{json.dumps(one)}\n"):
        assert {item.span_id for item in read_documents(text)} == {"00000000000000a1"}
    snake = {"resource_spans": [{"scope_spans": [{"spans": [{"trace_id": "1", "span_id": "2"}]}]}]}
    assert read_documents(json.dumps(snake))[0].span_id == "2"


@examples(200)
@given(st.data())
def test_protobuf_that_is_cut_off_or_damaged_is_read_or_refused_and_never_crashes(data: st.DataObject) -> None:
    whole = protobuf(request(span("a1", 1.0, 2.5, name="chat", x=[1, {"y": 2.5}]), resource={"service.name": "s"}))
    cut = whole[: data.draw(st.integers(0, len(whole)))]
    damaged = bytearray(cut)
    for _ in range(data.draw(st.integers(0, 4))):
        if damaged:
            damaged[data.draw(st.integers(0, len(damaged) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(BadTrace):
        spans_of(decode_request(bytes(damaged)))


@examples(200)
@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    with contextlib.suppress(BadTrace):
        spans_of(decode_request(data))


@examples(200)
@given(
    st.recursive(
        st.one_of(st.none(), st.integers(), st.text(max_size=5), st.floats()),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3),
            st.dictionaries(
                st.sampled_from(
                    ["resourceSpans", "scopeSpans", "spans", "resource", "attributes", "traceId", "spanId", "value"]
                ),
                inner,
            ),
        ),
    )
)
def test_any_json_is_read_or_refused(document: object) -> None:
    with contextlib.suppress(BadTrace):
        spans_of(document)


@pytest.mark.parametrize(
    ("change", "where"),
    [
        ({"startTimeUnixNano": "yesterday"}, "startTimeUnixNano: expected nanoseconds"),
        ({"traceId": 5}, "traceId: expected an id"),
        ({"spanId": ""}, "spanId: is missing"),
        ({"attributes": "none"}, "attributes: expected a list"),
        ({"attributes": [{"key": "k", "value": {"intValue": "x"}}]}, "expected an integer"),
    ],
)
def test_wrong_types_are_named_with_their_place(change: dict[str, object], where: str) -> None:
    document = request({**span("a1", 1, 2), **change})
    with pytest.raises(BadTrace, match=where) as caught:
        spans_of(document)
    assert "resourceSpans[0].scopeSpans[0].spans[0]" in str(caught.value)


def test_attributes_that_are_nested_without_end_are_refused() -> None:
    value: dict[str, Any] = {"intValue": "1"}
    for _ in range(60):
        value = {"arrayValue": {"values": [value]}}
    item = {**span("a1", 1, 2), "attributes": [{"key": "k", "value": value}]}
    with pytest.raises(BadTrace, match="nested too deeply"):
        spans_of(request(item))
    with pytest.raises(BadTrace, match="nested too deeply"):
        decode_request(protobuf(request(item)))
