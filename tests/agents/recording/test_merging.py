"""What the proxy saw becomes events and figures of the case; what the agent says itself does not count twice."""

from __future__ import annotations

from typing import Any

import pytest

from agentdyno.agents.recording.merging import in_order, with_calls
from agentdyno.model.case import Event, Response, Usage, counted_calls
from agentdyno.model.workspace import Price
from agentdyno.pricing import PriceBook
from agentdyno.servers.proxy.model_call import ModelCall

S = 1_000_000_000


def call(at_s: float, took_s: float = 0.1, **more: object) -> ModelCall:
    """A plain call that was answered; ``at_s`` is after the start of the case, at 100 s."""
    start = round((100 + at_s) * S)
    given: dict[str, object] = {
        "api": "chat.completions",
        "method": "POST",
        "path": "/v1/chat/completions",
        "upstream": "host",
        "started_ns": start,
        "connected_ns": start,
        "sent_ns": start,
        "first_byte_ns": start + round(took_s * S / 2),
        "done_ns": start + round(took_s * S),
        "status": 200,
        "model": "m",
        "usage": Usage(10, 5),
        "finish_reason": "stop",
        "request_hash": f"request at {at_s}",
        "request_bytes": 100,
        "response_bytes": 200,
    }
    return ModelCall(**{**given, **more})  # type: ignore[arg-type]


def merged(*calls: ModelCall, response: Response | None = None) -> Response:
    return with_calls(response or Response("answer"), calls, 100 * S)


def names(response: Response, kind: str) -> list[str]:
    return [event.name for event in response.events if event.kind == kind]


def test_calls_become_events_tokens_calls_and_times() -> None:
    streamed = call(1.0, 0.5, streamed=True, readings={"ttft_s": 0.2, "itl_s": 0.01, "server.load_s": 0.3})
    found = merged(call(0.25), streamed)
    assert (found.output, found.usage, found.api_calls, found.model) == ("answer", Usage(20, 10), 2, "m")
    assert {name: found.readings[name] for name in ("ttft_s", "itl_s", "server.load_s")} == {
        "ttft_s": 0.2,
        "itl_s": 0.01,
        "server.load_s": 0.3,
    }
    assert found.readings["proxy.calls"] == 2
    assert found.readings["proxy.request_bytes"] == 200
    assert found.readings["proxy.model_s"] == pytest.approx(0.6)
    first, second = found.events
    assert (first.kind, first.at_s, first.name) == ("model_call", 0.25, "m")
    assert first.duration_s == pytest.approx(0.1)
    assert first.details["usage"] == {
        "input_tokens": 10,
        "output_tokens": 5,
        "cached_tokens": 0,
        "reasoning_tokens": 0,
    }
    assert (first.details["recorded"], first.details["provenance"], first.details["span"]) == (
        True,
        "measured",
        "call-1",
    )
    assert second.details["readings"]["ttft_s"] == 0.2  # type: ignore[index]


def test_phases_add_up_to_the_call() -> None:
    found = merged(
        call(0.0, 0.4, connected_ns=round(100.1 * S), sent_ns=round(100.15 * S), first_byte_ns=round(100.3 * S))
    )
    phases = found.events[0].details["phases"]
    assert isinstance(phases, dict)
    assert {name: round(value, 6) for name, value in phases.items()} == {
        "connect_s": 0.1,
        "send_s": 0.05,
        "wait_s": 0.15,
        "decode_s": 0.1,
    }


def test_an_agent_that_calls_no_model_is_as_it_was_but_for_counts_of_nothing() -> None:
    own = Response("answer", Usage(1, 1), 0.5, 3, (Event("step"),), readings={"ttft_s": 1.0}, model="own")
    found = merged(response=own)
    assert (found.usage, found.cost, found.api_calls, found.events, found.model) == (
        Usage(1, 1),
        0.5,
        3,
        own.events,
        "own",
    )
    assert found.readings["proxy.calls"] == 0
    assert found.readings["ttft_s"] == 1.0


def test_what_an_agent_reports_stays_as_reported_and_does_not_count_twice() -> None:
    reported = Event("model_call", 0.1, "m", details={"usage": {"input_tokens": 99, "output_tokens": 9}})
    own = Response("answer", Usage(99, 9), None, 7, (reported,), readings={"ttft_s": 9.0}, model="m")
    found = merged(call(0.2, readings={"ttft_s": 0.3}), response=own)
    assert (found.usage, found.api_calls, found.readings["ttft_s"]) == (Usage(10, 5), 1, 0.3)
    assert found.readings["reported.input_tokens"] == 99
    assert found.readings["reported.output_tokens"] == 9
    assert found.readings["reported.api_calls"] == 7
    assert found.readings["reported.ttft_s"] == 9.0
    assert [event.details["provenance"] for event in found.events] == ["reported", "measured"]
    assert [event.details["provenance"] for event in counted_calls(found.events)] == ["measured"]


def test_a_recorded_case_is_priced_by_its_calls_alone() -> None:
    reported = Event("model_call", 0.1, "m", details={"usage": {"input_tokens": 99, "output_tokens": 9}})
    own = Response("answer", events=(reported,), model="m")
    refused = call(0.2, status=429, usage=None, finish_reason=None, model="")
    found = merged(refused, call(0.5), response=own)
    prices = PriceBook({"m": Price(1.0, 10.0)}, None)
    assert prices.cost(found).usd == (10 * 1.0 + 5 * 10.0) / 1e6


def test_tokens_of_a_stream_that_does_not_tell_them_are_the_agents_own_or_unknown() -> None:
    silent = call(0.2, usage=None, streamed=True)
    assert merged(call(0.1), silent).usage is None
    told = merged(call(0.1), silent, response=Response("x", Usage(40, 7), model="m"))
    assert told.usage == Usage(40, 7)
    assert "reported.input_tokens" not in told.readings
    prices = PriceBook({"m": Price(1.0, 10.0)}, None)
    assert prices.cost(merged(call(0.1), silent)).usd is None


def test_a_simulated_model_behind_an_agent_makes_its_answer_simulated() -> None:
    found = merged(call(0.1, simulated=True))
    assert found.simulated
    assert found.events[0].details["provenance"] == "simulated"


def test_retries_are_seen_by_what_the_client_says_and_by_equal_requests() -> None:
    failed: dict[str, Any] = {"status": 503, "usage": None, "finish_reason": None}
    silently = [call(0.0, request_hash="a", **failed), call(2.1, request_hash="a")]
    said = [call(0.0, request_hash="a", **failed), call(1.1, request_hash="b", retry=1)]
    for calls in (silently, said):
        first, second = in_order(calls)
        assert (first.retry_of, second.retry_of) == (None, 0)
        assert second.waited_s == pytest.approx((calls[1].started_ns - calls[0].started_ns) / 1e9 - 0.1)
    found = merged(*silently)
    assert found.readings["proxy.retries"] == 1
    assert found.readings["proxy.waited_s"] == pytest.approx(2.0)
    (wait,) = [event for event in found.events if event.kind == "wait"]
    assert wait.at_s == pytest.approx(0.1)
    assert wait.duration_s == pytest.approx(2.0)
    assert wait.details["for"] == "call-2"


def test_the_same_question_after_an_answer_is_a_repetition_and_no_retry() -> None:
    found = merged(call(0.0, request_hash="a"), call(1.0, request_hash="a"))
    assert (found.readings["proxy.retries"], found.readings["proxy.repeated"]) == (0, 1)
    assert names(found, "wait") == []


def test_what_clients_hide_is_noted() -> None:
    found = merged(
        call(0.0, ended="target", finish_reason=None, usage=None),
        call(1.0, finish_reason=None),
        call(2.0, broken="not JSON: '<html>'", finish_reason=None, usage=None),
        call(3.0, finish_reason="length"),
        call(4.0, status=429, usage=None, finish_reason=None, retry_after_s=2.0),
        call(5.0, error="overloaded", finish_reason=None),
        call(6.0, status=500, error="oops", usage=None, finish_reason=None),
        call(7.0, status=None, ended="not_reached", problem="host: refused", usage=None, finish_reason=None),
    )
    assert names(found, "note") == [
        "truncated",
        "no_finish_reason",
        "broken_body",
        "token_limit",
        "rate_limited",
        "stream_error",
        "failed",
        "not_reached",
    ]
    for name in ("truncated", "no_finish_reason", "broken", "token_limit", "rate_limited"):
        assert found.readings[f"proxy.{name}"] == 1, name
    assert found.readings["proxy.failed"] == 6


def test_answers_without_an_end_of_their_own_need_no_finish_reason() -> None:
    assert names(merged(call(0.0, api="embeddings", finish_reason=None)), "note") == []
    left = call(0.0, ended="client", finish_reason=None)
    assert names(merged(left), "note") == []


def test_requests_of_before_and_of_no_endpoint_are_counted_apart() -> None:
    found = merged(call(-0.5), call(0.1, api=""), call(0.2))
    assert (found.api_calls, found.readings["proxy.unknown"]) == (1, 1)
    assert names(found, "note") == ["early requests"]


def test_bodies_are_in_the_trajectory_where_they_are_asked_for_alone() -> None:
    kept = call(0.0, request={"messages": []}, response={"text": "hi"})
    assert with_calls(Response(), [kept], 100 * S).events[0].content is None
    assert with_calls(Response(), [kept], 100 * S, full=True).events[0].content == {
        "request": {"messages": []},
        "response": {"text": "hi"},
    }
