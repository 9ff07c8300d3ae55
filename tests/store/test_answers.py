"""Answers are made once per state of things, whoever asks, and never kept for longer than they are true."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest

from agentdyno.errors import SpecError
from agentdyno.store.answers import Answers


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


def test_a_value_is_made_again_when_it_is_old_and_a_failure_is_not_kept() -> None:
    now, made = 0.0, 0

    def make() -> int:
        nonlocal made
        made += 1
        if made == 2:
            raise SpecError("broken")
        return made

    def fresh() -> int:
        return cache.get(now // 10, "catalogue", make)

    cache: Answers[int] = Answers(serve_old=True)
    assert (fresh(), fresh()) == (1, 1)
    now = 11.0
    with pytest.raises(SpecError):
        fresh()
    assert fresh() == 3


def test_while_a_value_is_made_anew_others_get_the_one_from_before_but_wait_for_the_first() -> None:
    cache: Answers[int] = Answers(serve_old=True)
    first, second = Slow(), Slow()
    second.made.append(-1)
    with ThreadPoolExecutor(3) as threads:
        asked = [threads.submit(cache.get, 1, "catalogue", first) for _ in range(2)]
        assert first.begun.wait(20)
        first.go_on.set()
        assert [each.result(20) for each in asked] == [0, 0]
        newer = threads.submit(cache.get, 2, "catalogue", second)
        assert second.begun.wait(20)
        assert cache.get(2, "catalogue", lambda: 9) == 0, "nobody waits for the value that is being made"
        second.go_on.set()
        assert newer.result(20) == 1
    assert (first.made, cache.get(2, "catalogue", lambda: 9)) == ([0], 1)


def test_what_was_not_asked_for_lately_is_let_go_and_what_may_still_change_is_not_kept() -> None:
    memo: Answers[str] = Answers(most=2)
    asked = []

    def make(name: str) -> Callable[[], str]:
        def made() -> str:
            asked.append(name)
            return name

        return made

    for name in ("a", "b", "a", "c", "a", "b"):
        assert memo.get(((name, "arm", 1),), name, make(name)) == name
    assert (asked, len(memo)) == (["a", "b", "c", "b"], 2)
    for _ in range(4):
        memo.get(None, "a", make("unfinished"))
    assert (asked[4:], len(memo)) == (["unfinished"] * 4, 2)


def test_who_waited_for_an_answer_that_failed_makes_it() -> None:
    cache: Answers[int] = Answers()
    begun, go_on = Event(), Event()

    def fail() -> int:
        begun.set()
        assert go_on.wait(20)
        raise SpecError("broken")

    with ThreadPoolExecutor(2) as threads:
        failed = threads.submit(cache.get, 1, "board", fail)
        assert begun.wait(20)
        waiting = threads.submit(cache.get, 1, "board", lambda: 5)
        go_on.set()
        assert waiting.result(20) == 5
        with pytest.raises(SpecError):
            failed.result(20)
    assert cache.get(1, "board", lambda: 6) == 5


def test_who_asks_waits_no_longer_than_is_wished_for_an_answer_that_is_made_in_the_background() -> None:
    make = Slow()
    with ThreadPoolExecutor(1) as thread:
        cache: Answers[int] = Answers(background=lambda work: void(thread.submit(work)))
        assert cache.find(1, "board", lambda: 7, patience_s=0.0) == (7, True), "there is none from before"
        assert cache.find(2, "board", make, patience_s=0.0) == (7, False)
        assert make.begun.wait(20)
        assert cache.find(3, "board", make, patience_s=0.0) == (7, False), "one is made at a time"
        make.go_on.set()
        assert cache.find(3, "board", make, patience_s=20.0) == (1, True), "that of the state before is not enough"
        assert cache.find(3, "board", make, patience_s=0.0) == (1, True)
    assert make.made == [0, 1]


def test_an_answer_that_cannot_be_made_in_the_background_is_told_to_who_waits_for_it() -> None:
    with ThreadPoolExecutor(1) as thread:
        cache: Answers[int] = Answers(background=lambda work: void(thread.submit(work)))
        cache.get(1, "board", lambda: 7)
        with pytest.raises(ZeroDivisionError):
            cache.find(2, "board", lambda: 1 // 0, patience_s=20.0)
        assert cache.find(2, "board", lambda: 8, patience_s=20.0) == (8, True)


def void(_: object) -> None:
    """Nothing of it."""


def test_how_many_answers_are_out_of_date_is_known() -> None:
    with ThreadPoolExecutor(1) as thread:
        go_on = Event()
        cache: Answers[int] = Answers(background=lambda work: void(thread.submit(work)))
        for question in ("board", "results"):
            cache.find(1, question, lambda: 7, patience_s=0.0)
        assert cache.being_made == 0
        for question in ("board", "results"):
            cache.find(2, question, lambda: int(go_on.wait()), patience_s=0.0)
        assert cache.being_made == 2
        go_on.set()
        assert cache.find(2, "results", lambda: 8, patience_s=20.0) == (1, True)
        assert cache.being_made == 0
