"""Normalised times while samples pass by: what the workers read of the references becomes ``duration_norm_s``
and ``cpu_norm_s``."""

from __future__ import annotations

import platform
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TypeAlias

from agentdyno.findings.figures.normalised import (
    CPU_NORMALISED,
    NONE,
    NORMALISED,
    QUEUE_SHARE,
    SPENT,
    cpu_variant,
    least_disturbed,
    normalised_s,
    standard,
    variant,
)
from agentdyno.findings.figures.summarise import summary_of
from agentdyno.model import ArmResult, Metric, MetricSummary, Provenance, RunResult, RunWarning, Sample, known_metric
from agentdyno.runs.host_state import HostState, ReferenceStandard, keep_standard, read_state
from agentdyno.runs.place import now_ms
from agentdyno.workers.reference import INTERPRETED, MEMORY, PROCESS, QUEUED, READING, REFERENCES
from agentdyno.workers.reference import SPENT as SPENT_READING

QUEUED_SHARE, QUEUED_S = 0.1, 0.1
"""Share of the samples' time, and seconds in all, that others may have the CPU before it is worth a warning."""
WAYS = (INTERPRETED, MEMORY, NONE)
"""The usual one first: interpreted code is what most subjects are, and it was never much worse than another."""


def interpreter_key(python: object = None, implementation: object = None) -> str:
    """Names an interpreter, this one unless told: a reference takes as long as its interpreter makes it."""
    return f"{implementation or platform.python_implementation()} {python or platform.python_version()}".lower()


_Place: TypeAlias = str | int


@dataclass(slots=True)
class _Arm:
    """What was read in one arm; ``spent_s`` is by process."""

    readings: dict[str, list[float]] = field(default_factory=lambda: {name: [] for name in REFERENCES})
    made: defaultdict[str, defaultdict[_Place, list[float]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )
    """By the metric that tells it, and case or process: what every way of normalising makes of the samples."""
    spent_s: dict[float, float] = field(default_factory=dict)
    queued_s: float = 0.0
    worked_s: float = 0.0
    standards: dict[str, float] = field(default_factory=dict)

    def read(self, now: Mapping[str, float], told: Mapping[str, float]) -> None:
        self.spent_s[told.get(PROCESS, 0.0)] = told.get(SPENT_READING, 0.0)
        for name, seconds in now.items():
            self.readings[name].append(seconds)


class Normaliser:
    """Takes every sample of a run before it is stored.

    ``references`` says by arm id which reference its times are normalised by; ``INTERPRETED`` unless one was learned.
    ``observed`` is what the executor has learned of each arm, its interpreter among it. Where this host has no
    standard yet, the first readings set it.
    """

    def __init__(
        self,
        references: Mapping[str, str] | None = None,
        observed: Mapping[str, Mapping[str, object]] | None = None,
        state: Callable[[], HostState] = read_state,
        keep: Callable[[str, ReferenceStandard], ReferenceStandard] = keep_standard,
    ) -> None:
        self._references = dict(references or {})
        self._observed = observed if observed is not None else {}
        self._state, self._keep = state, keep
        self._standards: dict[str, dict[str, float]] = {}
        self._arms: dict[str, _Arm] = {}

    def take(self, sample: Sample) -> Sample:
        """The sample as it is stored: with normalised times where they can be known, without readings of ours."""
        told: dict[str, float] = {}
        readings: dict[str, float] = {}
        for name, value in sample.readings.items():
            if name.startswith(READING):
                told[name] = value
            elif name not in (NORMALISED, CPU_NORMALISED):
                readings[name] = value
        if not told:
            return sample
        arm = self._arms.get(sample.arm_id)
        if arm is None:
            arm = self._arms[sample.arm_id] = _Arm()
        now = {name: told[READING + name] for name in REFERENCES if told.get(READING + name, 0.0) > 0}
        arm.read(now, told)
        if sample.usable:
            readings |= self._normalise(sample, arm, now, told.get(QUEUED))
        return replace(sample, readings=readings)

    def _normalise(
        self, sample: Sample, arm: _Arm, now: Mapping[str, float], queued_s: float | None
    ) -> dict[str, float]:
        """Every way of it is noted, so that later runs can tell which suits the subject."""
        readings = sample.readings
        wall_s, cpu_s = readings.get("duration_s"), readings.get("cpu_s")
        if wall_s is None or cpu_s is None:
            return {}
        cpu_s -= readings.get("server.cpu_s", 0.0)
        if queued_s is not None:
            queued_s = min(max(0.0, queued_s), wall_s)  # the process says it, and it is read around the timed region
            arm.queued_s += queued_s * sample.inner_loops
            arm.worked_s += wall_s * sample.inner_loops
        standards = arm.standards = self._standards_of(sample.arm_id, now)
        chosen = self._references.get(sample.arm_id, INTERPRETED)
        place = sample.case_id or sample.process
        found: dict[str, float] = {}
        speeds = {NONE: 1.0, **{name: standards[name] / seconds for name, seconds in now.items()}}
        for way, speed in speeds.items():
            made = {CPU_NORMALISED: max(0.0, cpu_s) * speed}
            value = None if queued_s is None else normalised_s(wall_s, cpu_s, queued_s, speed)
            if value is not None:
                made[NORMALISED] = value
            for name, seconds in made.items():
                arm.made[_metric(name, way)][place].append(seconds)
            if way == chosen:
                found = made
        return found

    def _standards_of(self, arm_id: str, now: Mapping[str, float]) -> dict[str, float]:
        seen = self._observed.get(arm_id, {})
        key = interpreter_key(seen.get("python"), seen.get("implementation"))
        known = self._standards.get(key)
        if known is None:
            stored = self._state().standards.get(key)
            known = self._standards[key] = dict(stored.seconds) if stored is not None else {}
        new = {name: seconds for name, seconds in now.items() if name not in known}
        if new:
            kept = self._keep(key, ReferenceStandard({**known, **new}, "first run", now_ms()))
            known.update({**new, **kept.seconds})
        return known

    def added_to(self, result: RunResult, *, whole: bool) -> RunResult:
        """The closed run with what the references showed, arm by arm.

        Where not the ``whole`` run passed by (it was resumed), what each way makes of it is not known. Arms from
        which others took the CPU count as disturbed, as those whose ``pressure`` readings say so.
        """
        told = {warning.arm_id for warning in result.warnings if warning.code == "disturbed"}
        found = [
            item for arm_id, arm in self._arms.items() if (item := _disturbed(arm_id, arm)) and arm_id not in told
        ]
        arms = tuple(self.added_to_arm(arm, whole=whole) for arm in result.arms)
        return replace(result, arms=arms, warnings=(*result.warnings, *found))

    def added_to_arm(self, arm: ArmResult, *, whole: bool) -> ArmResult:
        """One closed arm with what the references showed. Its normalised times are those of its cases, or processes:
        of each the figure that is least disturbed."""
        seen = self._arms.get(arm.arm_id)
        if seen is None:
            return arm
        simulated = any(item.provenance is Provenance.SIMULATED for item in arm.metrics.values())
        values = {f"{READING}{name}_s": numbers for name, numbers in seen.readings.items()}
        values[SPENT] = [sum(seen.spent_s.values())]
        values |= {standard(name): [seconds] for name, seconds in seen.standards.items()}
        values[QUEUE_SHARE] = [seen.queued_s / seen.worked_s] if seen.worked_s > 0 else []
        if whole:
            values |= {name: [least_disturbed(own) for own in by.values()] for name, by in seen.made.items()}
            chosen = self._references.get(arm.arm_id, INTERPRETED)
            for name in (NORMALISED, CPU_NORMALISED):
                if name in arm.metrics:
                    values[name] = values.get(_metric(name, chosen), [])
        made = {name: _summary(name, numbers, simulated) for name, numbers in values.items() if numbers}
        return replace(arm, metrics={**arm.metrics, **made})


@cache
def _metric(quantity: str, way: str) -> str:
    return cpu_variant(way) if quantity == CPU_NORMALISED else variant(way)


def _disturbed(arm_id: str, arm: _Arm) -> RunWarning | None:
    if arm.queued_s < QUEUED_S or arm.queued_s <= QUEUED_SHARE * arm.worked_s:
        return None
    return RunWarning(
        "disturbed",
        f"others had the CPU for {arm.queued_s / arm.worked_s:.0%} of the time in which this was ready to run",
        "Stop other work, or compare only what ran interleaved; normalised times leave that waiting out.",
        arm_id,
    )


def _summary(name: str, values: list[float], simulated: bool) -> MetricSummary:
    derived = name.startswith("normalised.") or name in (QUEUE_SHARE, NORMALISED, CPU_NORMALISED)
    provenance = Provenance.SIMULATED if simulated else Provenance.DERIVED if derived else Provenance.MEASURED
    unit = "ratio" if name == QUEUE_SHARE else known_metric(name).unit
    return summary_of(Metric(name, unit, provenance=provenance), values, None)
