"""Two sides of separate runs, judged with the run as the unit: Student's law over a known spread between runs."""

from __future__ import annotations

import math
from collections.abc import Iterable
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


@dataclass(frozen=True, slots=True)
class KnownError:
    """A standard error, and with how many degrees of freedom it is known."""

    size: float
    degrees: float


EXACT = KnownError(0.0, 1.0)


def added(errors: Iterable[KnownError]) -> KnownError:
    """Of a sum of independent quantities; its degrees after Welch (1938) and Satterthwaite (1946)."""
    held = [error for error in errors if error.size > 0.0]
    if not held:
        return EXACT
    variance = math.fsum(error.size**2 for error in held)
    shares = math.fsum((error.size**2 / variance) ** 2 / error.degrees for error in held)
    return KnownError(math.sqrt(variance), 1.0 / shares)


def contrast_runs(
    log_ratio: float, spread: QuantitySpread, alpha: float = ALPHA, *, within: KnownError = EXACT
) -> RunContrast:
    """The ratio of two runs' figures, held against the spread that such figures have between unchanged runs.

    ``log_ratio`` is of the two compared runs; where the spread knows of more runs of a side, their mean counts.
    ``within`` is the error of what else is uncertain about the ratio, and not in the spread: where it is the larger
    part, the few runs by which the spread is known matter less. Speeds of the machine that were apart may have made
    as much of the ratio.
    """
    shift = log_ratio - spread.offset
    between = spread.log_sd * math.sqrt(1.0 / spread.baseline_runs + 1.0 / spread.candidate_runs)
    error = added((KnownError(between, spread.degrees), within, KnownError(spread.speeds_apart, spread.degrees)))
    degrees = max(spread.degrees, math.floor(error.degrees))
    tested = invert_law(shift, error.size, alpha=alpha, degrees=degrees)
    return RunContrast(
        shift, tested.p_value, (tested.low, tested.high), detectable_in_errors(degrees, alpha) * error.size
    )


def detectable_in_errors(degrees: int, alpha: float = ALPHA, power: float = POWER) -> float:
    """How many standard errors a change must have to be found with ``power``, by the noncentral t."""
    return noncentral_t_shift(1.0 - power, degrees, t_quantile(1.0 - alpha / 2.0, degrees))
