"""Normalised time: what a call would have taken on this host at its standard speed, with nobody else on it."""

from __future__ import annotations

from collections.abc import Mapping

from agentdyno.model.result import ArmResult, MetricSummary

NORMALISED = "duration_norm_s"
NONE = "none"
"""In place of a reference: the time in the run queue is taken out, and the CPU time stays as it is."""
STANDARD = "reference.standard_s"
"""The standard of the reference that an arm's normalised times rest on; 0 where none was used."""
SPENT = "reference.spent_s"
"""What the reference readings of an arm took, in all."""
QUEUE_SHARE = "reference.queue_share"
"""The share of the samples' time in which the process was ready and others had the CPU."""
_SLACK, _SLACK_S = 1.02, 50e-6
"""CPU and wall clock are read one after the other: so much more CPU time is still that of one thread."""


def variant(reference: str) -> str:
    """The metric of an arm that tells what normalising by ``reference`` makes of its times."""
    return f"normalised.{reference}_s"


def normalised_s(wall_s: float, cpu_s: float, queued_s: float, speed: float) -> float | None:
    """Waiting + CPU time × ``speed``, all in seconds; ``None`` where more than one CPU was used at a time.

    Waiting is what is left of the wall time without CPU time and without ``queued_s``, the time in which the process
    was ready and others had the CPU. ``speed`` is the reference's standard divided by what it takes now.
    """
    if cpu_s > _SLACK * wall_s + _SLACK_S:
        return None
    return max(0.0, wall_s - cpu_s - queued_s) + cpu_s * speed


def standard_of(arm: ArmResult) -> float | None:
    """The standard of an arm's normalised times, ``None`` without any: only those with an equal one compare."""
    found: MetricSummary | None = arm.metrics.get(STANDARD)
    return None if found is None or NORMALISED not in arm.metrics else found.median


def medians_of(metrics: Mapping[str, MetricSummary], references: tuple[str, ...]) -> dict[str, float]:
    """What each way of normalising made of a run, by reference; those that are missing are left out."""
    found = {name: metrics.get(variant(name)) for name in references}
    return {name: item.median for name, item in found.items() if item is not None and item.median is not None}
