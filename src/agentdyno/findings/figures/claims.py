"""What agents say of themselves, held against what was measured."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

from agentdyno.model.metric import REPORTED_PREFIX, known_metric, reported_name
from agentdyno.model.sample import DISTURBED, Sample, disturbance_of, stopped_alone_s

RATIO = 2.0
"""Figures that differ by less than this factor agree."""
MOST_DISTURBED = 0.05
"""Of the executions of one side in which the bench stood still; with more, what is left may not be like the rest."""
_REPORTED_COST = reported_name("cost_usd")
OVERHEAD_S = 0.01
"""Seconds that may lie between what a clock inside an agent and one outside of it says."""


@dataclass(slots=True)
class Claim:
    """A reading of which an agent said something else than was measured: where that was seen first, and how often."""

    name: str
    case_id: str
    reported: float
    measured: float
    times: int = 1


@dataclass(slots=True)
class DroppedValue:
    """A value of an agent's that cannot be true: as it was told first, in which case, and in how many executions."""

    told: str
    case_id: str
    times: int = 0


@dataclass(slots=True)
class StoppedAlone:
    """Executions in which a process of the subject was stopped by a signal, and the bench was not."""

    stopped_s: float = 0.0
    cases: list[str] = field(default_factory=list)
    durations_s: list[float] = field(default_factory=list)
    executions: int = 0

    def add(self, sample: Sample) -> None:
        stopped_s = stopped_alone_s(sample)
        if not stopped_s:
            return
        self.executions += 1
        self.stopped_s += stopped_s
        if sample.case_id not in self.cases:
            self.cases.append(sample.case_id)
        if (duration_s := sample.readings.get("duration_s")) is not None:
            self.durations_s.append(duration_s)


@dataclass(slots=True)
class Disturbed:
    """Executions in which the bench itself stood still: how many of all, in which cases, for how long together, and
    the durations that do not count for that reason. ``alone`` are those in which the subject was stopped and the
    bench went on, whose durations do count."""

    executions: int = 0
    paused_s: float = 0.0
    of: int = 0
    cases: list[str] = field(default_factory=list)
    durations_s: list[float] = field(default_factory=list)
    alone: StoppedAlone = field(default_factory=lambda: StoppedAlone())

    @property
    def share(self) -> float:
        return self.executions / self.of if self.of else 0.0

    @classmethod
    def among(cls, samples: Iterable[Sample]) -> Disturbed:
        found = cls()
        for sample in samples:
            found.add(sample)
        return found

    def add(self, sample: Sample) -> None:
        if not sample.usable:
            return
        self.of += 1
        if sample.details.get(DISTURBED) is None:  # asked for every sample, and hardly one has it
            return
        self.alone.add(sample)
        found = disturbance_of(sample)
        if found is None:
            return
        paused_s, readings = found
        self.executions += 1
        self.paused_s += paused_s
        if sample.case_id not in self.cases:
            self.cases.append(sample.case_id)
        if (duration_s := readings.get("duration_s")) is not None:
            self.durations_s.append(duration_s)


@dataclass(slots=True)
class Claims:
    """``differing`` and ``dropped`` by the name of the reading. ``unpriced`` answers have no cost but what the agent
    stated, ``unpriced_usd`` in all."""

    differing: dict[str, Claim] = field(default_factory=dict)
    dropped: dict[str, DroppedValue] = field(default_factory=dict)
    unpriced: int = 0
    unpriced_usd: float = 0.0
    disturbed: Disturbed = field(default_factory=lambda: Disturbed())

    @classmethod
    def of(cls, samples: Iterable[Sample]) -> Claims:
        claims = cls()
        for sample in samples:
            claims.add(sample)
        return claims

    def add(self, sample: Sample) -> None:
        readings = sample.readings
        self.disturbed.add(sample)
        for own_name, reported in readings.items():
            if not own_name.startswith(REPORTED_PREFIX):
                continue
            name = own_name.removeprefix(REPORTED_PREFIX)
            measured = readings.get(name)
            if measured is None or not differs(name, reported, measured):
                continue
            known = self.differing.setdefault(name, Claim(name, sample.case_id, reported, measured, 0))
            known.times += 1
        told = sample.details.get("dropped")
        for item in map(str, told) if told is not None and isinstance(told, (list, tuple)) else ():
            self.dropped.setdefault(item.partition(" = ")[0], DroppedValue(item, sample.case_id)).times += 1
        stated = readings.get(_REPORTED_COST)
        if stated is not None and "cost_usd" not in readings:
            self.unpriced += 1
            self.unpriced_usd += stated


def differs(name: str, reported: float, measured: float) -> bool:
    """Whether one of the two is more than twice the other; of seconds, by more than a few milliseconds, too."""
    if not math.isfinite(reported) or reported < 0.0:
        return True
    low, high = sorted((reported, measured))
    return high > RATIO * low and (known_metric(name).unit != "s" or high - low > OVERHEAD_S)
