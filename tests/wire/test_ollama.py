"""Ollama's dialect: what is sent, and what its answers mean."""

from __future__ import annotations

import json

import pytest
from hypothesis import given

from agentdyno.model.case import Usage
from agentdyno.wire.chat import ChatRequest, Completion, ToolCall, decode, decode_now
from agentdyno.wire.errors import ProtocolError
from agentdyno.wire.ollama import OLLAMA, chat_body, list_models

from .answers import arrival_of, body_of, cut, cuts, exchange_of, parse
from .script_server import LAST_CHUNK, chunked, stream_head

NDJSON = "application/x-ndjson"
END = {
    "model": "gemma3",
    "done": True,
    "done_reason": "stop",
    "message": {"role": "assistant", "content": ""},
    "prompt_eval_count": 11,
    "eval_count": 4,
    "total_duration": 3_000_000_000,
    "load_duration": 1_000_000_000,
    "prompt_eval_duration": 500_000_000,
    "eval_duration": 250_000_000,
}


def line(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode() + b"\n"


def said(text: str) -> bytes:
    return line({"model": "gemma3", "message": {"role": "assistant", "content": text}, "done": False})


def test_options_schema_and_keep_alive_have_their_places() -> None:
    asked = ChatRequest("m", [], {"num_ctx": 512}, schema={"type": "object"}, extra={"keep_alive": "5m"})
    assert chat_body(asked) == {
        "model": "m",
        "messages": [],
        "stream": True,
        "options": {"num_ctx": 512},
        "format": {"type": "object"},
        "keep_alive": "5m",
    }


def test_a_stream_gives_text_usage_and_the_servers_own_durations() -> None:
    done = decode_now(OLLAMA, body_of(said("") + said("Hel") + said("lo") + line(END), NDJSON))
    assert done == Completion(
        text="Hello",
        usage=Usage(11, 4),
        model="gemma3",
        finish_reason="stop",
        finished=True,
        observed={"model": "gemma3"},
        server_s={"total_s": 3.0, "load_s": 1.0, "prompt_eval_s": 0.5, "eval_s": 0.25},
        content_ns=(1000, 1000),
    )


def test_an_answer_in_one_piece_is_read_too() -> None:
    value = {**END, "message": {"content": "Hi", "thinking": "hm"}}
    done = decode_now(OLLAMA, body_of(json.dumps(value, indent=1).encode(), "application/json"))
    assert (done.text, done.reasoning, done.finished, done.content_ns) == ("Hi", "hm", True, ())


def test_tool_calls_have_their_arguments_decoded() -> None:
    calls = [{"function": {"name": "f", "arguments": {"a": 1}}}, {"function": {"name": "g", "arguments": {}}}]
    done = decode_now(OLLAMA, body_of(line({"message": {"content": "", "tool_calls": calls}}) + line(END), NDJSON))
    assert done.tool_calls == (ToolCall("", "f", {"a": 1}), ToolCall("", "g", {}))
    assert len(done.content_ns) == 1


def test_an_error_line_is_kept_beside_what_had_come() -> None:
    done = decode_now(OLLAMA, body_of(said("so far") + line({"error": "out of memory"}), NDJSON))
    assert (done.text, done.error, done.finished) == ("so far", "out of memory", False)


def test_half_a_line_is_an_error_unless_the_answer_is_known_to_be_cut_off() -> None:
    answer = body_of(said("so far") + b'{"message": {"con', NDJSON)
    with pytest.raises(ProtocolError):
        decode_now(OLLAMA, answer)
    step = decode(OLLAMA, answer, cut_off=True)
    with pytest.raises(StopIteration) as done:
        step.send(None)
    assert done.value.value.text == "so far"


@pytest.mark.parametrize("value", [[], {}, {"done": False}])
def test_json_that_is_no_answer_is_a_protocol_error(value: object) -> None:
    with pytest.raises(ProtocolError):
        decode_now(OLLAMA, body_of(json.dumps(value).encode(), "application/json"))


@given(cuts)
def test_every_cut_of_a_stream_gives_the_same_answer_stamped_by_the_completing_chunk(places: list[int]) -> None:
    data, ends = stream_head(NDJSON), []
    for piece in (said(""), said("Grüße "), said("日本"), line(END)):
        data += chunked(piece)
        ends.append(len(data) - 3)
    chunks = cut(data + LAST_CHUNK, places)
    done = decode_now(OLLAMA, exchange_of(parse(chunks).body(), NDJSON))
    assert (done.text, done.finished) == ("Grüße 日本", True)
    assert list(done.content_ns) == [arrival_of(chunks, end) for end in ends[1:3]]


def test_models_are_listed() -> None:
    assert list_models({"models": [{"name": "gemma3:latest"}, {}]}) == ("gemma3:latest",)
