"""Readings of stored runs of this workload, by framework."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from agentdyno import RunError, RunResult
from agentdyno_workloads.pages import newest_runs

OVERHEAD, CONCURRENCY, SUITE, FAULTS = "overhead", "concurrency", "suite", "faults"
GROWTH, COLD_START = "growth", "cold_start"
SPECS = (OVERHEAD, COLD_START, GROWTH, CONCURRENCY, SUITE, FAULTS)
BARE = "bare"
LEVEL = 0.95
DRAWN = 2000


def find_runs(references: Sequence[str], store: str | None) -> dict[str, RunResult]:
    """The runs given, or the newest complete one of each spec in the store."""
    found = newest_runs(references, store, SPECS, _is_ours)
    if OVERHEAD not in found:
        raise RunError("no complete run of overhead", where=store, remedy="`dyno run workload:frameworks/overhead`.")
    return found


def values(run: RunResult, framework: str, name: str, at_once: int = 1) -> np.ndarray:
    """A reading of every measured sample of one arm, in the order of iterations."""
    for arm in run.arms:
        if arm.params.get("framework") == framework and arm.params.get("at_once", 1) == at_once:
            kept = sorted(
                (sample.iteration, sample.readings[name]) for sample in arm.samples if name in sample.readings
            )
            return np.array([value for _, value in kept])
    return np.array([])


def outputs(run: RunResult, framework: str) -> Mapping[str, Any]:
    """What the newest sample of a framework returned."""
    for arm in run.arms:
        if arm.params.get("framework") == framework:
            told = [sample.output for sample in arm.samples if isinstance(sample.output, Mapping)]
            return told[-1] if told else {}
    return {}


def frameworks_in(run: RunResult) -> list[str]:
    return list(dict.fromkeys(str(arm.params["framework"]) for arm in run.arms))


def beyond(own: np.ndarray, bare: np.ndarray) -> tuple[float, float, float]:
    """The difference of medians with its bootstrap interval; an iteration of both was measured side by side."""
    count = min(len(own), len(bare))
    rows = np.random.default_rng(42).integers(0, count, (DRAWN, count))
    drawn = np.median(own[:count][rows], axis=1) - np.median(bare[:count][rows], axis=1)
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(np.median(own) - np.median(bare)), float(low), float(high)


def observed(run: RunResult, framework: str) -> str:
    """``langgraph 1.2.20``, as the environment told; of a bare loop, what it rests on."""
    told = next((arm.observed.get("framework") for arm in run.arms if arm.params["framework"] == framework), None)
    return f"{framework} ({told})" if told and framework.split("-")[0] not in str(told) else str(told or framework)


def _is_ours(run: RunResult) -> bool:
    return all(arm.experiment.startswith("framework_") for arm in run.arms)
