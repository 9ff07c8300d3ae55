from __future__ import annotations

from typing import NamedTuple

import pytest

from agentdyno.errors import SpecError
from agentdyno.findings.board.judge import coverage

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
