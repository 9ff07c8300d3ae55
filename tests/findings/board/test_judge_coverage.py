from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event
from typing import NamedTuple

import pytest
from agentdyno.store.answers import Answers

from agentdyno.errors import SpecError
from agentdyno.findings.board.judge_coverage import coverage

DAY = 86_400_000
NOW = 100 * DAY


class Agent(NamedTuple):
    name: str
    version: str
    created_at: int
    last_success_at: int | None = None
    last_attempt_at: int | None = None


def test_an_agent_is_fresh_to_the_end_of_its_last_day() -> None:
    edge = Agent("edge", "1", 0, NOW - 30 * DAY, NOW)
    late = Agent("late", "1", 0, NOW - 30 * DAY - 1, NOW)
    never = Agent("never", "2", 0, None, NOW - DAY)
    old = Agent("old", "1", 0, NOW - 60 * DAY)
    found = coverage([edge, late, never, old], days=30, now_ms=NOW)
    assert (found.days, found.agents, found.fresh, found.share) == (30, 4, 1, 0.25)
    assert [item.agent for item in found.stale] == ["never@2", "old@1", "late@1"]
    assert [item.days for item in found.stale] == [None, 60.0, pytest.approx(30.0)]
    assert found.stale[0].last_attempt_at == NOW - DAY


def test_only_the_version_that_came_last_counts() -> None:
    agents = [Agent("a", "1", 10, NOW), Agent("a", "2", 20, None), Agent("b", "9", 5, None), Agent("b", "10", 6, NOW)]
    found = coverage(agents, days=7, now_ms=NOW)
    assert (found.agents, found.fresh) == (2, 1)
    assert [item.agent for item in found.stale] == ["a@2"]
    everything = coverage(agents, days=7, now_ms=NOW, all_versions=True)
    assert (everything.agents, everything.fresh) == (4, 2)


def test_versions_of_one_moment_are_told_apart_by_their_last_attempt() -> None:
    agents = [Agent("a", "1", 10, NOW, NOW), Agent("a", "2", 10, None, NOW - 1)]
    for order in (agents, agents[::-1]):
        assert coverage(order, days=7, now_ms=NOW).fresh == 1


def test_a_success_in_the_future_is_fresh() -> None:
    assert coverage([Agent("a", "1", 0, NOW + DAY)], days=1, now_ms=NOW).fresh == 1


def test_without_agents_the_share_is_unknown() -> None:
    assert coverage([], days=30, now_ms=NOW).share is None


def test_no_days_are_refused() -> None:
    with pytest.raises(SpecError, match="0 days"):
        coverage([], days=0, now_ms=NOW)


def test_the_same_question_to_an_unchanged_store_is_answered_once() -> None:
    cache: Answers[str] = Answers()
    made: list[str] = []

    def make(answer: str) -> str:
        made.append(answer)
        return answer

    assert cache.get(1, "matrix", lambda: make("first")) == "first"
    assert cache.get(1, "matrix", lambda: make("second")) == "first"
    assert cache.get(1, "board", lambda: make("third")) == "third"
    assert cache.get(2, "matrix", lambda: make("fourth")) == "fourth"
    assert cache.get(2, "board", lambda: make("fifth")) == "fifth"
    assert made == ["first", "third", "fourth", "fifth"]
    assert len(cache) == 2


def test_only_the_last_answers_are_kept() -> None:
    cache: Answers[int] = Answers(most=2)
    for question in (1, 2, 1, 3):
        cache.get(0, question, lambda: 0)
    assert cache.get(0, 1, lambda: 9) == 0
    assert cache.get(0, 2, lambda: 9) == 9
    assert len(cache) == 2
    with pytest.raises(ValueError, match="at least 1"):
        Answers(most=0)


def test_an_answer_that_failed_or_that_a_write_overtook_is_not_kept() -> None:
    cache: Answers[str] = Answers()

    def overtaken() -> str:
        cache.get(2, "other", lambda: "new")
        return "old"

    with pytest.raises(ZeroDivisionError):
        cache.get(1, "board", lambda: str(1 // 0))
    assert cache.get(1, "board", overtaken) == "old"
    assert cache.get(2, "board", lambda: "fresh") == "fresh"


class Slow:
    """Gives 0, 1, 2… when it is let go on."""

    def __init__(self) -> None:
        self.begun, self.go_on = Event(), Event()
        self.made: list[int] = []

    def __call__(self) -> int:
        self.begun.set()
        assert self.go_on.wait(20)
        self.made.append(len(self.made))
        return self.made[-1]


def test_of_many_who_ask_the_same_at_once_one_makes_the_answer() -> None:
    cache: Answers[int] = Answers()
    make = Slow()
    with ThreadPoolExecutor(6) as threads:
        asked = [threads.submit(cache.get, 1, "board", make) for _ in range(6)]
        assert make.begun.wait(20)
        assert cache.get(1, "matrix", lambda: 9) == 9, "another question does not wait"
        make.go_on.set()
        assert [each.result(20) for each in asked] == [0] * 6
    assert make.made == [0]


def test_who_asks_a_newer_store_does_not_wait_for_the_answer_of_the_older_one() -> None:
    cache: Answers[int] = Answers()
    make = Slow()
    with ThreadPoolExecutor(1) as threads:
        asked = threads.submit(cache.get, 1, "board", make)
        assert make.begun.wait(20)
        assert cache.get(2, "board", lambda: 7) == 7
        make.go_on.set()
        assert asked.result(20) == 0
    assert cache.get(2, "board", lambda: 8) == 7


def test_an_answer_that_fails_is_made_by_the_next_who_asks_and_one_that_is_forgotten_too() -> None:
    cache: Answers[int] = Answers()
    with pytest.raises(ZeroDivisionError):
        cache.get(1, "board", lambda: 1 // 0)
    assert cache.get(1, "board", lambda: 3) == 3
    cache.forget("board")
    cache.forget("matrix")
    assert cache.get(1, "board", lambda: 4) == 4
