"""Laying ``quick:`` and the command line over a suite."""

from __future__ import annotations

from agentdyno.specs.layers import Document
from agentdyno.specs.workspace.agent_sweep import agent_use, reference_of

CHOICES = ("limit", "benchmarks", "cases")


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
