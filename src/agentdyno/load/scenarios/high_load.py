"""Ten times the usual load; where it breaks, the rate at which it does; and the search for that rate by itself."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace

from agentdyno.errors import SpecError
from agentdyno.findings.stress.judge_levels import CONCURRENCY, RATE, judge_step
from agentdyno.findings.stress.judge_steps import StepJudgement, StepOutcome
from agentdyno.findings.stress.words import DESCRIPTIONS
from agentdyno.load.limit import JudgedAs, Search, StepAt, find_limit
from agentdyno.load.scenarios.base import (
    ARRIVALS,
    NORMAL_RATE,
    WINDOW,
    Declared,
    ScenarioSettings,
    flag,
    number,
    steady,
    whole,
)
from agentdyno.model.load import Arrivals, Stage, Step
from agentdyno.model.parameter import Parameter

_FEWEST_REQUESTS = 20.0
_LONGEST = 5.0
_DOWN = 16.0


def judged_by(settings: ScenarioSettings, base: StepOutcome | None = None) -> JudgedAs:
    """The judge of a search; ``base`` stands for the lowest level where the scenario has done one before."""

    def judged(outcome: StepOutcome, lowest: StepOutcome | None) -> StepJudgement:
        lowest = base if base is not None and _is_lower(base, lowest) else lowest
        return judge_step(outcome, settings.objectives, lowest, settings.self_check)

    return judged


def _is_lower(base: StepOutcome, lowest: StepOutcome | None) -> bool:
    return lowest is None or (base.level or 0.0) <= (lowest.level or 0.0)


def rate_steps(settings: ScenarioSettings, arrivals: Arrivals, step_s: float, axis: str = RATE) -> StepAt:
    """Steps of a search along the rate. Where ``step_s`` would bring under 20 requests a step lasts longer, up to
    five times: a few answers say little."""

    def step_at(level: float, number: int) -> Step:
        lasts_s = min(max(step_s, _FEWEST_REQUESTS / level), _LONGEST * step_s)
        return Step(
            f"{level:g}/s #{number + 1}",
            (steady("search", lasts_s, level),),
            arrivals,
            settings.seed_of(round(level * 10) + 7919 * number),
            drain_s=settings.drain_s,
            note={"axis": axis, "level": level, "role": "search"},
        )

    return step_at


def concurrency_steps(settings: ScenarioSettings, step_s: float) -> StepAt:
    """Steps of a search along the number in flight, in closed loop."""

    def step_at(level: float, number: int) -> Step:
        in_flight = max(round(level), 1)
        return Step(
            f"{in_flight} in flight #{number + 1}",
            (Stage("search", step_s, concurrency=in_flight),),
            Arrivals.CLOSED,
            settings.seed_of(in_flight + 7919 * number),
            drain_s=settings.drain_s,
            note={"axis": CONCURRENCY, "level": float(in_flight), "role": "search"},
        )

    return step_at


class HighLoad(Declared):
    def steps(self, settings: ScenarioSettings) -> Generator[Step, StepOutcome, None]:
        normal, high = settings.number(NORMAL_RATE), settings.number("request_rate")
        arrivals = settings.arrivals()
        first = Step(
            "normal",
            (steady("normal", settings.number("normal_seconds"), normal),),
            arrivals,
            settings.seed_of(1),
            drain_s=settings.drain_s,
            note={"axis": RATE, "level": normal, "role": "normal"},
        )
        base = yield first
        outcome = yield replace(
            first,
            name="high",
            stages=(steady("high", settings.number("duration_seconds"), high),),
            seed=settings.seed_of(2),
            note={"axis": RATE, "level": high, "role": "high"},
        )
        judged = judged_by(settings, base)
        if judged(outcome, None).met is not False or not settings.flag("find_breaking_point") or high <= normal:
            return
        held = judged(base, None).met is not False
        search = Search(
            normal,
            high,
            floor=normal / _DOWN,
            held=normal if held else None,
            broke=high if held else normal,
            width=settings.number("width"),
        )
        yield from find_limit(
            search, rate_steps(settings, Arrivals.CONSTANT, settings.number("step_seconds")), judged
        )


class FindLimit(Declared):
    def steps(self, settings: ScenarioSettings) -> Generator[Step, StepOutcome, None]:
        step_s = settings.number("step_seconds")
        if settings.params["axis"] == CONCURRENCY:
            ceiling = settings.whole("max_concurrency")
            if ceiling > settings.options.connections:
                raise SpecError(
                    f"max_concurrency {ceiling} is more than the {settings.options.connections} connections allowed",
                    remedy="Raise the number of connections, or lower max_concurrency.",
                )
            search = Search(1, ceiling, floor=1, whole=True, width=settings.number("width"))
            yield from find_limit(search, concurrency_steps(settings, step_s), judged_by(settings))
            return
        start, ceiling_rate = settings.number("start_rate"), settings.number("max_rate")
        search = Search(start, max(ceiling_rate, start), floor=start / _DOWN, width=settings.number("width"))
        yield from find_limit(search, rate_steps(settings, settings.arrivals(), step_s), judged_by(settings))


_STEP_SECONDS = number("step_seconds", "seconds at each level of the search for the breaking point", 0.1)
WIDTH = number("width", "how narrow the interval of the breaking point gets, as a share of its lower end", 0.01, 1.0)

HIGH_LOAD = HighLoad(
    "high_load",
    DESCRIPTIONS["high_load"],
    (
        number(NORMAL_RATE, "requests a second that the target is used to"),
        number("request_rate", "requests a second of the high load"),
        number("duration_seconds", "how long the high load lasts", 0.1),
        whole("concurrent_requests", "connections at most; a request that is due while all are busy goes late"),
        number("normal_seconds", "how long the usual load is measured before", 0.1),
        _STEP_SECONDS,
        WIDTH,
        flag("find_breaking_point", "look for the rate at which it breaks, where the high load breaks it"),
        ARRIVALS,
        WINDOW,
    ),
    {
        "quick": {
            NORMAL_RATE: 20.0,
            "request_rate": 200.0,
            "duration_seconds": 2.0,
            "concurrent_requests": 100,
            "normal_seconds": 1.0,
            "step_seconds": 0.5,
            "width": 0.25,
            "find_breaking_point": True,
            "arrivals": "poisson",
            "window_seconds": 0.25,
        },
        "standard": {
            NORMAL_RATE: 50.0,
            "request_rate": 500.0,
            "duration_seconds": 30.0,
            "concurrent_requests": 100,
            "normal_seconds": 5.0,
            "step_seconds": 3.0,
            "width": 0.10,
            "find_breaking_point": True,
            "arrivals": "poisson",
            "window_seconds": 1.0,
        },
        "full": {
            NORMAL_RATE: 100.0,
            "request_rate": 1000.0,
            "duration_seconds": 300.0,
            "concurrent_requests": 100,
            "normal_seconds": 30.0,
            "step_seconds": 10.0,
            "width": 0.10,
            "find_breaking_point": True,
            "arrivals": "poisson",
            "window_seconds": 1.0,
        },
    },
    scaled={"request_rate": 10.0},
)

_LIMIT = {
    "axis": RATE,
    "start_rate": 5.0,
    "max_rate": 100_000.0,
    "max_concurrency": 512,
    "step_seconds": 3.0,
    "width": 0.05,
    "arrivals": "constant",
    "window_seconds": 1.0,
}
FIND_LIMIT = FindLimit(
    "find_limit",
    DESCRIPTIONS["find_limit"],
    (
        Parameter("axis", ("string",), choices=(RATE, CONCURRENCY), description="what grows from step to step"),
        number("start_rate", "requests a second of the first step"),
        number("max_rate", "requests a second that are never exceeded"),
        whole("max_concurrency", "requests in flight that are never exceeded"),
        _STEP_SECONDS,
        WIDTH,
        ARRIVALS,
        WINDOW,
    ),
    {
        "quick": {**_LIMIT, "step_seconds": 1.0, "window_seconds": 0.25},
        "standard": {**_LIMIT, "window_seconds": 0.5},
        "full": {**_LIMIT, "step_seconds": 15.0},
    },
    scaled={"start_rate": 1.0},
)
