"""Ending a run before it spends too much."""

from __future__ import annotations

from agentdyno.model import Arm, Phase, Plan, Sample, Status, Trial
from agentdyno.runner.rules.budgets import SpendingLimit, cost_limit, token_limit

PLAN = Plan((Arm("a", "a", "x"),), ())


def trial(epoch: int = 0, arm_id: str = "a") -> Trial:
    return Trial(arm_id, Phase.MEASURED, epoch, "case")


def sample(arm_id: str = "a", *, judge: float | None = None, **readings: float) -> Sample:
    details: dict[str, object] = {} if judge is None else {"judge_cost_usd": judge}
    return Sample(arm_id, Phase.MEASURED, 0, Status.OK, 0, readings=readings, case_id="case", details=details)


def spend(limit: SpendingLimit, cost: float, calls: int) -> int:
    """How many calls of that cost the limit lets through, one after the other."""
    for made in range(calls):
        if limit.stop(PLAN):
            return made
        limit.skip(trial(made))
        limit.observe(sample(cost_usd=cost))
    return calls


def test_calls_go_on_as_long_as_one_more_fits() -> None:
    limit = cost_limit(1.0, {})
    assert spend(limit, 0.25, 10) == 4
    assert limit.spent == 1.0


def test_the_reason_names_the_limit_and_what_is_spent() -> None:
    limit = cost_limit(0.5, {})
    spend(limit, 0.4, 10)
    assert limit.stop(PLAN) == "the next call could pass the limit of $0.5; $0.4 are spent or under way"


def test_calls_in_flight_count_at_the_highest_cost_seen() -> None:
    limit = cost_limit(1.0, {})
    limit.skip(trial())
    limit.observe(sample(cost_usd=0.3))
    limit.skip(trial(1))
    assert limit.stop(PLAN) is None  # 0.3 spent, 0.3 in flight, 0.3 for the next
    limit.skip(trial(2))
    assert limit.stop(PLAN) is not None


def test_before_any_call_the_expected_cost_counts() -> None:
    assert cost_limit(0.1, {"a": 0.2}).stop(PLAN) is not None
    assert cost_limit(0.3, {"a": 0.2}).stop(PLAN) is None


def test_what_the_judge_costs_is_spent_too() -> None:
    limit = cost_limit(1.0, {})
    limit.observe(sample(judge=0.2, cost_usd=0.1))
    assert round(limit.spent, 9) == 0.3


def test_tokens_have_a_limit_of_their_own() -> None:
    limit = token_limit(100)
    limit.observe(sample(total_tokens=60.0))
    reason = limit.stop(PLAN)
    assert reason == "the next call could pass the limit of 100 tokens; 60 are used"
