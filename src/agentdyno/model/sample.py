"""An executed trial: what was read, or how it failed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from agentdyno.model.plan import Phase

LEFT_OUT = {"left_out": True}
"""For a field that stays out of documents as long as it has its default: only few values have another."""


class Status(StrEnum):
    """Never merged: an infrastructure error is not a wrong answer."""

    OK = "ok"
    FAILED = "failed"
    ERROR = "error"
    TIMEOUT = "timeout"
    LIMIT = "limit"
    CANCELLED = "cancelled"


class FailureKind(StrEnum):
    """How a sample failed. The first nine go with status ``error``, the last four with ``limit``."""

    EXCEPTION = "exception"
    EXIT = "exit"
    SIGNAL = "signal"
    SERIALISATION = "serialisation"
    HTTP_ERROR = "http_error"
    STREAM_ERROR = "stream_error"
    TRUNCATED = "truncated"
    RESET = "reset"
    RATE_LIMITED = "rate_limited"
    TIMEOUT = "timeout"
    MEMORY = "memory"
    OUTPUT = "output"
    TOKENS = "tokens"
    COST = "cost"


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure is a record. ``where`` is the stage: load, setup, warmup, execute or teardown."""

    kind: FailureKind
    message: str
    where: str = "execute"
    traceback: str | None = None
    output_tail: str | None = None


@dataclass(frozen=True, slots=True)
class Sample:
    """One executed trial. Durations are seconds per call; a sample covers ``inner_loops`` calls."""

    arm_id: str
    phase: Phase
    iteration: int
    status: Status
    started_at_ms: int
    readings: Mapping[str, float] = field(default_factory=dict)
    case_id: str = ""
    instrument: str = ""
    seed: int = 0
    process: int = 0
    inner_loops: int = 1
    attempts: int = 1
    scores: Mapping[str, float | None] = field(default_factory=dict)
    usage: Mapping[str, float] = field(default_factory=dict)
    output: object = None
    details: Mapping[str, object] = field(default_factory=dict)
    failure: Failure | None = None
    part: int = field(default=0, metadata=LEFT_OUT)
    """Which sample of its trial it is, where a trial gives several."""

    @property
    def key(self) -> str:
        """The key of the trial that this sample executed."""
        return f"{self.arm_id}/{self.phase}/{self.iteration}/{self.case_id}/{self.instrument}"

    @property
    def usable(self) -> bool:
        """Whether its readings may enter a statistic of the timed work."""
        return self.phase is Phase.MEASURED and self.status in (Status.OK, Status.FAILED)
