"""Two sides of separate runs, judged with the run as the unit: Student's law over a known spread between runs."""

from __future__ import annotations

import math
from dataclasses import dataclass

from agentdyno.model.record import QuantitySpread
from agentdyno.stats.distributions import noncentral_t_shift, t_quantile
from agentdyno.stats.inversion import invert_law

ALPHA = 0.01
POWER = 0.8


@dataclass(frozen=True, slots=True)
class RunContrast:
    """The logarithm of candidate / baseline with its ``interval``, which leaves zero exactly where ``p_value`` is
    below alpha. ``detectable`` is the smallest change, as a logarithm too, that is found four times out of five."""

    log_ratio: float
    p_value: float
    interval: tuple[float, float]
    detectable: float


def contrast_runs(
    log_ratio: float, spread: QuantitySpread, alpha: float = ALPHA, *, within_error: float = 0.0
) -> RunContrast:
    """The ratio of two runs' figures, held against the spread that such figures have between unchanged runs.

    ``log_ratio`` is of the two compared runs; where the spread knows of more runs of a side, their mean counts.
    ``within_error`` is the standard error of what else is uncertain about the ratio, and not in the spread.
    """
    shift = log_ratio - spread.offset
    between = spread.log_sd * math.sqrt(1.0 / spread.baseline_runs + 1.0 / spread.candidate_runs)
    error = math.hypot(between, within_error)
    tested = invert_law(shift, error, alpha=alpha, degrees=spread.degrees)
    return RunContrast(
        shift, tested.p_value, (tested.low, tested.high), detectable_in_errors(spread.degrees, alpha) * error
    )


def detectable_in_errors(degrees: int, alpha: float = ALPHA, power: float = POWER) -> float:
    """How many standard errors a change must have to be found with ``power``, by the noncentral t."""
    return noncentral_t_shift(1.0 - power, degrees, t_quantile(1.0 - alpha / 2.0, degrees))
