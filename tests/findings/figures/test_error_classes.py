from __future__ import annotations

from dataclasses import replace

import pytest

from agentdyno.findings.figures.cases import ArmFigures
from agentdyno.findings.figures.traces import (
    MOST_CASES,
    MOST_CLASSES,
    NOT_JUDGED,
    Classes,
    classes_of,
    count_error,
    message_class,
)
from agentdyno.model import Failure, FailureKind, Status
from agentdyno.model.record import ErrorClass

from ..suite_builders import benchmark, sample


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        ("took 12.5 s of 10 s", "took N s of N s"),
        ("KeyError: 'colour'", "KeyError: '…'"),
        ('no column "a b" in `t`', "no column '…' in '…'"),
        ("can't open 'a.txt', won't go on", "can't open '…', won't go on"),
        ("object at 0x7F3a has no len", "object at ADDRESS has no len"),
        ("run 019ca9c1-4d80-7abc-8def-0123456789ab is gone", "run ID is gone"),
        ("request req_8a7f6c5d4e3b was lost", "request req_ID was lost"),
        ("chatcmpl-9XyZabCdEf0123456789 ended", "chatcmpl-ID ended"),
        ("cannot read /tmp/x/y.txt: denied", "cannot read PATH: denied"),
        ("either/or/both is a word", "either/or/both is a word"),
        ("127.0.0.1:8080 answered 503 Service Unavailable", "N:N answered 503 Service Unavailable"),
        ("exit status 137: Killed", "exit status 137: Killed"),
        ("ended by signal -9", "ended by signal -9"),
        ("status 20260301 is no code", "status N is no code"),
        ("Traceback (most recent call last):\n  File 'x'\nValueError: 7 is odd", "ValueError: N is odd"),
        ("first line\nsecond line", "first line"),
        ("  many\t blanks  ", "many blanks"),
        ("", ""),
        ("deadbeef and cafe are words", "deadbeef and cafe are words"),
    ],
)
def test_a_message_class_leaves_out_what_varies_and_keeps_what_happened(message: str, expected: str) -> None:
    assert message_class(message) == expected


def test_codes_that_say_what_happened_make_different_classes() -> None:
    assert message_class("x answered 404 Not Found") != message_class("x answered 503 Not Found")
    assert message_class("waited 404 s") == message_class("waited 503 s")


def test_a_message_of_a_million_characters_becomes_a_short_class() -> None:
    assert len(message_class("a b" * 500_000)) <= 200
    assert len(message_class("'" * 1_000_000)) <= 200


def counted(*samples_: object) -> tuple[ErrorClass, ...]:
    classes: Classes = {}
    for item in samples_:
        count_error(classes, item)  # type: ignore[arg-type]
    return classes_of(classes)


def failing(case_id: str, message: str, kind: FailureKind = FailureKind.EXCEPTION) -> object:
    return replace(sample(case_id, Status.ERROR), failure=Failure(kind, message))


def test_failures_alike_are_one_class_with_the_first_as_example_and_the_most_frequent_comes_first() -> None:
    found = counted(
        sample("a", 0.0),
        failing("b", "no row 5"),
        failing("c", "no row 77"),
        failing("c", "no row 8", FailureKind.EXIT),
    )
    assert found == (
        ErrorClass("error", "exception", "no row N", 2, "no row 5", ("b", "c")),
        ErrorClass("error", "exit", "no row N", 1, "no row 8", ("c",)),
        ErrorClass("failed", "", "", 1, "", ("a",)),
    )


def test_an_answer_that_nobody_could_judge_is_no_wrong_answer() -> None:
    assert counted(sample("a", None), sample("b", 0.0)) == (
        ErrorClass("failed", "", "", 1, "", ("b",)),
        ErrorClass("ok", "", NOT_JUDGED, 1, "", ("a",)),
    )


def test_what_comes_after_the_last_class_counts_as_other_and_nothing_is_lost() -> None:
    found = counted(*(failing(f"c{i}", f"{chr(97 + i % 26)}{chr(97 + i // 26)} broke") for i in range(70)))
    assert len(found) == MOST_CLASSES + 1
    assert found[0].message == "other"
    assert found[0].count == 70 - MOST_CLASSES
    assert sum(item.count for item in found) == 70
    assert len(found[0].cases) == MOST_CASES


def test_a_case_is_named_once_however_often_it_failed() -> None:
    (only,) = counted(*(failing("a", "no") for _ in range(9)))
    assert (only.count, only.cases) == (9, ("a",))


def test_the_figures_of_an_arm_count_what_did_not_pass_and_nothing_else() -> None:
    own = benchmark("a", "b")
    figures = ArmFigures.of(
        own, [sample("a", 1.0), sample("a", 0.2, 1), sample("b", Status.TIMEOUT), sample("b", Status.CANCELLED, 1)]
    )
    found = classes_of(figures.remarks.classes)
    assert {(item.status, item.count) for item in found} == {("failed", 1), ("timeout", 1)}
