"""An executed trial: what was read, or how it failed.

What scorers said of an answer is ``scoring`` in the sample's details. An item of it has ``scorer``, ``weight`` and
``values``, and where there is more to say ``explanation`` and ``details``. What kept the scorer from judging is
``problem`` in those details: a ``code`` and a ``message``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from agentdyno.model.plan import Phase

LEFT_OUT = {"left_out": True}
"""For a field that stays out of documents as long as it has its default: only few values have another."""

HOST = "host_id"
"""In the details of a sample: where it was measured. In what an arm observed: the host whose times count."""
ELSEWHERE = "measured_elsewhere"
"""In the details of a sample: readings that depend on the machine, of a host whose times do not count here."""
DISTURBED = "disturbed"
"""In the details of a sample: for how long the bench itself stood still in it (``paused_s``), and the ``readings`` of
time that are no measurement for that reason; or for how long its own process was stopped alone (``stopped_s``), which
excuses nothing."""

RAISED = "scorer_raised"
"""The scorer raised: the answer has 0 from it. Runs of earlier versions have ``scorer_failed``, and no value."""
UNSCORABLE = "unscorable"
"""The scorer raised ``Unscorable``: it has no verdict about this answer."""

JUDGED_BY = "judged_by"
"""In the details of what a scorer said: the fingerprint of the model that judged, of its prompt and its rubric."""

SCORER_BROKEN = "scorer-broken"
"""The warning of a run in which a scorer raised on every answer of every agent."""


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


def disturbance_of(sample: Sample) -> tuple[float, Mapping[str, float]] | None:
    """How long the bench stood still in the sample, and the readings that do not count therefore."""
    told = sample.details.get(DISTURBED)
    if told is None or not isinstance(told, Mapping):
        return None
    paused_s, readings = told.get("paused_s"), told.get("readings")
    if not isinstance(paused_s, (int, float)) or not isinstance(readings, Mapping):
        return None
    return float(paused_s), readings


def stopped_alone_s(sample: Sample) -> float:
    """How long a process of the subject was stopped in the sample while the bench went on, in seconds."""
    told = sample.details.get(DISTURBED)
    if told is None:  # asked for every sample, and telling a mapping takes its time
        return 0.0
    stopped_s = told.get("stopped_s") if isinstance(told, Mapping) else None
    return float(stopped_s) if isinstance(stopped_s, (int, float)) else 0.0


@dataclass(frozen=True, slots=True)
class AnswerMark:
    """What a person says of one answer. ``agent`` is NAME@VERSION, ``iteration`` the epoch as samples count it;
    ``who`` is the name of a key, "local" or what was typed; ``at`` UTC milliseconds."""

    run_id: str
    benchmark: str
    case_id: str
    agent: str
    iteration: int
    who: str
    at: int
    is_right: bool
    note: str = ""


def scoring_items(details: Mapping[str, object]) -> Iterator[tuple[int, Mapping[str, object]]]:
    """What each scorer said, with its place in the rubric; items that were too long to keep whole are left out."""
    scoring = details.get("scoring")
    for place, item in enumerate(scoring if isinstance(scoring, (list, tuple)) else ()):
        if type(item) is dict or isinstance(item, Mapping):
            yield place, item


def problem_code(item: Mapping[str, object]) -> str:
    """What kept a scorer from judging, "" where nothing did."""
    details = item.get("details")
    if details is None:
        return ""
    problem = details.get("problem") if isinstance(details, Mapping) else None
    return str(problem.get("code", "")) if isinstance(problem, Mapping) else ""


def raised_reasons(details: Mapping[str, object]) -> list[str]:
    """Why scorers raised on the answer, one sentence each."""
    return [str(item.get("explanation", "")) for _, item in scoring_items(details) if problem_code(item) == RAISED]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a run is, for a callback between samples: ``done`` of ``planned`` trials (which may shrink when a stop
    rule fires); times in seconds.

    ``pass_rate`` (``None`` without agents), ``tokens`` and ``cost_usd`` are those of the agents so far. ``sample`` is
    the one that was just recorded; ``None`` at the start, and where a trial ended without another.
    """

    run_id: str
    done: int
    planned: int
    errors: int
    elapsed_s: float
    remaining_s: float | None
    doing: str = ""
    pass_rate: float | None = None
    tokens: int = 0
    cost_usd: float = 0.0
    sample: Sample | None = None
