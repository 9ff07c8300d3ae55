"""The seams: what a part must offer to be put on the bench, to watch it, or to report on it."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

from agentdyno.model.plan import Phase
from agentdyno.model.sample import FailureKind, Status

if TYPE_CHECKING:
    from agentdyno.model.case import Case, Response, Score
    from agentdyno.model.findings import Findings
    from agentdyno.model.metric import Metric
    from agentdyno.model.plan import Plan, Trial
    from agentdyno.model.result import RunResult
    from agentdyno.model.sample import Sample


@dataclass(slots=True)
class ExperimentContext:
    """What an experiment is told about the execution it is in.

    ``rng`` is seeded anew for every trial; the same trial of every arm gets the same seed. Where fast calls are timed
    in a batch, it goes on from call to call, and what the first call returned is stored. ``artifacts_dir`` is a
    folder of this run for files worth keeping; what is in it when the run closes is listed in the result.

    ``part`` counts the samples that this trial has already, where ``execute_once`` yields them: 0, or more after a
    run that was killed is resumed. The next sample that it yields is that one.
    """

    run_id: str = ""
    arm_id: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    phase: Phase = Phase.MEASURED
    iteration: int = 0
    seed: int = 0
    rng: random.Random = field(default_factory=random.Random)
    artifacts_dir: Path = field(default_factory=Path)
    observed: dict[str, Any] = field(default_factory=dict)
    part: int = 0

    def observe(self, **configuration: Any) -> None:
        """Records the configuration that is really in force: the pragma read back, the model that answered.

        A run compares what its arms observed and warns when two arms turn out to be the same thing.
        """
        self.observed.update(configuration)


class Experiment:
    """Code that can be measured. Only ``execute_once`` is timed.

    Parameters are what ``__init__`` declares; ``self.params`` holds their values. ``execute_once`` returns a
    dict (numbers become metrics named ``result.<key>``) or ``None``. Each method may be ``async``.

    An ``execute_once`` that *yields* such dicts gives several samples a trial, as a training gives evaluations: each
    is stored as soon as it is yielded, and timed from the one before. There is no warm-up for it, and ``timeout_s``
    holds for each sample. When a run that was killed is resumed, ``context.part`` says how many samples are stored;
    what it needs to go on from there it keeps in ``context.artifacts_dir``.

    ``metrics`` declares returned numbers so that they can be judged:
    ``metrics = {"rows_per_s": Metric("rows_per_s", "/s", Direction.HIGHER)}``.
    """

    param_schema: ClassVar[Mapping[str, Any] | None] = None
    metrics: ClassVar[Mapping[str, Metric]] = {}

    def __init__(self, parameters: Mapping[str, Any] | None = None) -> None:
        self.params: dict[str, Any] = dict(parameters or {})

    def setup(self, context: ExperimentContext) -> Any:
        """Runs once before the first execution in a process; not timed."""

    def execute_once(self, context: ExperimentContext) -> Any:
        """One execution: the timed work."""
        raise NotImplementedError(f"{type(self).__name__} must define execute_once(context)")

    def teardown(self, context: ExperimentContext) -> Any:
        """Runs once at the end, whatever happened before."""


class Instrument:
    """Watches an execution and writes readings into a dict.

    ``perturbs`` says whether watching changes what is watched; such an instrument gets executions of its own
    and never shares one with the clock. Numbers become metrics named ``<instrument>.<key>``; anything else is
    kept as detail. Files go to ``artifacts_dir``.
    """

    name: str = ""
    perturbs: bool = True

    def watch(self, readings: dict[str, Any], artifacts_dir: Path) -> AbstractContextManager[None]:
        """A context manager around one timed block (of one or more calls)."""
        return _nothing()


@contextmanager
def _nothing() -> Iterator[None]:
    yield


class Agent(Protocol):
    """Something that answers a case. Adapters turn functions, commands and endpoints into one.

    ``run`` may be called for several cases at the same time. It raises ``CaseFailed`` where the answer is missing
    for a reason it can name; any other exception is recorded as the agent's own. ``config`` is what a result may
    show of its configuration: no secrets. ``paid`` is true where a call may cost money.
    """

    name: str
    version: str
    config: Mapping[str, object]
    paid: bool

    async def run(self, case: Case) -> Response: ...

    async def start(self) -> None:
        """Before the first case; raises a ``DynoError`` where the agent cannot work at all."""

    async def close(self) -> None:
        """After the last case, whatever happened."""


MAY_BLOCK_S: ContextVar[float | None] = ContextVar("agentdyno_may_block_s", default=None)
"""Set while an agent is alone in its event loop: it may block the loop, for so many seconds at most."""


CASE_FOLDER: ContextVar[Callable[[], Path] | None] = ContextVar("agentdyno_case_folder", default=None)
"""Names a folder of the run for this try of this case, not made yet; the same one when the run is resumed."""
CASE_ENVIRON: ContextVar[Mapping[str, str] | None] = ContextVar("agentdyno_case_environ", default=None)
"""Variables that the processes of an agent are to have for the case that is being run, beside their own."""
CASE_LEFT: ContextVar[Callable[[Callable[[], Awaitable[Response]]], None] | None] = ContextVar(
    "agentdyno_case_left", default=None
)
"""Takes from an agent that is cancelled a way to learn what it had done by then; asked after its time has stopped."""
CASE_CLOCK: ContextVar[Callable[[], AbstractContextManager[None]] | None] = ContextVar(
    "agentdyno_case_clock", default=None
)
"""Stands still inside what it returns: neither the time of the case nor its limit goes on."""


def outside_the_case() -> AbstractContextManager[None]:
    """Around what an agent's bench does and the agent does not: starting a process anew, or ending one.

    It must end by itself: the time limit of the case does not end it.
    """
    clock = CASE_CLOCK.get()
    return _nothing() if clock is None else clock()


class CaseFailed(Exception):
    """An agent has no answer, and says why.

    ``retryable`` failures are the infrastructure's (connection reset, 429, 503): trying again may help, after
    ``retry_after_s`` where the other side asked for that. ``fatal`` ones (401, no such model, no such command)
    would meet every case alike, so the run ends with ``message`` and ``remedy``. ``response`` is what had arrived.
    """

    def __init__(
        self,
        kind: FailureKind,
        message: str,
        *,
        status: Status = Status.ERROR,
        retryable: bool = False,
        retry_after_s: float | None = None,
        fatal: bool = False,
        remedy: str = "",
        response: Response | None = None,
        traceback: str | None = None,
        output_tail: str | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.status = status
        self.retryable = retryable
        self.retry_after_s = retry_after_s
        self.fatal = fatal
        self.remedy = remedy
        self.response = response
        self.traceback = traceback
        self.output_tail = output_tail


class Unscorable(Exception):
    """A scorer raises it where it has no verdict about an answer, and says why.

    The answer then has no value from this scorer, which is counted and shown. Any other exception of a scorer gives
    the answer 0.
    """

    def __init__(self, reason: str = "") -> None:
        super().__init__(reason)


class Scorer(Protocol):
    """Judges an answer. ``check`` says beforehand why a case cannot be judged (a target of the wrong type).

    ``score`` raises ``Unscorable`` where it has no verdict about an answer.
    """

    def check(self, case: Case) -> str | None: ...

    async def score(self, case: Case, response: Response) -> Score: ...


@dataclass(frozen=True, slots=True)
class Report:
    """What a reporter receives: one or more results and what analysis concluded about them."""

    results: tuple[RunResult, ...]
    findings: Findings


@runtime_checkable
class Reporter(Protocol):
    """Writes a report into a folder and returns the files it wrote."""

    def write(self, report: Report, output_dir: Path) -> Sequence[Path]: ...


class Importer(Protocol):
    """Reads what another tool wrote.

    ``recognises`` looks at the beginning of a file (at most 64 KiB) and its name, and says whether the format is this
    one; it answers no when unsure. ``read`` gives closed runs with their samples, ``origin`` filled in; a file that
    is cut off or does not hold together is an ``ImportFailed`` that says where. Their ids follow from the content,
    so that a file imported twice is seen to be the same.
    """

    name: str
    description: str

    def recognises(self, path: Path, head: bytes) -> bool: ...

    def read(self, path: Path) -> Sequence[RunResult]: ...


class StopRule(Protocol):
    """Decides between trials whether the run, or one arm, has seen enough."""

    def observe(self, sample: Sample) -> None:
        """Takes note of a finished sample."""

    def skip(self, trial: Trial) -> bool:
        """Whether this trial need not run (its arm is settled)."""

    def stop(self, plan: Plan) -> str | None:
        """Why the whole run should end now, or ``None``."""
