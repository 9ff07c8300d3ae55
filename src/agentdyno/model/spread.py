"""How far a figure of one subject wanders between runs on one host although nothing was changed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

SpreadSource: TypeAlias = Literal["own", "pooled", "calibrated"]


@dataclass(frozen=True, slots=True)
class QuantitySpread:
    """The standard deviation of the logarithm of a run's figure, between runs.

    ``degrees`` are its degrees of freedom: runs less subjects. ``source`` says whose runs they are: the subject's own
    earlier ones, all subjects' on this host, or those of ``dyno doctor --calibrate``.

    A side may have been run more often than once: ``baseline_runs`` and ``candidate_runs`` count its runs that are
    alike, and ``offset`` is what the logarithm of the ratio of the two compared runs has too much beside that of the
    means over these. So log ratio - ``offset`` has the standard error ``log_sd`` * sqrt(1 / ``baseline_runs`` +
    1 / ``candidate_runs``).
    """

    log_sd: float
    degrees: int
    source: SpreadSource
    baseline_runs: int = 1
    candidate_runs: int = 1
    offset: float = 0.0


@dataclass(frozen=True, slots=True)
class RunSpread:
    """What is known of the noise between runs on the host ``host_id``, by quantity (``duration_s``, ``cpu_s``, …)."""

    host_id: str = ""
    quantities: Mapping[str, QuantitySpread] = field(default_factory=dict)


UNKNOWN_SPREAD = RunSpread()
