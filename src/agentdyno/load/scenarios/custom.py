"""Load of the user's own shape: one step, no search."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass

from agentdyno.findings.stress.judge_levels import CONCURRENCY, RATE
from agentdyno.findings.stress.judge_steps import StepOutcome
from agentdyno.findings.stress.words import DESCRIPTIONS
from agentdyno.load.scenarios.base import PROFILES, Declared, ScenarioSettings
from agentdyno.model.load import Arrivals, Stage, Step


@dataclass(frozen=True, slots=True)
class Custom(Declared):
    """``stages`` one after the other, as they are."""

    stages: tuple[Stage, ...] = ()
    arrivals: Arrivals = Arrivals.POISSON
    gamma_shape: float = 1.0

    def steps(self, settings: ScenarioSettings) -> Generator[Step, StepOutcome, None]:
        closed = self.arrivals is Arrivals.CLOSED
        highest = max(
            (float(max(s.concurrency, s.concurrency_to or 0)) if closed else max(s.rate, s.rate_to or 0.0))
            for s in self.stages
        )
        yield Step(
            "load",
            self.stages,
            self.arrivals,
            settings.seed_of(0),
            gamma_shape=self.gamma_shape,
            drain_s=settings.drain_s,
            note={"axis": CONCURRENCY if closed else RATE, "level": highest, "role": "load"},
        )


def custom(stages: tuple[Stage, ...], arrivals: Arrivals = Arrivals.POISSON, gamma_shape: float = 1.0) -> Custom:
    """The scenario ``custom``, for stages that a user wrote."""
    return Custom(
        "custom",
        DESCRIPTIONS["custom"],
        (),
        {profile: {} for profile in PROFILES},
        stages=stages,
        arrivals=arrivals,
        gamma_shape=gamma_shape,
    )
