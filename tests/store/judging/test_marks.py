"""Marks of people and calibrations of judges, in each kind of database."""

from __future__ import annotations

from dataclasses import replace

from agentdyno.model.sample import AnswerMark
from agentdyno.store import Store

MARK = AnswerMark("run", "sums", "a", "agent@1", 0, "ada", 1_000, is_right=True, note="as the manual says")


def test_a_mark_is_kept_with_who_when_and_why_and_replaced_by_the_same_person_only(store: Store) -> None:
    store.judging.mark(MARK)
    store.judging.mark(replace(MARK, who="bob", is_right=False))
    store.judging.mark(replace(MARK, at=2_000, is_right=False, note="on second thoughts"))
    assert store.judging.marks("run") == [
        replace(MARK, at=2_000, is_right=False, note="on second thoughts"),
        replace(MARK, who="bob", is_right=False),
    ]
    assert store.judging.marks("run", "b") == []
    assert store.judging.marks("other") == []


def test_a_mark_can_be_taken_away(store: Store) -> None:
    store.judging.mark(MARK)
    assert store.judging.unmark(MARK)
    assert not store.judging.unmark(MARK)
    assert store.judging.marks() == []


def test_the_newest_calibration_of_a_judge_is_kept(store: Store) -> None:
    store.judging.keep_calibration("one", 1, {"kappa": 0.1})
    store.judging.keep_calibration("two", 2, {"kappa": 0.2})
    store.judging.keep_calibration("one", 3, {"kappa": 0.3})
    assert store.judging.calibrations() == [{"kappa": 0.3}, {"kappa": 0.2}]
