"""The OpenAI dialect: what is sent, and what its answers mean."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.model.case import Usage
from agentdyno.wire.chat import ChatRequest, Completion, ToolCall, decode_now
from agentdyno.wire.errors import ProtocolError, WireError
from agentdyno.wire.openai import OPENAI, chat_body, error_message, list_models

from .answers import arrival_of, body_of, cut, cuts, exchange_of, parse
from .script_server import LAST_CHUNK, chunked, stream_head


def event(value: object) -> bytes:
    return (
        b"data: " + (value if isinstance(value, bytes) else json.dumps(value, ensure_ascii=False).encode()) + b"\n\n"
    )


def chunk(delta: object, finish: str | None = None, **more: object) -> bytes:
    return event({"model": "m-1", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more})


def stream(*pieces: bytes) -> Completion:
    return decode_now(OPENAI, body_of(b"".join(pieces)))


def whole(value: object) -> Completion:
    return decode_now(OPENAI, body_of(json.dumps(value).encode(), "application/json"))


def test_a_request_has_what_was_asked_for_and_nothing_else() -> None:
    messages = [{"role": "user", "content": "hi"}]
    assert chat_body(ChatRequest("m", messages, {"temperature": 0})) == {
        "model": "m",
        "messages": messages,
        "temperature": 0,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    assert chat_body(ChatRequest("", messages, stream=False)) == {"messages": messages, "stream": False}
    assert "stream_options" not in chat_body(ChatRequest("m", messages, include_usage=False))


def test_a_schema_is_sent_as_a_strict_response_format() -> None:
    body = chat_body(ChatRequest("m", [], schema={"type": "object"}))
    assert body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "answer", "strict": True, "schema": {"type": "object"}},
    }


def test_a_stream_gives_text_usage_model_and_the_reason_it_ended() -> None:
    usage = {
        "prompt_tokens": 7,
        "completion_tokens": 3,
        "prompt_tokens_details": {"cached_tokens": 5},
        "completion_tokens_details": {"reasoning_tokens": 1},
    }
    done = stream(
        chunk({"role": "assistant", "content": ""}, system_fingerprint="fp-9"),
        chunk({"content": "Hé"}),
        b": keep-alive\n\ndata:\n\n",
        chunk({"content": "llo"}),
        chunk({}, "length"),
        event({"choices": [], "usage": usage, "timings": {"prompt_ms": 20.5, "predicted_ms": 300}}),
        event(b"[DONE]"),
    )
    assert done == Completion(
        text="Héllo",
        usage=Usage(7, 3, 5, 1),
        model="m-1",
        finish_reason="length",
        finished=True,
        observed={"system_fingerprint": "fp-9", "model": "m-1"},
        server_s={"prompt_eval_s": 0.0205, "eval_s": 0.3},
        content_ns=(1000, 1000),
    )


def test_hidden_reasoning_does_not_make_the_visible_tokens_faster() -> None:
    shown = Completion(usage=Usage(1, 10, 0, 6), content_ns=(10**9, 2 * 10**9))
    assert shown.readings(0)["tokens_per_s"] == pytest.approx(3.0)
    seen = Completion(usage=Usage(1, 10, 0, 6), reasoning="hm", content_ns=(10**9, 2 * 10**9))
    assert seen.readings(0)["tokens_per_s"] == pytest.approx(9.0)


def test_reasoning_is_content_and_kept_apart_from_the_text() -> None:
    done = stream(chunk({"reasoning_content": "hm"}), chunk({"reasoning": "m"}), chunk({"content": "4"}, "stop"))
    assert (done.reasoning, done.text, len(done.content_ns)) == ("hmm", "4", 3)


def test_tool_calls_are_put_together_by_index() -> None:
    def call(index: int, **function: str) -> dict[str, object]:
        return {
            "tool_calls": [{"index": index, "id": f"c{index}" if "name" in function else "", "function": function}]
        }

    done = stream(
        chunk(call(0, name="add", arguments="")),
        chunk(call(1, name="say", arguments='{"te')),
        chunk(call(0, arguments='{"a": 1')),
        chunk(call(1, arguments='xt": "x"}')),
        chunk(call(0, arguments=', "b": 2}')),
        chunk({}, "tool_calls"),
    )
    assert done.tool_calls == (ToolCall("c0", "add", {"a": 1, "b": 2}), ToolCall("c1", "say", {"text": "x"}))
    assert len(done.content_ns) == 5


def test_arguments_that_are_no_json_stay_as_they_came() -> None:
    done = stream(
        chunk({"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": "{oops"}}]}, "tool_calls")
    )
    assert done.tool_calls == (ToolCall("", "f", "{oops"),)


def test_an_answer_in_one_piece_has_no_token_times() -> None:
    calls = [{"id": "a", "function": {"name": "f", "arguments": "{}"}}, {"id": "b", "function": {"name": "g"}}]
    message = {"role": "assistant", "content": "x", "tool_calls": calls}
    done = whole({"model": "m", "choices": [{"message": message, "finish_reason": "stop"}]})
    assert (done.text, done.finished, done.usage, done.readings(0)) == ("x", True, None, {})
    assert done.tool_calls == (ToolCall("a", "f", {}), ToolCall("b", "g", {}))


def test_only_the_first_of_several_answers_counts() -> None:
    second = event({"choices": [{"index": 1, "delta": {"content": "no"}, "finish_reason": "stop"}]})
    done = stream(chunk({"content": "yes"}), second)
    assert (done.text, done.finished) == ("yes", False)


@pytest.mark.parametrize(
    ("piece", "said"),
    [
        (event({"error": {"message": "overloaded", "code": 500}}), "overloaded"),
        (event({"error": "overloaded"}), "overloaded"),
        (event({"object": "error", "message": "overloaded"}), "overloaded"),
        (b'error: {"code": 500, "message": "overloaded"}\n\n', "overloaded"),
        (b"event: error\ndata: {}\n\n", "{}"),
    ],
)
def test_an_error_inside_the_stream_is_kept_beside_what_had_come(piece: bytes, said: str) -> None:
    done = stream(chunk({"content": "so far"}), piece)
    assert (done.text, done.error, done.finished) == ("so far", said, False)


def test_a_stream_without_an_end_is_not_finished() -> None:
    assert not stream(chunk({"content": "a"})).finished
    assert stream(chunk({"content": "a"}, "stop")).finished
    assert stream(chunk({"content": "a"}), event(b"[DONE]")).finished


def test_the_folder_of_a_model_file_is_left_out() -> None:
    done = whole({"model": "/home/me/models/tiny.Q4.gguf", "choices": [{"message": {"content": ""}}]})
    assert (done.model, done.observed) == ("tiny.Q4.gguf", {"model": "tiny.Q4.gguf"})
    assert whole({"model": "org/name", "choices": [{"message": {}}]}).model == "org/name"


@pytest.mark.parametrize("value", [[], 3, {}, {"choices": []}])
def test_json_that_is_no_completion_is_a_protocol_error(value: object) -> None:
    with pytest.raises(ProtocolError) as raised:
        whole(value)
    assert raised.value.partial is not None


DELTAS = [
    {"role": "assistant"},
    {"content": "Grüße "},
    {"content": "日本"},
    {"reasoning_content": "🙂"},
    {"content": "!"},
]
EVENTS = [*(chunk(delta) for delta in DELTAS), chunk({}, "stop"), event(b"[DONE]")]


@given(cuts)
def test_every_cut_of_a_stream_gives_the_same_answer_stamped_by_the_completing_chunk(places: list[int]) -> None:
    data, ends = stream_head(), []
    for piece in EVENTS:
        data += chunked(piece)
        ends.append(len(data) - 3)  # the last byte of the event, before the line end of its chunk
    chunks = cut(data + LAST_CHUNK, places)
    done = decode_now(OPENAI, exchange_of(parse(chunks).body()))
    assert (done.text, done.reasoning, done.finished) == ("Grüße 日本!", "🙂", True)
    assert list(done.content_ns) == [arrival_of(chunks, end) for end in ends[1:5]]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "choices",
                    "delta",
                    "message",
                    "content",
                    "tool_calls",
                    "function",
                    "index",
                    "usage",
                    "error",
                    "timings",
                ]
            )
            | st.text(max_size=5),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@given(st.lists(json_values.map(event) | st.binary(max_size=30), max_size=5), st.booleans())
def test_garbage_raises_wire_errors_only(pieces: list[bytes], streamed: bool) -> None:
    kind = "text/event-stream" if streamed else "application/json"
    body = b"".join(pieces) if streamed else b"".join(pieces).removeprefix(b"data: ")
    try:
        decode_now(OPENAI, body_of(body, kind))
    except WireError as error:
        assert error.endpoint == "http://h/x"  # noqa: PT017


def test_messages_of_refusals_are_found_in_the_shapes_that_servers_use() -> None:
    assert error_message({"error": {"message": "a"}}) == "a"
    assert error_message({"detail": [{"msg": "field required"}]}) == "field required"
    assert error_message({"detail": "Not Found"}) == "Not Found"
    assert error_message({"message": "b"}) == "b"
    assert error_message([1]) == ""


def test_models_are_listed() -> None:
    assert list_models({"data": [{"id": "a"}, {"id": 3}, {"id": "b"}]}) == ("a", "b")
    assert list_models(None) == ()
