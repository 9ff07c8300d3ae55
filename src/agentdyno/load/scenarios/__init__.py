"""The scenarios by name: eight ways of putting stress on a target, and the search for its limit."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from agentdyno.errors import SpecError, nearest
from agentdyno.load.scenarios.base import (
    PROFILES,
    Scenario,
    ScenarioSettings,
    planned_seconds,
    resolve_params,
    share_params,
)
from agentdyno.load.scenarios.concurrent_requests import CONCURRENT_REQUESTS
from agentdyno.load.scenarios.custom import custom
from agentdyno.load.scenarios.failure_recovery import FAILURE_RECOVERY, FAULTS, PROCESS_FAULTS, fault_names
from agentdyno.load.scenarios.high_load import FIND_LIMIT, HIGH_LOAD
from agentdyno.load.scenarios.large_inputs import LARGE_INPUTS, named_words, words_named
from agentdyno.load.scenarios.memory_pressure import MEMORY_PRESSURE
from agentdyno.load.scenarios.rate_limiting import RATE_LIMITING
from agentdyno.load.scenarios.spike_load import SPIKE_LOAD
from agentdyno.load.scenarios.sustained_load import SUSTAINED_LOAD

SCENARIOS: Mapping[str, Scenario] = MappingProxyType(
    {
        scenario.name: scenario
        for scenario in (
            HIGH_LOAD,
            SUSTAINED_LOAD,
            SPIKE_LOAD,
            MEMORY_PRESSURE,
            CONCURRENT_REQUESTS,
            LARGE_INPUTS,
            RATE_LIMITING,
            FAILURE_RECOVERY,
        )
    }
)
"""In the order of a whole stress test. ``FIND_LIMIT`` and ``custom`` are asked for by their own options."""


def scenario_named(name: str) -> Scenario:
    """The scenario of this name, ``find_limit`` included; ``SpecError`` with the nearest where there is none."""
    if name == FIND_LIMIT.name:
        return FIND_LIMIT
    if name not in SCENARIOS:
        raise SpecError(f"there is no scenario {name!r}", remedy=nearest(name, SCENARIOS))
    return SCENARIOS[name]


__all__ = [
    "FAULTS",
    "FIND_LIMIT",
    "PROCESS_FAULTS",
    "PROFILES",
    "SCENARIOS",
    "Scenario",
    "ScenarioSettings",
    "custom",
    "fault_names",
    "named_words",
    "planned_seconds",
    "resolve_params",
    "scenario_named",
    "share_params",
    "words_named",
]
