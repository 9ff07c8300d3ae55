"""What ``dyno.yaml`` says: the project's agents, suites, prices, gate and store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agentdyno.model.policy import GatePolicy

if TYPE_CHECKING:
    from agentdyno.model.suite import AgentUse


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens; ``cached`` is for input that the other side had cached, ``None``: as input."""

    input: float
    output: float
    cached: float | None = None
    request: float = 0.0


@dataclass(frozen=True, slots=True)
class AlertChannel:
    """A place that alerts are posted to. ``url_env``, ``secret_env`` and ``token_env`` are names of environment
    variables, "" where there is none; exactly one of ``url`` and ``url_env`` is given."""

    name: str
    url: str
    url_env: str
    body: str
    secret_env: str
    token_env: str
    severity: str
    unconfirmed: bool
    dashboard: str
    allow_private: bool
    max_tries: int
    timeout_s: float


@dataclass(frozen=True, slots=True)
class Workspace:
    """Everything has a default: a folder without ``dyno.yaml`` is a workspace too.

    ``suites`` are paths of suite files below ``base_dir``, ``imports`` those of Python files that register the
    project's experiments. ``weights`` of dimensions replace the default ones of
    overall scores; a dimension that it does not name keeps its own. ``alerts`` are places by name. ``thresholds`` are
    by metric the changes that count as regressions, "" for all others.
    """

    name: str = "default"
    agents: Mapping[str, AgentUse] = field(default_factory=dict)
    suites: tuple[str, ...] = ()
    imports: tuple[str, ...] = ()
    run_agents: tuple[str, ...] = ()
    prices: Mapping[str, Price] = field(default_factory=dict)
    compute_price_per_cpu_hour: float | None = None
    gate: GatePolicy = field(default_factory=GatePolicy)
    weights: Mapping[str, float] = field(default_factory=dict)
    alerts: Mapping[str, AlertChannel] = field(default_factory=dict)
    thresholds: Mapping[str, float] = field(default_factory=dict)
    store: str | None = None
    base_dir: str = "."
    source: str = ""
