"""Arms, trials, and the order in which they run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Phase(StrEnum):
    """Warm-up executions are repeated after every fresh start and are never planned samples."""

    WARMUP = "warmup"
    MEASURED = "measured"
    INSTRUMENTED = "instrumented"


TRACING = "otel"
"""The instrument of a suite whose pass has the spans that agents export themselves."""


class Side(StrEnum):
    """The two sides of a comparison that runs inside one run."""

    BASELINE = "baseline"
    CANDIDATE = "candidate"


@dataclass(frozen=True, slots=True)
class Arm:
    """One configuration being measured."""

    arm_id: str
    name: str
    experiment: str
    params: Mapping[str, object] = field(default_factory=dict)
    benchmark: str | None = None
    agent: str | None = None
    side: Side | None = None


@dataclass(frozen=True, slots=True)
class Trial:
    """One planned execution of an arm. ``process`` counts the fresh workers that an arm goes through."""

    arm_id: str
    phase: Phase
    iteration: int
    case_id: str = ""
    instrument: str = ""
    seed: int = 0
    process: int = 0

    @property
    def key(self) -> str:
        """Unique within a run and the same when the run is planned again."""
        return f"{self.arm_id}/{self.phase}/{self.iteration}/{self.case_id}/{self.instrument}"


@dataclass(frozen=True, slots=True)
class Plan:
    """What will run, in order. ``warmups`` gives each arm's warm-up calls after a fresh start."""

    arms: tuple[Arm, ...]
    trials: tuple[Trial, ...]
    warmups: Mapping[str, int] = field(default_factory=dict)

    def arm(self, arm_id: str) -> Arm:
        for arm in self.arms:
            if arm.arm_id == arm_id:
                return arm
        raise KeyError(arm_id)
