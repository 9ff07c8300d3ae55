"""What a station is told before its first trial: plain data, and no secret (those are named, and read there)."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from agentdyno.model import AgentUse, Case, Constraints
from agentdyno.runner.bench.job import ArmJob, Launch
from agentdyno.settings.suite import CONCURRENCY, RETRIES


@dataclass(frozen=True, slots=True)
class OrderedAgent:
    """An agent with its version. ``launch`` is the environment of one that comes from another revision."""

    use: AgentUse
    memory_limit_bytes: int | None = None
    launch: Launch | None = None


@dataclass(frozen=True, slots=True)
class OrderedArm:
    """``agent`` is a place in the order's agents; ``benchmark`` names its cases."""

    agent: int
    benchmark: str
    constraints: Constraints
    warmup: int


@dataclass(frozen=True, slots=True)
class WorkOrder:
    """Cases to put to agents, or trials of experiments (``jobs``). ``python`` is the driver's own interpreter, which
    is that of the station there."""

    run_id: str
    arms: Mapping[str, OrderedArm] = field(default_factory=dict)
    agents: tuple[OrderedAgent, ...] = ()
    cases: Mapping[str, tuple[Case, ...]] = field(default_factory=dict)
    concurrency: int = CONCURRENCY.default
    retries: int = RETRIES.default
    patience_s: float = 0.0
    jobs: tuple[ArmJob, ...] = ()
    begun: Mapping[str, int] = field(default_factory=dict)
    python: str = sys.executable


def is_local(path: Path) -> bool:
    """Whether a file is the user's own; what is installed is installed there too, or its absence is told there."""
    installed = {"site-packages", "dist-packages"} & set(path.parts)
    return not installed and not path.is_relative_to(sys.prefix) and not path.is_relative_to(sys.base_prefix)
