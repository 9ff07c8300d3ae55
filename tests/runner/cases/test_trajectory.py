"""What is kept of a long answer."""

from __future__ import annotations

import json

from agentdyno.model.case import Event
from agentdyno.runner.cases.sample import TEXT_CHARACTERS, TRAJECTORY_CHARACTERS, cut, cut_text, keep_events


def test_a_long_text_keeps_its_beginning_and_its_end_and_says_how_much_is_missing() -> None:
    text = cut_text("a" * 600 + "b" * 400, 100)
    assert text == "a" * 75 + " […900 characters…] " + "b" * 25


def test_values_that_fit_stay_as_they_are_and_larger_structures_become_cut_text() -> None:
    assert cut({"a": [1, 2.5, None]}) == {"a": [1, 2.5, None]}
    shortened = cut(["x" * 50] * 10, 100)
    assert isinstance(shortened, str)
    assert shortened.startswith('["xxx')
    assert cut(object(), 10).__class__ is str


def test_short_trajectories_are_kept_whole() -> None:
    events = [Event("message", 0.1, "user", "hi"), Event("tool_call", 0.2, "search", {"query": "x"})]
    assert [event["content"] for event in keep_events(events)] == ["hi", {"query": "x"}]  # type: ignore[index]


def test_of_a_long_trajectory_the_middle_is_left_out_and_counted() -> None:
    events = [Event("message", float(i), "user", f"{i} " + "x" * TEXT_CHARACTERS) for i in range(100)]
    kept = keep_events(events)
    texts = [str(event["content"]) for event in kept]  # type: ignore[index]
    assert len(json.dumps(kept)) < TRAJECTORY_CHARACTERS * 1.1
    assert texts[0].startswith("0 ")
    assert texts[-1].startswith("99 ")
    gap = next(text for text in texts if text.endswith("events left out"))
    assert int(gap.split()[0]) + len(kept) - 1 == 100
