"""Each rule on a case that was planted for it, and on one beside it where it must be silent."""

from __future__ import annotations

import pytest

from agentdyno.findings.profile.model import Effort, OptimizationOpportunity, ProfiledExecution
from agentdyno.model.case import EXECUTOR_SPAN, Event

from .planted import execution, model_call, phases_of, profile_of, span


def found(*events: Event, wall_s: float = 1.0, cpu_s: float | None = None) -> dict[str, OptimizationOpportunity]:
    readings = {} if cpu_s is None else {"cpu_s": cpu_s}
    profile = profile_of(execution(*events, wall_s=wall_s, readings=readings))
    return {item.rule: item for item in profile.optimization_opportunities}


def test_different_tools_one_after_the_other_could_run_at_once() -> None:
    events = (span("tool_call", 0.0, 0.3, "a"), span("tool_call", 0.3, 0.2, "b"), span("retrieval", 0.5, 0.1, "c"))
    rule = found(*events)["run_together"]
    assert rule.saving == pytest.approx(0.3)
    assert rule.unit == "s"
    assert rule.estimated_impact == pytest.approx(0.3)
    assert rule.basis == "of 1 s wall time of 1 executions"
    assert rule.implementation_effort is Effort.MEDIUM
    assert rule.evidence == ("case one, epoch 1: a (300 ms), b (200 ms), c (100 ms) ran one after the other",)


@pytest.mark.parametrize(
    "between",
    [model_call(0.3, 0.1), span("wait", 0.3, 0.1), span("tool_call", 0.25, 0.3, "b")],
    ids=["a model call", "a wait", "at once already"],
)
def test_tools_that_may_need_each_other_or_run_at_once_already_are_left_alone(between: Event) -> None:
    later = () if between.kind == "tool_call" else (span("tool_call", 0.4, 0.3, "b"),)
    assert "run_together" not in found(span("tool_call", 0.0, 0.3, "a"), between, *later)


def test_the_same_call_again_could_be_kept() -> None:
    def call(at_s: float, query: str, **details: object) -> Event:
        return span("tool_call", at_s, 0.2, "search", content={"q": query}, **details)

    rule = found(call(0.1, "x"), model_call(0.3, 0.1), call(0.4, "x"), model_call(0.6, 0.1), call(0.7, "y"))
    assert rule["reuse_results"].saving == pytest.approx(0.2)
    assert rule["reuse_results"].evidence == ("case one, epoch 1: search (200 ms) repeats the call at 100 ms",)
    assert "reuse_results" not in found(call(0.0, "x", status="error"), model_call(0.2, 0.1), call(0.3, "x"))


def test_arguments_are_found_where_a_call_and_its_result_are_two_events() -> None:
    def pair(at_s: float, query: str) -> tuple[Event, Event]:
        return Event("tool_call", at_s, "search", query), Event("tool_result", at_s, "search", "…", 0.2)

    rules = found(*pair(0.0, "x"), *pair(0.3, "x"))
    assert rules["reuse_results"].saving == pytest.approx(0.2)
    assert "run_together" not in rules
    assert "reuse_results" not in found(*pair(0.0, "x"), *pair(0.3, "y"))


def test_a_prefix_that_is_sent_again_could_be_cached() -> None:
    calls = [model_call(at / 10, 0.1, (100, 5), prefix_hash="p", prefix_tokens=80) for at in range(3)]
    rule = found(*calls)["cache_prefix"]
    assert (rule.saving, rule.unit) == (160, "tokens")
    assert rule.estimated_impact == pytest.approx(160 / 300)
    assert rule.basis == "of 300 input tokens"
    cached = [
        model_call(at / 10, 0.1, (100, 5), prefix_hash="p", prefix_tokens=80, usage={"cached_tokens": 80})
        for at in range(3)
    ]
    assert "cache_prefix" not in found(*cached)


@pytest.mark.parametrize(
    ("rule", "details"),
    [
        ("unused_calls", {"status": 503}),
        ("retried_calls", {"prompt_hash": "h"}),
        ("truncated_calls", {"finish_reason": "length"}),
    ],
)
def test_tokens_paid_for_nothing_are_named_by_their_reason(rule: str, details: dict[str, object]) -> None:
    calls = (model_call(0.0, 0.1, (90, 10), **details), model_call(0.2, 0.1, (90, 10), prompt_hash="h"))
    rules = found(*calls)
    assert {name for name in rules if name.endswith("_calls")} == {rule}
    assert rules[rule].saving == 100
    assert rules[rule].estimated_impact == pytest.approx(0.5)
    assert rules[rule].basis == "of 200 tokens"


@pytest.mark.parametrize(
    ("kind", "rule", "share", "less"),
    [("wait", "avoid_retries", 0.05, 0.049), ("queue", "shorten_queue", 0.05, 0.049)],
)
def test_waiting_is_worth_naming_from_a_twentieth_of_the_time_on(
    kind: str, rule: str, share: float, less: float
) -> None:
    assert found(span(kind, 0.0, share), model_call(share, 1 - share))[rule].saving == pytest.approx(share)
    assert rule not in found(span(kind, 0.0, less), model_call(less, 1 - less))


def test_idle_time_and_own_code_are_told_apart_by_cpu_time() -> None:
    waiting = found(model_call(0.0, 0.5), cpu_s=0.01)
    assert waiting["use_idle_time"].saving == pytest.approx(0.49)
    assert "speed_up_own_code" not in waiting
    working = found(model_call(0.0, 0.5), cpu_s=0.6)
    assert working["speed_up_own_code"].saving == pytest.approx(0.5)
    assert "use_idle_time" not in working
    assert "may be waiting" in found(model_call(0.0, 0.5))["speed_up_own_code"].evidence[0]


def test_output_that_is_mostly_reasoning() -> None:
    rule = found(model_call(0.0, 1.0, (10, 100), usage={"reasoning_tokens": 50}))["less_reasoning"]
    assert (rule.saving, rule.estimated_impact, rule.basis) == (50, 0.5, "of 100 output tokens")
    assert "less_reasoning" not in found(model_call(0.0, 1.0, (10, 100), usage={"reasoning_tokens": 49}))


def test_the_largest_share_comes_first_and_evidence_is_counted() -> None:
    def one(case_id: str) -> ProfiledExecution:
        events = (span("tool_call", 0.0, 0.2, "a"), span("tool_call", 0.2, 0.2, "b"), span("wait", 0.4, 0.6))
        return execution(*events, wall_s=1.0, case_id=case_id)

    listed = profile_of(*(one(str(number)) for number in range(5))).optimization_opportunities
    assert [item.rule for item in listed] == ["avoid_retries", "run_together"]
    assert len(listed[1].evidence) == 4
    assert listed[1].evidence[-1] == "and 2 more"
    assert listed[1].saving == pytest.approx(0.2)


def test_steps_of_a_workflow_are_work_of_their_own_and_what_is_between_them_the_executors() -> None:
    executor = span("span", 0.0, 1.0, EXECUTOR_SPAN, span="w", phase="own_code")
    steps = [
        span("step", at_s, 0.2, name, content="sort a > b", parent="w", phase="tool", needs=needs)
        for at_s, name, needs in ((0.1, "first", []), (0.6, "second", ["first"]))
    ]
    profile = profile_of(execution(executor, *steps, wall_s=1.0, readings={"cpu_s": 0.01}))
    assert phases_of(profile) == {"tool": 400.0, "own_code": 600.0}
    [saving] = profile.optimization_opportunities
    assert saving.rule == "fewer_steps"
    assert saving.saving == pytest.approx(0.6)
    worst = profile.profile_data.bottlenecks[0]
    assert worst.location == "own code workflow executor"
    assert "no step runs" in worst.cause
    assert "cprofile" not in worst.optimization_suggestion
