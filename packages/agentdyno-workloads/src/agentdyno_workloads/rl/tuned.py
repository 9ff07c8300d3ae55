"""Hyper-parameters that were tuned: every algorithm with as many trainings as the others, on seeds of their own."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from agentdyno_workloads.rl.models import STUB, TINY
from agentdyno_workloads.rl.training import TrainingSettings

TUNED = Path(__file__).with_name("tuned.json")
LARGE_RATE = 1e-4
"""The highest learning rate for models of gpt2's size and for weights of a file; chosen by custom, not tuned."""


@cache
def tuned() -> dict[str, dict[str, dict[str, float]]]:
    """``learning_rate``, ``clip`` and ``beta`` by model and algorithm, as the tuning run left them."""
    document = json.loads(TUNED.read_text(encoding="utf-8"))
    chosen: dict[str, dict[str, dict[str, float]]] = document["chosen"]
    return chosen


def settings_for(algorithm: str, model: str, episodes: int, given: Mapping[str, float | None]) -> TrainingSettings:
    """The tuned settings with what the user gave instead. Large models start from those of the tiny one with a
    smaller step: they were not tuned."""
    known = tuned()
    chosen = dict(known[model if model in known else TINY][algorithm])
    plain = TrainingSettings()
    if model not in (STUB, TINY):
        chosen["learning_rate"] = min(chosen["learning_rate"], LARGE_RATE)
        plain = replace(plain, warm_start=replace(plain.warm_start, learning_rate=3 * LARGE_RATE))
    chosen |= {name: value for name, value in given.items() if value is not None}
    return replace(
        plain,
        algorithm=algorithm,
        episodes=episodes,
        optimiser=replace(plain.optimiser, learning_rate=chosen["learning_rate"]),
        loss=replace(plain.loss, clip=chosen["clip"], beta=chosen["beta"]),
    )
