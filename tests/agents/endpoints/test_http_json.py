"""Any JSON endpoint as an agent."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest

from agentdyno.agents.endpoints.http_json import HttpJson, NotThere, pick, pick_or_none
from agentdyno.contracts import Agent, CaseFailed
from agentdyno.errors import RunError, SpecError
from agentdyno.model.case import Case, Response, Usage
from agentdyno.model.sample import FailureKind

from ...wire.script_server import (
    CLOSE,
    LAST_CHUNK,
    Received,
    Script,
    ScriptServer,
    json_response,
    ndjson_line,
    response,
    sse_event,
    stream_head,
)


def answer(case: Case, *scripts: Script, path: str = "/ask", **config: object) -> tuple[Response, list[Received]]:
    async def main() -> tuple[Response, list[Received]]:
        async with ScriptServer(*scripts) as server:
            settings = {"environ": {}, **config}
            agent: Agent = HttpJson("a", url=server.url + path, **settings)  # type: ignore[arg-type]
            try:
                return await agent.run(case), server.requests
            finally:
                await agent.close()

    return asyncio.run(main())


def test_the_input_goes_out_and_the_answer_is_found() -> None:
    value = {"data": [{"text": "42"}], "tokens": {"in": 3, "out": 1}, "price": 0.002, "who": "m-7"}
    got, requests = answer(
        Case("c", "6*7?"),
        (json_response(value),),
        output="data[0].text",
        usage={"input_tokens": "tokens.in", "output_tokens": "tokens.out"},
        cost="price",
        model="who",
    )
    assert requests[0].json == {"input": "6*7?"}
    assert (got.output, got.usage, got.cost, got.model, got.api_calls) == ("42", Usage(3, 1), 0.002, "m-7", 1)
    assert got.observed == {"model": "m-7"}
    assert [(event.kind, event.name) for event in got.events] == [
        ("message", "user"),
        ("model_call", "m-7"),
        ("message", "assistant"),
    ]


def test_templates_take_the_input_as_text_or_as_it_is() -> None:
    body: Mapping[str, object] = {"q": "Q: {input}", "raw": "$input", "list": ["{input}", 1], "chat": "$messages"}
    _, requests = answer(Case("c", {"n": 1}), (json_response("ok"),), body=body, method="put")
    assert requests[0].method == "PUT"
    assert requests[0].json == {
        "q": 'Q: {"n": 1}',
        "raw": {"n": 1},
        "list": ['{"n": 1}', 1],
        "chat": [{"role": "user", "content": {"n": 1}}],
    }


def test_turns_are_played_with_their_history() -> None:
    case = Case("c", "a", turns=("a", "b"))
    got, requests = answer(case, (json_response("1"),), (json_response("2"),), body={"chat": "$messages"})
    assert got.output == "2"
    assert [message["content"] for message in requests[1].json["chat"]] == ["a", "1", "b"]


def test_a_get_has_the_input_in_its_url() -> None:
    got, requests = answer(Case("c", "a&b c"), (json_response({"x": 1}),), path="/find/?q={input}", method="GET")
    assert (requests[0].method, requests[0].target, requests[0].body) == ("GET", "/find/?q=a%26b%20c", b"")
    assert got.output == {"x": 1}


def test_plain_text_is_an_answer_too() -> None:
    assert answer(Case("c", "x"), (response(b"just text", kind="text/plain"),))[0].output == "just text"


@pytest.mark.parametrize("kind", ["sse", "ndjson"])
def test_streams_are_put_together_from_their_deltas(kind: str) -> None:
    piece = sse_event if kind == "sse" else ndjson_line
    pieces = [piece({"d": {"text": text}}) for text in ("", "Hel", "lo")]
    end = piece({"usage": {"out": 2}})
    script = (stream_head(headers=["x-dyno-simulated: 1"]), *pieces, end, LAST_CHUNK)
    got, _ = answer(Case("c", "x"), script, stream=kind, delta="d.text", usage={"output_tokens": "usage.out"})
    assert (got.output, got.usage, got.simulated) == ("Hello", Usage(0, 2), True)
    assert {"ttft_s", "itl_s"} <= set(got.readings)


def test_a_stream_of_plain_text_and_one_with_a_final_answer() -> None:
    got, _ = answer(Case("c", "x"), (stream_head(), sse_event(b"a "), sse_event(b"b"), LAST_CHUNK), stream="sse")
    assert got.output == "a b"
    script = (stream_head(), ndjson_line({"step": 1}), ndjson_line({"result": {"answer": 7}}), LAST_CHUNK)
    got, _ = answer(Case("c", "x"), script, stream="ndjson", output="result.answer")
    assert got.output == 7


def test_headers_come_from_the_environment_and_stay_out_of_the_configuration() -> None:
    headers = {"X-Key": "env:SERVICE_KEY", "X-Plain": "v"}
    _, requests = answer(Case("c", "x"), (json_response(1),), headers=headers, environ={"SERVICE_KEY": "hunter2"})
    assert (requests[0].headers["x-key"], requests[0].headers["x-plain"]) == ("hunter2", "v")
    agent = HttpJson("a", url="https://h.example/x?key=hunter2", headers=headers, environ={"SERVICE_KEY": "hunter2"})
    assert "hunter2" not in str(agent.config)
    assert agent.config["headers"] == {"X-Key": "env:SERVICE_KEY", "X-Plain": "…"}
    assert agent.paid


def test_a_header_whose_variable_is_not_set_ends_the_run() -> None:
    agent = HttpJson("a", url="http://localhost:1", headers={"X-Key": "env:SERVICE_KEY"}, environ={})
    with pytest.raises(RunError, match="SERVICE_KEY"):
        asyncio.run(agent.start())
    with pytest.raises(CaseFailed) as failed:
        asyncio.run(agent.run(Case("c", "x")))
    assert failed.value.fatal


def test_a_path_that_leads_nowhere_says_what_there_is() -> None:
    with pytest.raises(CaseFailed, match="an object with reply, status") as failed:
        answer(Case("c", "x"), (json_response({"reply": "x", "status": 1}),), output="answer")
    assert failed.value.fatal
    assert failed.value.response is not None
    assert failed.value.response.output == {"reply": "x", "status": 1}


@pytest.mark.parametrize(
    ("script", "kind", "retryable"),
    [
        ((json_response({"message": "slow down"}, status="429 Busy"),), FailureKind.RATE_LIMITED, True),
        ((json_response({"message": "bad"}, status="422 Bad"),), FailureKind.HTTP_ERROR, False),
        ((response(b"not json"),), FailureKind.STREAM_ERROR, False),
        ((b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf", CLOSE), FailureKind.TRUNCATED, True),
        ((CLOSE,), FailureKind.RESET, True),
    ],
)
def test_refusals_and_broken_answers_have_their_kind(script: Script, kind: FailureKind, retryable: bool) -> None:
    with pytest.raises(CaseFailed) as failed:
        answer(Case("c", "x"), script)
    assert (failed.value.kind, failed.value.retryable) == (kind, retryable)
    assert failed.value.response is not None
    assert failed.value.response.events[0].content == "x"


def test_mistakes_in_the_mapping_are_named() -> None:
    with pytest.raises(SpecError, match="ndjson"):
        HttpJson("a", url="http://h", stream="jsonl")
    with pytest.raises(SpecError, match="input_tokens"):
        HttpJson("a", url="http://h", usage={"input_token": "x"})


def test_paths_pick_from_objects_and_lists() -> None:
    value = {"a": [{"b": 1}, {"b": 2}], "0": "zero"}
    assert pick(value, "") is value
    assert (pick(value, "a.1.b"), pick(value, "a[-1].b"), pick(value, "0")) == (2, 2, "zero")
    assert pick_or_none(value, "a.7.b") is None
    with pytest.raises(NotThere, match=r"no '7' in a, which is a list of 2"):
        pick(value, "a.7.b")
    with pytest.raises(NotThere, match=r"no 'x' in a\.0\.b, which is 1"):
        pick(value, "a.0.b.x")


def test_a_path_to_tokens_that_leads_nowhere_makes_them_unknown_and_is_named_with_what_there_is() -> None:
    value = {"text": "42", "usage": {"prompt_tokens": 3, "completion_tokens": 1}}
    got, _ = answer(
        Case("c", "6*7?"),
        (json_response(value),),
        output="text",
        usage={"input_tokens": "usage.promt_tokens", "output_tokens": "usage.completion_tokens"},
    )
    assert got.usage is None, "tokens that are known in part are not known"
    assert got.observed["usage_not_found"] == (
        "nothing at usage.promt_tokens; the answer has usage.prompt_tokens, usage.completion_tokens"
    )
