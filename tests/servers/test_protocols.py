"""Both protocols, streamed and in one piece, as a client sees them."""

from __future__ import annotations

import pytest

from agentdyno.servers.simulated.server import RunningServer

from .talking import OLLAMA, OPENAI, ask, chat, text_of, tool

BOTH = pytest.mark.parametrize("path", [OPENAI, OLLAMA])
EITHER_WAY = pytest.mark.parametrize("stream", [True, False])
NUMBER = {"type": "integer"}


def test_an_openai_stream_names_the_role_then_the_tokens_then_the_end(server: RunningServer) -> None:
    answer = ask(server.url, OPENAI, chat(stream_options={"include_usage": True}))
    assert answer.headers["content-type"].startswith("text/event-stream")
    first, *tokens, finish, usage, done = answer.events
    assert first["choices"][0]["delta"] == {"role": "assistant", "content": ""}
    assert len(tokens) == 6
    assert all(event["choices"][0]["delta"]["content"].strip() for event in tokens)
    assert finish["choices"] == [{"index": 0, "delta": {}, "finish_reason": "stop"}]
    assert usage["choices"] == []
    assert usage["usage"] == {"prompt_tokens": 2, "completion_tokens": 6, "total_tokens": 8}
    assert done == "[DONE]"


def test_usage_is_streamed_only_when_asked_for(server: RunningServer) -> None:
    *events, done = ask(server.url, OPENAI, chat()).events
    assert done == "[DONE]"
    assert not any("usage" in event for event in events)


def test_an_openai_answer_in_one_piece_has_the_streamed_text(server: RunningServer) -> None:
    streamed = ask(server.url, OPENAI, chat("one and the same")).events
    whole = ask(server.url, OPENAI, chat("one and the same", stream=False)).json
    assert whole["object"] == "chat.completion"
    assert whole["choices"][0]["message"] == {"role": "assistant", "content": text_of(streamed)}
    assert whole["choices"][0]["finish_reason"] == "stop"
    assert whole["usage"] == {"prompt_tokens": 4, "completion_tokens": 6, "total_tokens": 10}


def test_an_ollama_stream_ends_with_counts_and_durations(server: RunningServer) -> None:
    body = chat(dyno={"ttft_s": 0.02, "itl_s": 0.002, "load_s": 0.015})
    *tokens, last = ask(server.url, OLLAMA, body).events
    assert len(tokens) == 6
    assert [event["done"] for event in tokens] == [False] * 6
    assert (last["done"], last["done_reason"]) == (True, "stop")
    assert (last["prompt_eval_count"], last["eval_count"]) == (2, 6)
    assert last["load_duration"] == 15_000_000
    assert last["prompt_eval_duration"] >= 5_000_000
    assert last["total_duration"] >= 30_000_000
    assert last["total_duration"] >= sum(last[f"{part}_duration"] for part in ("load", "prompt_eval", "eval"))


def test_ollama_streams_unless_told_not_to(server: RunningServer) -> None:
    body = chat()
    del body["stream"]
    assert len(ask(server.url, OLLAMA, body).events) == 7
    whole = ask(server.url, OLLAMA, chat(stream=False)).json
    assert whole["done"] is True
    assert len(whole["message"]["content"].split()) == 6


def test_models_and_version_are_listed(server: RunningServer) -> None:
    assert [item["id"] for item in ask(server.url, "/v1/models").json["data"]] == ["simulated/model"]
    assert [item["name"] for item in ask(server.url, "/api/tags").json["models"]] == ["simulated/model"]
    assert "simulated" in ask(server.url, "/api/version").json["version"]
    assert ask(server.url, "/health").json["status"] == "ok"


@BOTH
@EITHER_WAY
def test_everything_says_that_it_is_simulated(server: RunningServer, path: str, stream: bool) -> None:
    answer = ask(server.url, path, chat(stream=stream))
    assert answer.headers["x-dyno-simulated"] == "1"
    for event in answer.events if stream else [answer.json]:
        if event != "[DONE]":
            assert event["simulated"] is True
            assert event["model"] == "simulated/tiny"


@pytest.mark.parametrize(
    ("path", "body"),
    [("/v1/models", None), ("/api/tags", None), ("/api/version", None), ("/nothing", None), (OPENAI, b"[]")],
)
def test_lists_and_errors_say_so_too(server: RunningServer, path: str, body: bytes | None) -> None:
    answer = ask(server.url, path, body)
    assert answer.headers["x-dyno-simulated"] == "1"
    assert answer.json["simulated"] is True


@BOTH
@EITHER_WAY
def test_a_named_tool_is_called_with_arguments_from_the_prompt(
    server: RunningServer, path: str, stream: bool
) -> None:
    offered = [tool("look_up", text={"type": "string"}), tool("add_numbers", a=NUMBER, b=NUMBER)]
    answer = ask(server.url, path, chat("please add numbers 17 and 23", stream=stream, tools=offered))
    if path == OLLAMA:
        message = answer.events[0]["message"] if stream else answer.json["message"]
        assert message["tool_calls"] == [{"function": {"name": "add_numbers", "arguments": {"a": 17, "b": 23}}}]
        return
    if not stream:
        choice = answer.json["choices"][0]
        assert choice["finish_reason"] == "tool_calls"
        assert choice["message"]["tool_calls"][0]["function"] == {
            "name": "add_numbers",
            "arguments": '{"a": 17, "b": 23}',
        }
        return
    _, *deltas, finish, _ = answer.events
    parts = [event["choices"][0]["delta"]["tool_calls"][0] for event in deltas]
    assert parts[0]["id"].startswith("call-")
    assert parts[0]["function"]["name"] == "add_numbers"
    assert "".join(part["function"]["arguments"] for part in parts) == '{"a": 17, "b": 23}'
    assert finish["choices"][0]["finish_reason"] == "tool_calls"


@BOTH
def test_a_tool_result_is_answered_with_text(server: RunningServer, path: str) -> None:
    messages = [
        {"role": "user", "content": "add numbers"},
        {"role": "assistant", "content": ""},
        {"role": "tool", "content": "the sum is 40"},
    ]
    body = chat(messages=messages, tools=[tool("add_numbers", a=NUMBER)], dyno={"tool_calls": "always"})
    assert text_of(ask(server.url, path, body).events) == "the sum is 40"


def test_tools_are_called_always_never_or_as_the_request_demands(server: RunningServer) -> None:
    def called(**more: object) -> bool:
        body = chat("nothing of the kind", stream=False, tools=[tool("add_numbers", a=NUMBER)], **more)
        return bool(ask(server.url, OPENAI, body).json["choices"][0]["finish_reason"] == "tool_calls")

    assert not called()
    assert called(dyno={"tool_calls": "always"})
    assert not called(dyno={"tool_calls": "always"}, tool_choice="none")
    assert called(tool_choice="required")
    assert called(tool_choice={"type": "function", "function": {"name": "add_numbers"}})


def test_given_tool_arguments_are_used(server: RunningServer) -> None:
    settings = {"tool_calls": "always", "tool_arguments": {"a": 5}}
    body = chat(stream=False, tools=[tool("add_numbers", a=NUMBER)], dyno=settings)
    message = ask(server.url, OPENAI, body).json["choices"][0]["message"]
    assert message["tool_calls"][0]["function"]["arguments"] == '{"a": 5}'


def test_answers_come_from_the_mapping_by_a_part_of_the_prompt(server: RunningServer) -> None:
    settings = {"answers": {"capital of France": "Paris, of course.", "France": "no"}}
    for path in (OPENAI, OLLAMA):
        events = ask(server.url, path, chat("What is the capital of France?", dyno=settings)).events
        assert text_of(events) == "Paris, of course."


def test_the_share_of_right_answers_depends_on_seed_and_prompt_alone(server: RunningServer) -> None:
    def right(number: int, seed: int, path: str = OPENAI) -> bool:
        settings = {"answers": {"question": "yes"}, "right_rate": 0.5, "wrong_answer": "no", "seed": seed}
        return text_of(ask(server.url, path, chat(f"question {number}", dyno=settings)).events) == "yes"

    first = [right(number, 1) for number in range(40)]
    assert first == [right(number, 1, OLLAMA) for number in range(40)]
    assert first != [right(number, 2) for number in range(40)]
    assert 8 <= sum(first) <= 32


def test_echo_answers_with_the_prompt_byte_for_byte(server: RunningServer) -> None:
    prompt = '  two  spaces,\n a "quote", ünïcode 🙂 and an end \n'
    for path in (OPENAI, OLLAMA):
        assert text_of(ask(server.url, path, chat(prompt, dyno={"echo": True})).events) == prompt


@pytest.mark.parametrize(
    ("path", "limit"),
    [
        (OPENAI, {"max_tokens": 3}),
        (OPENAI, {"max_completion_tokens": 3}),
        (OLLAMA, {"options": {"num_predict": 3}}),
    ],
)
def test_a_token_limit_cuts_the_answer_and_says_so(
    server: RunningServer, path: str, limit: dict[str, object]
) -> None:
    whole = ask(server.url, path, {**chat(stream=False), **limit}).json
    reason = whole["choices"][0]["finish_reason"] if path == OPENAI else whole["done_reason"]
    count = whole["usage"]["completion_tokens"] if path == OPENAI else whole["eval_count"]
    assert (reason, count) == ("length", 3)


def test_a_schema_is_met(server: RunningServer) -> None:
    schema = {"type": "object", "properties": {"age": NUMBER, "name": {"enum": ["Ann", "Bob"]}}}
    wanted = {"type": "json_schema", "json_schema": {"name": "person", "schema": schema}}
    events = ask(server.url, OPENAI, chat("Bob is 41", response_format=wanted)).events
    assert text_of(events) == '{"age": 41, "name": "Bob"}'
    assert text_of(ask(server.url, OLLAMA, chat("Bob is 41", format=schema)).events) == '{"age": 41, "name": "Bob"}'


def test_the_same_seed_gives_the_same_texts_in_whatever_order(server: RunningServer) -> None:
    def answers(numbers: list[int], seed: int) -> dict[int, str]:
        server.reset()
        settings = {"seed": seed, "output_tokens": "3-30"}
        bodies = {number: chat(f"prompt {number}", dyno=settings) for number in numbers}
        return {number: text_of(ask(server.url, OPENAI, body).events) for number, body in bodies.items()}

    first = answers([1, 2, 3, 4], 7)
    assert answers([4, 2, 1, 3], 7) == first
    assert answers([1, 2, 3, 4], 8) != first
    assert len({len(text.split()) for text in first.values()}) > 1


def test_message_parts_are_read_as_text(server: RunningServer) -> None:
    content = [{"type": "text", "text": "part one"}, {"type": "text", "text": "part two"}]
    body = chat(messages=[{"role": "user", "content": content}], dyno={"echo": True})
    assert text_of(ask(server.url, OPENAI, body).events) == "part one\npart two"


def test_a_model_is_loaded_by_its_first_request_and_unloaded_when_told(server: RunningServer) -> None:
    def loaded() -> dict[str, int]:
        return {row["name"]: row["context_length"] for row in ask(server.url, "/api/ps").json["models"]}

    def load_ns(**fields: object) -> int:
        body = {**chat(model="cold-one", stream=False, dyno={"load_s": 0.015}), **fields}
        return int(ask(server.url, OLLAMA, body).json["load_duration"])

    assert "cold-one" not in loaded()
    assert [load_ns(), load_ns()] == [15_000_000, 0]
    assert loaded()["cold-one"] == 4096
    assert load_ns(options={"num_ctx": 512}) == 15_000_000, "another context is another load"
    assert loaded()["cold-one"] == 512
    told = ask(server.url, "/api/generate", {"model": "cold-one:latest", "keep_alive": 0}).json
    assert (told["done"], told["done_reason"], told["simulated"]) == (True, "unload", True)
    assert "cold-one" not in loaded()
    told = ask(server.url, "/api/generate", {"model": "cold-one", "options": {"num_ctx": 8192}}).json
    assert (told["done_reason"], loaded()["cold-one"]) == ("load", 8192)
    load_ns(keep_alive="0s")
    assert "cold-one" not in loaded()


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ({"model": "m", "prompt": "Hi"}, 400, "answers at /api/chat"),
        ({"keep_alive": 0}, 400, "you must provide a model"),
    ],
)
def test_what_generate_does_not_do_is_said(
    server: RunningServer, body: dict[str, object], status: int, said: str
) -> None:
    answer = ask(server.url, "/api/generate", body)
    assert answer.status == status
    assert said in answer.json["error"]


@pytest.mark.parametrize(
    ("keep_alive", "stays"),
    [(None, True), ("5m", True), (-1, True), ("-1", True), (0, False), ("0", False), ("0s", False), (0.0, False)],
)
def test_only_a_time_of_zero_unloads(server: RunningServer, keep_alive: object, stays: bool) -> None:
    ask(server.url, "/api/generate", {"model": "kept", "keep_alive": keep_alive})
    assert any(row["name"] == "kept" for row in ask(server.url, "/api/ps").json["models"]) is stays
