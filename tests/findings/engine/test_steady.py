"""What was seen of single cases: always right before, never now."""

from __future__ import annotations

from dataclasses import replace

from agentdyno.findings.engine.pairing import pair_records
from agentdyno.findings.engine.steady import steady_breaks, steady_repairs
from agentdyno.model.record import CaseRecord

from ..gate_records import case, record


def broke(before: CaseRecord, after: CaseRecord, least: int = 1, *, rubric: str = "r1") -> bool:
    second = record([after], "mine@2")
    second = replace(second, benchmarks=tuple(replace(item, rubric=rubric) for item in second.benchmarks))
    return bool(steady_breaks(pair_records(record([before]), second), least))


def test_right_in_every_try_before_and_wrong_in_every_one_now_is_a_break() -> None:
    assert broke(case("a"), case("a", 0))
    assert broke(case("a", 1, 1), case("a", 0, 1))


def test_a_single_try_that_ended_otherwise_makes_it_none() -> None:
    assert not broke(case("a", 4), case("a", 0))
    assert not broke(case("a"), case("a", 1))


def test_a_case_that_ends_in_errors_every_time_is_broken_too() -> None:
    assert broke(case("a"), case("a", 0, errors=5))
    assert broke(case("a"), case("a", 0, errors=2))


def test_a_case_without_a_judgement_or_under_another_rubric_is_not_spoken_of() -> None:
    assert not broke(case("a"), case("a", 0, scored=0, score=None))
    assert not broke(case("a"), case("a", 0), rubric="r2")


def test_so_many_tries_as_are_asked_for_are_needed_on_both_sides() -> None:
    assert broke(case("a", 3, 3), case("a", 0, 3), 3)
    assert not broke(case("a", 2, 2), case("a", 0, 5), 3)
    assert not broke(case("a", 5, 5), case("a", 0, 2), 3)


def test_a_repair_is_a_break_the_other_way_round() -> None:
    pairing = pair_records(record([case("a", 0), case("b")]), record([case("a"), case("b", 0)], "mine@2"))
    assert [key.case_id for key in steady_repairs(pairing)] == ["a"]
    assert [key.case_id for key in steady_breaks(pairing)] == ["b"]
