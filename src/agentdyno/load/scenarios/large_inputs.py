"""Inputs that double in length until one is too long, then bisection."""

from __future__ import annotations

from collections.abc import Generator

from agentdyno.errors import SpecError
from agentdyno.findings.stress.judge_levels import SIZE
from agentdyno.findings.stress.judge_steps import StepOutcome
from agentdyno.findings.stress.words import DESCRIPTIONS
from agentdyno.load.limit import Search, find_limit
from agentdyno.load.scenarios.base import WINDOW, Declared, ScenarioSettings, number, whole
from agentdyno.load.scenarios.high_load import WIDTH, judged_by
from agentdyno.model.load import Arrivals, Stage, Step

_WORDS = "words:"


def named_words(words: int) -> str:
    """The name of the set of requests whose inputs have so many words."""
    return f"{_WORDS}{words}"


def words_named(requests: str) -> int | None:
    """The length that a set's name stands for; ``None`` for the target's own set."""
    if not requests:
        return None
    if not requests.startswith(_WORDS) or not requests.removeprefix(_WORDS).isdecimal():
        raise SpecError(f"there is no set of requests {requests!r}")
    return int(requests.removeprefix(_WORDS))


class LargeInputs(Declared):
    def steps(self, settings: ScenarioSettings) -> Generator[Step, StepOutcome, None]:
        start, most = settings.whole("start_words"), settings.whole("max_words")
        if settings.levers.limited_to is not None:
            most = max(min(most, settings.levers.limited_to), start)
        in_flight, step_s = settings.whole("in_flight"), settings.number("step_seconds")

        def step_at(level: float, number: int) -> Step:
            words = max(round(level), 1)
            return Step(
                f"{words} words #{number + 1}",
                (Stage("search", step_s, concurrency=in_flight),),
                Arrivals.CLOSED,
                settings.seed_of(words + 7919 * number),
                requests=named_words(words),
                drain_s=settings.drain_s,
                note={"axis": SIZE, "level": float(words), "role": "search"},
            )

        search = Search(start, max(most, start), floor=1, whole=True, width=settings.number("width"))
        yield from find_limit(search, step_at, judged_by(settings))


LARGE_INPUTS = LargeInputs(
    "large_inputs",
    DESCRIPTIONS["large_inputs"],
    (
        whole("start_words", "words of the first inputs"),
        whole("max_words", "words of the longest inputs"),
        whole("in_flight", "requests in flight"),
        number("step_seconds", "seconds at each length", 0.05),
        WIDTH,
        WINDOW,
    ),
    {
        "quick": {
            "start_words": 64,
            "max_words": 8192,
            "in_flight": 1,
            "step_seconds": 0.3,
            "width": 0.25,
            "window_seconds": 0.3,
        },
        "standard": {
            "start_words": 64,
            "max_words": 131_072,
            "in_flight": 1,
            "step_seconds": 3.0,
            "width": 0.10,
            "window_seconds": 1.0,
        },
        "full": {
            "start_words": 64,
            "max_words": 1_048_576,
            "in_flight": 2,
            "step_seconds": 10.0,
            "width": 0.10,
            "window_seconds": 1.0,
        },
    },
)
