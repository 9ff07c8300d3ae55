"""What a load run says: where the target broke, what limited it, and what to do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from agentdyno.model.form import RunWarning
from agentdyno.model.load import Histogram, Objective, SelfCheck
from agentdyno.model.metric import Provenance


class LimitedBy(StrEnum):
    """What ended a scenario's rise. ``nothing``: it stood what was asked. ``client``: the measurement says nothing
    about the target beyond that point."""

    NOTHING = "nothing"
    LATENCY = "latency"
    ERRORS = "errors"
    THROUGHPUT = "throughput"
    RATE_LIMIT = "rate_limit"
    MEMORY = "memory"
    SIZE = "size"
    CONNECTIONS = "connections"
    CLIENT = "client"


@dataclass(frozen=True, slots=True)
class BreakingPoint:
    """Where the objectives are first missed, on ``axis``: ``rate`` (requests a second), ``concurrency``, ``size``
    (words of input), ``memory`` (bytes left). ``held`` is the highest level that met them, ``broke`` the lowest that
    did not; the truth is between the two (``interval``). ``value`` is the best guess."""

    axis: str
    value: float
    held: float | None
    broke: float | None
    interval: tuple[float, float] | None
    unit: str
    objective: str = ""


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """One step: the level asked, and what came of it. Times in seconds, null where nothing succeeded."""

    step: str
    level: float
    asked_per_s: float
    delivered_per_s: float
    throughput_per_s: float
    goodput_per_s: float | None
    error_rate: float
    latency_p50_s: float | None
    latency_p95_s: float | None
    latency_p99_s: float | None
    ttft_p50_s: float | None
    ttft_p95_s: float | None
    met: bool | None = None
    client_limited: bool = False


@dataclass(frozen=True, slots=True)
class TimePoint:
    """One window, for pictures over time."""

    at_s: float
    duration_s: float
    step: str
    stage: str
    asked_per_s: float
    throughput_per_s: float
    error_rate: float | None
    latency_p50_s: float | None
    latency_p99_s: float | None
    ttft_p50_s: float | None
    in_flight: int
    lag_p99_s: float | None
    target_rss_bytes: float | None = None


@dataclass(frozen=True, slots=True)
class FittedLaw:
    """Amdahl's law or the universal scalability law, fitted. ``contention`` (sigma, the serial share) and
    ``coherency`` (kappa) with 95 % intervals; ``peak`` is the concurrency of most throughput, null without one."""

    law: str
    single: float
    contention: float
    contention_interval: tuple[float, float] | None
    coherency: float
    coherency_interval: tuple[float, float] | None
    peak: float | None
    r_squared: float | None
    points: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, slots=True)
class ScenarioReport:
    """One scenario. ``figures`` are its own numbers by name (``recovery_half_life_s``, ``rss_slope_bytes_per_s``,
    ``retry_after_kept_rate``…), unknown ones left out; ``score`` is 0 to 100, null where it could not be judged;
    ``outcomes`` counts all requests by outcome; ``phases`` are (label, from, to) in seconds, for shading;
    ``distributions`` are of all successes, by ``latency``, ``ttft``, ``itl``. ``token_source`` is where counts of
    tokens come from, and ``chunks_are_tokens`` whether a chunk is one token: where it is not, the gaps are between
    chunks and say nothing about tokens. ``statuses`` counts failures by HTTP status; ``cached_tokens`` are those of
    the inputs that the server had kept, null where it does not say."""

    scenario: str
    target: str
    description: str
    parameters: Mapping[str, object]
    broke: bool
    breaking_point: BreakingPoint | None
    limited_by: LimitedBy
    evidence: str
    score: float | None
    requests: int
    asked: int
    unsent: int
    late: int
    outcomes: Mapping[str, int]
    objectives: Mapping[str, tuple[float | None, bool | None]] = field(default_factory=dict)
    headline: Mapping[str, float | None] = field(default_factory=dict)
    figures: Mapping[str, float | None] = field(default_factory=dict)
    curve: tuple[CurvePoint, ...] = ()
    over_time: tuple[TimePoint, ...] = ()
    phases: tuple[tuple[str, float, float], ...] = ()
    law: FittedLaw | None = None
    distributions: Mapping[str, Histogram] = field(default_factory=dict)
    client_limited: bool = False
    client_reason: str = ""
    closed_loop: bool = False
    token_source: str = ""
    chunks_are_tokens: bool | None = None
    statuses: Mapping[str, int] = field(default_factory=dict)
    cached_tokens: int | None = None
    provenance: Provenance = Provenance.MEASURED
    warnings: tuple[RunWarning, ...] = ()


@dataclass(frozen=True, slots=True)
class Recommendation:
    """``evidence`` names the scenario and the figures that it rests on."""

    text: str
    evidence: str
    scenario: str
    priority: str = "medium"


@dataclass(frozen=True, slots=True)
class StressReport:
    """All scenarios of one target in one run. ``resilience_score`` is 0 to 100 (``docs/concepts/load.md`` says how),
    null where no scenario could be judged. ``scaling_limits`` are the breaking points by axis. ``clients`` says how
    many clients on which machines asked, and how exact their clocks are; "" where this machine asked alone."""

    agent_id: str
    run_id: str
    finished_at: int | None
    scenarios: tuple[ScenarioReport, ...]
    resilience_score: float | None
    scaling_limits: Mapping[str, BreakingPoint] = field(default_factory=dict)
    recommendations: tuple[Recommendation, ...] = ()
    objectives: tuple[Objective, ...] = ()
    self_check: SelfCheck | None = None
    simulated: bool = False
    clients: str = ""
