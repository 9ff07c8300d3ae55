"""What a kind of run is: six methods and a few words about itself. All else that running means is in ``pipeline``.

A kind comes in by the entry point group ``agentdyno.kinds`` under its own name. A file of that kind has the name as
one of its keys at the top, so that ``dyno run FILE`` finds it without loading any other.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from agentdyno.errors import RunError, SpecError, nearest
from agentdyno.model import Case, Plan, Progress, Response, RunResult, RunWarning, Sample, Spec, Suite, Workspace
from agentdyno.model.suite import RunForm
from agentdyno.settings.run import EXECUTOR, PARALLELISM

if TYPE_CHECKING:
    from agentdyno.contracts import StopRule
    from agentdyno.model.record import AgentRecord
    from agentdyno.runner.executor import Executor, Facts
    from agentdyno.runner.farm.driver import Farm
    from agentdyno.runs.cluster.order import WorkOrder
    from agentdyno.runs.lineup import Named
    from agentdyno.runs.place import Place
    from agentdyno.store import Store

W = TypeVar("W")
Say = Callable[[str], None]
"""Tells a person one line."""


class NothingLeft(RunError):
    """A run of which nothing can be begun any more, and what was cut short cannot be taken up again."""


RAY = "ray"
RAY_SCHEME = "ray://"


def is_remote(executor: str) -> bool:
    """Whether trials run elsewhere. Raises ``SpecError`` for what is no executor."""
    if executor == EXECUTOR.default:
        return False
    if executor == RAY or (executor.startswith(RAY_SCHEME) and len(executor) > len(RAY_SCHEME)):
        return True
    raise SpecError(
        f"no executor is called {executor!r}",
        where="--executor",
        remedy=nearest(executor.partition(":")[0], (EXECUTOR.default, RAY)) + " Or give ray://HOST:PORT.",
    )


@dataclass(frozen=True, slots=True)
class Source:
    """What a user names: a file, a document of the same form, or the ``name`` of an experiment.

    ``quick`` applies what the file says under ``quick:``.
    """

    path: Path | None = None
    document: Mapping[str, object] | None = None
    name: str = ""
    quick: bool = False


@dataclass(frozen=True, slots=True)
class RunRequest:
    """What is to be run, complete and checked; the header of a stored run can be turned back into it.

    ``spec`` is what all kinds share; ``body`` is the kind's own part: a suite, a load.
    """

    kind: str
    spec: Spec
    body: object = None


class AnswerCache(Protocol):
    """Answers kept from earlier runs."""

    def prepare(self, agents: Mapping[str, str], redact: Callable[[object], object]) -> None: ...

    def get(self, arm_id: str, case: Case, epoch: int) -> Response | None: ...

    def put(self, arm_id: str, case: Case, epoch: int, response: Response) -> None: ...


@dataclass(frozen=True, slots=True)
class Choices:
    """What is said beside the file and never stored with it.

    ``agents`` go before those of the suite and of dyno.yaml; one of the suite's may be named by its name there.
    ``python`` is the interpreter of Python agents that have none of their own. ``executor`` is where a resumed run
    goes on, "" for where it began. ``share`` gives the others with whom the cases of a suite are shared.
    ``compared_with`` are results that the run will be held against. ``rules`` end a run, or some of its trials,
    earlier than its own rules do. ``allow_changed_suite``: a declared version of a suite that was run with other
    contents is a warning, and no error.
    """

    agents: tuple[Named, ...] = ()
    max_cost_usd: float | None = None
    cache: AnswerCache | None = None
    patience_s: float = 120.0
    compared_with: tuple[AgentRecord, ...] = ()
    rules: tuple[StopRule, ...] = ()
    python: str = ""
    executor: str = ""
    share: Callable[[WorkOrder], Farm] | None = None
    allow_changed_suite: bool = False


@dataclass(frozen=True, slots=True)
class Tools:
    """Everything that a run needs from outside. Without a ``store`` it can be prepared and not started (a dry run).

    ``output_root`` is where runs go whose spec names no ``output_dir``. ``workspace`` is that of the current folder
    where none is given. ``on_progress`` is called between samples.
    """

    store: Store | None = None
    output_root: Path = field(default_factory=Path)
    workspace: Workspace | None = None
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    say: Say = lambda _: None
    on_progress: Callable[[Progress], None] = lambda _: None
    clock: Callable[[], float] = time.monotonic
    choices: Choices = field(default_factory=Choices)

    @property
    def project(self) -> Workspace:
        """The workspace, read from its file where none was given; many runs need none."""
        from agentdyno.specs import load_workspace

        return load_workspace(Path.cwd()) if self.workspace is None else self.workspace

    @property
    def kept_in(self) -> Store:
        """The store, where one is needed."""
        assert self.store is not None, "a run is started and resumed in a store"
        return self.store


@dataclass(frozen=True, slots=True)
class HeaderParts:
    """Fields of the header that only some kinds have. ``code_dir`` is where the measured code lies, if not beside the
    spec."""

    suite: Suite | None = None
    targets: Mapping[str, Mapping[str, tuple[float, float]]] = field(default_factory=dict)
    pricing: Mapping[str, object] = field(default_factory=dict)
    workspace: str = "default"
    code_dir: str | None = None
    form: RunForm | None = None


@dataclass(frozen=True, slots=True)
class Announced:
    """What is told, and perhaps asked about, before anything is spent. ``usd`` is ``None`` where nobody knows."""

    line: str = ""
    calls: int = 0
    usd: float | None = 0.0
    unpriced: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Prepared(Generic[W]):
    """A run that is ready to start. ``request`` is complete now: a resume reads its spec again.

    ``work`` is the kind's own. ``samples_per_trial`` is ``None`` where nobody knows how many there will be. With
    ``shares_commits`` quick samples may be saved a moment later, while other trials run. ``on_sample`` hears of each.
    """

    request: RunRequest
    plan: Plan
    work: W
    parts: HeaderParts = field(default_factory=HeaderParts)
    warnings: tuple[RunWarning, ...] = ()
    announced: Announced = field(default_factory=Announced)
    parallelism: int = PARALLELISM.default
    samples_per_trial: int | None = 1
    shares_commits: bool = False
    on_sample: Callable[[Sample], None] = lambda _: None

    @property
    def spec(self) -> Spec:
        return self.request.spec


@dataclass(frozen=True, slots=True)
class Ended:
    """How the work of a run ended, for the kind that closes it. ``resumed`` tells that earlier samples are stored."""

    facts: Facts
    rules: tuple[StopRule, ...]
    folder: Path
    store: Store
    resumed: bool

    def whole(self, header: RunResult) -> RunResult:
        """The run as it is stored, with all its samples, and with what ``header`` says about its end."""
        return replace(
            self.store.runs.load(header.run_id),
            warnings=header.warnings,
            overhead_s=header.overhead_s,
            stopped_because=header.stopped_because,
            finished_at=header.finished_at,
        )


def arms_changed(header: RunResult, plan: Plan) -> RunError | None:
    """The error for a run whose plan has other arms now than when it began; ``None`` where they are the same."""
    known, planned = ({arm.arm_id: arm.name for arm in arms} for arms in (header.arms, plan.arms))
    if known.keys() == planned.keys():
        return None
    gone = ", ".join(sorted(name for arm_id, name in known.items() if arm_id not in planned)) or "nothing"
    new = ", ".join(sorted(name for arm_id, name in planned.items() if arm_id not in known)) or "nothing"
    return RunError(
        f"what run {header.run_id} measures has changed since: {gone} would now be {new}",
        where=header.spec.source or None,
        remedy="Start a new run; the samples of the old one stay as they are.",
    )


@dataclass(frozen=True, slots=True)
class KindWords:
    """How messages speak of this kind: what a trial's result is called, and whether a stored run can be taken up."""

    tried: str = "samples"
    changed: Callable[[RunResult, Plan], RunError | None] = arms_changed


class RunKind(Protocol[W]):
    """One kind of run. ``name`` is the kind of its stored runs. ``findings`` names what is concluded about them
    (``comparison``, ``standing``, ``stress``), nothing but their warnings where it is empty.

    ``continuable`` says whether a trial that has samples and no end can go on; else it stays as it is when the run
    is resumed.
    """

    @property
    def name(self) -> str: ...

    @property
    def findings(self) -> tuple[str, ...]: ...

    @property
    def continuable(self) -> bool: ...

    @property
    def words(self) -> KindWords: ...

    def read(self, source: Source, changes: Mapping[str, object]) -> RunRequest:
        """What the user asked for, with ``changes`` of its settings by name. Raises ``SpecError``."""
        ...

    def again(self, header: RunResult, tools: Tools) -> RunRequest:
        """What was asked for when a stored run began; raises ``RunError`` where it cannot go on."""
        ...

    def prepare(self, request: RunRequest, tools: Tools) -> AbstractContextManager[Prepared[W]]:
        """Finds and checks everything and fixes the plan; what it starts for the run ends with the block."""
        ...

    def executor(self, prepared: Prepared[W], place: Place) -> Executor:
        """What performs the trials. Nothing may be written to the run's folder before the first is submitted."""
        ...

    def rules(
        self, prepared: Prepared[W], executor: Executor, tools: Tools, given_up: Callable[[str], bool]
    ) -> list[StopRule]:
        """Stop rules of this kind alone; ``given_up`` tells of arms that get no more trials."""
        ...

    def close(self, header: RunResult, prepared: Prepared[W], ended: Ended) -> RunResult:
        """``header`` with the arms of the stored run and their figures; the status is worked out from them."""
        ...
