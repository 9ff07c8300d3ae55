"""Speed-up, balance, fairness and contention, from times by hand."""

from __future__ import annotations

import pytest

from agentdyno_workloads.llm.concurrency import Concurrency, ContentionLimits, jain, spread
from agentdyno_workloads.llm.workflow import ModelAnswer, Worked


def worked(agent: str, start: float, end: float, *ttfts: float | None, tokens: int = 10) -> Worked:
    calls = tuple(ModelAnswer(f"call {n}", 0.1, ttft, 50.0, tokens) for n, ttft in enumerate(ttfts))
    return Worked(agent, start, end, calls)


def two(alone: tuple[Worked, Worked], together: tuple[Worked, Worked]) -> Concurrency:
    return Concurrency(alone, together)


def test_two_agents_that_do_not_disturb_each_other_are_twice_as_fast() -> None:
    measured = two(
        (worked("a", 0, 2, 0.1), worked("b", 2, 4, 0.1)), (worked("a", 10, 12, 0.1), worked("b", 10, 12, 0.1))
    )
    assert measured.sequential_s == 4
    assert measured.concurrent_s == 2
    assert measured.speedup == 2
    assert measured.efficiency == 1
    assert measured.balance == 1
    assert list(measured.slowdowns) == [1, 1]
    assert measured.fairness == pytest.approx(1.0)
    assert measured.contention_rate == 0


def test_two_agents_that_share_one_core_gain_nothing_and_balance_does_not_hide_it() -> None:
    measured = two(
        (worked("a", 0, 2, 0.1), worked("b", 2, 4, 0.1)), (worked("a", 10, 14, 0.1), worked("b", 10, 14, 0.1))
    )
    assert measured.speedup == 1
    assert measured.efficiency == 0.5
    assert measured.balance == 1, "both end together: balance says nothing about speed"
    assert list(measured.slowdowns) == [2, 2]


def test_an_agent_that_waits_for_the_other_is_unfair() -> None:
    measured = two(
        (worked("a", 0, 2, 0.1), worked("b", 2, 4, 0.1)), (worked("a", 10, 12, 0.1), worked("b", 10, 16, 0.1))
    )
    assert list(measured.slowdowns) == [1, 3]
    # shares 1 and 1/3: (4/3)^2 / (2 * (1 + 1/9)) = (16/9) / (20/9)
    assert measured.fairness == pytest.approx(0.8)
    assert measured.balance == pytest.approx((2 + 6) / 2 / 6)


def test_an_agent_whose_first_token_takes_more_than_three_seconds_contends() -> None:
    alone = (worked("a", 0, 2, 0.1, 1.5), worked("b", 2, 4, 0.1, 0.1))
    measured = two(alone, (worked("a", 10, 12, 0.29, 3.1), worked("b", 10, 12, 3.0, 0.1)))
    assert [(item.agent, item.ttft_s, item.slowdown) for item in measured.contentions] == [("a", 3.1, 1.0)]
    assert measured.contention_rate == 0.5
    assert measured.figures()["contention_events"] == 1


def test_an_agent_that_takes_more_than_a_fifth_longer_than_alone_contends() -> None:
    alone = (worked("a", 0, 2, 0.1), worked("b", 2, 4, 0.1))
    measured = two(alone, (worked("a", 10, 13.94, 0.1), worked("b", 10, 12.375, 0.1)))
    assert [item.agent for item in measured.contentions] == ["a"]
    assert measured.contentions[0].slowdown == pytest.approx(1.97)
    strict = Concurrency(measured.sequential, measured.concurrent, ContentionLimits(slowdown=1.1))
    assert strict.contention_rate == 1.0


def test_slowness_counts_where_no_first_token_is_known() -> None:
    alone = (worked("a", 0, 2, None), worked("b", 2, 4, 0.1))
    measured = two(alone, (worked("a", 10, 14, None), worked("b", 10, 12, 0.1)))
    assert [(item.agent, item.ttft_s) for item in measured.contentions] == [("a", None)]
    assert "ttft_delta_s" not in measured.figures()


@pytest.mark.parametrize(("shares", "expected"), [([1, 1, 1, 1], 1.0), ([1, 0, 0, 0], 0.25), ([2, 1], 0.9)])
def test_jains_index(shares: list[float], expected: float) -> None:
    assert jain(shares) == pytest.approx(expected)


def test_a_spread_is_unknown_where_one_value_is() -> None:
    assert spread([1.0, 4.0]) == 3.0
    assert spread([1.0, None]) is None
    assert spread([]) is None
