"""The usual load for a long time: what leaks or drifts shows."""

from __future__ import annotations

from collections.abc import Generator

from agentdyno.findings.stress.judge_levels import RATE
from agentdyno.findings.stress.judge_steps import StepOutcome
from agentdyno.findings.stress.words import DESCRIPTIONS
from agentdyno.load.scenarios.base import ARRIVALS, NORMAL_RATE, WINDOW, Declared, ScenarioSettings, number, steady
from agentdyno.model.load import Step


class SustainedLoad(Declared):
    def steps(self, settings: ScenarioSettings) -> Generator[Step, StepOutcome, None]:
        rate = settings.number("request_rate")
        yield Step(
            "soak",
            (steady("soak", settings.number("duration_seconds"), rate),),
            settings.arrivals(),
            settings.seed_of(1),
            drain_s=settings.drain_s,
            note={"axis": RATE, "level": rate, "role": "soak"},
        )


_VALUES = {NORMAL_RATE: 20.0, "request_rate": 20.0, "arrivals": "poisson"}
SUSTAINED_LOAD = SustainedLoad(
    "sustained_load",
    DESCRIPTIONS["sustained_load"],
    (
        number(NORMAL_RATE, "requests a second that the target is used to"),
        number("request_rate", "requests a second"),
        number("duration_seconds", "how long it lasts", 0.1),
        ARRIVALS,
        WINDOW,
    ),
    {
        "quick": {**_VALUES, "duration_seconds": 4.0, "window_seconds": 0.25},
        "standard": {
            **_VALUES,
            NORMAL_RATE: 50.0,
            "request_rate": 50.0,
            "duration_seconds": 120.0,
            "window_seconds": 1.0,
        },
        "full": {
            **_VALUES,
            NORMAL_RATE: 100.0,
            "request_rate": 100.0,
            "duration_seconds": 1800.0,
            "window_seconds": 1.0,
        },
    },
    scaled={"request_rate": 1.0},
)
