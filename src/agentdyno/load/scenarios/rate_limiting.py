"""The rate above which the target refuses, what it lets through then, and whether its Retry-After can be trusted."""

from __future__ import annotations

from collections.abc import Generator

from agentdyno.findings.stress.judge_levels import RATE_LIMIT
from agentdyno.findings.stress.judge_steps import StepOutcome
from agentdyno.findings.stress.words import DESCRIPTIONS
from agentdyno.load.limit import Search, find_limit
from agentdyno.load.scenarios.base import WINDOW, Declared, ScenarioSettings, number, steady
from agentdyno.load.scenarios.high_load import WIDTH, judged_by, rate_steps
from agentdyno.model.load import Arrivals, Step


class RateLimiting(Declared):
    def steps(self, settings: ScenarioSettings) -> Generator[Step, StepOutcome, None]:
        start, step_s = settings.number("start_rate"), settings.number("step_seconds")
        search = Search(
            start,
            max(settings.number("max_rate"), start),
            floor=start / 16.0,
            width=settings.number("width"),
        )
        step_at = rate_steps(settings, Arrivals.CONSTANT, step_s, RATE_LIMIT)
        found = yield from find_limit(search, step_at, judged_by(settings))
        between = found.between
        if between.broke is None or between.judgement is None or "rate_limited" not in between.judgement.missed:
            return
        over = round(settings.number("over") * between.broke, 3)
        for role, honours in (("over", False), ("honoured", True)):
            yield Step(
                role,
                (steady(role, settings.number("over_seconds"), over),),
                Arrivals.CONSTANT,
                settings.seed_of(2 if honours else 1),
                drain_s=settings.drain_s,
                honour_retry_after=honours,
                note={"axis": RATE_LIMIT, "role": role, "asked_rate": over},
            )


RATE_LIMITING = RateLimiting(
    "rate_limiting",
    DESCRIPTIONS["rate_limiting"],
    (
        number("start_rate", "requests a second of the first step"),
        number("max_rate", "requests a second that are never exceeded"),
        number("step_seconds", "seconds at each rate", 0.1),
        number("over", "how far above the limit it is then asked, as a multiple", 1.0),
        number("over_seconds", "how long that lasts", 0.1),
        WIDTH,
        WINDOW,
    ),
    {
        "quick": {
            "start_rate": 10.0,
            "max_rate": 320.0,
            "step_seconds": 0.5,
            "over": 2.0,
            "over_seconds": 1.0,
            "width": 0.25,
            "window_seconds": 0.25,
        },
        "standard": {
            "start_rate": 5.0,
            "max_rate": 1280.0,
            "step_seconds": 5.0,
            "over": 2.0,
            "over_seconds": 15.0,
            "width": 0.10,
            "window_seconds": 1.0,
        },
        "full": {
            "start_rate": 5.0,
            "max_rate": 5000.0,
            "step_seconds": 15.0,
            "over": 2.0,
            "over_seconds": 60.0,
            "width": 0.10,
            "window_seconds": 1.0,
        },
    },
    scaled={"start_rate": 0.5, "max_rate": 20.0},
)
