"""Normalised times: what a call would have taken on this host at its standard speed, with nobody else on it."""

from __future__ import annotations

from collections.abc import Sequence

NORMALISED = "duration_norm_s"
CPU_NORMALISED = "cpu_norm_s"
"""CPU time at the host's standard speed: of one thread or of many, waiting has no part in it."""
IN_PLACE_OF = {"duration_s": NORMALISED, "cpu_s": CPU_NORMALISED}
"""What separate runs are compared in, in place of times as they were."""
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


def cpu_variant(reference: str) -> str:
    """The same of its CPU times."""
    return f"normalised.{reference}_cpu_s"


def normalised_s(wall_s: float, cpu_s: float, queued_s: float, speed: float) -> float | None:
    """Waiting + CPU time × ``speed``, all in seconds; ``None`` where more than one CPU was used at a time.

    Waiting is what is left of the wall time without CPU time and without ``queued_s``, the time in which the process
    was ready and others had the CPU. ``speed`` is the reference's standard divided by what it takes now.
    """
    if cpu_s > _SLACK * wall_s + _SLACK_S:
        return None
    return max(0.0, wall_s - cpu_s - queued_s) + cpu_s * speed


def least_place(count: int) -> int:
    """Which of ``count`` ascending normalised times is their figure: the lower quartile, the least of up to four.

    Other processes take cache and shared parts of a core as well, which shows in CPU time and not in a reference that
    is read a moment later. That can only add, so that the lower tries of unchanged code agree far better between runs
    than the middle ones: beside other work, 175 runs spread by 0.019 in place of 0.055.
    """
    return (count - 1) // 4


def least_disturbed(values: Sequence[float]) -> float:
    """The figure of several tries of the same thing, as ``least_place`` has it."""
    return sorted(values)[least_place(len(values))]


def standard(reference: str) -> str:
    """The metric of an arm that tells the standard of ``reference`` that its normalised times rest on."""
    return f"reference.{reference}_standard_s"


def reading_of(reference: str) -> str:
    """The metric of an arm that tells what reading ``reference`` took in it."""
    return f"reference.{reference}_s"
