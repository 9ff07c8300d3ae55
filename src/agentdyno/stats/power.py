"""Planning: what a sample of this size can detect, and how many more would decide.

Two-sided tests throughout. `alpha` is the chance of a false alarm, `power` the chance of seeing a real
effect of the size in question.
"""

from __future__ import annotations

import math

import numpy as np

from .distributions import normal_cdf, normal_quantile, t_quantile
from .effects import hodges_lehmann_shift
from .samples import Array, Values, median_of, require_count, require_finite, require_inside_unit, to_logs

_MAD_TO_SIGMA = 1.4826022185056018
_MANN_WHITNEY_EFFICIENCY = 3.0 / math.pi
_MOST_EXTRA_SAMPLES = 1_000_000
_T_MATTERS_BELOW = 1_000_000


def minimum_detectable_ratio(
    baseline: Values, candidate_n: int | None = None, *, alpha: float = 0.01, power: float = 0.8
) -> float | None:
    """Smallest relative change (0.042: 4.2 %) a Mann-Whitney test of these sizes would detect.

    From the robust spread of the baseline's logarithms; `candidate_n` defaults to the baseline's size. None
    when a side has fewer than 2 values, or so few that not even full separation could reach `alpha`.
    """
    logs = to_logs(baseline, "baseline")
    m = logs.size if candidate_n is None else require_count(candidate_n, "candidate_n")
    _check(alpha, power)
    if min(logs.size, m) < 2 or not _can_reach(logs.size, m, alpha):
        return None
    error = _shift_error(_robust_sigma(logs - median_of(logs)), logs.size, m)
    # Student's t, not the normal law: at 5 to 20 values the latter promises up to twice the true power.
    df = logs.size + m - 2
    return math.expm1((t_quantile(1.0 - alpha / 2.0, df) + t_quantile(power, df)) * error)


def minimum_detectable_difference(
    std: float, n: int, *, alpha: float = 0.05, power: float = 0.8, paired: bool = True
) -> float:
    """Smallest mean difference a t-test with `n` >= 2 values detects, in the unit of `std`.

    `std` is that of the paired differences, or of each group when `paired` is false (`n` is then per group).
    """
    n = require_count(n, "n", at_least=2)
    _check(alpha, power)
    if require_finite(std, "std") < 0.0:
        raise ValueError(f"std must not be negative, got {std}")
    df, error = (n - 1, std / math.sqrt(n)) if paired else (2 * n - 2, std * math.sqrt(2.0 / n))
    return (t_quantile(1.0 - alpha / 2.0, df) + t_quantile(power, df)) * error


def required_n(effect: float, std: float, *, alpha: float = 0.01, power: float = 0.8, paired: bool = False) -> int:
    """Values needed per group (pairs, when `paired`) for a t-test to detect a mean difference `effect`.

    `effect` and `std` share a unit; the sign of `effect` does not matter. Never under 2.
    """
    _check(alpha, power)
    size = abs(require_finite(effect, "effect"))
    if size == 0.0:
        raise ValueError("effect must not be zero: no sample is large enough to detect nothing")
    if require_finite(std, "std") < 0.0:
        raise ValueError(f"std must not be negative, got {std}")
    z = normal_quantile(1.0 - alpha / 2.0) + max(normal_quantile(power), 0.0)
    n = max(2, math.ceil((1 if paired else 2) * (z * std / size) ** 2))
    if n >= _T_MATTERS_BELOW:
        return n
    # The normal law gives the start, and about how much more Student's t asks for, whose quantiles take their time;
    # the few steps from there say exactly how many.
    n += round(normal_quantile(1.0 - alpha / 2.0) ** 2 / (2 if paired else 4))
    while n > 2 and _detects(size, std, n - 1, alpha, power, paired):
        n -= 1
    while not _detects(size, std, n, alpha, power, paired):
        n += 1
    return n


def samples_to_decide(
    baseline: Values, candidate: Values, threshold: float, *, alpha: float = 0.01, power: float = 0.9
) -> int | None:
    """How many more samples per side until the ratio is expected to be decided against +-`threshold`.

    `threshold` is relative (0.03: 3 %), applied to the logarithm of the ratio. Decided means either a
    Mann-Whitney significant ratio beyond the threshold, or an interval wholly within it; the ratio and
    spread seen so far are taken as true. 0 when the present samples should do. None when a side has fewer
    than 2 values, or past 1,000,000 samples: a ratio at the threshold itself can never be decided.
    """
    first, second = to_logs(baseline, "baseline"), to_logs(candidate, "candidate")
    _check(alpha, power)
    if not require_finite(threshold, "threshold") > 0.0:
        raise ValueError(f"threshold must be above zero, got {threshold}")
    if min(first.size, second.size) < 2:
        return None
    ratio = abs(hodges_lehmann_shift(first, second).point)
    sigma = _robust_sigma(np.concatenate([first - median_of(first), second - median_of(second)]))
    limit = math.log1p(threshold)

    def is_enough(extra: int) -> bool:
        n, m = first.size + extra, second.size + extra
        if not _can_reach(n, m, alpha):
            return False
        reach = t_quantile(1.0 - alpha / 2.0, n + m - 2)
        return _decision_probability(ratio, limit, _shift_error(sigma, n, m), reach) >= power

    if is_enough(0):
        return 0
    high = 1
    while not is_enough(high):
        if high >= _MOST_EXTRA_SAMPLES:
            return None
        high = min(high * 2, _MOST_EXTRA_SAMPLES)
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def _decision_probability(ratio: float, limit: float, error: float, reach: float) -> float:
    """Chance that an estimate around log-ratio `ratio` is significant beyond `limit`, or wholly within.

    The estimate's interval extends `reach` standard errors (`error`) to either side.
    """
    if error == 0.0:
        return 1.0
    beyond = max(limit, reach * error)
    probability = normal_cdf((ratio - beyond) / error) + normal_cdf((-ratio - beyond) / error)
    within = limit - reach * error
    if within > 0.0:
        probability += normal_cdf((within - ratio) / error) - normal_cdf((-within - ratio) / error)
    return probability


def _detects(effect: float, std: float, n: int, alpha: float, power: float, paired: bool) -> bool:
    detectable = minimum_detectable_difference(std, n, alpha=alpha, power=power, paired=paired)
    return detectable <= effect * (1.0 + 1e-12)


def _shift_error(sigma: float, n: int, m: int) -> float:
    """Standard error of the Hodges-Lehmann shift, for nearly normal values."""
    return sigma * math.sqrt((1.0 / n + 1.0 / m) / _MANN_WHITNEY_EFFICIENCY)


def _robust_sigma(residuals: Array) -> float:
    """Standard deviation from the median absolute residual; the plain one when over half are zero."""
    # In small samples the median residual is too small by about this factor (Croux and Rousseeuw 1992).
    small_sample = residuals.size / (residuals.size - 0.8)
    scaled = _MAD_TO_SIGMA * small_sample * median_of(np.abs(residuals))
    return scaled if scaled > 0.0 else float(residuals.std(ddof=1))


def _can_reach(n: int, m: int, alpha: float) -> bool:
    """Whether full separation of the two samples has an exact Mann-Whitney p of at most alpha."""
    log_arrangements = math.lgamma(n + m + 1) - math.lgamma(n + 1) - math.lgamma(m + 1)
    return math.log(2.0) - log_arrangements <= math.log(alpha)


def _check(alpha: float, power: float) -> None:
    require_inside_unit(alpha, "alpha")
    require_inside_unit(power, "power")
