"""From measured differences to verdicts: better, worse, same or inconclusive, corrected within families of rows.

This is the only place where p-values are corrected and verdicts made. A row in which so few cases differ that no
outcome of its test could stand out is not counted in its family: it cannot raise a false alarm (Tarone 1990).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from agentdyno.findings.duel.model import PairedRow
from agentdyno.findings.figures.dimensions import OVERALL
from agentdyno.model import Verdict
from agentdyno.settings.judging import LEVEL
from agentdyno.stats import holm, required_n
from agentdyno.stats.distributions import normal_quantile

ALPHA = LEVEL
POWER = 0.8
ONE_CASE = "one independent case says nothing about others: at least 6 are needed"
SAME_WITHIN = 0.03
"""Two agents are the same where the whole interval of their difference lies within three points of a hundred."""
Families: TypeAlias = Sequence[str]
"""Of every row the name of the family that it is corrected in; "" for one that is judged by itself."""
_MOST_CASES = 1_000_000


@dataclass(frozen=True, slots=True)
class MeasureOptions:
    """``seed`` of what is drawn; ``tolerance`` is the change that counts, the metric's own where it is ``None``."""

    seed: int = 0
    tolerance: float | None = None


PLAIN = MeasureOptions()


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
    ``by_runs`` where runs and not cases were tested: more cases would not help. ``follows`` where the row can only
    stand out where another of its family does: it takes nothing away from the others.
    """

    row: PairedRow
    limits: VerdictLimits
    shift: float | None = None
    spread: float | None = None
    flat: bool = False
    by_runs: bool = False
    follows: bool = False


def fewest_clusters(alpha: float = ALPHA) -> int:
    """Independent cases from which a paired test can be significant at all: 6 at 5 %."""
    n = 1
    while 2.0 / 2.0**n >= alpha:
        n += 1
    return n


def judge(found: Sequence[Measured], families: Families) -> tuple[PairedRow, ...]:
    """The rows with their verdicts, each family corrected once after Holm."""
    names = dict.fromkeys(families)
    adjusted: dict[int, float] = {}
    sizes: dict[int, int] = {}
    for name in names:
        own = [i for i, of in enumerate(families) if of == name and found[i].row.p_value is not None]
        raw = {i: found[i].row.p_value or 0.0 for i in own}
        counted = [i for i in own if name and can_stand_out(found[i]) and not found[i].follows]
        adjusted |= raw | dict(zip(counted, holm([raw[i] for i in counted]), strict=True))
        # Bonferroni's factor is never less than what Holm's correction gives the row that is followed.
        adjusted |= {i: min(1.0, raw[i] * max(1, len(counted))) for i in own if name and found[i].follows}
        sizes |= dict.fromkeys(own, max(1, len(counted)))
    return tuple(_judged(item, adjusted.get(i), sizes.get(i, 0)) for i, item in enumerate(found))


def can_stand_out(found: Measured) -> bool:
    """Whether some outcome of the row's test would be significant."""
    row = found.row
    if row.p_value is None:
        return False
    # Of the overall score nobody counts who wins a case: hardly two cases are alike in everything.
    differing = row.clusters if row.metric == OVERALL else row.wins + row.losses
    return found.by_runs or row.p_value < row.level or 2.0 * 0.5**differing < row.level


def _judged(found: Measured, adjusted_p: float | None, family: int) -> PairedRow:
    row = replace(found.row, adjusted_p=adjusted_p, family=family)
    if found.shift is None or adjusted_p is None:
        return row
    needed = fewest_clusters(row.level)
    if row.clusters < needed and not found.by_runs:
        text = f"{row.clusters} independent cases can show nothing: at least {needed} are needed"
        # So many can show something at all, and what was seen so far may need more.
        missing = max(_in_cases(needed - row.clusters, row), more_cases(found, row.level / max(1, family)) or 0)
        return replace(row, verdict=Verdict.INCONCLUSIVE, reason=text, more_cases=missing)
    significant, beyond = adjusted_p < row.level, abs(found.shift) > found.limits.decisive
    if significant and beyond:
        better = (found.shift > 0) == row.higher_is_better
        reason = f"significant and beyond {found.limits.text}" if found.limits.decisive else "significant"
        return replace(row, verdict=Verdict.BETTER if better else Verdict.WORSE, reason=reason)
    if _within(row, found.limits):
        return replace(row, verdict=Verdict.SAME, reason=f"the interval lies within {found.limits.text}")
    if significant:
        reason = f"significant, but not beyond {found.limits.text}"
    elif row.p_value is not None and row.p_value < row.level:
        reason = f"not significant among {family} comparisons"
    else:
        reason = "not significant"
    more = more_cases(found, row.level / max(1, family))
    return replace(row, verdict=Verdict.INCONCLUSIVE, reason=reason, more_cases=more)


def more_cases(found: Measured, alpha: float) -> int | None:
    """How many more cases would decide, the change and spread seen so far taken as true; ``None`` past a million.

    The one rule for it: whoever tells how many cases are missing asks here. Decided is significant at ``alpha``
    beyond the tolerance, or an interval within it, whichever needs less.
    """
    if found.shift is None or found.spread is None or found.by_runs:
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
