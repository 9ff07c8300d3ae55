"""What the service takes and gives beside the values of the model. Times are UTC milliseconds, money US dollars."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, StrictBool, StringConstraints
from pydantic import Field as Limits

from agentdyno.findings.board.model import MatrixEntry
from agentdyno.findings.case.ask import Answer, SampleRow
from agentdyno.findings.change.model import Alert
from agentdyno.findings.duel.model import Duel
from agentdyno.findings.reliability.model import Reliability
from agentdyno.findings.standing.model import SuiteStanding
from agentdyno.model.case import Case
from agentdyno.model.findings import BandFinding, Comparison
from agentdyno.model.result import Artifact, RunResult
from agentdyno.model.sample import AnswerMark
from agentdyno.model.suite import BaselineScores, Rubric
from agentdyno.settings.judging import INCLUDE_PARTIAL
from agentdyno.store.rows import BaselineRow, Execution, RunRow

Name = Annotated[str, StringConstraints(min_length=1, max_length=500)]


class Timeframe(StrEnum):
    """``latest`` is the newest execution of each benchmark."""

    LATEST = "latest"
    DAY = "24h"
    WEEK = "7d"
    MONTH = "30d"
    ALL = "all"


class ComparisonType(StrEnum):
    HEAD_TO_HEAD = "head_to_head"
    MATRIX = "matrix"


class ReportFormat(StrEnum):
    HTML = "html"
    MD = "md"
    CSV = "csv"
    JSON = "json"
    JUNIT = "junit"
    PNG = "png"


class CompareBody(BaseModel):
    """``head_to_head`` takes two agents, the first is the baseline; ``matrix`` sets each against each."""

    model_config = ConfigDict(extra="forbid")

    agent_ids: Annotated[list[Name], Limits(min_length=2, max_length=20)]
    suite_id: Name | None = None
    comparison_type: ComparisonType = ComparisonType.HEAD_TO_HEAD


class BaselineBody(BaseModel):
    """``agent_id`` may name a version; without one the newest becomes the baseline."""

    model_config = ConfigDict(extra="forbid")

    agent_id: Name
    suite_id: Name | None = None
    note: Annotated[str, StringConstraints(max_length=1000)] = ""
    include_partial: Annotated[StrictBool, Limits(description=INCLUDE_PARTIAL.description)] = INCLUDE_PARTIAL.default


class AcknowledgeBody(BaseModel):
    model_config = ConfigDict(extra="forbid")

    note: Annotated[str, StringConstraints(max_length=1000)] = ""


class MarkBody(BaseModel):
    model_config = ConfigDict(extra="forbid")

    case_id: Annotated[str, StringConstraints(min_length=1, max_length=2000)]
    benchmark: Name
    agent: Name
    iteration: Annotated[int, Limits(ge=0, le=10**6, strict=True)] = 0
    is_right: StrictBool
    note: Annotated[str, StringConstraints(max_length=1000)] = ""


@dataclass(frozen=True, slots=True)
class MarkItems:
    items: tuple[AnswerMark, ...]


@dataclass(frozen=True, slots=True)
class RunRowPage:
    items: tuple[RunRow, ...]
    next: str | None


@dataclass(frozen=True, slots=True)
class RunComparisons:
    """Runs against the first of them: ``duels`` of agents in suites, ``comparisons`` of experiments."""

    duels: tuple[Duel, ...]
    comparisons: tuple[Comparison, ...]


@dataclass(frozen=True, slots=True)
class SamplePage:
    items: tuple[SampleRow, ...]
    next: str | None


@dataclass(frozen=True, slots=True)
class RunView:
    """A run without its samples and cases, and what is concluded about it; ``bands`` where they are asked for."""

    run: RunResult
    standing: SuiteStanding | None
    comparison: Comparison | None
    bands: tuple[BandFinding, ...] = ()


@dataclass(frozen=True, slots=True)
class AgentSummary:
    """An agent over all its versions, the newest first; ``uid`` is of the newest. ``paid`` is ``None`` where only
    the store knows it. ``settings`` are those that a run may change, with their JSON types.

    ``versions`` are those with results (the registered ones where there are none yet), ``registered_versions`` those
    that can be run here, the highest first: a version that is in the first list alone can only be looked at.
    ``name`` is what tells it from the other agents here, ``identity`` where it comes from; what has another identity
    is another agent. It is "" where only the registry knows it."""

    name: str
    versions: tuple[str, ...]
    uid: str
    registered: bool
    description: str
    paid: bool | None
    last_success_at: int | None
    last_attempt_at: int | None
    settings: Mapping[str, str] = field(default_factory=dict)
    registered_versions: tuple[str, ...] = ()
    identity: str = ""


@dataclass(frozen=True, slots=True)
class AgentItems:
    items: tuple[AgentSummary, ...]


@dataclass(frozen=True, slots=True)
class VersionView:
    """``registered``: a version of that name can be run here."""

    version: str
    uid: str
    uses: str
    created_at: int
    last_success_at: int | None
    last_attempt_at: int | None
    registered: bool = False


@dataclass(frozen=True, slots=True)
class SuiteRun:
    """A suite that an agent has run: ``version`` is the agent's of the newest execution, at ``last_at``."""

    suite_id: str
    name: str
    digest: str
    version: str
    last_at: int
    benchmarks: int
    simulated: bool


@dataclass(frozen=True, slots=True)
class AgentView:
    """``scores`` are its places on the matrix by version; ``results`` the newest execution of each benchmark."""

    agent: AgentSummary
    versions: tuple[VersionView, ...]
    suites: tuple[SuiteRun, ...]
    scores: tuple[MatrixEntry, ...]
    results: tuple[Execution, ...]


@dataclass(frozen=True, slots=True)
class SuiteSummary:
    suite_id: str
    name: str
    digest: str
    version: str
    category: str
    benchmarks: int
    cases: int
    registered: bool
    description: str
    uid: str = ""


@dataclass(frozen=True, slots=True)
class SuiteItems:
    items: tuple[SuiteSummary, ...]


@dataclass(frozen=True, slots=True)
class DatasetView:
    size: int
    complexity: str
    data_source: str


@dataclass(frozen=True, slots=True)
class LimitsView:
    """What one case may use; ``None`` is no limit."""

    time_limit_ms: float | None = None
    memory_limit_mb: float | None = None
    token_limit: int | None = None
    cost_limit_usd: float | None = None


@dataclass(frozen=True, slots=True)
class BenchmarkView:
    """``metrics_measured`` is as written, empty where nothing was named; ``dimensions`` are those that are scored."""

    benchmark_id: str
    name: str
    category: str
    cases: int
    complexity: str
    test_type: str
    description: str
    metrics_measured: tuple[str, ...]
    dimensions: tuple[str, ...]
    dataset: DatasetView
    constraints: LimitsView
    scoring_rubric: Rubric


@dataclass(frozen=True, slots=True)
class SuiteVersion:
    digest: str
    uid: str
    version: str
    created_at: int


@dataclass(frozen=True, slots=True)
class SuiteView:
    """``versions`` are those that have been run, the newest first. ``constraints`` are of a whole run.

    ``baseline_scores`` are what the suite says that agents are known to have. ``created_at`` is as the suite says,
    else when this version was first run (ISO 8601), "" where it never was.
    """

    suite: SuiteSummary
    benchmarks: tuple[BenchmarkView, ...]
    versions: tuple[SuiteVersion, ...]
    suite_id: str
    suite_name: str
    category: str
    version: str
    created_at: str
    constraints: LimitsView
    baseline_scores: tuple[BaselineScores, ...]


@dataclass(frozen=True, slots=True)
class DivergenceView:
    """``divergence`` is the index of the first step that differs, ``None`` where the trajectories are equal."""

    benchmark: str
    case: Case
    first: Answer
    second: Answer
    divergence: int | None


@dataclass(frozen=True, slots=True)
class ArtifactItems:
    items: tuple[Artifact, ...]


@dataclass(frozen=True, slots=True)
class MetricNames:
    items: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ArmLabel:
    """``name`` is what a history is asked for by, ``label`` tells arms apart: with the parameters where the name has
    none."""

    name: str
    label: str


@dataclass(frozen=True, slots=True)
class ExperimentArms:
    """An experiment with its arms; one that has a single arm has a history under its own name, too."""

    experiment: str
    arms: tuple[ArmLabel, ...]


@dataclass(frozen=True, slots=True)
class HistorySubjects:
    """Whose history can be asked for."""

    agents: tuple[str, ...]
    experiments: tuple[ExperimentArms, ...]


@dataclass(frozen=True, slots=True)
class ReliabilityItems:
    items: tuple[Reliability, ...]


@dataclass(frozen=True, slots=True)
class Spread:
    """One value per case, in ``unit``."""

    agent: str
    values: tuple[float, ...]
    unit: str
    simulated: bool


@dataclass(frozen=True, slots=True)
class SpreadItems:
    items: tuple[Spread, ...]


@dataclass(frozen=True, slots=True)
class BaselineItems:
    items: tuple[BaselineRow, ...]


@dataclass(frozen=True, slots=True)
class Cleared:
    cleared: int


@dataclass(frozen=True, slots=True)
class AlertItems:
    items: tuple[Alert, ...]


@dataclass(frozen=True, slots=True)
class ImportedRun:
    """``known``: the run was in the store already, and nothing was added."""

    run_id: str
    name: str
    kind: str
    file: str
    importer: str
    arms: int
    samples: int
    known: bool


@dataclass(frozen=True, slots=True)
class ImportedItems:
    items: tuple[ImportedRun, ...]
