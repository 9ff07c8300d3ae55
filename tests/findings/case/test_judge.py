"""Two trajectories: where they part."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.findings.case.judge import first_divergence
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


def test_true_is_not_one_and_a_text_is_not_its_number() -> None:
    for mine, other in ((True, 1), ("1", 1), (None, ""), ([1], 1)):
        assert first_divergence([Event("note", content=mine)], [Event("note", content=other)]) == 0


@given(trajectories, trajectories)
def test_both_sides_part_at_the_same_step_and_nothing_parts_from_itself(
    first: list[Event], second: list[Event]
) -> None:
    parted = first_divergence(first, second)
    assert parted == first_divergence(second, first)
    assert first_divergence(first, first) is None
    assert parted is None or first_divergence(first[:parted], second[:parted]) is None
