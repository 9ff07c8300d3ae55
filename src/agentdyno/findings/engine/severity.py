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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from agentdyno.findings.figures.dimensions import DIMENSIONS, WEIGHTS
from agentdyno.findings.history.model_regression import Impact, Severity
from agentdyno.model.case import CaseKey
from agentdyno.model.metric import format_value

if TYPE_CHECKING:  # a history of one metric does without records
    from agentdyno.findings.duel.model import PairedRow
    from agentdyno.model.record import AgentRecord, CaseRecord

DEFAULT_THRESHOLD = 0.10
ANY_METRIC = ""
"""Among thresholds by metric, that of every metric without one of its own."""
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
    """The threshold of the first name that has one, or whose dimension has; else that of any metric, else 10 %.

    Raises ``ValueError`` for one that is no share.
    """
    if isinstance(thresholds, Mapping):
        asked = (*names, *map(dimension_of, names), ANY_METRIC)
        found = next((thresholds[name] for name in asked if name in thresholds), DEFAULT_THRESHOLD)
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


MOST_CASES = 20
"""Cases that a finding names."""
PARTS = " · "
"""Between the names of resources that a row takes together."""
_SHARES = ("accuracy", "reliability", "error_rate")
CasePair: TypeAlias = "tuple[CaseRecord, CaseRecord]"


def paired_cases(baseline: AgentRecord, candidate: AgentRecord) -> list[CasePair]:
    """The cases that both answered and that ask the same."""
    others = {case.key: case for case in candidate.cases}
    return [
        (case, other)
        for case in baseline.cases
        if (other := others.get(case.key)) is not None and other.digest == case.digest
    ]


def impact_of(row: PairedRow, pairs: Sequence[CasePair], baseline: AgentRecord, threshold: float) -> Impact:
    """Of a row for the worse. ``pairs`` are of the whole suite; a row of one benchmark takes its own."""
    own = [pair for pair in pairs if row.benchmark in ("", pair[0].benchmark)]
    # A case is hit by any loss of a score; of time and money by more than the threshold.
    least = 0.0 if row.metric in _SHARES else threshold
    hit = [(loss, pair) for pair in own if (loss := case_loss(row, *pair)) is not None and loss > least]
    hit.sort(key=lambda item: (-item[0], item[1][0].benchmark, item[1][0].case_id))
    keys = tuple(CaseKey(pair[0].benchmark, pair[0].case_id) for _, pair in hit[:MOST_CASES])
    overall = overall_loss(row, baseline)
    text = f"{len(hit)} of {len(own)} cases became worse" if hit else ""
    if hit and row.metric == "accuracy":
        broken = sum(_broke(pair, baseline) for _, pair in hit)
        text += f", {broken} of them no longer pass" if broken else ", all of them still pass"
    if overall is not None and round(100 * overall, 1) > 0:
        text += f"{'; ' if text else ''}takes {100 * overall:.1f} points of 100 from the overall score"
    return Impact(keys, overall, text)


def case_loss(row: PairedRow, before: CaseRecord, after: CaseRecord) -> float | None:
    """By how much one case became worse in the row's metric: points for scores and rates, else a share.

    Money is per try, other resources per success: infinite where a case that succeeded no longer does.
    """
    if row.metric == "accuracy":
        return None if before.score is None or after.score is None else before.score - after.score
    if not before.tries or not after.tries:
        return None
    if row.metric == "reliability":
        return before.passed / before.tries - after.passed / after.tries
    if row.metric == "error_rate":
        return after.errors / after.tries - before.errors / before.tries
    if row.metric == "speed":
        return _growth(before.used.get("duration_s"), after.used.get("duration_s"))
    if row.metric == "cost":
        return _growth(before.used.get("cost_usd"), after.used.get("cost_usd"))
    if not before.passed:
        return None
    if not after.passed:
        return math.inf  # nothing that is spent on it buys a success any more
    shares = before.tries / before.passed, after.tries / after.passed
    found = []
    for name in row.quantity.split(PARTS):
        old, new = before.used.get(name), after.used.get(name)
        growth = _growth(old * shares[0], new * shares[1]) if old is not None and new is not None else None
        if growth is not None:
            found.append(growth)
    return math.fsum(found) / len(found) if found else None


def overall_loss(row: PairedRow, baseline: AgentRecord) -> float | None:
    """What the change alone takes from the overall score of the suite, in 0..1; negative for an improvement.

    The loss of the dimension's score times its weight among the dimensions that the baseline has; of one benchmark
    the share that it has in the mean over benchmarks. ``None`` for what is no dimension and without both scores.
    """
    if row.metric not in WEIGHTS:
        return None
    before, after = row.baseline_score, row.candidate_score
    if row.metric in ("accuracy", "reliability"):  # they are their own scores
        before = row.baseline if before is None else before
        after = row.candidate if after is None else after
    if before is None or after is None:
        return None
    having = [item for item in baseline.benchmarks if item.scores.get(row.metric) is not None]
    known = {name for name in DIMENSIONS for item in baseline.benchmarks if item.scores.get(name) is not None}
    weight = WEIGHTS[row.metric] / math.fsum(WEIGHTS[name] for name in known | {row.metric})
    return weight * (before - after) / (max(1, len(having)) if row.benchmark else 1)


def _growth(before: float | None, after: float | None) -> float | None:
    if before is None or after is None:
        return None
    if before <= 0.0:
        return math.inf if after > 0.0 else 0.0
    return after / before - 1.0


def _broke(pair: CasePair, baseline: AgentRecord) -> bool:
    before, after = pair
    threshold = next((b.pass_threshold for b in baseline.benchmarks if b.benchmark_id == before.benchmark), 0.5)
    return before.score is not None and after.score is not None and after.score < threshold <= before.score
