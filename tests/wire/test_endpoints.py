"""Endpoints that are only read: which one a path is, and what their answers mean."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.model.case import Usage
from agentdyno.wire.anthropic import ANTHROPIC
from agentdyno.wire.chat import AnswerDialect, Completion, ToolCall, decode_now
from agentdyno.wire.completions import COMPLETIONS, EMBEDDINGS
from agentdyno.wire.endpoints import endpoint_of
from agentdyno.wire.errors import ProtocolError, WireError
from agentdyno.wire.ollama import OLLAMA_GENERATE
from agentdyno.wire.responses import RESPONSES

from .answers import body_of, cut, cuts, exchange_of, parse
from .script_server import LAST_CHUNK, chunked, stream_head

ALL = (ANTHROPIC, COMPLETIONS, EMBEDDINGS, OLLAMA_GENERATE, RESPONSES)


def events(*values: object, typed: bool = True) -> bytes:
    out = b""
    for value in values:
        kind = value.get("type") if isinstance(value, dict) and typed else None
        out += (f"event: {kind}\n" if kind else "").encode()
        out += b"data: " + (value if isinstance(value, bytes) else json.dumps(value).encode()) + b"\n\n"
    return out


def streamed(dialect: AnswerDialect, *values: object, typed: bool = True) -> Completion:
    return decode_now(dialect, body_of(events(*values, typed=typed)))


def whole(dialect: AnswerDialect, value: object) -> Completion:
    return decode_now(dialect, body_of(json.dumps(value).encode(), "application/json"))


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/v1/chat/completions", "chat.completions"),
        ("/openai/v1/chat/completions?api-version=1", "chat.completions"),
        ("/v1/responses", "responses"),
        ("/v1/completions", "completions"),
        ("/v1/embeddings", "embeddings"),
        ("/v1/messages", "messages"),
        ("/v1/messages?beta=true", "messages"),
        ("/api/chat", "ollama.chat"),
        ("/api/generate", "ollama.generate"),
        ("/v1/responses/resp_1", None),
        ("/v1/messages/count_tokens", None),
        ("/api/embeddings", None),
        ("/v1/models", None),
        ("/", None),
    ],
)
def test_an_endpoint_is_known_by_the_end_of_its_path(path: str, name: str | None) -> None:
    found = endpoint_of("POST", path)
    assert (None if found is None else found[0]) == name
    assert endpoint_of("GET", path) is None


def test_a_streamed_response_has_text_reasoning_calls_and_tokens() -> None:
    usage = {
        "input_tokens": 50,
        "input_tokens_details": {"cached_tokens": 20},
        "output_tokens": 30,
        "output_tokens_details": {"reasoning_tokens": 12},
    }
    call = {"type": "function_call", "call_id": "c1", "name": "add"}
    found = streamed(
        RESPONSES,
        {"type": "response.created", "response": {"model": "gpt-x", "status": "in_progress"}},
        {"type": "response.reasoning_summary_text.delta", "delta": "hmm"},
        {"type": "response.output_text.delta", "output_index": 0, "delta": "4"},
        {"type": "response.output_text.delta", "output_index": 0, "delta": "2"},
        {"type": "response.output_item.added", "output_index": 1, "item": call},
        {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": '{"a":'},
        {"type": "response.function_call_arguments.delta", "output_index": 1, "delta": "1}"},
        {"type": "response.completed", "response": {"model": "gpt-x", "status": "completed", "usage": usage}},
    )
    assert (found.text, found.reasoning, found.model) == ("42", "hmm", "gpt-x")
    assert found.tool_calls == (ToolCall("c1", "add", {"a": 1}),)
    assert found.usage == Usage(50, 30, 20, 12)
    assert (found.finished, found.finish_reason) == (True, "completed")
    assert len(found.content_ns) == 6


def test_a_response_says_why_it_is_incomplete_or_failed() -> None:
    cut_off = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
    found = streamed(RESPONSES, {"type": "response.incomplete", "response": cut_off})
    assert (found.finish_reason, found.error) == ("max_output_tokens", None)
    failed = {"type": "response.failed", "response": {"status": "failed", "error": {"message": "no room"}}}
    assert streamed(RESPONSES, failed).error == "no room"
    assert streamed(RESPONSES, {"type": "error", "message": "too slow"}).error == "too slow"


def test_a_whole_response_is_read_alike() -> None:
    output = [
        {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hmm"}]},
        {"type": "message", "content": [{"type": "output_text", "text": "42"}]},
        {"type": "function_call", "call_id": "c1", "name": "add", "arguments": '{"a": 1}'},
    ]
    value = {"model": "gpt-x", "status": "completed", "error": None, "output": output}
    found = whole(RESPONSES, {**value, "usage": {"input_tokens": 3, "output_tokens": 4}})
    assert (found.text, found.reasoning, found.usage) == ("42", "hmm", Usage(3, 4))
    assert found.tool_calls == (ToolCall("c1", "add", {"a": 1}),)
    assert found.finish_reason == "completed"
    with pytest.raises(ProtocolError, match="no output"):
        whole(RESPONSES, {"choices": []})


def test_a_streamed_message_counts_cached_tokens_into_its_input() -> None:
    started = {
        "input_tokens": 10,
        "cache_read_input_tokens": 30,
        "cache_creation_input_tokens": 5,
        "output_tokens": 1,
    }
    tool = {"type": "tool_use", "id": "t1", "name": "add", "input": {}}
    found = streamed(
        ANTHROPIC,
        {"type": "message_start", "message": {"model": "claude-x", "usage": started}},
        {"type": "ping"},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "42"}},
        {"type": "content_block_start", "index": 1, "content_block": tool},
        {"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": '{"a":1}'}},
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 25}},
        {"type": "message_stop"},
    )
    assert (found.text, found.model, found.finish_reason) == ("42", "claude-x", "tool_use")
    assert found.tool_calls == (ToolCall("t1", "add", {"a": 1}),)
    assert found.usage == Usage(45, 25, 30)
    assert found.finished
    assert len(found.content_ns) == 3


def test_a_message_that_breaks_off_is_not_finished_and_an_error_in_it_is_told() -> None:
    begun = {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "4"}}
    found = streamed(ANTHROPIC, begun)
    assert (found.text, found.finished, found.finish_reason) == ("4", False, None)
    overloaded = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}
    assert streamed(ANTHROPIC, begun, overloaded).error == "Overloaded"


def test_a_whole_message_is_read_alike() -> None:
    content = [
        {"type": "thinking", "thinking": "hmm"},
        {"type": "text", "text": "42"},
        {"type": "tool_use", "id": "t1", "name": "add", "input": {"a": 1}},
    ]
    value = {"model": "claude-x", "content": content, "stop_reason": "end_turn"}
    found = whole(ANTHROPIC, {**value, "usage": {"input_tokens": 3, "output_tokens": 4}})
    assert (found.text, found.reasoning, found.usage, found.finish_reason) == ("42", "hmm", Usage(3, 4), "end_turn")
    assert found.tool_calls == (ToolCall("t1", "add", {"a": 1}),)
    assert whole(ANTHROPIC, {"type": "error", "error": {"message": "no"}}).error == "no"


def test_completions_are_read_streamed_and_whole() -> None:
    usage = {"prompt_tokens": 5, "completion_tokens": 2}
    first = {"model": "m", "choices": [{"index": 0, "text": "4", "finish_reason": None}]}
    last = {"model": "m", "choices": [{"index": 0, "text": "2", "finish_reason": "stop"}], "usage": usage}
    found = streamed(COMPLETIONS, first, last, b"[DONE]", typed=False)
    assert (found.text, found.finish_reason, found.usage) == ("42", "stop", Usage(5, 2))
    assert len(found.content_ns) == 2
    assert whole(COMPLETIONS, {**last, "model": "m"}).text == "2"


def test_embeddings_have_tokens_and_no_finish_reason() -> None:
    value = {"object": "list", "data": [{"embedding": [0.1]}], "model": "e", "usage": {"prompt_tokens": 8}}
    found = whole(EMBEDDINGS, value)
    assert (found.usage, found.model, found.finished, found.finish_reason) == (Usage(8, 0), "e", True, None)
    assert whole(EMBEDDINGS, {"error": {"message": "too long"}}).error == "too long"
    with pytest.raises(ProtocolError, match="no data"):
        whole(EMBEDDINGS, {"choices": []})


def test_ollama_generate_is_read_streamed_and_whole() -> None:
    lines = [
        {"model": "q", "response": "4", "done": False},
        {"model": "q", "response": "2", "done": False},
        {"model": "q", "response": "", "done": True, "done_reason": "stop", "prompt_eval_count": 7, "eval_count": 2},
    ]
    data = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    found = decode_now(OLLAMA_GENERATE, body_of(data, "application/x-ndjson"))
    assert (found.text, found.usage, found.finish_reason) == ("42", Usage(7, 2), "stop")
    assert len(found.content_ns) == 2
    assert whole(OLLAMA_GENERATE, {**lines[-1], "response": "42"}).text == "42"


@pytest.mark.parametrize("dialect", ALL, ids=lambda dialect: dialect.name)
@given(st.binary(max_size=300), st.sampled_from(["text/event-stream", "application/json", "application/x-ndjson"]))
def test_whatever_comes_is_read_or_refused_and_nothing_else(dialect: AnswerDialect, data: bytes, kind: str) -> None:
    try:
        decode_now(dialect, body_of(data, kind))
    except WireError:
        decode_now(dialect, body_of(data, kind), cut_off=True)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "delta", "choices", "output", "content", "usage", "item", "message", "response"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@pytest.mark.parametrize("dialect", ALL, ids=lambda dialect: dialect.name)
@given(st.lists(_JSON, max_size=5), cuts)
def test_json_of_any_shape_and_any_cut_is_read_or_refused(
    dialect: AnswerDialect, values: list[object], places: list[int]
) -> None:
    raw = stream_head() + chunked(events(*values)) + LAST_CHUNK
    answer = exchange_of(parse(cut(raw, places)).body())
    try:
        decode_now(dialect, answer)
    except WireError:
        decode_now(dialect, answer, cut_off=True)
