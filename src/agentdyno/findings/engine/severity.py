"""How bad a change for the worse is: one set of rules for every detector.

**Amount.** By how much a value became worse, in parts of what it was before (0.25: a quarter). Rates of failing
(``error_rate``, ``failure_rate``) and values in 0..1 that were zero go by the plain difference. Any other quantity
that was zero (free, and now it costs) has no percentage: every significant rise of it counts.

**Severity**, from the amount in multiples of the metric's threshold (of at least 1 %):

====================================================  ========
below 2 times the threshold                           low
from 2 times                                          medium
from 3 times, and any rise from nothing               high
from 5 times, and whatever never succeeds any more    critical
====================================================  ========

Never to succeed is an accuracy or pass rate of 0, or a failure or error rate of 1. Efficiency and cost are weighed
one step lower (never below low): an answer that costs more is still an answer. Rising variance is medium at most:
nothing is worse yet on the whole, it is only less certain.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from agentdyno.findings.history.model_regression import Severity
from agentdyno.model.metric import format_value

DEFAULT_THRESHOLD = 0.10
FAILING = frozenset({"error_rate", "failure_rate"})
"""Rates of which less is better; their changes are plain differences."""
RANKS: Mapping[Severity, int] = {severity: rank for rank, severity in enumerate(Severity)}
_DIMENSIONS: Mapping[str, str] = {
    "pass_rate": "accuracy",
    "duration_s": "speed",
    "ttft_s": "speed",
    "cost_usd": "cost",
    "total_tokens": "efficiency",
    "cpu_s": "efficiency",
    "peak_rss_bytes": "efficiency",
    "memory_peak_bytes": "efficiency",
    "error_rate": "reliability",
    "failure_rate": "reliability",
}
_BOUNDED = frozenset({"accuracy", "reliability", "overall", "pass_rate", *FAILING})
_RESOURCES = frozenset({"efficiency", "cost"})
_STEPS = ((5.0, Severity.CRITICAL), (3.0, Severity.HIGH), (2.0, Severity.MEDIUM))
_LEAST_THRESHOLD = 0.01


@dataclass(frozen=True, slots=True)
class Worsening:
    """``amount`` is positive where it became worse; ``from_nothing``: it was zero, and no threshold applies."""

    amount: float
    relative: bool
    from_nothing: bool = False

    def exceeds(self, threshold: float) -> bool:
        """Whether it is worse by more than the threshold."""
        return self.amount > (0.0 if self.from_nothing else threshold)

    def improves(self, threshold: float) -> bool:
        """Whether it is better by more than the threshold."""
        return -self.amount > (0.0 if self.from_nothing else threshold)

    def text(self, threshold: float, unit: str = "") -> str:
        """``25 % worse (threshold 10 %)``; points of a hundred for plain differences."""
        word, size = ("worse", self.amount) if self.amount >= 0 else ("better", -self.amount)
        if self.from_nothing:
            return f"{format_value(size, unit)} {word}, from nothing"
        kind = "%" if self.relative else "points"
        return f"{_hundredths(size)} {kind} {word} (threshold {_hundredths(threshold)} {kind})"


def dimension_of(metric: str) -> str:
    """The dimension that a metric tells about; one that tells about none stands for itself."""
    return _DIMENSIONS.get(metric, metric)


def threshold_of(thresholds: Mapping[str, float] | float, *names: str) -> float:
    """The threshold of the first name that has one, else 10 %. Raises ``ValueError`` for one that is no share."""
    if isinstance(thresholds, Mapping):
        found = next((thresholds[name] for name in names if name in thresholds), DEFAULT_THRESHOLD)
    else:
        found = thresholds
    if not (math.isfinite(found) and found >= 0.0):
        raise ValueError(f"the threshold of {names[0] if names else 'a metric'} must be 0 or more, got {found}")
    return found


def worsening(metric: str, before: float, after: float, *, higher_is_better: bool, unit: str = "") -> Worsening:
    """By how much ``after`` is worse than ``before``, both finite; negative where it is better."""
    plain = before - after if higher_is_better else after - before
    if metric in FAILING:
        return Worsening(plain, relative=False)
    if before != 0.0 and math.isfinite(plain / abs(before)):
        return Worsening(plain / abs(before), relative=True)
    return Worsening(plain, relative=False, from_nothing=metric not in _BOUNDED and unit != "ratio")


def severity_of(metric: str, change: Worsening, current: float, threshold: float) -> Severity:
    """By the rules above; ``current`` is the value after the change. Of an improvement, how much it is worth."""
    if change.amount > 0 and _never_succeeds(metric, current):
        return Severity.CRITICAL
    if change.from_nothing:
        found = Severity.HIGH
    else:
        multiple = abs(change.amount) / max(threshold, _LEAST_THRESHOLD)
        # A hair of slack: 0.3 / 0.1 is not three to a computer.
        found = next((severity for least, severity in _STEPS if multiple >= least * (1 - 1e-9)), Severity.LOW)
    return one_lower(found) if dimension_of(metric) in _RESOURCES else found


def one_lower(severity: Severity) -> Severity:
    return list(Severity)[max(0, RANKS[severity] - 1)]


def _never_succeeds(metric: str, current: float) -> bool:
    return current <= 0.0 if metric in ("accuracy", "pass_rate") else metric in FAILING and current >= 1.0


def _hundredths(share: float) -> str:
    return f"{100 * share:,.0f}" if share >= 1 else f"{100 * share:.3g}"
