"""OpenAI-compatible endpoints as agents: what is asked, what comes back, and what every refusal means."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Mapping

import pytest

from agentdyno.agents.endpoints.openai_chat import OpenAIChat
from agentdyno.contracts import Agent, CaseFailed
from agentdyno.errors import RunError, SpecError
from agentdyno.model.case import Case, Response, Usage
from agentdyno.model.sample import FailureKind, Status

from ...wire.script_server import (
    CLOSE,
    LAST_CHUNK,
    RESET,
    Received,
    Script,
    ScriptServer,
    json_response,
    response,
    sse_event,
    stream_head,
)
from ..streams import delta, openai_stream

SCHEMA: Mapping[str, object] = {"type": "object", "properties": {"x": {"type": "number"}}}


def answer(case: Case, *scripts: Script, **config: object) -> tuple[Response, list[Received]]:
    async def main() -> tuple[Response, list[Received]]:
        async with ScriptServer(*scripts) as server:
            agent: Agent = OpenAIChat("a", model="m", base_url=server.url + "/v1", environ={}, **config)  # type: ignore[arg-type]
            await agent.start()
            try:
                return await agent.run(case), server.requests
            finally:
                await agent.close()

    return asyncio.run(main())


def failure(*scripts: Script, **config: object) -> CaseFailed:
    with pytest.raises(CaseFailed) as failed:
        answer(Case("c", "hi"), *scripts, **config)
    return failed.value


def test_a_text_is_answered_with_usage_readings_and_trajectory() -> None:
    got, requests = answer(Case("c", "hi"), openai_stream("Hel", "lo"), options={"temperature": 0.2, "stop": ["\n"]})
    assert (got.output, got.usage, got.api_calls, got.model) == ("Hello", Usage(5, 2), 1, "m-2024")
    assert got.observed == {"model": "m-2024", "system_fingerprint": "fp-1"}
    assert got.readings["ttft_s"] > 0
    assert got.readings["server.eval_s"] == 0.034
    assert [(event.kind, event.name) for event in got.events] == [
        ("message", "user"),
        ("model_call", "m-2024"),
        ("message", "assistant"),
    ]
    assert requests[0].target == "/v1/chat/completions"
    assert requests[0].json["stop"] == ["\n"]
    assert not got.simulated


def test_system_examples_and_prompt_come_before_the_input() -> None:
    _, requests = answer(
        Case("c", {"n": 2}),
        openai_stream("4"),
        system="Be brief.",
        prompt="Double {input}; {braces} stay.",
        few_shot=[{"input": {"n": 1}, "output": "2"}, {"role": "user", "content": "raw"}],
    )
    assert requests[0].json["messages"] == [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": 'Double {"n": 1}; {braces} stay.'},
        {"role": "assistant", "content": "2"},
        {"role": "user", "content": "raw"},
        {"role": "user", "content": 'Double {"n": 2}; {braces} stay.'},
    ]


def test_a_list_of_messages_is_sent_as_it_is() -> None:
    messages = [
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "b"},
        {"role": "user", "content": "c"},
    ]
    _, requests = answer(Case("c", messages), openai_stream("x"), prompt="Not for {input}")
    assert requests[0].json["messages"] == messages
    _, requests = answer(Case("c", [1, 2]), openai_stream("x"))
    assert requests[0].json["messages"] == [{"role": "user", "content": "[1, 2]"}]


def test_turns_are_played_with_their_history() -> None:
    case = Case("c", "My name is Ada.", turns=("My name is Ada.", "Who am I?"))
    got, requests = answer(case, openai_stream("Hello Ada."), openai_stream("Ada."))
    assert (got.output, got.api_calls, got.usage) == ("Ada.", 2, Usage(10, 2))
    assert requests[1].json["messages"] == [
        {"role": "user", "content": "My name is Ada."},
        {"role": "assistant", "content": "Hello Ada."},
        {"role": "user", "content": "Who am I?"},
    ]


def test_the_schema_of_the_case_constrains_the_answer_where_asked_for() -> None:
    case = Case("c", "x", metadata={"schema": SCHEMA})
    _, requests = answer(case, openai_stream("{}"), schema="from_case")
    assert requests[0].json["response_format"]["json_schema"]["schema"] == SCHEMA
    _, requests = answer(case, openai_stream("{}"))
    assert "response_format" not in requests[0].json
    _, requests = answer(Case("c", "x"), openai_stream("{}"), schema=SCHEMA)
    assert requests[0].json["response_format"]["type"] == "json_schema"
    _, requests = answer(Case("c", "x"), openai_stream("{}"), response_format={"type": "json_object"})
    assert requests[0].json["response_format"] == {"type": "json_object"}


def test_tool_calls_are_the_output_where_there_is_no_text() -> None:
    function = {"name": "add", "arguments": '{"a": 1, "b": 2}'}
    call = delta({"tool_calls": [{"index": 0, "id": "c", "function": function}]}, "tool_calls")
    got, _ = answer(Case("c", "1+2"), (stream_head(), call, LAST_CHUNK))
    assert got.output == {"tool_calls": [{"name": "add", "arguments": {"a": 1, "b": 2}}]}
    assert [(e.name, e.content) for e in got.events if e.kind == "tool_call"] == [("add", {"a": 1, "b": 2})]
    got, _ = answer(Case("c", "1+2"), (stream_head(), delta({"content": "Let me see."}), call, LAST_CHUNK))
    assert got.output == "Let me see."


def test_an_answer_in_one_piece_has_no_time_to_first_token() -> None:
    value = {"model": "m", "choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}]}
    got, requests = answer(Case("c", "x"), (json_response(value),), stream=False)
    assert (got.output, got.usage, dict(got.readings)) == ("Hi", None, {})
    assert requests[0].json["stream"] is False


def test_running_into_the_token_limit_is_an_answer_and_is_noted() -> None:
    got, _ = answer(Case("c", "x"), openai_stream("Once upon", finish="length"))
    assert got.output == "Once upon"
    assert got.events[-1].details == {"finish_reason": "length"}


def test_answers_of_a_simulated_server_say_so() -> None:
    assert answer(Case("c", "x"), openai_stream("x", headers=["x-dyno-simulated: 1"]))[0].simulated


@pytest.mark.parametrize("status", ["401 Unauthorized", "403 Forbidden"])
def test_a_refused_key_ends_the_run_and_names_its_variable(status: str) -> None:
    failed = failure((json_response({"error": {"message": "no"}}, status=status),))
    assert (failed.kind, failed.fatal, failed.retryable) == (FailureKind.HTTP_ERROR, True, False)
    assert "OPENAI_API_KEY" in failed.remedy
    assert status[:3] in failed.message


def test_a_wrong_model_ends_the_run_and_lists_the_ones_there_are() -> None:
    refusal = json_response({"error": {"message": "The model `m` does not exist"}}, status="404 Not Found")
    failed = failure((refusal,), (json_response({"data": [{"id": "m-large"}, {"id": "other"}]}),))
    assert failed.fatal
    assert failed.message.startswith("no model m at http://127.0.0.1:")
    assert "m-large" in failed.remedy
    assert failure((refusal,)).fatal
    assert failure((json_response({"error": {"code": "model_not_found"}}, status="400 Bad Request"),)).fatal


def test_a_wrong_path_ends_the_run_before_anything_has_worked() -> None:
    failed = failure((response(b"<html>lost</html>", status="404 Not Found", kind="text/html"),))
    assert (failed.fatal, "/v1" in failed.remedy) == (True, True)
    assert "<html>" not in failed.message


def test_a_bad_request_fails_the_case_with_the_servers_words() -> None:
    failed = failure((json_response({"error": {"message": "top_k is unknown"}}, status="400 Bad Request"),))
    assert (failed.kind, failed.status, failed.fatal, failed.retryable) == (
        FailureKind.HTTP_ERROR,
        Status.ERROR,
        False,
        False,
    )
    assert "top_k is unknown" in failed.message


@pytest.mark.parametrize(
    "message",
    [
        "This model's maximum context length is 4096 tokens.",
        "the request exceeds the available context size, try increasing it",
    ],
)
def test_an_input_that_is_too_long_is_a_token_limit(message: str) -> None:
    failed = failure((json_response({"error": {"message": message}}, status="400 Bad Request"),))
    assert (failed.kind, failed.status) == (FailureKind.TOKENS, Status.LIMIT)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (408, FailureKind.HTTP_ERROR),
        (429, FailureKind.RATE_LIMITED),
        (500, FailureKind.HTTP_ERROR),
        (502, FailureKind.HTTP_ERROR),
        (503, FailureKind.RATE_LIMITED),
        (504, FailureKind.HTTP_ERROR),
    ],
)
def test_trouble_that_may_pass_is_worth_another_try(status: int, kind: FailureKind) -> None:
    failed = failure((json_response({"error": "busy"}, status=f"{status} Busy"),))
    assert (failed.kind, failed.status, failed.retryable, failed.fatal) == (kind, Status.ERROR, True, False)
    assert failed.retry_after_s is None


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        (["Retry-After: 7"], 7.0),
        (["Retry-After: 0.5"], 0.5),
        (["retry-after-ms: 250"], 0.25),
        (["Date: Wed, 21 Oct 2015 07:28:00 GMT", "Retry-After: Wed, 21 Oct 2015 07:28:30 GMT"], 30.0),
        (["Retry-After: Wed, 21 Oct 2015 07:28:00 GMT"], 0.0),
        (["Retry-After: soon"], None),
    ],
)
def test_the_server_says_how_long_to_wait(headers: list[str], seconds: float | None) -> None:
    failed = failure((json_response({}, status="429 Too Many Requests", headers=headers),))
    assert failed.retry_after_s == seconds


def test_a_moved_endpoint_is_not_followed_but_named() -> None:
    failed = failure((response(b"", status="308 Permanent Redirect", headers=["Location: https://new.example/v1"]),))
    assert (failed.fatal, "https://new.example/v1" in failed.remedy) == (True, True)


@pytest.mark.parametrize(
    ("script", "kind"),
    [
        ((stream_head(), delta({"content": "so far"}), CLOSE), FailureKind.TRUNCATED),
        ((stream_head(), delta({"content": "so far"}), LAST_CHUNK), FailureKind.TRUNCATED),
        (
            (stream_head(), delta({"content": "so far"}), sse_event({"error": {"message": "gpu lost"}}), LAST_CHUNK),
            FailureKind.STREAM_ERROR,
        ),
    ],
)
def test_a_stream_that_breaks_off_keeps_what_had_come_and_may_be_tried_again(
    script: Script, kind: FailureKind
) -> None:
    failed = failure(script)
    assert (failed.kind, failed.status, failed.retryable, failed.fatal) == (kind, Status.ERROR, True, False)
    assert failed.response is not None
    assert (failed.response.output, failed.response.model) == ("so far", "m-2024")
    assert failed.response.events[0].content == "hi"


def test_a_reset_may_be_tried_again() -> None:
    failed = failure((RESET,))
    assert (failed.kind, failed.retryable, failed.fatal) == (FailureKind.RESET, True, False)


def test_an_answer_without_end_is_an_output_limit() -> None:
    announced = b"HTTP/1.1 200 OK\r\nContent-Length: 100000000\r\n\r\n"
    failed = failure((announced,))
    assert (failed.kind, failed.status, failed.retryable) == (FailureKind.OUTPUT, Status.LIMIT, False)


def test_a_server_that_is_not_there_ends_the_run_unless_it_has_answered_before() -> None:
    async def main() -> tuple[CaseFailed, CaseFailed]:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            port = taken.getsockname()[1]
        agent = OpenAIChat("a", model="m", base_url=f"http://127.0.0.1:{port}/v1", environ={})
        with pytest.raises(CaseFailed) as first:
            await agent.run(Case("c", "x"))
        async with ScriptServer(openai_stream("x")) as server:
            agent = OpenAIChat("a", model="m", base_url=server.url, environ={})
            await agent.run(Case("c", "x"))
            await agent.close()
        with pytest.raises(CaseFailed) as later:
            await agent.run(Case("c", "x"))
        return first.value, later.value

    first, later = asyncio.run(main())
    assert (first.fatal, first.retryable, first.kind) == (True, False, FailureKind.RESET)
    assert "refused" in first.message
    assert "running" in first.remedy
    assert (later.fatal, later.retryable, later.kind) == (False, True, FailureKind.RESET)


def test_a_public_endpoint_without_its_key_is_refused_before_anything_is_sent() -> None:
    agent = OpenAIChat("a", model="gpt-5-mini", environ={})
    with pytest.raises(RunError, match="OPENAI_API_KEY"):
        asyncio.run(agent.start())
    with pytest.raises(CaseFailed) as failed:
        asyncio.run(agent.run(Case("c", "x")))
    assert failed.value.fatal
    assert "OPENAI_API_KEY" in failed.value.remedy
    assert agent.paid
    asyncio.run(OpenAIChat("a", model="m", environ={"OPENAI_API_KEY": "k"}).start())


def test_the_configuration_shows_everything_but_secrets_and_makes_the_version() -> None:
    def build(**config: object) -> OpenAIChat:
        base = {"model": "m", "base_url": "http://localhost:1/v1?key=hunter2", "environ": {"K": "hunter2"}}
        return OpenAIChat("a", **{**base, "api_key_env": "K", **config})  # type: ignore[arg-type]

    agent = build(options={"seed": 1})
    assert agent.config == {
        "model": "m",
        "base_url": "http://localhost:1/v1",
        "api_key_env": "K",
        "options": {"seed": 1},
        "stream": True,
    }
    assert not agent.paid
    assert agent.version == build(options={"seed": 1}, base_url="http://localhost:2/v1").version
    assert agent.version != build(options={"seed": 2}).version
    assert build(version="1.2").version == "1.2"


def test_a_prompt_that_ignores_the_input_is_refused() -> None:
    with pytest.raises(SpecError, match=r"\{input\}"):
        OpenAIChat("a", model="m", prompt="Say something", environ={})
    with pytest.raises(SpecError, match=r"few_shot\[0\]"):
        OpenAIChat("a", model="m", few_shot=[{"question": "x"}], environ={})


def test_cases_overlap_and_loops_follow_each_other() -> None:
    agents: list[OpenAIChat] = []

    async def main(port: int) -> int:
        async with ScriptServer(openai_stream("x"), port=port) as server:
            if not agents:
                agents.append(OpenAIChat("a", model="m", base_url=server.url, environ={}))
            got = await asyncio.gather(*(agents[0].run(Case(str(i), "x")) for i in range(20)))
            assert [(item.output, item.api_calls) for item in got] == [("x", 1)] * 20
            return server.port

    port = asyncio.run(main(0))
    assert asyncio.run(main(port)) == port


def test_cancelling_a_case_closes_its_connection() -> None:
    async def main() -> None:
        async with ScriptServer((stream_head(), delta({"content": "x"}), asyncio.Event())) as server:
            agent = OpenAIChat("a", model="m", base_url=server.url, environ={})
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(agent.run(Case("c", "x")), 1.0)
            await server.all_closed.wait()

    asyncio.run(main())
