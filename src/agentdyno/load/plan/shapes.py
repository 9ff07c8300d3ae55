"""Shapes of load over time. Levels are requests a second in open loop, requests in flight where ``closed`` is true.

Durations are seconds; every shape lasts exactly as long as it is told to.
"""

from __future__ import annotations

import math

from agentdyno.errors import SpecError
from agentdyno.model.load import Stage


def soak(level: float, duration_s: float, *, closed: bool = False) -> tuple[Stage, ...]:
    """One level all the time."""
    return (_stage("steady", duration_s, level, None, closed),)


def ramp(
    start: float, end: float, duration_s: float, *, hold_s: float = 0.0, closed: bool = False
) -> tuple[Stage, ...]:
    """Linearly from ``start`` to ``end`` in ``duration_s``, then ``hold_s`` more at the end's level."""
    rise = _stage("ramp", duration_s, start, end, closed)
    return (rise, _stage("steady", hold_s, end, None, closed)) if hold_s else (rise,)


def steps(start: float, end: float, count: int, duration_s: float, *, closed: bool = False) -> tuple[Stage, ...]:
    """``count`` equal levels from ``start`` to ``end``, each for the same part of ``duration_s``."""
    if count < 1:
        raise SpecError(f"a staircase has at least one step, not {count}")
    parts = [number / (count - 1) for number in range(count)] if count > 1 else [0.0]
    # Not start + part * (end - start), which can come out a hair below 0.
    levels = [start * (1.0 - part) + end * part for part in parts]
    return tuple(
        _stage(f"level {number + 1}", duration_s / count, level, None, closed) for number, level in enumerate(levels)
    )


def spike(
    base: float, peak: float, before_s: float, spike_s: float, after_s: float, *, closed: bool = False
) -> tuple[Stage, ...]:
    """``base``, at once ``peak``, at once ``base`` again while the target recovers."""
    return (
        _stage("steady", before_s, base, None, closed),
        _stage("spike", spike_s, peak, None, closed),
        _stage("recovery", after_s, base, None, closed),
    )


def sawtooth(low: float, high: float, teeth: int, duration_s: float, *, closed: bool = False) -> tuple[Stage, ...]:
    """``teeth`` ramps from ``low`` to ``high``, each dropping back at once."""
    if teeth < 1:
        raise SpecError(f"a saw has at least one tooth, not {teeth}")
    return tuple(_stage("ramp", duration_s / teeth, low, high, closed) for _ in range(teeth))


def _stage(label: str, duration_s: float, level: float, level_to: float | None, closed: bool) -> Stage:
    if not (math.isfinite(duration_s) and duration_s > 0.0):
        raise SpecError(f"a stage lasts more than 0 seconds, not {duration_s:g}")
    for value in (level, level if level_to is None else level_to):
        if not (math.isfinite(value) and value >= 0.0):
            raise SpecError(f"a level of load is 0 or more, not {value:g}")
    if closed:
        whole_to = None if level_to is None else round(level_to)
        return Stage(label, duration_s, concurrency=round(level), concurrency_to=whole_to)
    return Stage(label, duration_s, rate=level, rate_to=level_to)
