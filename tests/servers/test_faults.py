"""What a simulated server does wrong on purpose, and how it refuses."""

from __future__ import annotations

import asyncio
import json
import urllib.error

import pytest

from agentdyno.servers.simulated.admission import SimulatedRateLimit
from agentdyno.servers.simulated.server import Behaviour, RunningServer, SimulatedServer

from .talking import OLLAMA, OPENAI, Answer, ask, chat, connect, encoded, read_to_end, read_until_reset

BOTH = pytest.mark.parametrize("path", [OPENAI, OLLAMA])


def message_of(answer: Answer) -> str:
    """The message of an error in either protocol."""
    error = answer.json["error"]
    return str(error["message"] if isinstance(error, dict) else error)


def raw(server: RunningServer, path: str, body: object) -> bytes:
    """What arrives until the server closes."""
    with connect(server.host, server.port) as link:
        link.sendall(encoded(body, path, "connection: close"))
        return read_to_end(link)


def in_process(behaviour: Behaviour, *requests: tuple[str, object, dict[str, str]]) -> list[Answer]:
    """The answers of a server with this behaviour to requests made one after the other."""

    async def talk() -> list[Answer]:
        async with SimulatedServer(behaviour) as server:
            return [
                await asyncio.to_thread(ask, server.url, path, body, None, **headers)
                for path, body, headers in requests
            ]

    return asyncio.run(talk())


@BOTH
def test_an_error_is_a_500_with_a_message(server: RunningServer, path: str) -> None:
    answer = ask(server.url, path, chat(dyno={"error_rate": 1}))
    assert answer.status == 500
    assert "on purpose" in message_of(answer)


def test_an_error_can_be_any_status_with_a_time_to_retry(server: RunningServer) -> None:
    answer = ask(server.url, OPENAI, chat(dyno={"error_rate": 1, "error_status": 503, "retry_after_s": 1.5}))
    assert answer.status == 503
    assert answer.headers["retry-after"] == "2"
    assert answer.headers["retry-after-ms"] == "1500"


@BOTH
@pytest.mark.parametrize("stream", [True, False])
def test_a_reset_comes_in_the_middle(server: RunningServer, path: str, stream: bool) -> None:
    server.reset()
    body = chat(stream=stream, dyno={"reset_rate": 1})
    with connect(server.host, server.port) as link:
        link.sendall(encoded(body, path))
        assert b"HTTP/1.1 200".startswith(read_until_reset(link)[:12])
    (served,) = server.log()
    assert served.outcome == "reset"
    assert len(served.token_ns) in (range(1, 6) if stream else (0,))


@BOTH
def test_a_truncated_stream_has_no_end(server: RunningServer, path: str) -> None:
    server.reset()
    data = raw(server, path, chat(dyno={"truncate_rate": 1}))
    assert b"[DONE]" not in data
    assert b'"done":true' not in data
    assert b'"finish_reason":"' not in data
    assert not data.endswith(b"0\r\n\r\n")
    (served,) = server.log()
    assert served.outcome == "truncated"
    assert data.count(b'"content":"') - data.count(b'"content":""') == len(served.token_ns)


@BOTH
def test_a_cleanly_truncated_stream_ends_the_body_but_not_the_answer(server: RunningServer, path: str) -> None:
    data = raw(server, path, chat(dyno={"truncate_rate": 1, "truncate_clean": True}))
    assert data.endswith(b"\r\n0\r\n\r\n")
    assert b"[DONE]" not in data
    assert b'"done":true' not in data


def test_a_truncated_answer_in_one_piece_is_shorter_than_announced(server: RunningServer) -> None:
    head, _, body = raw(server, OPENAI, chat(stream=False, dyno={"truncate_rate": 1})).partition(b"\r\n\r\n")
    announced = int(head.split(b"content-length: ")[1].split(b"\r\n")[0])
    assert 0 < len(body) < announced


@BOTH
def test_an_error_in_the_stream_is_the_last_object(server: RunningServer, path: str) -> None:
    server.reset()
    answer = ask(server.url, path, chat(dyno={"stream_error_rate": 1}))
    assert answer.status == 200
    *tokens, error = answer.events
    assert "[DONE]" not in answer.events
    assert "error" in error
    (served,) = server.log()
    assert (served.outcome, len(tokens) - (path == OPENAI)) == ("stream_error", len(served.token_ns))


def test_fault_rates_are_met_and_repeatable_and_a_retry_is_drawn_anew(server: RunningServer) -> None:
    def statuses() -> list[list[int]]:
        server.reset()
        bodies = [chat(f"prompt {number}", stream=False, dyno={"error_rate": 0.4}) for number in range(60)]
        return [[ask(server.url, OPENAI, body).status for body in bodies] for _ in range(2)]

    first, again = statuses()
    assert 12 <= first.count(500) <= 36
    assert first.count(500) + first.count(200) == 60
    assert first != again
    assert statuses() == [first, again]


def test_the_rate_limit_answers_429_with_a_time_to_retry() -> None:
    for path in (OPENAI, OLLAMA):
        first, second = in_process(Behaviour(rate_limit_per_s=0.001), *[(path, chat(stream=False), {})] * 2)
        assert first.status == 200
        assert second.status == 429
        assert int(second.headers["retry-after"]) in (999, 1000)
        assert "rate limit" in message_of(second)


def test_the_rate_limit_allows_a_second_s_worth_at_once_and_refills() -> None:
    now_ns = 0
    limit = SimulatedRateLimit(2.0, lambda: now_ns)
    assert [limit.wait_s() for _ in range(3)] == [0.0, 0.0, 0.5]
    now_ns = 250_000_000
    assert limit.wait_s() == 0.25
    now_ns = 500_000_000
    assert [limit.wait_s() for _ in range(2)] == [0.0, 0.5]
    now_ns = 10_000_000_000
    assert [limit.wait_s() for _ in range(3)] == [0.0, 0.0, 0.5]


@BOTH
def test_a_prompt_beyond_the_context_limit_is_refused(server: RunningServer, path: str) -> None:
    answer = ask(server.url, path, chat("one two three four", dyno={"context_limit": 3}))
    assert answer.status == 400
    assert "4 tokens" in message_of(answer)
    assert "maximum context length is 3" in message_of(answer)
    if path == OPENAI:
        assert answer.json["error"]["code"] == "context_length_exceeded"
    assert ask(server.url, path, chat("one two three", dyno={"context_limit": 3})).status == 200


def test_a_wrong_or_missing_key_is_refused() -> None:
    def with_key(path: str, key: str) -> tuple[str, object, dict[str, str]]:
        return path, chat(stream=False), {"authorization": f"Bearer {key}"}

    behaviour = Behaviour(api_key="sesame")
    missing: tuple[str, object, dict[str, str]] = (OPENAI, chat(stream=False), {})
    answers = in_process(
        behaviour, missing, with_key(OPENAI, "wrong"), with_key(OPENAI, "sesame"), with_key(OLLAMA, "x")
    )
    assert [answer.status for answer in answers] == [401, 401, 200, 401]
    assert answers[0].json["error"]["code"] == "invalid_api_key"
    listed = in_process(behaviour, ("/v1/models", None, {}), ("/v1/models", None, {"authorization": "Bearer sesame"}))
    assert [answer.status for answer in listed] == [401, 200]
    assert "sesame" not in repr(behaviour)


def test_an_unknown_model_is_refused_where_models_are_named() -> None:
    behaviour = Behaviour(models=("tiny",))
    known, unknown, listed = in_process(
        behaviour,
        (OPENAI, chat(stream=False), {}),
        (OPENAI, {**chat(stream=False), "model": "huge"}, {}),
        ("/v1/models", None, {}),
    )
    assert (known.status, unknown.status) == (200, 404)
    assert "'huge' not found" in message_of(unknown)
    assert [item["id"] for item in listed.json["data"]] == ["simulated/tiny"]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b"{", "no JSON"),
        (b"[1]", "must be a JSON object"),
        (json.dumps({"messages": [{"role": "user", "content": "x"}]}).encode(), "model"),
        (json.dumps({"model": "m", "messages": []}).encode(), "messages"),
        (json.dumps(chat(tools=[{"type": "function"}])).encode(), "tools"),
        (json.dumps(chat(dyno=3)).encode(), "dyno"),
        (json.dumps(chat(dyno={"ttft": 1})).encode(), "ttft"),
        (json.dumps(chat(dyno={"api_key": "x"})).encode(), "api_key"),
        (json.dumps(chat(dyno={"error_rate": 2})).encode(), "error_rate"),
    ],
)
@BOTH
def test_a_request_that_makes_no_sense_is_refused_with_the_reason(
    server: RunningServer, path: str, body: bytes, words: str
) -> None:
    answer = ask(server.url, path, body)
    assert answer.status == 400
    assert words in message_of(answer)


def test_a_header_changes_one_request_and_the_body_wins_over_it(server: RunningServer) -> None:
    header = {"x_dyno_behaviour": "output_tokens=3; seed=5"}
    body = chat(stream=False)
    assert ask(server.url, OPENAI, body, None, **header).json["usage"]["completion_tokens"] == 3
    assert ask(server.url, OPENAI, body).json["usage"]["completion_tokens"] == 6
    both = {**body, "dyno": {"output_tokens": 4}}
    assert ask(server.url, OPENAI, both, None, **header).json["usage"]["completion_tokens"] == 4
    assert ask(server.url, OPENAI, body, None, x_dyno_behaviour="nonsense").status == 400


def test_a_reset_is_one_on_the_standard_event_loop_too() -> None:
    def talk_to(host: str, port: int) -> bytes:
        with connect(host, port) as link:
            link.sendall(encoded(chat()))
            return read_until_reset(link)

    async def talk() -> None:
        async with SimulatedServer(Behaviour(reset_rate=1)) as server:
            await asyncio.to_thread(talk_to, server.host, server.port)
            assert server.stats().outcomes == {"reset": 1}

    asyncio.run(talk())


def test_nothing_listens_any_more_after_the_block() -> None:
    async def talk() -> str:
        async with SimulatedServer() as server:
            return server.url

    url = asyncio.run(talk())
    with pytest.raises(urllib.error.URLError):
        ask(url, "/health")
