"""From a file to a plan: load, validate, sweep, order. Names are loaded when first used."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentdyno.specs.arms import build_arms, distinct_names
    from agentdyno.specs.file_format import json_schema
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
    from agentdyno.specs.sweep import MAX_COMBINATIONS, expand

_HOMES = {
    "MAX_COMBINATIONS": "sweep",
    "MAX_LIVE_ARMS": "plan",
    "MAX_TRIALS": "plan",
    "Overrides": "overrides",
    "build_arms": "arms",
    "distinct_names": "arms",
    "entry_where": "load",
    "expand": "sweep",
    "fit_overrides": "overrides",
    "interleaving_warning": "plan",
    "json_schema": "file_format",
    "load_spec": "load",
    "make_plan": "plan",
    "parse_param": "load",
    "parse_spec": "load",
    "plan_groups": "plan",
    "spec_document": "load",
    "spec_for": "load",
    "spec_from_document": "load",
}

__all__ = [
    "MAX_COMBINATIONS",
    "MAX_LIVE_ARMS",
    "MAX_TRIALS",
    "Overrides",
    "build_arms",
    "distinct_names",
    "entry_where",
    "expand",
    "fit_overrides",
    "interleaving_warning",
    "json_schema",
    "load_spec",
    "make_plan",
    "parse_param",
    "parse_spec",
    "plan_groups",
    "spec_document",
    "spec_for",
    "spec_from_document",
]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{home}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
