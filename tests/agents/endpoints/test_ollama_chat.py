"""Ollama's native API as an agent."""

from __future__ import annotations

import asyncio

import pytest

from agentdyno.agents.endpoints.ollama_chat import OllamaChat
from agentdyno.contracts import Agent, CaseFailed
from agentdyno.errors import SpecError
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
    stream_head,
)
from ..streams import ollama_stream

SIX = {"num_gpu": 80, "num_ctx": 2048, "temperature": 0.8, "top_p": 0.9, "top_k": 40, "repeat_penalty": 1.1}


def answer(case: Case, *scripts: Script, **config: object) -> tuple[Response, list[Received]]:
    async def main() -> tuple[Response, list[Received]]:
        async with ScriptServer(*scripts) as server:
            agent: Agent = OllamaChat("a", model="gemma3", base_url=server.url, environ={}, **config)  # type: ignore[arg-type]
            await agent.start()
            try:
                return await agent.run(case), server.requests
            finally:
                await agent.close()

    return asyncio.run(main())


def test_all_six_options_reach_the_server_and_its_durations_come_back() -> None:
    got, requests = answer(
        Case("c", "hi"), ollama_stream("Hel", "lo"), options=SIX, keep_alive="10m", system="Brief."
    )
    assert requests[0].target == "/api/chat"
    assert requests[0].json == {
        "model": "gemma3",
        "messages": [{"role": "system", "content": "Brief."}, {"role": "user", "content": "hi"}],
        "stream": True,
        "options": SIX,
        "keep_alive": "10m",
    }
    assert (got.output, got.usage, got.model, got.observed) == ("Hello", Usage(5, 2), "gemma3", {"model": "gemma3"})
    assert got.readings["ttft_s"] > 0
    assert {name: value for name, value in got.readings.items() if name.startswith("server.")} == {
        "server.total_s": 4.0,
        "server.load_s": 2.0,
        "server.prompt_eval_s": 1.0,
        "server.eval_s": 0.5,
    }


def test_turns_schema_and_format_are_sent() -> None:
    case = Case("c", "a", turns=("a", "b"), metadata={"schema": {"type": "object"}})
    got, requests = answer(case, ollama_stream("1"), ollama_stream("2"), schema="from_case")
    assert (got.output, got.api_calls) == ("2", 2)
    assert requests[1].json["format"] == {"type": "object"}
    assert [message["content"] for message in requests[1].json["messages"]] == ["a", "1", "b"]
    _, requests = answer(Case("c", "a"), ollama_stream("1"), format="json", think=False)
    assert (requests[0].json["format"], requests[0].json["think"]) == ("json", False)


def test_a_model_that_is_not_there_says_how_to_get_it() -> None:
    refusal = json_response({"error": "model 'gemma3' not found"}, status="404 Not Found")
    with pytest.raises(CaseFailed) as failed:
        answer(Case("c", "hi"), (refusal,), (json_response({"models": []}),))
    assert failed.value.fatal
    assert failed.value.message.startswith("no model gemma3 at ")
    assert "ollama pull gemma3" in failed.value.remedy


@pytest.mark.parametrize(
    ("end", "kind"),
    [
        ((ndjson_line({"error": "out of memory"}), LAST_CHUNK), FailureKind.STREAM_ERROR),
        ((b'5\r\n{"mes\r\n', CLOSE), FailureKind.TRUNCATED),
        ((LAST_CHUNK,), FailureKind.TRUNCATED),
    ],
)
def test_a_stream_that_breaks_off_keeps_what_had_come(end: Script, kind: FailureKind) -> None:
    begun = (stream_head("application/x-ndjson"), ndjson_line({"model": "gemma3", "message": {"content": "so far"}}))
    with pytest.raises(CaseFailed) as failed:
        answer(Case("c", "hi"), (*begun, *end))
    assert (failed.value.kind, failed.value.retryable) == (kind, True)
    assert failed.value.response is not None
    assert failed.value.response.output == "so far"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"repeat_penality": 1.1}, "repeat_penalty"),
        ({"num_gpus": 1}, "num_gpu"),
        ({"temperature": "hot"}, "temperature is a number"),
        ({"num_ctx": 512.5}, "num_ctx is a whole number"),
        ({"top_k": True}, "top_k is a number"),
    ],
)
def test_options_that_the_server_would_silently_ignore_are_refused(options: dict[str, object], said: str) -> None:
    with pytest.raises(SpecError, match=said):
        OllamaChat("a", model="m", options=options)


def test_options_of_newer_versions_pass() -> None:
    assert OllamaChat("a", model="m", options={"draft_speculation": 4}).config["options"] == {"draft_speculation": 4}


def test_a_local_server_costs_nothing() -> None:
    assert not OllamaChat("a", model="m").paid
    assert OllamaChat("a", model="m", base_url="https://ollama.com", api_key_env="OLLAMA_API_KEY", environ={}).paid
