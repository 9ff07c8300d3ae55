"""Normalised time: what a call would have taken on this host at its standard speed, with nobody else on it."""

from __future__ import annotations

NORMALISED = "duration_norm_s"
NONE = "none"
"""In place of a reference: the time in the run queue is taken out, and the CPU time stays as it is."""
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


def standard(reference: str) -> str:
    """The metric of an arm that tells the standard of ``reference`` that its normalised times rest on."""
    return f"reference.{reference}_standard_s"
