"""Less and less memory for the target's process, under its usual load."""

from __future__ import annotations

from collections.abc import Generator, Mapping

from agentdyno.errors import RunError, SpecError
from agentdyno.findings.stress.judge_levels import MEMORY, judge_step
from agentdyno.findings.stress.judge_steps import StepOutcome
from agentdyno.findings.stress.words import DESCRIPTIONS
from agentdyno.load.scenarios.base import ARRIVALS, NORMAL_RATE, WINDOW, Declared, ScenarioSettings, number, steady
from agentdyno.model.load import Step
from agentdyno.model.parameter import Parameter


class MemoryPressure(Declared):
    def check(self, params: Mapping[str, object]) -> None:
        _shares(params["shares"])

    def steps(self, settings: ScenarioSettings) -> Generator[Step, StepOutcome, None]:
        set_memory, in_use = settings.levers.set_memory, settings.levers.memory_in_use
        if set_memory is None or in_use is None:
            raise RunError(
                "memory_pressure needs a target whose process it may limit",
                remedy="Use an agent that runs as a process of its own here, or leave this scenario out.",
            )
        shares = _shares(settings.params["shares"])
        try:
            base = yield self._step(settings, "unlimited", "normal", {}, 0)
            used = in_use()
            for number_, share in enumerate(shares, start=1):
                left = set_memory(round(used * share))
                if left is None:
                    return
                note: dict[str, float | str] = {"level": float(left), "share": share, "in_use": float(used)}
                if settings.levers.memory_limited_by is not None:
                    note["means"] = settings.levers.memory_limited_by()
                outcome = yield self._step(settings, f"{share:g} of what it uses", "search", note, number_)
                if judge_step(outcome, settings.objectives, base, settings.self_check).met is False:
                    set_memory(None)
                    yield self._step(settings, "after", "recovery", {}, len(shares) + 1)
                    return
        finally:
            set_memory(None)

    def _step(
        self, settings: ScenarioSettings, name: str, role: str, note: Mapping[str, float | str], place: int
    ) -> Step:
        return Step(
            name,
            (steady(role, settings.number("step_seconds"), settings.number("request_rate")),),
            settings.arrivals(),
            settings.seed_of(place),
            drain_s=settings.drain_s,
            note={"axis": MEMORY, "role": role, **note},
        )


def _shares(value: object) -> tuple[float, ...]:
    items = value if isinstance(value, (list, tuple)) else [value]
    shares = [float(item) for item in items if isinstance(item, (int, float)) and not isinstance(item, bool)]
    if len(shares) != len(items) or not shares or min(shares) <= 0.0:
        raise SpecError(
            f"memory_pressure: shares are numbers above 0, not {value!r}", remedy="For example [2, 1.5, 1.1]."
        )
    return tuple(sorted(set(shares), reverse=True))


_SHARES = [2.0, 1.5, 1.25, 1.1, 1.0, 0.9, 0.75]
MEMORY_PRESSURE = MemoryPressure(
    "memory_pressure",
    DESCRIPTIONS["memory_pressure"],
    (
        number(NORMAL_RATE, "requests a second that the target is used to"),
        number("request_rate", "requests a second"),
        number("step_seconds", "seconds at each limit", 0.1),
        Parameter("shares", ("array",), description="limits to try, as multiples of the memory that it uses"),
        ARRIVALS,
        WINDOW,
    ),
    {
        "quick": {
            NORMAL_RATE: 20.0,
            "request_rate": 20.0,
            "step_seconds": 0.75,
            "shares": [1.5, 1.1, 1.0, 0.9],
            "arrivals": "poisson",
            "window_seconds": 0.25,
        },
        "standard": {
            NORMAL_RATE: 50.0,
            "request_rate": 50.0,
            "step_seconds": 10.0,
            "shares": _SHARES,
            "arrivals": "poisson",
            "window_seconds": 1.0,
        },
        "full": {
            NORMAL_RATE: 100.0,
            "request_rate": 100.0,
            "step_seconds": 60.0,
            "shares": _SHARES,
            "arrivals": "poisson",
            "window_seconds": 1.0,
        },
    },
    scaled={"request_rate": 1.0},
    needs=frozenset({"process"}),
)
