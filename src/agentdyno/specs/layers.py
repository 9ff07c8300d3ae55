"""Laying documents over each other: what all entries share, the entry, ``quick:``, changes beside the file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Document = dict[str, Any]
ENTRY_KEYS = ("params", "sweep", "strategy", "samples", "iterations")
CHOICES = ("limit", "benchmarks", "cases")
_ADDED = ("tags", "imports", "instrumentation")


def apply_layer(document: Document, layer: Document, *, command_line: bool = False) -> Document:
    """``document`` with ``layer`` over it, both validated.

    Mappings merge key by key; from the command line a parameter replaces and a list adds. A parameter in one of
    params and sweep takes it out of the other. A layer's parameters hold for every entry.
    """
    result = {**document}
    if "experiment" in layer or "experiments" in layer:
        result.pop("experiment", None)
        result.pop("experiments", None)
    elif "experiments" in result:
        result["experiments"] = [merge_entry(entry, layer, command_line) for entry in result["experiments"]]
    result = merge_entry(result, layer, command_line)
    for key, value in layer.items():
        if key in ENTRY_KEYS:
            continue
        before = result.get(key)
        if command_line and key in _ADDED and isinstance(before, list):
            result[key] = [*before, *(item for item in value if not _holds(before, item))]
        elif key == "metrics" and isinstance(before, Mapping):
            result[key] = _deep(before, value)
        else:
            result[key] = value
    return result


def merge_entry(base: Document, layer: Document, replace_params: bool = False) -> Document:
    """The fields of one entry with those of ``layer`` over them; other keys of ``base`` stay."""
    result = {**base}
    params, sweep = layer.get("params", {}), layer.get("sweep", {})
    if params or "params" in base:
        kept = {name: value for name, value in base.get("params", {}).items() if name not in sweep}
        result["params"] = {**kept, **params} if replace_params else _deep(kept, params)
    if sweep or "sweep" in base:
        kept = {name: value for name, value in base.get("sweep", {}).items() if name not in params}
        result["sweep"] = {**kept, **sweep}
    if "strategy" in layer:
        result["strategy"] = layer["strategy"]
        if layer["strategy"] != "random" and "samples" not in layer:
            result.pop("samples", None)
    if "samples" in layer:
        result["samples"] = layer["samples"]
    if "iterations" in layer:
        result["iterations"] = _merge_iterations(base.get("iterations", {}), layer["iterations"])
    return result


def _merge_iterations(base: Document, layer: Document) -> Document:
    excluded = "auto" if "measured" in layer else "measured" if "auto" in layer else ""
    return _deep({key: value for key, value in base.items() if key != excluded}, layer)


def _deep(base: Mapping[str, Any], layer: Mapping[str, Any]) -> Document:
    result = {**base}
    for key, value in layer.items():
        before = result.get(key)
        if isinstance(before, Mapping) and isinstance(value, Mapping):
            result[key] = _deep(before, value)
        else:
            result[key] = value
    return result


def _holds(items: list[Any], item: Any) -> bool:
    if isinstance(item, Mapping):
        return any(isinstance(other, Mapping) and other.get("name") == item.get("name") for other in items)
    return item in items


def apply_suite_layer(document: Document, layer: Document, *, command_line: bool = False) -> Document:
    """``document`` with ``layer`` over it, both validated.

    What the layer chooses (limit, benchmarks, cases) is kept under ``choice``. Its epochs, warm-ups and limits of a
    case hold for every benchmark. Tags of the command line are added; all else replaces. An agent that is named as
    one of the suite's means that one.
    """
    result = {**document, "choice": {**document.get("choice", {}), **_only(layer, CHOICES)}}
    for key, value in layer.items():
        if key in CHOICES:
            continue
        if key in ("constraints", "case_constraints"):
            result[key] = {**document.get(key, {}), **value}
        elif key == "tags" and command_line:
            result[key] = list(dict.fromkeys([*document.get("tags", []), *value]))
        elif key == "agents":
            result[key] = [_named(entry, document.get("agents", [])) for entry in value]
        else:
            result[key] = value
    if "benchmarks" in document:
        result["benchmarks"] = [_benchmark(item, layer) for item in document["benchmarks"]]
    return result


def _benchmark(item: Document, layer: Document) -> Document:
    settled = {**item}
    if "epochs" in layer:
        settled.pop("epochs", None)
        settled.pop("num_runs", None)
    if "warmup" in layer:
        settled.pop("warmup", None)
    if "case_constraints" in layer:
        settled["constraints"] = {**item.get("constraints", {}), **layer["case_constraints"]}
    return settled


def _named(entry: Document, known: list[Document]) -> Document:
    from agentdyno.specs.workspace.agents import agent_use, reference_of

    if set(entry) - {"use", "uses"}:
        return entry
    wanted = reference_of(entry)
    for other in known:
        name = other.get("name") or agent_use(reference_of(other)).name
        if wanted in (name, reference_of(other)):
            return other
    return entry


def _only(layer: Document, keys: tuple[str, ...]) -> Document:
    return {key: layer[key] for key in keys if key in layer}


def bands_of(document: Mapping[str, Any]) -> dict[str, float] | None:
    """The thresholds of a validated file, as numbers; ``None`` where it asks for no bands."""
    given = document.get("bands")
    return None if given is None else {name: float(value) for name, value in given.items()}


def thresholds_of(document: Mapping[str, Any], source: str) -> dict[str, float]:
    """From which change on metrics count as worse, as a validated file says. ``SpecError`` for an unknown metric."""
    given = document.get("thresholds")
    if not given:
        return {}
    from agentdyno.findings.history.judge_thresholds import project_thresholds

    return project_thresholds(given, f"{source}: thresholds")
