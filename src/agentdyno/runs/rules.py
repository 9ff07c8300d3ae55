"""Stop rules that every run has, whatever its kind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from agentdyno.contracts import StopRule
from agentdyno.model import Plan, RunWarning, Spec
from agentdyno.runner.executor import Facts
from agentdyno.runner.rules.stopping import FailureRate, FatalFailure, TimeBudget


@dataclass(frozen=True, slots=True)
class CommonRules:
    """What ends a run of any kind, or one arm of it."""

    failing: FailureRate
    rules: tuple[StopRule, ...]

    @classmethod
    def of(cls, spec: Spec, facts: Facts, clock: Callable[[], float]) -> CommonRules:
        """An arm that is given up comes first: what rules behind it count as begun is begun."""
        failing = FailureRate(spec.max_failure_rate)
        rules: list[StopRule] = [FatalFailure(facts), failing]
        if spec.time_budget_s is not None:
            rules.append(TimeBudget(spec.time_budget_s, clock))
        return cls(failing, tuple(rules))

    def given_up(self, plan: Plan) -> list[str]:
        """The arms that failed too often."""
        return [arm.arm_id for arm in plan.arms if self.failing.given_up(arm.arm_id)]


def given_up_warnings(arm_ids: list[str], tried: str) -> list[RunWarning]:
    """One for each arm that was given up; ``tried`` is what its trials are called."""
    return [
        RunWarning(
            "given-up",
            f"given up: too many of its {tried} failed (max_failure_rate)",
            "Mend it and run again, or raise max_failure_rate.",
            arm_id,
        )
        for arm_id in arm_ids
    ]
