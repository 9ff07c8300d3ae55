"""What a run leaves behind: a header and its arms with their samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from importlib import import_module
from typing import Any

from agentdyno.model.form import GIVEN_UP, INTERRUPTED, RESCORED, Form, RunStatus, RunWarning
from agentdyno.model.metric import Direction, Metric, Provenance
from agentdyno.model.plan import Side
from agentdyno.model.sample import LEFT_OUT, SCORER_BROKEN, Sample
from agentdyno.model.spec import Spec
from agentdyno.model.suite import RunForm, Suite

SCHEMA_VERSION = 1
LOAD_KIND = "load"
"""The kind of runs whose samples are windows of a load."""
SAMPLE_CAP = 5_000
"""Raw samples kept per arm in a result file; above it they are thinned evenly. The store keeps them all."""


@dataclass(frozen=True, slots=True)
class MetricSummary:
    """Figures of one metric in one arm. ``ci`` is the 95 % interval of the median, null when n is too small.

    Of an arm that was imported without its samples, figures that its tool did not write are null.
    """

    unit: str
    direction: Direction
    provenance: Provenance
    n: int
    mean: float
    median: float | None
    p95: float | None
    p99: float | None
    ci: tuple[float, float] | None
    std: float | None = None
    mad: float | None = None
    cv: float | None = None
    minimum: float | None = None
    maximum: float | None = None
    outliers: int = 0
    mean_without_outliers: float | None = None
    machine_dependent: bool = True

    def as_metric(self, name: str) -> Metric:
        return Metric(name, self.unit, self.direction, self.provenance, self.machine_dependent)


@dataclass(frozen=True, slots=True)
class Artifact:
    """A file of the run, by its path below the run's folder."""

    name: str
    path: str
    size_bytes: int
    media_type: str = "application/octet-stream"


@dataclass(frozen=True, slots=True)
class Environment:
    """The machine and the interpreter. No hostname, no user, and no variable outside a short list.

    ``machine_id`` is shared by machines that are alike; ``host_id`` is random and this one's own, "" where it is not
    known.
    """

    machine_id: str
    os: str
    kernel: str
    cpu_model: str
    cpu_count: int
    memory_bytes: int
    python: str
    implementation: str
    agentdyno: str
    packages: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    details: Mapping[str, object] = field(default_factory=dict)
    host_id: str = field(default="", metadata=LEFT_OUT)


@dataclass(frozen=True, slots=True)
class Vcs:
    """Where the measured code stands in its history."""

    commit: str
    branch: str | None
    dirty: bool


@dataclass(frozen=True, slots=True)
class CaseFigures:
    """An agent's cases in one benchmark; ``mean`` and ``variance`` are of the case scores, epochs reduced first.

    ``scored`` cases have a score (errors have none); ``passed`` and ``samples`` count executions.
    """

    cases: int
    scored: int
    mean: float | None
    variance: float | None
    passed: int
    samples: int


@dataclass(frozen=True, slots=True)
class ScoreSpread:
    """How far the scores of an arm can be trusted together, from resampled cases; all in points of 0..1.

    ``low`` and ``high`` are the ends of the 95 % intervals by score, ``overall`` among them. ``covariance`` is of
    the five dimensions in their order: the upper half of the matrix, row by row, ``None`` where one has no score.
    ``pooled`` is its mean over the last ``runs`` runs of the same cases, and ``shared`` the part of it that two such
    runs have in common: the luck of the cases, not that of the run. ``below`` and ``above`` are the mean distances of
    the scores from both ends over these runs, in the order of the dimensions, ``overall`` last.
    """

    low: Mapping[str, float]
    high: Mapping[str, float]
    covariance: tuple[float | None, ...]
    pooled: tuple[float | None, ...] = ()
    shared: tuple[float | None, ...] = ()
    runs: int = 1
    below: tuple[float | None, ...] = ()
    above: tuple[float | None, ...] = ()


@dataclass(frozen=True, slots=True)
class ArmResult:
    """One arm: what it was asked to be, what it was observed to be, and what was measured.

    ``scores``, ``case_figures`` and ``totals`` (sums of ``duration_s``, ``total_tokens``, ``api_calls``,
    ``cost_usd`` over measured samples, left out where unknown) are an agent's, in a suite. ``score_errors`` are the
    standard errors of the scores, from drawing the cases again; left out where too few cases tell. ``spread``
    says how they move together. ``entry`` is the name of the experiment in a spec of several, where it has one.
    """

    arm_id: str
    name: str
    experiment: str
    params: Mapping[str, object] = field(default_factory=dict)
    benchmark: str | None = None
    agent: str | None = None
    side: Side | None = None
    observed: Mapping[str, object] = field(default_factory=dict)
    metrics: Mapping[str, MetricSummary] = field(default_factory=dict)
    scores: Mapping[str, float | None] = field(default_factory=dict)
    statuses: Mapping[str, int] = field(default_factory=dict)
    planned: int = 0
    samples_total: int = 0
    samples: tuple[Sample, ...] = ()
    artifacts: tuple[Artifact, ...] = ()
    case_figures: CaseFigures | None = None
    totals: Mapping[str, float] = field(default_factory=dict)
    score_errors: Mapping[str, float] = field(default_factory=dict)
    spread: ScoreSpread | None = None
    entry: str = field(default="", metadata=LEFT_OUT)

    def __repr__(self) -> str:
        """Short: the samples of an arm fill pages."""
        counted = ", ".join(f"{count} {status}" for status, count in self.statuses.items())
        return f"<ArmResult {self.name!r}: {counted or 'no samples'}>"


def _api(module: str) -> Any:
    """A part of the Python API that results offer as methods. It is above this one: loaded when it is asked for."""
    return import_module(module)


@dataclass(frozen=True, slots=True)
class RunResult:
    """Times are UTC milliseconds. ``overhead_s`` is the harness's own cost per timed call.

    ``suite`` is set where ``kind`` is ``suite``; ``spec`` then holds the settings of the run and no entries.
    ``pricing`` is the snapshot of the prices that the run's costs rest on; ``targets`` gives per benchmark and metric
    the values that score 1 and 0. ``origin`` is of a run that was not made here: ``tool``, ``version``, ``file`` and
    ``sha256`` of what it was read from. ``form`` says what a run of a suite was asked to be; ``None`` where it was
    recorded before that was known, and for other kinds. ``paused_ms`` is how long it stood still between being
    interrupted and being resumed.
    """

    run_id: str
    kind: str
    name: str
    status: RunStatus
    started_at: int
    finished_at: int | None
    seed: int
    spec: Spec
    environment: Environment
    vcs: Vcs | None
    tags: tuple[str, ...] = ()
    notes: str = ""
    warnings: tuple[RunWarning, ...] = ()
    arms: tuple[ArmResult, ...] = ()
    overhead_s: float | None = None
    stopped_because: str | None = None
    suite: Suite | None = None
    pricing: Mapping[str, object] = field(default_factory=dict)
    targets: Mapping[str, Mapping[str, tuple[float, float]]] = field(default_factory=dict)
    workspace: str = "default"
    origin: Mapping[str, str] = field(default_factory=dict)
    schema_version: int = SCHEMA_VERSION
    form: RunForm | None = None
    paused_ms: int = field(default=0, metadata=LEFT_OUT)

    def __repr__(self) -> str:
        """Short: samples and settings of a run fill pages."""
        arms = ", ".join(arm.name for arm in self.arms[:3]) + (", …" if len(self.arms) > 3 else "")
        return f"<RunResult {self.run_id[:13]} {self.kind} {self.name!r} {self.status}: {arms or 'no arms'}>"

    def _repr_html_(self) -> str:
        """What a notebook shows: a line, a table of the arms, and a picture of them."""
        return str(_api("agentdyno.workbench.export.notebook").html_of(self))

    def to_frame(self, what: str = "samples", library: str | None = None) -> Any:
        """A frame of pandas or polars, whichever is installed, with a row for each of its ``samples``, ``cases`` or
        ``arms``. Samples that are not at hand are read from the project's store."""
        return _api("agentdyno.workbench.export.frames").frame_of((self,), what, library)

    @property
    def metrics(self) -> dict[str, dict[str, object]]:
        """The figures of a run with one arm, by metric and figure: ``metrics["duration_s"]["mean"]``.

        Raises ``ValueError`` for a run with several arms, whose figures are not one's (``by_arm`` divides it).
        """
        if len(self.arms) > 1:
            raise ValueError(
                f"{self.name} has {len(self.arms)} arms: say whose figures, as in result.arms[0].metrics"
            )
        return {name: asdict(figures) for arm in self.arms for name, figures in arm.metrics.items()}

    def by_arm(self) -> list[RunResult]:
        """The run as one result for each of its arms, called as the arm is where there are several."""
        if len(self.arms) <= 1:
            return [self]
        return [replace(self, name=arm.name, arms=(arm,)) for arm in self.arms]

    @property
    def misjudged(self) -> bool:
        """Whether a scorer raised on every answer of every agent: the answers are kept, the scores say nothing."""
        return any(warning.code == SCORER_BROKEN for warning in self.warnings)


def is_rescored(result: RunResult) -> bool:
    """Whether the answers of this run are those of another one, judged again."""
    return any(warning.code == RESCORED for warning in result.warnings)


def form_of(result: RunResult) -> Form:
    """What a run of a suite turned out to be. A run that ended is meant; one that still runs is as it was asked."""
    cut = _cut_short(result)
    if cut is not None:
        return cut
    if result.form is None:
        return Form.UNKNOWN
    if result.form.quick:
        return Form.QUICK
    return Form.FULL if result.form.whole else Form.LIMITED


def _cut_short(result: RunResult) -> Form | None:
    """Why samples of the plan are missing; ``None`` where none is, or where arms were given up as failed."""
    reason = result.stopped_because
    if reason is None or reason.endswith(GIVEN_UP):
        return None
    recorded = sum(count for arm in result.arms for status, count in arm.statuses.items() if status != "cancelled")
    if recorded >= sum(arm.planned for arm in result.arms):
        return None
    if reason == INTERRUPTED:
        return Form.CANCELLED
    return Form.DECIDED if result.spec.until_decided else Form.CAPPED
