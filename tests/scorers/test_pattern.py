from __future__ import annotations

import asyncio
import math

import pytest

from agentdyno.model.case import Case, Response
from agentdyno.scorers.pattern import LONGEST, Regex, work
from tests.runner.building import children
from tests.scorers.building import complaint, correctness, judged

CATASTROPHE = r"(a+)+$"


def test_the_target_or_the_option_is_the_pattern() -> None:
    assert correctness(Regex(), "Order 4711 shipped", r"\b\d{4}\b") == 1.0
    assert correctness(Regex(), "Order 471 shipped", r"\b\d{4}\b") == 0.0
    assert correctness(Regex(pattern="^ok"), "ok then", "ignored") == 1.0
    assert correctness(Regex(fullmatch=True), "ok then", "ok") == 0.0
    assert correctness(Regex(ignore_case=True), "OK", "ok") == 1.0
    assert judged(Regex(), "no", "yes").explanation == "'yes' does not match 'no'"


def test_invalid_patterns_are_refused_beforehand() -> None:
    assert "not valid" in (complaint(Regex(), "(") or "")
    assert "needs a pattern" in (complaint(Regex()) or "")
    assert "needs a pattern" in (complaint(Regex(), 5) or "")
    assert complaint(Regex(), "a.b") is None
    with pytest.raises(ValueError, match="not valid"):
        Regex(pattern="(")
    with pytest.raises(ValueError, match="time_limit_s"):
        Regex(time_limit_s=0)


def test_only_patterns_of_bounded_work_run_in_this_process() -> None:
    assert work("abc", 1000) == 1001
    assert work(r"answer: (\w+)", 10) == 11 * 10
    assert work("a|bc|d*", 10) == 11 * (1 + 1 + 11)
    assert work(r"(?:foo)?x{2,5}", 100) == 101 * 2 * 4
    for pattern in (CATASTROPHE, "(a|a)*b", r"(\w)\1", "(?=a+)b", "(?:ab){1,50}"):
        assert work(pattern, 10) == math.inf, pattern
    assert work("a?" * 40 + "a" * 40, 40) > 1e12


def test_a_pattern_that_takes_a_process_gives_the_same_answer() -> None:
    assert correctness(Regex(time_limit_s=60), "xx éé", r"(\w)\1 (é)\2") == 1.0
    assert correctness(Regex(time_limit_s=60), "ab \ud800", r"(\w)\1") == 0.0
    assert correctness(Regex(time_limit_s=60, ignore_case=True, fullmatch=True), "aA", r"(\w)\1") == 1.0


def test_a_catastrophic_pattern_is_ended_and_unknown() -> None:
    before = children()
    score = judged(Regex(time_limit_s=0.5), "a" * 60 + "!", CATASTROPHE)
    assert score.values == {"correctness": None}
    assert score.explanation == "the pattern '(a+)+$' did not finish in 0.5 s"
    assert score.details["problem"] == {"code": "pattern_too_slow", "message": score.explanation}
    assert children() == before


def test_cancelling_ends_the_search() -> None:
    async def cancel() -> None:
        scorer = Regex(time_limit_s=60)
        task = asyncio.create_task(scorer.score(Case("c", "q", CATASTROPHE), Response("a" * 60 + "!")))
        while children() == before:
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert children() == before

    before = children()
    asyncio.run(cancel())


def test_answers_too_long_to_search_are_unknown() -> None:
    assert correctness(Regex(), "a" * (LONGEST + 1), "b") is None
