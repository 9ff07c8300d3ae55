"""Faults in exact numbers, and the ones that a client must survive."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from time import perf_counter_ns
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.errors import SpecError
from agentdyno.servers.simulated.behaviour import Behaviour
from agentdyno.servers.simulated.fault_plan import Fault, FaultPlan, read_faults
from agentdyno.servers.simulated.server import RunningServer, SimulatedServer, simulated_server

from ..talking import OLLAMA, OPENAI, ask, chat, connect, encoded, read_to_end, read_until

BOTH = pytest.mark.parametrize("path", [OPENAI, OLLAMA])
SIX = "http_error:3,stream_error:2,truncated:4,reset:1,timeout:2,rate_limited:5"


@given(
    st.dictionaries(st.sampled_from([fault.value for fault in Fault]), st.integers(0, 6), max_size=6),
    st.integers(0, 40),
    st.integers(0, 20),
    st.integers(),
)
def test_every_fault_strikes_as_often_as_asked_and_none_outside_its_span(
    faults: dict[str, int], spare: int, start: int, seed: int
) -> None:
    span = sum(faults.values()) + spare
    plan = FaultPlan(faults, span=span, start=start, seed=seed)
    dealt = [plan.next() for _ in range(start + span + 50)]
    assert Counter(fault for fault in dealt if fault) == Counter({name: n for name, n in faults.items() if n})
    assert not any(dealt[:start] + dealt[start + span :])
    assert plan.left == 0


def test_the_places_depend_on_the_seed_alone() -> None:
    def dealt(seed: int) -> list[Fault | None]:
        plan = FaultPlan(read_faults(SIX), seed=seed)
        return [plan.next() for _ in range(170)]

    assert dealt(1) == dealt(1)
    assert dealt(1) != dealt(2)
    assert sum(fault is not None for fault in dealt(3)) == 17


def test_faults_are_read_from_text_and_from_a_mapping() -> None:
    assert read_faults(" http_error: 3, reset:1 ,reset:2,") == {"http_error": 3, "reset": 3}
    assert read_faults({"html": 2}) == {"html": 2}
    assert Behaviour.from_plain({"faults": SIX}).faults["truncated"] == 4
    behaviour = Behaviour(faults={"reset": 1}, fault_span=5, slots=2)
    assert Behaviour.from_plain(json.loads(json.dumps(behaviour.as_plain()))) == behaviour


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"faults": "resett:1"}, "no fault 'resett'"),
        ({"faults": "reset"}, "reset cannot be ''"),
        ({"faults": "reset:-1"}, "reset cannot be '-1'"),
        ({"faults": {"reset": True}}, "reset cannot be 'True'"),
        ({"faults": "reset:6", "fault_span": 5}, "6 faults do not fit into 5 requests"),
        ({"fault": "nothing"}, "no fault 'nothing'"),
        ({"slots": 0}, "slots is 0"),
        ({"queue_limit": -1}, "queue_limit is -1"),
        ({"big_chunk_bytes": 0}, "big_chunk_bytes is 0"),
        ({"head_delay_s": -1}, "head_delay_s is -1"),
    ],
)
def test_a_plan_that_cannot_be_is_refused(settings: dict[str, object], words: str) -> None:
    with pytest.raises(SpecError, match=words):
        Behaviour.from_plain(settings)


async def outcome_of(server: SimulatedServer, body: bytes) -> str:
    """One request as a strict client judges it."""
    reader, writer = await asyncio.open_connection(server.host, server.port)
    writer.write(body)
    try:
        async with asyncio.timeout(1.5):
            data = await reader.read()
    except TimeoutError:
        return "timeout"
    except ConnectionResetError:
        return "reset"
    finally:
        writer.close()
    if data[9:12] != b"200":
        return "rate_limited" if data[9:12] == b"429" else "http_error"
    if b'"error":' in data:
        return "stream_error"
    finished = b"[DONE]" in data or b'"done":true' in data or b'"finish_reason":"stop"' in data
    return "ok" if finished and (data.endswith((b"0\r\n\r\n", b"}", b"\n"))) else "truncated"


@pytest.mark.parametrize(("path", "stream"), [(OPENAI, True), (OLLAMA, True), (OPENAI, False)])
def test_each_class_of_failure_is_met_exactly_as_often_as_asked(path: str, stream: bool) -> None:
    body = encoded(chat(stream=stream), path, "connection: close")

    async def talk() -> None:
        behaviour = Behaviour(faults=read_faults(SIX), fault_span=60, fault_start=1, output_tokens=4, seed=3)
        async with SimulatedServer(behaviour) as server:
            assert await outcome_of(server, body) == "ok"
            assert server.stats().faults_left == 17
            seen = Counter(await asyncio.gather(*(outcome_of(server, body) for _ in range(60))))
            assert seen == {**read_faults(SIX), "ok": 43}
            assert server.stats().faults_left == 0
            while server.stats().open:  # it has not seen yet that the last ones have left
                await asyncio.sleep(0)
            told = {"error" if name == "http_error" else name: count for name, count in seen.items()}
            assert server.stats().outcomes == {**told, "ok": 44}

    asyncio.run(talk())


def test_the_plan_begins_anew_with_the_log_and_a_fault_of_one_request_takes_nothing_from_it() -> None:
    with simulated_server(Behaviour(faults={"http_error": 2}, fault_span=2)) as server:
        forced = chat(stream=False, dyno={"fault": "rate_limited"})
        for _ in range(2):
            assert ask(server.url, OPENAI, forced).status == 429
            statuses = [ask(server.url, OPENAI, chat(stream=False)).status for _ in range(4)]
            assert statuses == [500, 500, 200, 200]
            server.reset()


def test_a_fault_can_be_asked_for_with_the_header(server: RunningServer) -> None:
    answer = ask(server.url, OPENAI, chat(), None, x_dyno_behaviour="fault=rate_limited;retry_after_s=2")
    assert (answer.status, answer.headers["retry-after"]) == (429, "2")
    assert ask(server.url, "/plain", None, None, x_dyno_behaviour="fault=http_error").status == 500
    assert ask(server.url, "/plain", None, None, x_dyno_behaviour="fault=nonsense").status == 400


@BOTH
def test_html_comes_in_the_place_of_json(server: RunningServer, path: str) -> None:
    answer = ask(server.url, path, chat(dyno={"fault": "html"}))
    assert (answer.status, answer.headers["content-type"]) == (200, "text/html")
    assert answer.body.startswith(b"<!DOCTYPE html>")


@BOTH
@pytest.mark.parametrize("stream", [True, False])
def test_an_endless_answer_has_frames_without_content_until_the_client_leaves(
    server: RunningServer, path: str, stream: bool
) -> None:
    server.reset()
    with connect(server.host, server.port) as link:
        link.sendall(encoded(chat(stream=stream, dyno={"fault": "endless"}), path))
        seen = b""
        while seen.count(b"\n\r\n" if stream else b" \r\n") < 4:
            seen += link.recv(65536)
    assert b'"content":""' in seen or not stream
    assert b'"finish_reason":"' not in seen
    while server.stats().open:
        pass
    assert server.stats().outcomes == {"endless": 1}


@BOTH
def test_a_big_chunk_is_one_token_and_the_answer_ends_properly(server: RunningServer, path: str) -> None:
    server.reset()
    body = chat(dyno={"fault": "big_chunk", "big_chunk_bytes": 20_000_000})
    with connect(server.host, server.port) as link:
        link.sendall(encoded(body, path, "connection: close"))
        data = read_to_end(link)
    assert b"x" * 20_000_000 in data
    assert data.endswith(b"\r\n0\r\n\r\n")
    (served,) = server.log()
    assert (served.outcome, len(served.token_ns), served.output_tokens) == ("ok", 1, 1)


def asked(server: RunningServer, **body: Any) -> bytes:
    with connect(server.host, server.port) as link:
        link.sendall(encoded(chat(**body), "/v1/chat/completions", "connection: close"))
        return read_to_end(link)


def test_an_answer_without_a_finish_reason_is_whole_and_ends_properly(server: RunningServer) -> None:
    server.reset()
    settings = {"fault": "no_finish", "answers": {"": "all of it"}}
    streamed = asked(server, stream=True, dyno=settings)
    assert b'"content":" of"' in streamed
    assert b"[DONE]" not in streamed
    assert b'"finish_reason":"' not in streamed
    assert streamed.endswith(b"\r\n0\r\n\r\n")
    whole = json.loads(asked(server, stream=False, dyno=settings).partition(b"\r\n\r\n")[2])
    assert whole["choices"][0]["finish_reason"] is None
    assert whole["choices"][0]["message"]["content"] == "all of it"
    assert server.stats().outcomes == {"ok": 2}


@pytest.mark.parametrize(
    ("fault", "arguments"),
    [("malformed_arguments", '{"a": 3,'), ("wrong_arguments", '{"a": "no number", "b": "no number"}')],
)
def test_arguments_of_a_tool_call_can_be_broken_or_of_wrong_types(
    server: RunningServer, fault: str, arguments: str
) -> None:
    server.reset()
    properties = {"a": {"type": "integer"}, "b": {"type": "integer"}}
    parameters = {"type": "object", "properties": properties, "required": ["a", "b"]}
    tool = {"type": "function", "function": {"name": "add", "parameters": parameters}}
    said = [{"role": "user", "content": "add 3 and 4"}]
    answer = asked(server, stream=False, messages=said, tools=[tool], dyno={"fault": fault})
    message = json.loads(answer.partition(b"\r\n\r\n")[2])["choices"][0]["message"]
    assert message["tool_calls"][0]["function"] == {"name": "add", "arguments": arguments}
    (served,) = server.log()
    assert served.input_bytes > 200


def test_the_head_can_be_kept_back(server: RunningServer) -> None:
    for settings in ({"head_delay_s": 0.08}, {"head_delay_s": 0.08, "ttft_s": 0.02}):
        with connect(server.host, server.port) as link:
            before_ns = perf_counter_ns()
            link.sendall(encoded(chat(dyno=settings)))
            data = link.recv(65536)
            assert perf_counter_ns() - before_ns >= 80_000_000
            assert data.startswith(b"HTTP/1.1 200 ")
            if not data.endswith(b"0\r\n\r\n"):
                read_until(link, b"0\r\n\r\n")


@pytest.mark.parametrize("method", ["GET", "POST", "PUT"])
def test_plain_requests_are_answered_and_logged(server: RunningServer, method: str) -> None:
    server.reset()
    answer = ask(server.url, "/plain", b"anything" if method != "GET" else None, method)
    assert (answer.status, answer.json["ok"], answer.json["simulated"]) == (200, True, True)
    assert answer.headers["x-dyno-simulated"] == "1"
    (served,) = server.log()
    assert (served.path, served.outcome, served.status) == ("/plain", "ok", 200)
