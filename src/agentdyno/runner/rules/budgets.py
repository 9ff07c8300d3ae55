"""Rules that end a suite before it spends more than it may: dollars and tokens."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from agentdyno.model.plan import Plan, Trial
from agentdyno.model.sample import Sample
from agentdyno.runner.rules.stopping import spent_usd


@dataclass(slots=True)
class SpendingLimit:
    """Ends the run before a call that may pass ``most``, counting calls in flight at the highest cost seen.

    ``spent_by`` reads what a sample used; ``expected`` is what a call of an arm is taken to use until one has been
    seen; ``unrecorded`` gives what was spent outside of samples. A run never passes the limit by more than the calls
    in flight turn out dearer than any before them.
    """

    most: float
    spent_by: Callable[[Sample], float]
    describe: Callable[[float, float], str]
    expected: Mapping[str, float] = field(default_factory=dict)
    unrecorded: Callable[[], float] = lambda: 0.0
    spent: float = 0.0
    _highest: dict[str, float] = field(default_factory=dict)
    _in_flight: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    _next: Trial | None = None

    def observe(self, sample: Sample) -> None:
        used = self.spent_by(sample)
        self.spent += used
        self._highest[sample.arm_id] = max(used, self._highest.get(sample.arm_id, 0.0))
        self._in_flight[sample.arm_id] = max(0, self._in_flight[sample.arm_id] - 1)

    def skip(self, trial: Trial) -> bool:
        """Takes note of the trial that is about to run."""
        self._in_flight[trial.arm_id] += 1
        return False

    def stop(self, _plan: Plan) -> str | None:
        bound = sum(self._per_call(arm_id) * count for arm_id, count in self._in_flight.items())
        dearest = max((self._per_call(arm_id) for arm_id in {*self._highest, *self.expected}), default=0.0)
        committed = self.spent + self.unrecorded() + bound
        if committed + dearest <= self.most:
            return None
        return self.describe(committed, self.most)

    def _per_call(self, arm_id: str) -> float:
        seen = self._highest.get(arm_id)
        return self.expected.get(arm_id, 0.0) if seen is None else seen


def cost_limit(
    most_usd: float, expected: Mapping[str, float], unrecorded: Callable[[], float] = lambda: 0.0
) -> SpendingLimit:
    """Dollars of agents and judges together."""
    return SpendingLimit(
        most_usd,
        spent_usd,
        lambda spent, most: f"the next call could pass the limit of ${most:.4g}; ${spent:.4g} are spent or under way",
        expected,
        unrecorded,
    )


def token_limit(most: int) -> SpendingLimit:
    return SpendingLimit(
        float(most),
        lambda sample: sample.readings.get("total_tokens", 0.0),
        lambda spent, most: f"the next call could pass the limit of {most:,.0f} tokens; {spent:,.0f} are used",
    )
