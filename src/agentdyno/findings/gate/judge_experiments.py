"""The gate for experiments: what a comparison of arms found, sorted into the tiers of a policy."""

from __future__ import annotations

import math
from collections.abc import Sequence

from agentdyno.errors import NotComparable
from agentdyno.findings.duel.model import PairedRow
from agentdyno.findings.gate.judge import summarise
from agentdyno.findings.gate.judge_rules import one_sided_p, overall_verdict, spelled
from agentdyno.findings.gate.model import GateReport, GateRow, GateVerdict
from agentdyno.model.findings import ArmComparison, Comparison, MetricComparison
from agentdyno.model.form import RunWarning
from agentdyno.model.metric import Direction, Verdict
from agentdyno.model.policy import GatePolicy, GateRule, Tier

CRITICAL = "duration_s"
"""What blocks where the policy says nothing about it: an experiment is there to be timed."""


def judge_experiments(
    comparison: Comparison, policy: GatePolicy, *, name: str = "", critical: str = CRITICAL
) -> GateReport:
    """Every judged metric of every arm, by the verdict that the comparison already has.

    A metric that the policy does not name is advisory, ``critical`` critical. Its tolerance is the threshold of the
    comparison, or the policy's own where that is larger. P-values are the comparison's, with its correction over all
    its rows.
    What was counted are samples or processes: the rows have neither cases nor wins and losses. Raises
    ``NotComparable`` where no arm has a partner.
    """
    if not comparison.arms:
        raise NotComparable(
            f"no arm of {comparison.candidate} has a partner in {comparison.baseline}",
            where=name or None,
            remedy="Compare runs of the same experiments with the same parameters.",
        )
    found = [_row(arm, metric, policy, critical) for arm in comparison.arms for metric in arm.metrics]
    order = list(Tier)
    rows = tuple(sorted((row for row in found if row is not None), key=lambda row: order.index(row.rule.tier)))
    verdict, missing = overall_verdict(rows), _untimed(comparison, policy, critical)
    if missing and verdict in (GateVerdict.PASS, GateVerdict.WARN):
        verdict = GateVerdict.INCONCLUSIVE
    summary = summarise(verdict, rows)
    if missing:
        told = f"{critical} is not known on both sides of {', '.join(missing[:3])}"
        summary = f"{summary}; {told}" if summary else told
    return GateReport(
        baseline=comparison.baseline,
        candidate=comparison.candidate,
        suite=name,
        verdict=verdict,
        summary=summary,
        rows=rows,
        policy=policy,
        paired=comparison.paired,
        warnings=(*comparison.warnings, *_partnerless(comparison)),
    )


def _untimed(comparison: Comparison, policy: GatePolicy, critical: str) -> list[str]:
    """Arms without the critical time, where it is critical."""
    own = policy.rule(critical)
    if critical in policy.own_tiers and (own is None or own.tier is not Tier.CRITICAL):
        return []
    return [arm.name for arm in comparison.arms if all(item.metric.name != critical for item in arm.metrics)]


def _row(arm: ArmComparison, found: MetricComparison, policy: GatePolicy, critical: str) -> GateRow | None:
    """``None`` for what is neither judged nor asked for by name."""
    metric = found.metric.name
    rule = _rule(metric, found, policy, critical)
    if rule is None or (found.verdict is None and rule.tier is Tier.ADVISORY):
        return None
    row = _paired(arm, found)
    worsening = row.worsening
    if found.verdict is None or worsening is None:
        counted = rule.tier is Tier.CRITICAL
        verdict = GateVerdict.INCONCLUSIVE if counted else GateVerdict.PASS
        return GateRow(
            rule, row, None, None, None, verdict, found.reason if counted else f"{found.reason}; not counted"
        )
    exceeded = worsening > rule.tolerance or (
        found.verdict is Verdict.WORSE and rule.tolerance == found.threshold  # a bound on logarithms, included itself
    )
    p_worse = one_sided_p(row)
    significant = found.verdict is Verdict.WORSE
    if not exceeded and p_worse is not None:
        significant = p_worse < policy.alpha / 2
    verdict = GateVerdict.PASS
    if exceeded and rule.tier is Tier.CRITICAL:
        verdict = GateVerdict.BLOCK if significant else GateVerdict.INCONCLUSIVE
    elif exceeded and significant and rule.tier is Tier.SUPPORTING:
        verdict = GateVerdict.WARN
    return GateRow(rule, row, exceeded, significant, p_worse, verdict, _reason(rule, row, found, exceeded))


def _rule(metric: str, found: MetricComparison, policy: GatePolicy, critical: str) -> GateRule | None:
    """The user's own rule; else the default of experiments, which is not that of agents."""
    own = policy.rule(metric)
    if metric in policy.own_tiers and own is None:
        return None
    tier = Tier.CRITICAL if metric == critical else Tier.ADVISORY
    if own is not None and metric in policy.own_tiers:
        tier = own.tier
    tolerance = found.threshold
    if own is not None and metric in policy.own_tolerances:
        tolerance = max(tolerance, own.tolerance)
    return GateRule(metric, tier, tolerance)


def _paired(arm: ArmComparison, found: MetricComparison) -> PairedRow:
    """The figures in the form of the gate: ratios become changes."""
    ratio = found.ratio if found.ratio is not None and math.isfinite(found.ratio) else None
    bounded = found.interval is not None and all(map(math.isfinite, found.interval))
    return PairedRow(
        metric=found.metric.name,
        benchmark=arm.name,
        quantity=found.metric.name,
        unit=found.metric.unit,
        higher_is_better=found.metric.direction is Direction.HIGHER,
        relative=True,
        baseline=found.baseline,
        candidate=found.candidate,
        change=None if ratio is None else ratio - 1.0,
        interval=(found.interval[0] - 1.0, found.interval[1] - 1.0) if found.interval and bounded else None,
        p_value=found.p_value,
        adjusted_p=found.adjusted_p,
        family=found.family,
        level=found.level,
        detectable=found.detectable,
        verdict=found.verdict,
        reason=found.reason,
        method=f"{found.method}, {min(found.baseline_n, found.candidate_n)} {found.unit} a side".lstrip(", "),
    )


def _reason(rule: GateRule, row: PairedRow, found: MetricComparison, exceeded: bool) -> str:
    worsening = row.worsening or 0.0
    told = f"{'worse' if worsening > 0 else 'better'} by {spelled(worsening, row)}" if worsening else "unchanged"
    if exceeded:
        told += f", {spelled(rule.tolerance, row)} are allowed; {found.reason}"
    elif worsening > 0:
        told += f", within {spelled(rule.tolerance, row)}"
    if found.verdict is Verdict.INCONCLUSIVE and found.more_samples:
        told += f"; about {found.more_samples:,} more {found.unit} a side would decide"
    elif not exceeded and found.detectable is not None and found.detectable > rule.tolerance:
        told += f"; a change of less than {spelled(found.detectable, row)} can stay unseen"
    if rule.tier is Tier.ADVISORY and exceeded:
        told += "; advisory, so it does not count"
    return told


def _partnerless(comparison: Comparison) -> list[RunWarning]:
    sides: Sequence[tuple[str, tuple[str, ...]]] = (
        ("baseline", comparison.only_in_baseline),
        ("candidate", comparison.only_in_candidate),
    )
    return [
        RunWarning("no-partner", f"only the {side} has {', '.join(names[:5])}", "Run the same arms on both sides.")
        for side, names in sides
        if names
    ]
