"""Rules applied to rows of figures: two questions per metric, four answers.

Whether a metric is worse by more than its tolerance, and whether it is worse beyond chance, are separate questions.
Nothing is tested here: rows come judged and corrected from the engine. What counts is the worse half of their
two-sided p-value after correction, against half of the policy's alpha.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

from agentdyno.findings.duel.model import PairedRow
from agentdyno.findings.gate.model import GateRow, GateVerdict, PolicyRow
from agentdyno.model.metric import format_value
from agentdyno.model.policy import GateRule, Tier
from agentdyno.stats.distributions import normal_quantile

ANSWERING = ("accuracy", "error_rate")
"""Metrics that say how an agent answers: where it does not answer at all, they are as bad as can be."""
_QUANTITIES = ("_s", "_usd", "_bytes", "_tokens", "_calls")
_ROW_Z = normal_quantile(0.975)
_POWER_Z = normal_quantile(0.8)
_TINY = 1e-9
CasesNeeded: TypeAlias = Callable[[str, float], int | None]
"""Of a metric and a two-sided level: how many more cases would decide it."""


def judge_rows(
    pairs: Sequence[tuple[GateRule, PairedRow]],
    alpha: float,
    silent: str = "",
    cases_needed: CasesNeeded = lambda _metric, _alpha: None,
) -> tuple[GateRow, ...]:
    """Each metric with its verdict, in the order given.

    ``alpha`` is the policy's. ``silent`` says why nothing was answered, "" where something was. ``cases_needed`` is
    asked where a row is decided at its own level and not yet at the gate's.
    """
    return tuple(
        _unanswered(rule, row, silent)
        if silent and rule.metric in ANSWERING
        else _judge(rule, row, alpha / 2, cases_needed)
        for rule, row in pairs
    )


def overall_verdict(rows: Sequence[GateRow | PolicyRow]) -> GateVerdict:
    """The gravest: BLOCK before INCONCLUSIVE before WARN. An open critical question outweighs a known lesser one."""
    found = {row.verdict for row in rows}
    order = (GateVerdict.BLOCK, GateVerdict.INCONCLUSIVE, GateVerdict.WARN)
    return next((verdict for verdict in order if verdict in found), GateVerdict.PASS)


def one_sided_p(row: PairedRow) -> float | None:
    """How probable such a worsening is by chance: half of the corrected p-value towards worse."""
    worsening = row.worsening
    p_value = row.p_value if row.adjusted_p is None else row.adjusted_p
    if p_value is None or worsening is None or not math.isfinite(p_value):
        return None
    half = min(1.0, max(0.0, p_value)) / 2
    return half if worsening > 0 else 1 - half


def allowed(rule: GateRule, row: PairedRow) -> float:
    """The largest change that is no worsening, of the kind that the row's change is of.

    Any part of a baseline of zero is zero: what was free may not cost anything.
    """
    return 0.0 if not row.relative and _is_quantity(row) else rule.tolerance


def spelled(amount: float, row: PairedRow) -> str:
    """The size of a change: ``12 %``, ``4.2 points``, or a quantity with its unit."""
    size = abs(amount)
    if not row.relative and _is_quantity(row):
        return format_value(size, row.unit)
    digits = 0 if size >= 0.995 or size == 0 else 1
    return f"{100 * size:.{digits}f} {'%' if row.relative else 'points'}"


def _is_quantity(row: PairedRow) -> bool:
    return row.unit not in ("", "ratio") or row.quantity.endswith(_QUANTITIES)


def _judge(rule: GateRule, row: PairedRow, level: float, cases_needed: CasesNeeded) -> GateRow:
    worsening, needed = row.worsening, level / max(1, row.family)
    p_worse = None if row.verdict is None else one_sided_p(row)
    if row.verdict is None or worsening is None or not math.isfinite(worsening):
        return _not_compared(rule, row)
    # Means of case scores carry rounding: 0.90 - 0.88 is a little more than 0.02.
    exceeded = worsening > allowed(rule, row) * (1 + _TINY) + _TINY * (not row.relative)
    significant = None if p_worse is None else p_worse < level
    verdict = GateVerdict.PASS
    if exceeded and rule.tier is Tier.CRITICAL:
        verdict = GateVerdict.BLOCK if significant else GateVerdict.INCONCLUSIVE
    elif exceeded and significant and rule.tier is Tier.SUPPORTING:
        verdict = GateVerdict.WARN

    def missing_cases() -> int | None:
        own = cases_needed(rule.metric, 2 * needed)
        return row.more_cases if own is None else max(own, row.more_cases or 0)

    reason = (
        _exceeding(rule, row, p_worse, bool(significant), missing_cases)
        if exceeded
        else _within(rule, row, worsening, needed)
    )
    if rule.tier is Tier.ADVISORY and exceeded:
        reason += "; advisory, so it does not count"
    return GateRow(rule, row, exceeded, significant, p_worse, verdict, reason)


def _not_compared(rule: GateRule, row: PairedRow) -> GateRow:
    reason = row.reason or "not known on both sides"
    if rule.tier is Tier.CRITICAL:
        return GateRow(rule, row, None, None, None, GateVerdict.INCONCLUSIVE, reason)
    return GateRow(rule, row, None, None, None, GateVerdict.PASS, f"{reason}; not counted")


def _unanswered(rule: GateRule, row: PairedRow, silent: str) -> GateRow:
    verdicts = {Tier.CRITICAL: GateVerdict.BLOCK, Tier.SUPPORTING: GateVerdict.WARN, Tier.ADVISORY: GateVerdict.PASS}
    return GateRow(rule, row, True, True, None, verdicts[rule.tier], f"nothing was answered: {silent}")


def _exceeding(
    rule: GateRule, row: PairedRow, p_worse: float | None, significant: bool, more: Callable[[], int | None]
) -> str:
    limit = allowed(rule, row)
    told = f"worse by {spelled(row.worsening or 0.0, row)}" + (
        f", {spelled(limit, row)} are allowed" if limit else ", nothing is allowed"
    )
    if p_worse is None:
        return f"{told}; {row.reason or 'too few cases to tell it from chance'}"
    if significant:
        return f"{told}, and beyond chance ({_p_text(row)})"
    told = f"{told}, but it may be chance ({_p_text(row)})"
    missing = more()
    if missing is None:
        return told
    return f"{told}; about {missing:,} more {'case' if missing == 1 else 'cases'} would decide"


def _within(rule: GateRule, row: PairedRow, worsening: float, needed: float) -> str:
    limit = allowed(rule, row)
    if worsening > _TINY:
        told = f"worse by {spelled(worsening, row)}, within {spelled(limit, row)}"
    else:
        told = f"better by {spelled(worsening, row)}" if worsening < -_TINY else "unchanged"
    if rule.tier is Tier.ADVISORY:
        return told
    visible = visible_change(row, needed)
    if visible is None:
        return f"{told}; {row.reason or 'too few cases to show any change'}" if row.p_value is None else told
    if visible <= limit or _worst(row) <= limit:
        return told
    return f"{told}; a change of less than {spelled(visible, row)} can stay unseen"


def _worst(row: PairedRow) -> float:
    """The worse end of the interval."""
    if row.interval is None:
        return math.inf
    return -row.interval[0] if row.higher_is_better else row.interval[1]


def visible_change(row: PairedRow, needed: float) -> float | None:
    """The smallest change that the gate would see 8 times in 10: the row's own, which is of a two-sided test at 5 %,
    taken to the level that is ``needed`` here."""
    if row.detectable is None or not math.isfinite(row.detectable):
        return None
    return row.detectable * (normal_quantile(1 - needed) + _POWER_Z) / (_ROW_Z + _POWER_Z)


def _p_text(row: PairedRow) -> str:
    """The row's own p, which every other command tells of the same two, and what it was corrected over."""
    p_value = (row.p_value if row.adjusted_p is None else row.adjusted_p) or 0.0
    told = "p < 0.0001" if p_value < 0.0001 else f"p = {p_value:.2g}"
    return f"{told} after correction over {row.family} rows" if row.family > 1 else told
