"""Two trajectories: where they part, and how they stand side by side."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.findings.case import judge as divergence
from agentdyno.findings.case.judge import aligned, first_divergence
from agentdyno.model.case import Event

ASK = Event("message", 0.0, "user", "What is 2 + 2?")
CALL = Event("tool_call", 0.2, "calculator", {"expression": "2 + 2", "digits": 1})
RESULT = Event("tool_result", 0.3, "calculator", "4")
ANSWER = Event("message", 0.5, "assistant", "It is 4.")
STEPS = [ASK, CALL, RESULT, ANSWER]

events = st.builds(
    Event,
    kind=st.sampled_from(["message", "tool_call"]),
    at_s=st.floats(0, 10),
    name=st.sampled_from(["a", "b"]),
    content=st.sampled_from([None, "x", " x", "x y", "x\n y", {"n": 1}, {"n": 1.0}, ["x", 2]]),
)
trajectories = st.lists(events, max_size=12)


@pytest.mark.parametrize(
    ("changed", "place"),
    [
        (STEPS, None),
        ([replace(event, at_s=9.0, duration_s=1.0, details={"usage": 7}) for event in STEPS], None),
        ([ASK, replace(CALL, content={"digits": 1.0, "expression": " 2  +\n2 "}), RESULT, ANSWER], None),
        ([replace(ASK, kind="note"), CALL, RESULT, ANSWER], 0),
        ([ASK, replace(CALL, name="search"), RESULT, ANSWER], 1),
        ([ASK, CALL, replace(RESULT, content="5"), ANSWER], 2),
        ([ASK, CALL, RESULT, replace(ANSWER, content="It is4.")], 3),
        (STEPS[:3], 3),
        ([*STEPS, ANSWER], 4),
        ([], 0),
    ],
)
def test_the_first_step_that_differs_in_kind_name_or_content_is_named(
    changed: list[Event], place: int | None
) -> None:
    assert first_divergence(STEPS, changed) == place
    assert first_divergence(changed, STEPS) == place


def test_nothing_and_nothing_are_equal() -> None:
    assert first_divergence([], []) is None
    assert aligned([], []) == []


def test_true_is_not_one_and_a_text_is_not_its_number() -> None:
    for mine, other in ((True, 1), ("1", 1), (None, ""), ([1], 1)):
        assert first_divergence([Event("note", content=mine)], [Event("note", content=other)]) == 0


def test_a_step_more_stands_alone_and_the_rest_stays_side_by_side() -> None:
    retry = Event("retry", 0.1, "", "timeout")
    assert aligned(STEPS, [ASK, retry, CALL, RESULT, ANSWER]) == [
        (ASK, ASK, True),
        (None, retry, False),
        (CALL, CALL, True),
        (RESULT, RESULT, True),
        (ANSWER, ANSWER, True),
    ]


def test_steps_that_differ_stand_beside_each_other_between_equal_ones() -> None:
    other = replace(CALL, name="search"), replace(RESULT, name="search", content="none"), Event("note")
    assert aligned(STEPS, [ASK, *other, ANSWER]) == [
        (ASK, ASK, True),
        (CALL, other[0], False),
        (RESULT, other[1], False),
        (None, other[2], False),
        (ANSWER, ANSWER, True),
    ]


@given(trajectories, trajectories)
def test_every_step_is_aligned_exactly_once_and_in_order(first: list[Event], second: list[Event]) -> None:
    found = aligned(first, second)
    assert [mine for mine, _, _ in found if mine is not None] == first
    assert [other for _, other, _ in found if other is not None] == second
    for mine, other, same in found:
        assert mine is not None or other is not None
        both = mine is not None and other is not None
        assert same == (both and first_divergence([mine], [other]) is None)  # type: ignore[list-item]


@given(trajectories, trajectories)
def test_alignment_and_divergence_agree(first: list[Event], second: list[Event]) -> None:
    found = aligned(first, second)
    parted = next((index for index, (_, _, same) in enumerate(found) if not same), None)
    assert parted == first_divergence(first, second)
    assert first_divergence(first, second) == first_divergence(second, first)
    assert first_divergence(first, first) is None


@given(trajectories, trajectories)
def test_long_trajectories_are_set_side_by_side_in_order(first: list[Event], second: list[Event]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(divergence, "MOST_COMPARED", 0)
        found = aligned(first, second)
    assert [mine for mine, _, _ in found if mine is not None] == first
    assert [other for _, other, _ in found if other is not None] == second
