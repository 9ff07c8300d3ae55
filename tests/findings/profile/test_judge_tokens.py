"""Tokens: cached, repeated, wasted, and unknown where nothing tells."""

from __future__ import annotations

import pytest

from agentdyno.findings.profile.judge_tokens import analyse_tokens, call_tokens
from agentdyno.findings.profile.model import TokenAnalysis
from agentdyno.model.case import Event

from .planted import model_call


def analysed(*events: Event) -> TokenAnalysis:
    return analyse_tokens(call_tokens(events), {})


def test_tokens_add_up_over_the_calls_that_told_them() -> None:
    found = analysed(
        model_call(0, 1, (100, 20), usage={"cached_tokens": 60, "reasoning_tokens": 5}),
        model_call(1, 1, (50, 10), usage={"cached_tokens": 0, "reasoning_tokens": 0}),
        model_call(2, 1),
    )
    assert (found.input_tokens, found.output_tokens, found.cached_tokens, found.reasoning_tokens) == (150, 30, 60, 5)
    assert (found.cache_hits, found.calls, found.calls_with_usage) == (1, 3, 2)
    assert (found.wasted_tokens, found.token_efficiency) == (0, 1.0)
    assert found.repeated_prefix_tokens is None


@pytest.mark.parametrize(
    ("details", "reason"),
    [
        ({"status": 500}, "unused"),
        ({"error": "the stream broke off"}, "unused"),
        ({"used": False}, "unused"),
        ({"finish_reason": "length"}, "truncated"),
        ({"finish_reason": "max_tokens"}, "truncated"),
        ({"prompt_hash": "same"}, "retried"),
        ({"finish_reason": "stop", "status": 200, "used": True, "prompt_hash": "other"}, ""),
    ],
)
def test_each_reason_for_waste(details: dict[str, object], reason: str) -> None:
    found = analysed(model_call(0, 1, (100, 20), **details), model_call(1, 1, (100, 20), prompt_hash="same"))
    wasted = {"unused": found.unused_tokens, "retried": found.retried_tokens, "truncated": found.truncated_tokens}
    assert wasted == {name: 120 if name == reason else 0 for name in wasted}
    assert found.token_efficiency == pytest.approx(0.5 if reason else 1.0)


def test_a_call_is_wasted_once() -> None:
    details = {"status": 500, "finish_reason": "length", "prompt_hash": "same"}
    found = analysed(model_call(0, 1, (100, 20), **details), model_call(1, 1, (1, 1), prompt_hash="same"))
    assert found.wasted_tokens == 120


def test_a_prefix_counts_from_its_second_time_on() -> None:
    calls = [model_call(at, 1, (100, 1), prefix_hash="p", prefix_tokens=70) for at in range(3)]
    assert (
        analysed(*calls, model_call(3, 1, (100, 1), prefix_hash="q", prefix_tokens=50)).repeated_prefix_tokens == 140
    )


def test_the_size_of_a_prefix_is_estimated_from_bytes_where_only_these_are_known() -> None:
    call = {"prefix_hash": "p", "prefix_bytes": 300, "request_bytes": 400}
    assert analysed(*(model_call(at, 1, (100, 1), **call) for at in range(2))).repeated_prefix_tokens == 75


@pytest.mark.parametrize("usage", [None, "many", {"input_tokens": "ten"}, {"input_tokens": float("nan")}, [1]])
def test_usage_that_is_none_is_unknown(usage: object) -> None:
    found = analysed(Event("model_call", 0, "m", None, 1.0, {"usage": usage}))
    assert (found.input_tokens, found.wasted_tokens, found.calls, found.calls_with_usage) == (None, None, 1, 0)


def test_totals_of_executions_stand_in_where_calls_told_nothing() -> None:
    found = analyse_tokens((), {"input_tokens": 10.0})
    assert (found.input_tokens, found.output_tokens, found.token_efficiency) == (10, None, None)


def test_a_recorded_prompt_repeats_as_far_as_its_longest_prefix_that_was_sent_before() -> None:
    first = model_call(0, 1, (100, 1), recorded=True, prefixes=[["system", 200], ["asked", 400]])
    second = model_call(1, 1, (200, 1), recorded=True, prefixes=[["system", 200], ["asked", 400], ["answered", 800]])
    assert analysed(first, second).repeated_prefix_tokens == 100


def test_a_call_that_was_tried_again_is_wasted_and_one_that_the_agent_reports_too_counts_once() -> None:
    first = model_call(0, 1, (100, 20), recorded=True, span="call-1")
    again = model_call(2, 1, (100, 20), recorded=True, span="call-2", retry_of="call-1")
    reported = model_call(0, 3, (100, 20))
    found = analysed(first, again, reported)
    assert (found.calls, found.input_tokens, found.retried_tokens, found.wasted_tokens) == (2, 200, 120, 120)
