"""From a file to a plan: load, validate, sweep, order. Names are loaded when first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentdyno.specs.agent_sweep import agent_use
    from agentdyno.specs.arms import build_arms, distinct_names
    from agentdyno.specs.dataset import Dataset
    from agentdyno.specs.load import (
        entry_where,
        load_spec,
        parse_param,
        parse_spec,
        spec_document,
        spec_for,
        spec_from_document,
    )
    from agentdyno.specs.overrides import Overrides, fit_overrides
    from agentdyno.specs.plan import MAX_LIVE_ARMS, MAX_TRIALS, interleaving_warning, make_plan, plan_groups
    from agentdyno.specs.read import read_document
    from agentdyno.specs.schema import json_schema
    from agentdyno.specs.suite_load import LoadedSuite, is_suite, load_suite, parse_suite
    from agentdyno.specs.suite_overrides import SuiteOverrides
    from agentdyno.specs.suite_plan import epochs_of, plan_suite, trial_count
    from agentdyno.specs.sweep import MAX_COMBINATIONS, expand
    from agentdyno.specs.workspace import find_workspace, load_workspace, read_workspace, resolve_agents

_HOMES = {
    "MAX_COMBINATIONS": "sweep",
    "MAX_LIVE_ARMS": "plan",
    "MAX_TRIALS": "plan",
    "Dataset": "dataset",
    "LoadedSuite": "suite_load",
    "Overrides": "overrides",
    "SuiteOverrides": "suite_overrides",
    "agent_use": "agent_sweep",
    "build_arms": "arms",
    "distinct_names": "arms",
    "entry_where": "load",
    "epochs_of": "suite_plan",
    "expand": "sweep",
    "find_workspace": "workspace",
    "fit_overrides": "overrides",
    "interleaving_warning": "plan",
    "is_suite": "suite_load",
    "json_schema": "schema",
    "load_spec": "load",
    "load_suite": "suite_load",
    "load_workspace": "workspace",
    "make_plan": "plan",
    "parse_param": "load",
    "parse_spec": "load",
    "parse_suite": "suite_load",
    "plan_groups": "plan",
    "plan_suite": "suite_plan",
    "read_document": "read",
    "read_workspace": "workspace",
    "resolve_agents": "workspace",
    "spec_document": "load",
    "spec_for": "load",
    "spec_from_document": "load",
    "trial_count": "suite_plan",
}

__all__ = [
    "MAX_COMBINATIONS",
    "MAX_LIVE_ARMS",
    "MAX_TRIALS",
    "Dataset",
    "LoadedSuite",
    "Overrides",
    "SuiteOverrides",
    "agent_use",
    "build_arms",
    "distinct_names",
    "entry_where",
    "epochs_of",
    "expand",
    "find_workspace",
    "fit_overrides",
    "interleaving_warning",
    "is_suite",
    "json_schema",
    "load_spec",
    "load_suite",
    "load_workspace",
    "make_plan",
    "parse_param",
    "parse_spec",
    "parse_suite",
    "plan_groups",
    "plan_suite",
    "read_document",
    "read_workspace",
    "resolve_agents",
    "spec_document",
    "spec_for",
    "spec_from_document",
    "trial_count",
]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
