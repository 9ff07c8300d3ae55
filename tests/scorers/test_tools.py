from __future__ import annotations

import asyncio

import pytest

from agentdyno.model.case import Case, Event, Response, Score
from agentdyno.scorers.tools import ToolCalls
from tests.scorers.building import complaint

SEARCH = {"name": "search", "arguments": {"query": "refund"}}
ADD = {"name": "add", "arguments": {"a": 1, "b": 2}}


def made(*calls: tuple[str, object]) -> Response:
    return Response("done", events=tuple(Event("tool_call", name=name, content=content) for name, content in calls))


def judge(scorer: ToolCalls, target: object, response: Response) -> Score:
    return asyncio.run(scorer.score(Case("c", "q", target), response))


def test_calls_are_matched_by_name_and_arguments() -> None:
    response = made(("search", {"query": "refund", "limit": 5}), ("add", '{"a": 1, "b": 2.0}'))
    assert judge(ToolCalls(), [SEARCH, ADD], response).values == {
        "correctness": 1.0,
        "completeness": 1.0,
        "relevance": 1.0,
    }
    assert judge(ToolCalls(), ["search", "add"], response).values["correctness"] == 1.0
    exact = judge(ToolCalls(arguments="exact"), [SEARCH, ADD], response)
    assert exact.values == {"correctness": 0.0, "completeness": 0.5, "relevance": 0.5}
    assert exact.explanation == (
        'missing: search({"query": "refund"}); not expected: search({"query": "refund", "limit": 5})'
    )
    wrong = made(("search", {"query": "shoes"}), ("add", {"a": 1, "b": 2}))
    assert judge(ToolCalls(), [SEARCH, ADD], wrong).values["completeness"] == 0.5
    assert judge(ToolCalls(arguments="ignore"), [SEARCH, ADD], wrong).values["correctness"] == 1.0


def test_the_order_counts_unless_told_otherwise() -> None:
    response = made(("add", ADD["arguments"]), ("search", SEARCH["arguments"]))
    assert judge(ToolCalls(), [SEARCH, ADD], response).values["completeness"] == 0.5
    assert judge(ToolCalls(order="any"), [SEARCH, ADD], response).values["correctness"] == 1.0


def test_calls_that_nobody_asked_for_are_wrong_unless_allowed() -> None:
    response = made(("search", {"query": "refund"}), ("delete_all", {}), ("add", {"a": 1, "b": 2}))
    score = judge(ToolCalls(), [SEARCH, ADD], response)
    assert score.values == {"correctness": 0.0, "completeness": 1.0, "relevance": pytest.approx(2 / 3)}
    assert score.explanation == "not expected: delete_all({})"
    assert judge(ToolCalls(allow_extra=True), [SEARCH, ADD], response).values["correctness"] == 1.0


def test_no_expected_call_means_that_none_may_be_made() -> None:
    assert judge(ToolCalls(), [], made()).values["correctness"] == 1.0
    assert judge(ToolCalls(), [], made(("add", {}))).values["correctness"] == 0.0
    assert judge(ToolCalls(), [ADD], made()).values == {"correctness": 0.0, "completeness": 0.0, "relevance": 0.0}


def test_a_loose_expectation_does_not_take_the_call_of_a_strict_one() -> None:
    target = ["add", ADD]
    response = made(("add", {"a": 1, "b": 2}), ("add", {"a": 9, "b": 9}))
    assert judge(ToolCalls(order="any"), target, response).values["correctness"] == 1.0


def test_calls_are_also_read_from_the_answer() -> None:
    listed = Response({"tool_calls": [{"function": {"name": "add", "arguments": '{"a": 1, "b": 2}'}}]})
    assert judge(ToolCalls(), [ADD], listed).values["correctness"] == 1.0
    plain = Response({"tool_calls": [{"name": "add", "arguments": {"a": 1, "b": 2}}]})
    assert judge(ToolCalls(), [ADD], plain).values["correctness"] == 1.0


def test_targets_that_list_no_calls_are_refused_beforehand() -> None:
    assert "must be a list" in (complaint(ToolCalls(), "search") or "")
    assert "must be a list" in (complaint(ToolCalls()) or "")
    assert "tool call 2" in (complaint(ToolCalls(), [SEARCH, {"tool": "x"}]) or "")
    assert complaint(ToolCalls(), []) is None
