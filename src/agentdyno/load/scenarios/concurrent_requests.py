"""More and more requests in flight, up to where the target is saturated and beyond."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from dataclasses import replace

from agentdyno.findings.stress.judge_steps import StepOutcome
from agentdyno.findings.stress.words import DESCRIPTIONS
from agentdyno.load.limit import Search, find_limit
from agentdyno.load.scenarios.base import WINDOW, Declared, ScenarioSettings, number, whole
from agentdyno.load.scenarios.high_load import WIDTH, concurrency_steps, judged_by
from agentdyno.model.load import LoadOptions, Step


class ConcurrentRequests(Declared):
    def options(self, options: LoadOptions, params: Mapping[str, object]) -> LoadOptions:
        most = params.get("max_concurrency")
        options = Declared.options(self, options, params)
        # One request in flight needs one connection: a cap below would be measured instead of the target.
        return replace(options, connections=max(options.connections, most)) if isinstance(most, int) else options

    def steps(self, settings: ScenarioSettings) -> Generator[Step, StepOutcome, None]:
        ceiling = settings.whole("max_concurrency")
        start = min(settings.whole("start_concurrency"), ceiling)
        search = Search(start, ceiling, floor=1, whole=True, width=settings.number("width"))
        step_at = concurrency_steps(settings, settings.number("step_seconds"))
        yield from find_limit(search, step_at, judged_by(settings))


CONCURRENT_REQUESTS = ConcurrentRequests(
    "concurrent_requests",
    DESCRIPTIONS["concurrent_requests"],
    (
        whole("start_concurrency", "requests in flight in the first step"),
        whole("max_concurrency", "requests in flight in the last step"),
        number("step_seconds", "seconds at each level", 0.1),
        WIDTH,
        WINDOW,
    ),
    {
        "quick": {
            "start_concurrency": 1,
            "max_concurrency": 32,
            "step_seconds": 0.5,
            "width": 1.0,
            "window_seconds": 0.25,
        },
        "standard": {
            "start_concurrency": 1,
            "max_concurrency": 128,
            "step_seconds": 5.0,
            "width": 0.10,
            "window_seconds": 1.0,
        },
        "full": {
            "start_concurrency": 1,
            "max_concurrency": 1024,
            "step_seconds": 20.0,
            "width": 0.10,
            "window_seconds": 1.0,
        },
    },
)
