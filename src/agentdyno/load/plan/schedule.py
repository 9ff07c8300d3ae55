"""When each request of a step is due: fixed before the step starts, by its seed alone.

Arrivals are a renewal process in the time that the rate itself counts (one expected request is one unit), mapped
back to the clock. The first gap is drawn as if the process had always been running, so that the expected number of
requests is the integral of the rate, for every shape and every distribution.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from agentdyno.errors import SpecError
from agentdyno.model.load import Arrivals, Stage, Step

MOST_REQUESTS = 50_000_000
_NS = 1_000_000_000
_SEED_MASK = (1 << 64) - 1


@dataclass(frozen=True, slots=True)
class LoadSchedule:
    """One entry a request, in order of time. ``due_ns`` counts from the start of the step and ascends; ``stage`` is
    an index into the step's stages; ``request`` is an index into the set of requests. ``session``, where the load is
    made of conversations, is the number of the conversation that the entry opens."""

    due_ns: NDArray[np.int64]
    stage: NDArray[np.int16]
    request: NDArray[np.int32]
    session: NDArray[np.int32] | None = None

    def __len__(self) -> int:
        return int(self.due_ns.size)

    def part(self, process: int, processes: int) -> LoadSchedule:
        """What one of ``processes`` clients keeps: every ``processes``-th entry. All parts together are the whole."""
        mine = slice(process, None, processes)
        session = None if self.session is None else self.session[mine]
        return LoadSchedule(self.due_ns[mine], self.stage[mine], self.request[mine], session)


def build_schedule(
    step: Step, requests: int, *, recorded_ns: NDArray[np.int64] | None = None, sessions: bool = False
) -> LoadSchedule:
    """The schedule of an open-loop step; empty for a closed loop, whose pace the target sets.

    ``requests`` is the size of the set to draw from: it is gone through in a circle from a place that the seed gives,
    so that the same request comes back as late as possible. ``recorded_ns`` are the arrivals of a trace.
    ``SpecError`` where the step is no load at all, or more than 50 million requests.
    """
    check_step(step)
    if requests < 1:
        raise SpecError(f"there is nothing to send: the set of requests of {step.name!r} is empty")
    if step.arrivals is Arrivals.CLOSED:
        due_ns = np.zeros(0, dtype=np.int64)
    elif step.arrivals is Arrivals.TRACE:
        due_ns = _recorded(step, recorded_ns)
    else:
        due_ns = _arrivals_ns(step)
    ends = np.cumsum([round(stage.duration_s * _NS) for stage in step.stages], dtype=np.int64)
    stage = np.minimum(np.searchsorted(ends, due_ns, side="right"), len(step.stages) - 1).astype(np.int16)
    first = int(_generator(step, 1).integers(requests))
    # A trace's requests have the recorded lengths, one each: the order is theirs.
    offset = 0 if step.arrivals is Arrivals.TRACE else first
    request = ((np.arange(due_ns.size, dtype=np.int64) + offset) % requests).astype(np.int32)
    session = np.arange(due_ns.size, dtype=np.int32) if sessions else None
    return LoadSchedule(due_ns, stage, request, session)


def expected_requests(step: Step) -> float:
    """The integral of the rate over the step; 0 for a closed loop."""
    if step.arrivals is Arrivals.CLOSED:
        return 0.0
    return math.fsum(_expected(stage) for stage in step.stages)


def concurrency_at(step: Step, at_s: float) -> int:
    """How many requests a closed loop keeps in flight at a moment of the step; 0 outside it."""
    found = _stage_at(step, at_s)
    if found is None:
        return 0
    stage, part = found
    end = stage.concurrency if stage.concurrency_to is None else stage.concurrency_to
    return math.floor(stage.concurrency + (end - stage.concurrency) * part + 0.5)


def stage_at(step: Step, at_s: float) -> int:
    """The index of the stage at a moment; the last one's after the end."""
    ends = np.cumsum([stage.duration_s for stage in step.stages])
    return min(int(np.searchsorted(ends, at_s, side="right")), len(step.stages) - 1)


def check_step(step: Step) -> None:
    """``SpecError`` where a step cannot be kept: no time, a negative rate, a shape that is no number."""
    if not step.stages:
        raise SpecError(f"the step {step.name!r} has no stage")
    for stage in step.stages:
        if not (math.isfinite(stage.duration_s) and stage.duration_s > 0.0):
            raise SpecError(f"the stage {stage.label!r} lasts {stage.duration_s:g} s; it must last more than 0")
        for rate in (stage.rate, _rate_to(stage)):
            if not (math.isfinite(rate) and rate >= 0.0):
                raise SpecError(f"the stage {stage.label!r} asks for {rate:g} requests a second")
        if min(stage.concurrency, stage.concurrency_to or 0) < 0:
            raise SpecError(f"the stage {stage.label!r} asks for a concurrency below 0")
    if not (math.isfinite(step.gamma_shape) and step.gamma_shape > 0.0):
        raise SpecError(f"the shape of gamma arrivals is more than 0, not {step.gamma_shape:g}")
    if expected_requests(step) > MOST_REQUESTS:
        raise SpecError(
            f"the step {step.name!r} asks for {expected_requests(step):.3g} requests",
            remedy=f"{MOST_REQUESTS:,} are the most in one step: lower the rate or the duration.",
        )


def _arrivals_ns(step: Step) -> NDArray[np.int64]:
    expected = expected_requests(step)
    if step.arrivals is Arrivals.CONSTANT:
        # 100 a second for 3 s are 300 requests, also where the sum of floats is a hair above 300.
        counted = np.arange(math.ceil(expected - 1e-6), dtype=np.float64)
    else:
        shape = step.gamma_shape if step.arrivals is Arrivals.GAMMA else 1.0
        counted = _renewals(expected, shape, _generator(step, 0))
    end_ns = round(step.duration_s * _NS)
    due_s = _clock_times(step.stages, counted)
    return np.clip(np.rint(due_s * _NS), 0, max(end_ns - 1, 0)).astype(np.int64)


def _renewals(expected: float, shape: float, rng: np.random.Generator) -> NDArray[np.float64]:
    """Arrivals below ``expected`` of a stationary renewal process with gamma gaps of mean 1."""
    scale = 1.0 / shape
    # The gap that is running when one starts to look is chosen in proportion to its length, and partly over.
    reached = float(rng.gamma(shape + 1.0, scale) * rng.random())
    pieces = [np.array([reached])]
    while reached < expected:
        size = int((expected - reached) * 1.05 + 4.0 * math.sqrt((expected - reached) * scale)) + 16
        piece = reached + np.cumsum(rng.gamma(shape, scale, size))
        pieces.append(piece)
        reached = float(piece[-1])
    arrivals = np.concatenate(pieces)
    return arrivals[arrivals < expected]


def _clock_times(stages: tuple[Stage, ...], counted: NDArray[np.float64]) -> NDArray[np.float64]:
    """Seconds at which the integral of the rate reaches each of ``counted`` (ascending)."""
    reached = np.concatenate(([0.0], np.cumsum([_expected(stage) for stage in stages])))
    starts = np.concatenate(([0.0], np.cumsum([stage.duration_s for stage in stages])))
    at = np.clip(np.searchsorted(reached, counted, side="right") - 1, 0, len(stages) - 1)
    rate = np.array([stage.rate for stage in stages])[at]
    growth = np.array([(_rate_to(stage) - stage.rate) / stage.duration_s for stage in stages])[at]
    rest = counted - reached[at]
    # The root of rate*t + growth*t*t/2 = rest, in the form that loses no digits and allows growth = 0.
    below = rate + np.sqrt(np.maximum(rate * rate + 2.0 * growth * rest, 0.0))
    inside = np.divide(2.0 * rest, below, out=np.zeros_like(rest), where=below > 0.0)
    lasts = np.array([stage.duration_s for stage in stages])[at]
    return np.asarray(starts[at] + np.minimum(inside, lasts), dtype=np.float64)


def _recorded(step: Step, recorded_ns: NDArray[np.int64] | None) -> NDArray[np.int64]:
    if recorded_ns is None:
        raise SpecError(f"the step {step.name!r} replays a trace, and none is given")
    within = np.sort(np.asarray(recorded_ns, dtype=np.int64))
    return within[(within >= 0) & (within < round(step.duration_s * _NS))]


def _stage_at(step: Step, at_s: float) -> tuple[Stage, float] | None:
    """The stage at a moment, and which part of it is over (0 to 1)."""
    start = 0.0
    for stage in step.stages:
        if start <= at_s < start + stage.duration_s:
            return stage, min((at_s - start) / stage.duration_s, 1.0)
        start += stage.duration_s
    return None


def _expected(stage: Stage) -> float:
    return stage.duration_s * (stage.rate + _rate_to(stage)) / 2.0


def _rate_to(stage: Stage) -> float:
    return stage.rate if stage.rate_to is None else stage.rate_to


def _generator(step: Step, purpose: int) -> np.random.Generator:
    return np.random.default_rng([step.seed & _SEED_MASK, purpose])


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
