"""What an agent says of itself crosses one border: what cannot be true counts as unknown, and is told."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.model.case import Event, Response, Usage
from agentdyno.model.metric import LARGEST, is_credible
from agentdyno.runner.cases.credible import MOST_TOKENS, credible


def test_what_is_credible_passes_as_it_is() -> None:
    said = Response(
        "x",
        usage=Usage(1000, 20, 10, 5),
        api_calls=2,
        cost=0.25,
        readings={"ttft_s": 0.2},
        events=(Event("note", 0.1),),
    )
    kept, dropped = credible(said)
    assert kept is said
    assert dropped == ()


@pytest.mark.parametrize(
    ("usage", "told"),
    [
        (Usage(10**30, 3), ("usage.input_tokens = 1000000000000000000000000000000",)),
        (Usage(5, -3), ("usage.output_tokens = -3",)),
        (Usage(-1, 1, 0, -2), ("usage.input_tokens = -1", "usage.reasoning_tokens = -2")),
        (Usage(10**400, 3), ("usage.input_tokens = 1" + 38 * "0" + "…",)),
    ],
)
def test_a_usage_with_one_impossible_count_is_unknown_as_a_whole(usage: Usage, told: tuple[str, ...]) -> None:
    kept, dropped = credible(Response("x", usage=usage, readings={"own": 1.0}))
    assert kept.usage is None
    assert kept.output == "x"
    assert kept.readings == {"own": 1.0}
    assert dropped == told


def test_time_that_was_saved_may_be_time_that_was_lost() -> None:
    said = Response("x", readings={"resume.time_saved_s": -0.03})
    assert credible(said) == (said, ())


def test_the_most_tokens_that_a_case_may_have_used_are_credible() -> None:
    assert credible(Response("x", usage=Usage(MOST_TOKENS, 0)))[1] == ()
    assert credible(Response("x", usage=Usage(MOST_TOKENS + 1, 0)))[1] != ()


def test_readings_calls_cost_and_times_are_looked_at_one_by_one() -> None:
    said = Response(
        "x",
        api_calls=-1,
        cost=-0.5,
        readings={"reported.duration_s": -1.0, "temperature": -3.0, "clock": 1e308, "nan": math.nan},
        events=(Event("span", -2.0, duration_s=1.0), Event("span", 1.0, duration_s=math.inf), Event("note", 2.0)),
    )
    kept, dropped = credible(said)
    assert (kept.api_calls, kept.cost, kept.readings) == (None, None, {"temperature": -3.0})
    assert [(event.at_s, event.duration_s) for event in kept.events] == [(0.0, 1.0), (1.0, None), (2.0, None)]
    assert dropped == (
        "api_calls = -1",
        "cost = -0.5",
        "reported.duration_s = -1",
        "clock = 1e+308",
        "nan = nan",
        "time of an event = -2",
        "time of an event = inf",
    )


@given(
    usage=st.none() | st.builds(Usage, *([st.integers()] * 4)),
    readings=st.dictionaries(st.sampled_from(["ttft_s", "own", "reported.cost_usd", "rss_bytes"]), st.floats()),
    cost=st.none() | st.floats(),
    calls=st.none() | st.integers(),
)
def test_whatever_is_said_what_is_left_is_credible_and_nothing_credible_is_lost(
    usage: Usage | None, readings: dict[str, float], cost: float | None, calls: int | None
) -> None:
    said = Response("x", usage=usage, readings=readings, cost=cost, api_calls=calls)
    kept, dropped = credible(said)
    assert credible(kept) == (kept, ())
    assert kept.readings == {name: value for name, value in readings.items() if is_credible(name, value)}
    assert (kept == said) == (not dropped)
    assert all(abs(value) <= LARGEST for value in kept.readings.values())
