from __future__ import annotations

import pytest

from agentdyno.model import AutoStop, Phase, Status
from agentdyno.runner.rules.stopping import FailureRate, PrecisionReached, TimeBudget
from tests.runner.building import plan, sample, trial


def test_a_time_budget_stops_the_run_at_the_very_moment_it_is_used_up() -> None:
    now = 100.0
    rule = TimeBudget(2.5, lambda: now)
    now = 102.4999
    assert rule.stop(plan()) is None
    now = 102.5
    assert rule.stop(plan()) == "the time budget of 2.5 s is used up (time_budget_s)"
    assert not rule.skip(trial())


def failing(statuses: list[Status], limit: float = 0.5) -> bool:
    rule = FailureRate(limit)
    for iteration, status in enumerate(statuses):
        rule.observe(sample(iteration, status))
    assert not rule.skip(trial(arm_id="other"))
    assert rule.stop(plan()) is None
    return rule.skip(trial(99))


OK, BAD = Status.OK, Status.ERROR


@pytest.mark.parametrize(
    ("statuses", "given_up"),
    [
        ([], False),
        ([BAD, BAD], False),
        ([BAD, BAD, BAD], True),
        ([OK, BAD, BAD], True),
        ([OK, OK, BAD, BAD], False),
        ([OK, OK, BAD, BAD, BAD], True),
        ([OK, OK, BAD], False),
        ([Status.TIMEOUT, Status.LIMIT, Status.ERROR], True),
        ([Status.FAILED, Status.FAILED, Status.FAILED], False),
    ],
)
def test_an_arm_is_given_up_when_more_than_half_of_three_or_more_samples_failed(
    statuses: list[Status], given_up: bool
) -> None:
    assert failing(statuses) is given_up


def test_a_failure_rate_of_one_never_gives_up_and_of_zero_at_the_first_failure_of_three() -> None:
    assert not failing([BAD] * 10, limit=1.0)
    assert failing([OK] * 9 + [BAD], limit=0.0)
    assert not failing([OK, BAD], limit=0.0)


class Precise:
    """Says yes from ``enough`` values on and remembers when it was asked."""

    def __init__(self, enough: int) -> None:
        self.enough = enough
        self.asked: list[tuple[int, float]] = []

    def __call__(self, values: list[float], precision: float) -> bool:
        self.asked.append((len(values), precision))
        return len(values) >= self.enough


def observe(rule: PrecisionReached, count: int, arm_id: str = "arm") -> None:
    for iteration in range(count):
        rule.observe(sample(iteration, arm_id=arm_id))


def test_precision_is_judged_every_fifth_sample_from_the_minimum_on_until_it_is_reached() -> None:
    precise = Precise(enough=20)
    rule = PrecisionReached({"arm": AutoStop(0.02, minimum=12)}, precise)
    observe(rule, 40)
    assert precise.asked == [(15, 0.02), (20, 0.02)]
    assert rule.skip(trial(40))
    assert not rule.skip(trial(0, phase=Phase.INSTRUMENTED))
    assert not rule.skip(trial(0, arm_id="other"))
    assert rule.stop(plan()) is None


def test_samples_without_a_duration_and_of_other_phases_do_not_count_towards_precision() -> None:
    precise = Precise(enough=5)
    rule = PrecisionReached({"arm": AutoStop(minimum=5)}, precise)
    observe(rule, 4)
    rule.observe(sample(4, Status.ERROR, duration_s=None))
    rule.observe(sample(0, phase=Phase.INSTRUMENTED))
    observe(rule, 10, arm_id="without auto")
    assert precise.asked == []
    rule.observe(sample(5))
    assert rule.skip(trial(6))


def test_two_sides_go_on_until_both_are_precise() -> None:
    auto = AutoStop(minimum=5)
    rule = PrecisionReached({"a": auto, "b": auto}, Precise(5), partners={"a": "b", "b": "a"})
    observe(rule, 5, "a")
    assert not rule.skip(trial(5, "a"))
    observe(rule, 5, "b")
    assert rule.skip(trial(5, "a"))
    assert rule.skip(trial(5, "b"))
