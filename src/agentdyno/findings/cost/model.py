"""What agents cost for what they achieve, and what could be saved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from agentdyno.model.form import RunWarning


@dataclass(frozen=True, slots=True)
class CostRow:
    """One agent, over the suite or (``benchmark``) in one benchmark. Money is US dollars.

    ``cost_per_success_usd`` is ``None`` where the cost is not known and where the agent ``never_succeeded``.
    ``performance_per_dollar`` is accuracy × speed score (accuracy alone where speed has no score: ``performance``
    says which) per dollar and task. On each frontier: whether no other agent is both cheaper and better, and how
    often that is so when the cases are drawn again; ``None`` where it cannot be said. ``total_tokens`` is ``None``
    where those of a task are not known; ``known_tokens`` are those of the ``counted`` tasks, where they are.
    """

    agent: str
    benchmark: str
    tasks: int
    successes: int
    cost_usd: float | None
    cost_per_task_usd: float | None
    cost_per_success_usd: float | None
    cost_interval: tuple[float, float] | None
    never_succeeded: bool
    accuracy: float | None
    duration_s: float | None
    performance_per_dollar: float | None
    performance: str = ""
    total_tokens: float | None = None
    on_accuracy_frontier: bool | None = None
    accuracy_frontier_probability: float | None = None
    on_latency_frontier: bool | None = None
    latency_frontier_probability: float | None = None
    simulated: bool = False
    known_tokens: float | None = None
    counted: int = 0


@dataclass(frozen=True, slots=True)
class ConfigurationRow:
    """One configuration of a sweep. ``efficiency`` is 0..1: its performance per dollar in parts of the best one that
    is not significantly worse in accuracy; ``optimal`` above 0.8, unless it is significantly worse itself.
    ``savings_usd`` is against ``against``, for the stated volume; ``None`` where it cannot be said."""

    agent: str
    configuration: Mapping[str, object]
    efficiency: float | None
    optimal: bool
    savings_usd: float | None = None
    against: str = ""
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class Opportunity:
    """Something that could be saved. ``kind`` is a short code, ``evidence`` the numbers it rests on, as texts."""

    kind: str
    text: str
    evidence: tuple[str, ...]
    agent: str = ""
    savings_usd: float | None = None


@dataclass(frozen=True, slots=True)
class SpendItem:
    """What one agent's executions with one model spent on a day (``day``: UTC milliseconds of its beginning).

    ``model`` is "" where no answer named one. ``cost_usd`` is ``None`` where no execution has a known cost, else that
    of the ``priced`` ones of the ``executions``; ``tokens`` likewise of the ``counted`` ones.
    """

    day: int
    agent: str
    model: str
    executions: int
    priced: int
    cost_usd: float | None
    counted: int
    tokens: int | None


@dataclass(frozen=True, slots=True)
class SpendItems:
    """The last ``days`` days, the oldest first."""

    days: int
    items: tuple[SpendItem, ...]


@dataclass(frozen=True, slots=True)
class CostReport:
    """``volume`` is the number of tasks that savings are stated for."""

    suite: str
    volume: int
    rows: tuple[CostRow, ...]
    benchmark_rows: tuple[CostRow, ...] = ()
    configurations: tuple[ConfigurationRow, ...] = ()
    opportunities: tuple[Opportunity, ...] = ()
    warnings: tuple[RunWarning, ...] = field(default_factory=tuple)
