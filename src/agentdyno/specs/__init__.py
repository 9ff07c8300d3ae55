"""From a file to a plan: load, validate, sweep, order. Names are loaded when first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentdyno.specs.changes import (
        SettingChanges,
        changes_among,
        fit_overrides,
        params_of,
        spec_changes,
        suite_changes,
    )
    from agentdyno.specs.dataset.dataset import Dataset
    from agentdyno.specs.experiment.arms import build_arms, distinct_names
    from agentdyno.specs.experiment.load import (
        entry_where,
        load_spec,
        parse_param,
        parse_spec,
        spec_document,
        spec_for,
        spec_from_document,
    )
    from agentdyno.specs.experiment.plan import (
        MAX_LIVE_ARMS,
        interleaving_warning,
        make_plan,
        plan_groups,
    )
    from agentdyno.specs.experiment.sweep import MAX_COMBINATIONS, expand
    from agentdyno.specs.files.read import read_document
    from agentdyno.specs.schema import json_schema
    from agentdyno.specs.suite.load import LoadedSuite, is_suite, load_suite, parse_suite
    from agentdyno.specs.suite.plan import epochs_of, plan_suite, trial_count
    from agentdyno.specs.workspace.agents import agent_use
    from agentdyno.specs.workspace.load import find_workspace, load_workspace, read_workspace, resolve_agents

_HOMES = {
    "MAX_COMBINATIONS": "experiment.sweep",
    "MAX_LIVE_ARMS": "experiment.plan",
    "Dataset": "dataset.dataset",
    "LoadedSuite": "suite.load",
    "SettingChanges": "changes",
    "agent_use": "workspace.agents",
    "build_arms": "experiment.arms",
    "changes_among": "changes",
    "distinct_names": "experiment.arms",
    "entry_where": "experiment.load",
    "epochs_of": "suite.plan",
    "expand": "experiment.sweep",
    "find_workspace": "workspace.load",
    "fit_overrides": "changes",
    "interleaving_warning": "experiment.plan",
    "is_suite": "suite.load",
    "json_schema": "schema",
    "load_spec": "experiment.load",
    "load_suite": "suite.load",
    "load_workspace": "workspace.load",
    "make_plan": "experiment.plan",
    "params_of": "changes",
    "parse_param": "experiment.load",
    "parse_spec": "experiment.load",
    "parse_suite": "suite.load",
    "plan_groups": "experiment.plan",
    "plan_suite": "suite.plan",
    "read_document": "files.read",
    "read_workspace": "workspace.load",
    "resolve_agents": "workspace.load",
    "spec_changes": "changes",
    "spec_document": "experiment.load",
    "spec_for": "experiment.load",
    "spec_from_document": "experiment.load",
    "suite_changes": "changes",
    "trial_count": "suite.plan",
}

__all__ = [
    "MAX_COMBINATIONS",
    "MAX_LIVE_ARMS",
    "Dataset",
    "LoadedSuite",
    "SettingChanges",
    "agent_use",
    "build_arms",
    "changes_among",
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
    "params_of",
    "parse_param",
    "parse_spec",
    "parse_suite",
    "plan_groups",
    "plan_suite",
    "read_document",
    "read_workspace",
    "resolve_agents",
    "spec_changes",
    "spec_document",
    "spec_for",
    "spec_from_document",
    "suite_changes",
    "trial_count",
]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
