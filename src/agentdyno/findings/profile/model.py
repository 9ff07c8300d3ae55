"""A profile: spans of executions, phases, bottlenecks, use of resources and tokens, opportunities.

The names of the fields are those of the interface for performance profiles; what each of them means is
``DEFINITIONS``. Unknown is ``None``, never 0. A percentage or a share always has its basis beside it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from agentdyno.model.case import Event


class ProfilePhase(StrEnum):
    """What an agent is doing at a moment, in the order in which tables show it."""

    MODEL = "model"
    TOOL = "tool"
    RETRIEVAL = "retrieval"
    OWN_CODE = "own_code"
    QUEUE = "queue"
    RETRY_WAIT = "retry_wait"
    IDLE = "idle"


class Effort(StrEnum):
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


@dataclass(frozen=True, slots=True)
class ProfiledExecution:
    """One execution of a case, as much of it as a profile is made from.

    ``wall_s`` is what the bench measured, ``None`` where it did not. ``traced``: made in a pass with tracing on,
    whose times include what tracing takes. ``waited_s`` are the bench's own waits between tries, which are not part
    of ``wall_s``.
    """

    case_id: str
    benchmark: str = ""
    iteration: int = 0
    wall_s: float | None = None
    events: tuple[Event, ...] = ()
    readings: Mapping[str, float] = field(default_factory=dict)
    usage: Mapping[str, float] = field(default_factory=dict)
    attempts: int = 1
    waited_s: float = 0.0
    simulated: bool = False
    traced: bool = False


@dataclass(frozen=True, slots=True)
class ProfiledSpan:
    """One span of an execution. Times are seconds since the case began.

    ``parent`` is the index of the span around it, ``None`` at the top. ``self_s`` is its part of the wall time: the
    moments in which it is open and no span below it is, divided where several such spans are open at once; so the
    parts of all spans and of the time outside them add up to the wall time. ``busy_s`` are the same moments
    undivided. ``critical_s`` is its part of the critical path.
    """

    index: int
    parent: int | None
    depth: int
    phase: ProfilePhase
    kind: str
    name: str
    start_s: float
    end_s: float
    self_s: float
    busy_s: float
    critical_s: float
    input_tokens: int | None = None
    output_tokens: int | None = None
    failed: bool | None = None

    @property
    def duration_s(self) -> float:
        return self.end_s - self.start_s


@dataclass(frozen=True, slots=True)
class SpanTree:
    """The spans of one execution, parents before children. ``outside_s`` is the time in no span, and
    ``outside_critical_s`` its part of the critical path; ``unreadable`` counts events whose times make no sense.
    ``wall_s`` is ``measured_s``, what the bench measured, or longer where spans are said to end later."""

    case_id: str
    benchmark: str
    iteration: int
    wall_s: float
    spans: tuple[ProfiledSpan, ...]
    outside_s: float
    outside_critical_s: float
    unreadable: int = 0
    traced: bool = False
    measured_s: float | None = None


@dataclass(frozen=True, slots=True)
class ResourceUsage:
    """Of one phase; ``None`` where nothing measured it."""

    cpu_percent: float | None = None
    memory_mb: float | None = None
    io_operations: int | None = None


@dataclass(frozen=True, slots=True)
class ExecutionPhase:
    """Milliseconds are means per execution. ``critical_ms`` is the part on the critical path."""

    phase_name: str
    duration_ms: float
    percentage_of_total: float | None
    resource_usage: ResourceUsage
    critical_ms: float
    busy_ms: float
    spans: int


@dataclass(frozen=True, slots=True)
class Bottleneck:
    """Something that the critical path spends time in. ``share`` is ``impact_ms`` of ``basis_ms``, the mean wall time
    of an execution."""

    location: str
    impact_ms: float
    cause: str
    optimization_suggestion: str
    share: float
    basis_ms: float
    phase: ProfilePhase
    calls: int
    executions: int
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ResourceUtilization:
    """The four efficiencies, and the readings that they rest on (means per execution; peaks are the highest)."""

    cpu_efficiency: float | None = None
    memory_efficiency: float | None = None
    io_efficiency: float | None = None
    parallelization_score: float | None = None
    cpu_s: float | None = None
    peak_rss_bytes: float | None = None
    read_bytes: float | None = None
    write_bytes: float | None = None
    gpu_percent: float | None = None
    gpu_memory_bytes: float | None = None


@dataclass(frozen=True, slots=True)
class TokenAnalysis:
    """Totals over all executions. ``calls_with_usage`` of ``calls`` told their tokens; the others are in no total.

    ``wasted_tokens`` is the sum of ``unused_tokens``, ``retried_tokens`` and ``truncated_tokens``: no call is counted
    twice.
    """

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_hits: int | None = None
    wasted_tokens: int | None = None
    token_efficiency: float | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    repeated_prefix_tokens: int | None = None
    unused_tokens: int | None = None
    retried_tokens: int | None = None
    truncated_tokens: int | None = None
    calls: int = 0
    calls_with_usage: int = 0


@dataclass(frozen=True, slots=True)
class OptimizationOpportunity:
    """``estimated_impact`` is the share of ``basis`` (a total over all executions, in ``unit``) that could be saved
    at most; ``saving`` the same per execution, in ``unit``."""

    category: str
    potential_improvement: str
    estimated_impact: float
    implementation_effort: Effort
    rule: str
    saving: float
    unit: str
    basis: str
    evidence: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProfileData:
    execution_phases: tuple[ExecutionPhase, ...]
    bottlenecks: tuple[Bottleneck, ...]
    resource_utilization: ResourceUtilization
    token_analysis: TokenAnalysis


@dataclass(frozen=True, slots=True)
class PerformanceProfile:
    """Of an agent on a suite, or of one case of it (``case_id``; ``trees`` then has its executions span by span).

    ``executions`` were profiled; ``without_spans`` more told nothing of what happened inside: they are no part of the
    phases, but of the CPU time, memory and storage used.
    ``wall_s`` is the sum over the profiled ones: the basis of every share of time. ``traced``: the spans come from a
    pass with tracing on. ``beyond_measured`` counts executions whose spans go on after the end that the bench
    measured: such spans are the agent's own claim. ``waited_s`` is what the bench waited between tries, outside the
    wall time.
    """

    agent_id: str
    profile_data: ProfileData
    optimization_opportunities: tuple[OptimizationOpportunity, ...]
    run_id: str = ""
    suite: str = ""
    benchmark: str | None = None
    case_id: str | None = None
    executions: int = 0
    without_spans: int = 0
    wall_s: float = 0.0
    waited_s: float = 0.0
    cpu_known: int = 0
    unreadable: int = 0
    beyond_measured: int = 0
    traced: bool = False
    simulated: bool = False
    trees: tuple[SpanTree, ...] = ()
    definitions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ProfileChange:
    """One quantity on both sides, per execution; ``ratio`` is candidate to baseline."""

    name: str
    unit: str
    baseline: float | None
    candidate: float | None
    ratio: float | None


@dataclass(frozen=True, slots=True)
class ProfileComparison:
    """Two profiles on the cases that both have; ``cases`` counts these. Differences are shown, not judged."""

    baseline: PerformanceProfile
    candidate: PerformanceProfile
    cases: int
    changes: tuple[ProfileChange, ...]


@dataclass(frozen=True, slots=True)
class ProfileReport:
    """What was asked for: one profile per agent, or two sides."""

    profiles: tuple[PerformanceProfile, ...] = ()
    comparisons: tuple[ProfileComparison, ...] = ()


DEFINITIONS: Mapping[str, str] = {
    "duration_ms": "Mean time per execution in which this phase was the innermost thing going on; where several "
    "spans ran at once, the moment is divided between them. The phases add up to the wall time.",
    "percentage_of_total": "duration_ms in per cent of the mean wall time of the profiled executions.",
    "critical_ms": "Mean time per execution on the critical path: followed back from the end, at each moment the "
    "span that the rest waited for.",
    "busy_ms": "Like duration_ms, undivided: spans that ran at once count each in full, so the sum may exceed the "
    "wall time.",
    "own_code": "Time in no call that is known of: in spans of the agent's own work or outside all spans. Where CPU "
    "time was measured, at most as long as that; the rest is idle.",
    "idle": "Time in no call that is known of, and beyond the CPU time of the agent's processes. 0 where CPU time is "
    "not known: it is then part of own_code.",
    "cpu_percent": "CPU time told for the spans of the phase, in per cent of their time; null where none tells it.",
    "memory_mb": "Highest memory told for a span of the phase, in MiB; null where none tells it.",
    "io_operations": "Calls out of the agent's process (model, tool, retrieval) in this phase, over all executions.",
    "cpu_efficiency": "CPU time of the agent's processes per second of wall time: 1 is one core all the time.",
    "memory_efficiency": "Median over executions of the peak memory, as a share of the highest peak: what must be "
    "reserved beside what is used. Null with one execution.",
    "io_efficiency": "Of the time that was not own code, the share in which a call (model, tool, retrieval) was "
    "under way; the rest was queue, retry wait and idle.",
    "parallelization_score": "Of the time that running model, tool and retrieval calls of an execution at once could "
    "save at most, the share that was saved. 0: one after the other; 1: all at once. Whether calls depend on each "
    "other is not known. Null where no execution has two calls.",
    "cache_hits": "Model calls part of whose input the provider read from its cache.",
    "wasted_tokens": "Input and output tokens of model calls whose result was not used (failed, broken off, or said "
    "to be unused), that were asked again with the same prompt, or that ended at the limit of tokens.",
    "token_efficiency": "1 less the share of wasted tokens, of the tokens of calls that told their usage.",
    "repeated_prefix_tokens": "Input tokens of model calls that an earlier call of the same execution had begun "
    "with; an estimate where only bytes of the prefix are known. Null where no call tells its prefix.",
    "impact_ms": "Mean time per execution on the critical path.",
    "estimated_impact": "Share of the basis that is named beside it that could be saved at most.",
}
"""Each field that needs one, in a sentence."""
