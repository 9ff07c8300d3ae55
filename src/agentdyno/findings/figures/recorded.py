"""What the recording proxy saw of an arm's executions, counted as they pass by."""

from __future__ import annotations

from dataclasses import dataclass, field

from agentdyno.model.sample import Sample

CALLS = "proxy.calls"
FAULTS = (
    "proxy.truncated",
    "proxy.no_finish_reason",
    "proxy.broken",
    "proxy.token_limit",
    "proxy.rate_limited",
    "proxy.retries",
)
"""Readings that tell of something that an agent, or its framework, may have hidden."""
WAITED = "proxy.waited_s"


@dataclass(slots=True)
class CallFault:
    """How often something was seen, in how many executions of which cases, the first one named."""

    times: int = 0
    executions: int = 0
    case_id: str = ""
    answered: int = 0


@dataclass(slots=True)
class RecordedCalls:
    """``faults`` by the name of their reading; ``waited_s`` is what agents waited before another try, in all."""

    calls: int = 0
    unknown: int = 0
    waited_s: float = 0.0
    faults: dict[str, CallFault] = field(default_factory=dict)

    def add(self, sample: Sample) -> None:
        readings = sample.readings
        if CALLS not in readings:
            return
        self.calls += round(readings[CALLS])
        self.unknown += round(readings.get("proxy.unknown", 0.0))
        self.waited_s += readings.get(WAITED, 0.0)
        for name in FAULTS:
            times = round(readings.get(name, 0.0))
            if not times:
                continue
            fault = self.faults.setdefault(name, CallFault(case_id=sample.case_id))
            fault.times += times
            fault.executions += 1
            fault.answered += sample.usable
