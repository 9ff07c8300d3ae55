"""Times until something happens, where for some it had not happened when the watching ended.

Who has not got there by time c tells that it takes longer than c, and nothing more: a censored time. Leaving such
times out, or counting c as if it had been reached, makes a group look faster than it is. Kaplan and Meier (1958)
estimate the share that has not got there yet; the tests compare, at each time at which somebody gets there, how many
of one group did with how many would have if both groups were alike.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from .distributions import normal_quantile, two_sided_p
from .samples import Array

Weight = Literal["log-rank", "gehan"]


class EventTime(Protocol):
    """A time that is that of the event where it was ``reached``, else one at which it had not come about yet."""

    @property
    def value(self) -> float: ...

    @property
    def reached(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class TimesTest:
    """``z`` is negative where the first group gets there later; the p-value is two-sided."""

    z: float
    p_value: float


def log_rank(
    first: Sequence[EventTime], second: Sequence[EventTime], weight: Weight = "log-rank"
) -> TimesTest | None:
    """Whether two groups get there equally fast; ``None`` where nobody got there in either.

    ``gehan`` (Gehan's Wilcoxon test, 1965) weighs each time by how many are still on their way, so that early
    differences count more; it is the better one where curves cross.
    """
    (times, reached), (others, others_reached) = _columns(first), _columns(second)
    of_first = np.arange(len(times) + len(others)) < len(times)
    times, reached = np.concatenate([times, others]), np.concatenate([reached, others_reached])
    observed = variance = 0.0
    for time in np.unique(times[reached]):
        at_risk = times >= time
        n, own = int(at_risk.sum()), int((at_risk & of_first).sum())
        events = (times == time) & reached
        d = int(events.sum())
        scale = float(n) if weight == "gehan" else 1.0
        observed += scale * (int((events & of_first).sum()) - d * own / n)
        if n > 1:
            variance += scale**2 * d * (own / n) * (1 - own / n) * (n - d) / (n - 1)
    if variance <= 0:
        return None
    z = observed / math.sqrt(variance)
    return TimesTest(z, two_sided_p(z))


@dataclass(frozen=True, slots=True)
class TimesMedian:
    """When half of a group had got there; ``None`` where that is beyond what was watched, on either end as well."""

    median: float | None
    low: float | None
    high: float | None


def median_time(group: Sequence[EventTime], confidence: float = 0.95) -> TimesMedian:
    """The Kaplan-Meier median with the interval of Brookmeyer and Crowley (1982), on the log-log scale."""
    values, reached = _columns(group)
    left, spread = 1.0, 0.0
    median = low = high = None
    bound = normal_quantile((1 + confidence) / 2)
    for time in np.unique(values[reached]):
        n = int((values >= time).sum())
        d = int(((values == time) & reached).sum())
        left *= 1 - d / n
        spread += d / (n * (n - d)) if n > d else math.inf
        if median is None and left <= 0.5:
            median = float(time)
        lower, upper = _log_log(left, spread, bound)
        if low is None and lower <= 0.5:
            low = float(time)
        if high is None and upper <= 0.5:
            high = float(time)
    return TimesMedian(median, low, high)


def _log_log(left: float, spread: float, bound: float) -> tuple[float, float]:
    """The interval of the share that is left; the whole of 0 to 1 where it has no variance."""
    if left <= 0.0:
        return 0.0, 0.0
    if left >= 1.0:
        return 1.0, 1.0
    half = bound * math.sqrt(spread) / abs(math.log(left))
    return left ** math.exp(half), left ** math.exp(-half)


def _columns(group: Sequence[EventTime]) -> tuple[Array, NDArray[np.bool_]]:
    values = np.array([item.value for item in group], dtype=float)
    if not values.size or not np.isfinite(values).all() or values.min() < 0:
        raise ValueError("expected finite times that are not negative, one at the least")
    return values, np.array([item.reached for item in group], dtype=bool)
