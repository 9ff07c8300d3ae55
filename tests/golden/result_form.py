"""A result file with everything in it that the next run would repeat, and placeholders for the rest."""

from __future__ import annotations

from typing import Any

from .plain import named, replaced, rounded

STEADY = frozenset(
    {
        "result.value",
        "cost_usd",
        "reported.cost_usd",
        "input_tokens",
        "output_tokens",
        "total_tokens",
        "score",
        "correctness",
    }
    | {"judge_cost_usd", "accuracy", "cost", "reliability"}
)
"""Metrics, readings, totals and scores that no clock decides."""
OF_THE_CLOCK = ("reference.", "normalised.")
"""How the names of metrics begin that a run has only where it took long enough to read them."""
STEADY_WARNINGS = frozenset({"few-samples", "all-failed", "all-errors", "failures", "no-accuracy"})
_DESCRIPTION = frozenset({"unit", "direction", "provenance", "machine_dependent", "n"})
_CLOCK = named(
    dict.fromkeys(("started_at", "finished_at", "started_at_ms"), "time")
    | dict.fromkeys(("overhead_s", "at_s", "duration_s", "warmup_s"), "seconds")
    | {"run_id": "run", "inner_loops": "number"}
)


def result_form(result: dict[str, Any]) -> object:
    """``result`` as it was read from a result file, in the order of its keys."""
    form = {
        **result,
        "run_id": "<run>",
        "started_at": "<time>",
        "finished_at": "<time>",
        "environment": list(result["environment"]),
        "warnings": [row for row in result["warnings"] if row["code"] in STEADY_WARNINGS],
        "arms": [_arm(arm, result["kind"]) for arm in result["arms"]],
    }
    if form["overhead_s"] is not None:
        form["overhead_s"] = "<seconds>"
    return rounded(form)


def _arm(arm: dict[str, Any], kind: str) -> dict[str, Any]:
    form = {
        **arm,
        "metrics": {
            name: _metric(name, summary)
            for name, summary in arm["metrics"].items()
            if not name.startswith(OF_THE_CLOCK)
        },
        "scores": _steady(arm["scores"]),
        "score_errors": _steady(arm["score_errors"]),
        "totals": _steady(arm["totals"]),
        "samples": [_sample(sample) for sample in arm["samples"]],
    }
    if kind == "experiment":
        form["observed"] = "<machine>"
    return _load_arm(form) if kind == "load" else form


def _load_arm(arm: dict[str, Any]) -> dict[str, Any]:
    """How many windows there are, and what is in them, is up to the clock: one shows the form."""
    counts = {"planned": "<number>", "samples_total": "<number>", "statuses": "<counts>", "artifacts": "<files>"}
    metrics = {name: {**summary, "n": "<number>"} for name, summary in arm["metrics"].items()}
    observed = {**arm["observed"], "self_check": list(arm["observed"]["self_check"])}
    sample = arm["samples"][0]
    window = {name: _window(item) for name, item in sample["details"]["window"].items()}
    first = {**sample, "details": {**sample["details"], "window": window}}
    return {**arm, **counts, "metrics": metrics, "observed": observed, "samples": [first]}


def _window(value: object) -> object:
    if isinstance(value, dict):
        return "<histogram or counts>"
    return "<number>" if isinstance(value, (int, float)) and not isinstance(value, bool) else value


def _metric(name: str, summary: dict[str, Any]) -> dict[str, Any]:
    if name in STEADY:
        return summary
    return {key: value if key in _DESCRIPTION else "<number>" for key, value in summary.items()}


def _sample(sample: dict[str, Any]) -> dict[str, Any]:
    form = {**sample, "readings": _steady(sample["readings"])}
    details = replaced(sample["details"], _CLOCK)
    assert isinstance(details, dict)
    form["details"] = {name: "<measured>" if name == "gc" else value for name, value in details.items()}
    return {**form, "started_at_ms": "<time>", "inner_loops": "<number>"}


def _steady(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value if name in STEADY or value is None else "<number>" for name, value in values.items()}
