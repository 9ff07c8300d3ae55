"""How far an agent can be relied on: again and again, in other words, and with what errors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from agentdyno.findings.standing.model import ScoreEstimate
from agentdyno.model.record import ErrorClass


@dataclass(frozen=True, slots=True)
class Perturbed:
    """The same questions in another form. ``agreement`` is the share of pairs that end alike (both right or both
    wrong); ``change`` is the accuracy of the perturbed form less that of the original, with its 95 % interval.
    ``broken`` are the perturbed cases that fail where the original passes."""

    pairs: int
    original: float
    perturbed: float
    agreement: float
    change: float
    interval: tuple[float, float] | None
    broken: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reliability:
    """One agent over a suite, or in one ``benchmark``.

    ``pass_hat`` and ``pass_at`` give per k = 1, 2, … the mean over cases of the chance that k tries all succeed, or
    that one of k does; a k for which some case has too few tries is left out. ``consistency`` is the mean chance that
    two tries of a case end alike, ``None`` without repeats; ``flaky`` counts cases that passed sometimes.
    ``statuses`` counts executions by their end; ``error_rate`` is the share that raised or got no answer for a
    technical reason. ``spread`` is by metric the median over cases of the coefficient of variation between tries.
    """

    agent: str
    benchmark: str
    cases: int
    tries: int
    pass_hat: tuple[tuple[int, ScoreEstimate], ...]
    pass_at: tuple[tuple[int, float], ...]
    consistency: ScoreEstimate
    flaky: int
    error_rate: float | None
    statuses: Mapping[str, int] = field(default_factory=dict)
    errors: tuple[ErrorClass, ...] = ()
    spread: Mapping[str, float] = field(default_factory=dict)
    perturbed: Perturbed | None = None
    simulated: bool = False
