"""One fault after the other in front of the target, and how long it takes to be well again after each."""

from __future__ import annotations

from collections.abc import Generator, Mapping

from agentdyno.errors import RunError, SpecError, nearest
from agentdyno.findings.stress.judge_levels import RATE
from agentdyno.findings.stress.judge_steps import StepOutcome
from agentdyno.findings.stress.words import DESCRIPTIONS
from agentdyno.load.scenarios.base import ARRIVALS, NORMAL_RATE, WINDOW, Declared, ScenarioSettings, number, steady
from agentdyno.load.target.process_faults import FREEZE, KILL
from agentdyno.model.load import Step
from agentdyno.model.parameter import Parameter

FAULTS = ("refuse", "reset", "latency", "errors", "half_open", "truncated", "stream_error")
"""What the proxy in front of the target does: no connection is taken; lost in the middle of the answer; answers are
held back; errors instead of answers; connections that stay silent; answers cut off; error objects in the stream."""
PROCESS_FAULTS = (KILL, FREEZE)
"""What is done to an agent that no proxy can stand in front of: its processes are killed, or stopped for a while."""


class FailureRecovery(Declared):
    def check(self, params: Mapping[str, object]) -> None:
        fault_names(params["faults"])

    def steps(self, settings: ScenarioSettings) -> Generator[Step, StepOutcome, None]:
        set_fault = settings.levers.set_fault
        if set_fault is None:
            raise RunError(
                "failure_recovery needs a target with an address, or with processes that are started here",
                remedy="Use the address of an endpoint or an agent with a process of its own.",
            )
        faults = fault_names(settings.params["faults"])
        try:
            yield self._step(settings, "before", "normal", "before_seconds", {}, 0)
            for place, fault in enumerate(faults):
                note = {"fault": fault}
                set_fault(fault)
                yield self._step(settings, f"fault {fault}", "fault", "fault_seconds", note, 2 * place + 1)
                set_fault("")
                struck = settings.levers.fault_struck(fault) if settings.levers.fault_struck is not None else None
                proven: dict[str, float | str] = {} if struck is None else {"struck": float(struck)}
                yield self._step(
                    settings, f"after {fault}", "recovery", "recovery_seconds", {**note, **proven}, 2 * place + 2
                )
        finally:
            set_fault("")

    def _step(
        self,
        settings: ScenarioSettings,
        name: str,
        role: str,
        seconds: str,
        note: Mapping[str, float | str],
        place: int,
    ) -> Step:
        # What a fault left hanging is not waited for: the time to recover counts from the fault's end.
        drain_s = min(settings.drain_s, settings.number("drain_seconds")) if role == "fault" else settings.drain_s
        return Step(
            name,
            (steady(role, settings.number(seconds), settings.number("request_rate")),),
            settings.arrivals(),
            settings.seed_of(place),
            drain_s=drain_s,
            note={"axis": RATE, "role": role, **note},
        )


def fault_names(value: object) -> tuple[str, ...]:
    """The faults that a parameter names; ``SpecError`` for one that there is not."""
    names = [part.strip() for part in value.split(",")] if isinstance(value, str) else value
    known = (*FAULTS, *PROCESS_FAULTS)
    if not isinstance(names, (list, tuple)) or not names or not all(isinstance(name, str) and name for name in names):
        raise SpecError(f"failure_recovery: faults are names, not {value!r}", remedy=f"Known: {', '.join(known)}.")
    for name in names:
        if name not in known:
            raise SpecError(f"failure_recovery: there is no fault {name!r}", remedy=nearest(name, known))
    return tuple(names)


FAILURE_RECOVERY = FailureRecovery(
    "failure_recovery",
    DESCRIPTIONS["failure_recovery"],
    (
        number(NORMAL_RATE, "requests a second that the target is used to"),
        number("request_rate", "requests a second"),
        Parameter("faults", ("array", "string"), description="faults in the order in which they come"),
        number("before_seconds", "how long the usual load is measured before", 0.1),
        number("fault_seconds", "how long each fault lasts", 0.1),
        number("recovery_seconds", "how long the target has to recover from each", 0.1),
        number("drain_seconds", "how long answers are waited for when a fault ends", 0.0),
        ARRIVALS,
        WINDOW,
    ),
    {
        "quick": {
            NORMAL_RATE: 20.0,
            "request_rate": 20.0,
            "faults": ["refuse", "reset", "errors", "truncated"],
            "before_seconds": 0.75,
            "fault_seconds": 0.5,
            "recovery_seconds": 0.75,
            "drain_seconds": 0.25,
            "arrivals": "constant",
            "window_seconds": 0.25,
        },
        "standard": {
            NORMAL_RATE: 50.0,
            "request_rate": 50.0,
            "faults": list(FAULTS),
            "before_seconds": 10.0,
            "fault_seconds": 5.0,
            "recovery_seconds": 10.0,
            "drain_seconds": 2.0,
            "arrivals": "poisson",
            "window_seconds": 0.5,
        },
        "full": {
            NORMAL_RATE: 100.0,
            "request_rate": 100.0,
            "faults": list(FAULTS),
            "before_seconds": 30.0,
            "fault_seconds": 30.0,
            "recovery_seconds": 60.0,
            "drain_seconds": 5.0,
            "arrivals": "poisson",
            "window_seconds": 0.5,
        },
    },
    scaled={"request_rate": 1.0},
    needs=frozenset({"proxy"}),
)
