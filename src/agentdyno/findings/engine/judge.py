"""From a measured difference to a verdict: better, worse, same or inconclusive, alone or within a family of rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agentdyno.findings.duel.model import PairedRow
from agentdyno.model import Verdict
from agentdyno.stats import holm, required_n
from agentdyno.stats.distributions import normal_quantile

ALPHA = 0.05
POWER = 0.8
_MOST_CASES = 1_000_000


@dataclass(frozen=True, slots=True)
class MeasureOptions:
    """``seed`` of what is drawn; ``tolerance`` is the change that counts, the metric's own where it is ``None``."""

    seed: int = 0
    tolerance: float | None = None


@dataclass(frozen=True, slots=True)
class VerdictLimits:
    """A change beyond ``decisive`` matters where it is significant; an interval within ``same`` is no change.

    Both are on the scale of the test: logarithms of ratios for relative rows, else plain differences.
    """

    decisive: float
    same: float
    text: str

    @classmethod
    def relative(cls, tolerance: float) -> VerdictLimits:
        limit = math.log1p(tolerance)
        return cls(limit, limit, f"±{100 * tolerance:.3g} %")

    @classmethod
    def plain(cls, tolerance: float | None, default: float) -> VerdictLimits:
        """Without a tolerance any significant difference of scores matters; ``default`` says what is the same."""
        same = default if tolerance is None else tolerance
        return cls(tolerance or 0.0, same, f"±{100 * same:.3g} points")


@dataclass(frozen=True, slots=True)
class Measured:
    """A row with its figures and without a verdict.

    ``shift`` is the change and ``spread`` the standard deviation of one cluster's, both on the scale of the test;
    ``None`` where there is nothing to judge, and then the row says why. ``flat`` where no cluster differs.
    """

    row: PairedRow
    limits: VerdictLimits
    shift: float | None = None
    spread: float | None = None
    flat: bool = False


def fewest_clusters(alpha: float = ALPHA) -> int:
    """Independent cases from which a paired test can be significant at all: 6 at 5 %."""
    n = 1
    while 2.0 / 2.0**n >= alpha:
        n += 1
    return n


def judge(found: Measured, alpha: float = ALPHA, adjusted_p: float | None = None, family: int = 1) -> PairedRow:
    """The row with its verdict. ``adjusted_p`` decides where given, after correction for ``family`` rows."""
    row = found.row
    p_value = row.p_value if adjusted_p is None else adjusted_p
    row = replace(row, adjusted_p=adjusted_p)
    if found.shift is None or p_value is None:
        return row
    needed = fewest_clusters(alpha)
    if row.clusters < needed:
        text = f"{row.clusters} independent cases can show nothing: at least {needed} are needed"
        missing = _in_cases(needed - row.clusters, row)
        return replace(row, verdict=Verdict.INCONCLUSIVE, reason=text, more_cases=missing)
    significant, beyond = p_value < alpha, abs(found.shift) > found.limits.decisive
    if significant and beyond:
        better = (found.shift > 0) == row.higher_is_better
        reason = f"significant and beyond {found.limits.text}" if found.limits.decisive else "significant"
        return replace(row, verdict=Verdict.BETTER if better else Verdict.WORSE, reason=reason)
    if _within(row, found.limits):
        return replace(row, verdict=Verdict.SAME, reason=f"the interval lies within {found.limits.text}")
    if significant:
        reason = f"significant, but not beyond {found.limits.text}"
    elif adjusted_p is not None and row.p_value is not None and row.p_value < alpha:
        reason = f"not significant among {family} comparisons"
    else:
        reason = "not significant"
    more = more_cases(found, alpha / max(1, family))
    return replace(row, verdict=Verdict.INCONCLUSIVE, reason=reason, more_cases=more)


def judge_family(found: Sequence[Measured], alpha: float = ALPHA) -> list[PairedRow]:
    """Holm's correction over all rows that have a p-value."""
    tested = [i for i, item in enumerate(found) if item.row.p_value is not None]
    adjusted = dict(zip(tested, holm([found[i].row.p_value or 0.0 for i in tested]), strict=True))
    return [judge(item, alpha, adjusted.get(i), len(tested)) for i, item in enumerate(found)]


def more_cases(found: Measured, alpha: float) -> int | None:
    """How many more cases would decide, the change and spread seen so far taken as true; ``None`` past a million.

    Decided is significant beyond the tolerance, or an interval within it, whichever needs less.
    """
    if found.shift is None or found.spread is None:
        return None
    size, limits = abs(found.shift), found.limits
    usual, reach = normal_quantile(POWER), normal_quantile(1.0 - ALPHA / 2.0)
    needed: list[float] = []
    if found.flat and limits.same > 0:
        # Wilson's bound of what was never seen has to come under the tolerance.
        needed.append(reach**2 * (1.0 - limits.same) / limits.same)
    elif not found.flat:
        if size > limits.decisive:
            over = (usual * found.spread / (size - limits.decisive)) ** 2
            seen = (reach * found.spread / size) ** 2
            if max(over, seen) <= _MOST_CASES:
                needed.append(max(over, required_n(size, found.spread, alpha=alpha, power=POWER, paired=True)))
        if size < limits.same:
            needed.append(((reach + usual) * found.spread / (limits.same - size)) ** 2)
    most = min(needed, default=math.inf)
    if most > _MOST_CASES:
        return None
    return _in_cases(max(1, math.ceil(most) - found.row.clusters), found.row)


def _in_cases(clusters: int, row: PairedRow) -> int:
    return math.ceil(clusters * row.cases / row.clusters) if row.clusters else clusters


def _within(row: PairedRow, limits: VerdictLimits) -> bool:
    if row.interval is None:
        return False
    low, high = row.interval
    if row.relative:
        low, high = (math.log1p(end) if end > -1.0 else -math.inf for end in (low, high))
    return -limits.same <= low and high <= limits.same
