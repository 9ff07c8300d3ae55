"""Two sides of separate runs, judged with the run as the unit: Student's law over a known spread between runs."""

from __future__ import annotations

import math
from dataclasses import dataclass

from agentdyno.model.spread import QuantitySpread
from agentdyno.stats.distributions import noncentral_t_shift, t_cdf, t_quantile

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


def contrast_runs(log_ratio: float, spread: QuantitySpread, alpha: float = ALPHA) -> RunContrast:
    """The ratio of two runs' figures, held against the spread that such figures have between unchanged runs.

    ``log_ratio`` is of the two compared runs; where the spread knows of more runs of a side, their mean counts.
    """
    shift = log_ratio - spread.offset
    error = spread.log_sd * math.sqrt(1.0 / spread.baseline_runs + 1.0 / spread.candidate_runs)
    t = abs(shift) / error
    reach = t_quantile(1.0 - alpha / 2.0, spread.degrees)
    return RunContrast(
        shift,
        min(1.0, 2.0 * t_cdf(-t, spread.degrees)),
        (shift - reach * error, shift + reach * error),
        detectable_in_errors(spread.degrees, alpha) * error,
    )


def detectable_in_errors(degrees: int, alpha: float = ALPHA, power: float = POWER) -> float:
    """How many standard errors a change must have to be found with ``power``, by the noncentral t."""
    return noncentral_t_shift(1.0 - power, degrees, t_quantile(1.0 - alpha / 2.0, degrees))
