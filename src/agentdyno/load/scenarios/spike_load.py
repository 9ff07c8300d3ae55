"""A sudden spike, and how long the target takes to get over it."""

from __future__ import annotations

from collections.abc import Generator

from agentdyno.findings.stress.judge_levels import RATE
from agentdyno.findings.stress.judge_steps import StepOutcome
from agentdyno.findings.stress.words import DESCRIPTIONS
from agentdyno.load.plan.schedule import spike
from agentdyno.load.scenarios.base import ARRIVALS, NORMAL_RATE, WINDOW, Declared, ScenarioSettings, number
from agentdyno.model.load import Step


class SpikeLoad(Declared):
    def steps(self, settings: ScenarioSettings) -> Generator[Step, StepOutcome, None]:
        normal, high = settings.number(NORMAL_RATE), settings.number("spike_rate")
        # One step, so that what the spike left behind is still there when the usual load comes back.
        yield Step(
            "spike",
            spike(
                normal,
                high,
                settings.number("before_seconds"),
                settings.number("spike_seconds"),
                settings.number("recovery_seconds"),
            ),
            settings.arrivals(),
            settings.seed_of(1),
            drain_s=settings.drain_s,
            note={"axis": RATE, "level": high, "role": "spike", "normal_rate": normal},
        )


SPIKE_LOAD = SpikeLoad(
    "spike_load",
    DESCRIPTIONS["spike_load"],
    (
        number(NORMAL_RATE, "requests a second before and after the spike"),
        number("spike_rate", "requests a second in the spike"),
        number("before_seconds", "how long the usual load is measured before", 0.1),
        number("spike_seconds", "how long the spike lasts", 0.1),
        number("recovery_seconds", "how long the target has to recover", 0.1),
        ARRIVALS,
        WINDOW,
    ),
    {
        "quick": {
            NORMAL_RATE: 20.0,
            "spike_rate": 200.0,
            "before_seconds": 1.5,
            "spike_seconds": 1.0,
            "recovery_seconds": 2.5,
            "arrivals": "poisson",
            "window_seconds": 0.25,
        },
        "standard": {
            NORMAL_RATE: 50.0,
            "spike_rate": 500.0,
            "before_seconds": 15.0,
            "spike_seconds": 10.0,
            "recovery_seconds": 30.0,
            "arrivals": "poisson",
            "window_seconds": 0.5,
        },
        "full": {
            NORMAL_RATE: 100.0,
            "spike_rate": 1000.0,
            "before_seconds": 60.0,
            "spike_seconds": 30.0,
            "recovery_seconds": 120.0,
            "arrivals": "poisson",
            "window_seconds": 1.0,
        },
    },
    scaled={"spike_rate": 10.0},
)
