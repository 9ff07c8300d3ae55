"""The one judgement of two agents: everybody who compares two reads rows of it and tests nothing again.

**Families** are the tiers of the policy. Its critical metrics (accuracy and the error rate unless it says otherwise)
are corrected together; so are all other rows of the suite, and the rows of single benchmarks. A quantity is one row
under all its names: speed and ``duration_s``, cost and ``cost_usd``, and efficiency where it has one resource. What
the policy adds as advisory is judged by itself, for it decides nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from agentdyno.findings.duel.model import PairedRow
from agentdyno.findings.engine.flips import flips_of
from agentdyno.findings.engine.judge import PLAIN, Measured, MeasureOptions, judge, more_cases
from agentdyno.findings.engine.measure import measure
from agentdyno.findings.engine.pairing import Pairing, pair_records
from agentdyno.findings.figures.dimensions import DIMENSIONS, OVERALL
from agentdyno.findings.figures.normalised import IN_PLACE_OF
from agentdyno.findings.standing.model import HeadToHead
from agentdyno.model.metric import Verdict
from agentdyno.model.policy import AGENT_METRICS, DEFAULT_POLICY, GatePolicy, Tier
from agentdyno.model.record import UNKNOWN_SPREAD, AgentRecord, RunSpread

ERROR_RATE = "error_rate"
SUITE_ROWS = (*DIMENSIONS, OVERALL, ERROR_RATE)
BENCHMARK_ROWS = (*DIMENSIONS, ERROR_RATE)
_SAME_ROW = {"duration_s": "speed", "cost_usd": "cost"}
_CRITICAL, _OTHERS, _BENCHMARKS, _ALONE = "critical", "others", "benchmarks", ""
_SAME_PER_TRY = 0.03


@dataclass(frozen=True, slots=True)
class MeasuredPair:
    """Two agents measured against each other and not yet judged: rows of the suite, and of (benchmark, metric)."""

    pairing: Pairing
    rows: Mapping[str, Measured]
    parts: Mapping[tuple[str, str], Measured]


@dataclass(frozen=True, slots=True)
class PairJudgement:
    """Two agents judged. ``rows`` are the five dimensions, ``overall``, ``error_rate`` and what the policy adds;
    ``parts``, by benchmark and metric, the dimensions and the error rate. ``flips`` is the accuracy case by case."""

    pairing: Pairing
    rows: Mapping[str, PairedRow]
    parts: Mapping[tuple[str, str], PairedRow]
    flips: HeadToHead
    measured: Mapping[str, Measured]

    def row(self, metric: str) -> PairedRow:
        """A row of the suite under any of its names."""
        found = self.rows.get(metric) or self.rows[_SAME_ROW[metric]]
        return replace(found, metric=metric)

    def cases_needed(self, metric: str, alpha: float) -> int | None:
        """How many more cases would decide a row of the suite at a level of one's own, by the rule of all rows."""
        return more_cases(self.measured[_SAME_ROW.get(metric, metric)], alpha)


def judgement(
    baseline: AgentRecord,
    candidate: AgentRecord,
    policy: GatePolicy = DEFAULT_POLICY,
    spread: RunSpread = UNKNOWN_SPREAD,
) -> PairJudgement:
    """Both agents on the cases they share; rows without a common case say so and have no verdict.

    ``spread`` is what is known of the noise between runs on their host: without it, what depends on the machine is
    not judged where the two are of separate runs.
    """
    return judge_pairs([measure_pair(pair_records(baseline, candidate), policy, spread)], policy)[0]


def measure_pair(
    pairing: Pairing,
    policy: GatePolicy = DEFAULT_POLICY,
    spread: RunSpread = UNKNOWN_SPREAD,
    options: MeasureOptions = PLAIN,
) -> MeasuredPair:
    """Every row measured once."""
    rows = {metric: measure(pairing, metric, "", options, spread) for metric in _suite_metrics(policy)}
    parts = {}
    for name in pairing.benchmarks:
        own = pairing.within(name)
        for metric in BENCHMARK_ROWS:
            if len(pairing.benchmarks) == 1:
                found = rows[metric]
                parts[name, metric] = replace(found, row=replace(found.row, benchmark=name))
            else:
                parts[name, metric] = measure(own, metric, name, options, spread)
    return MeasuredPair(pairing, rows, parts)


def judge_pairs(pairs: Sequence[MeasuredPair], policy: GatePolicy = DEFAULT_POLICY) -> tuple[PairJudgement, ...]:
    """Every pair judged; the families are those of all pairs together."""
    found: list[Measured] = []
    families: list[str] = []
    for pair in pairs:
        for metric, item in pair.rows.items():
            found.append(item)
            families.append(_family(metric, pair, policy))
        found += pair.parts.values()
        families += [_BENCHMARKS] * len(pair.parts)
    judged = iter(judge(found, families))
    made = []
    for pair in pairs:
        rows = {metric: next(judged) for metric in pair.rows}
        parts = {key: next(judged) for key in pair.parts}
        for metric in rows:
            if _is_the_efficiency(metric, pair) and _family(metric, pair, policy) == _ALONE:
                rows[metric] = replace(rows["efficiency"], metric=metric)
        rows = {metric: _no_surer(row, rows["accuracy"]) for metric, row in rows.items()}
        parts = {(name, metric): _no_surer(row, parts[name, "accuracy"]) for (name, metric), row in parts.items()}
        made.append(PairJudgement(pair.pairing, rows, parts, _flips(pair, rows), pair.rows))
    return tuple(made)


def restates_pass_rate(row: PairedRow) -> bool:
    """Whether what a success takes differs only because the pass rate does: an execution takes the same, within 3 %,
    or differs the other way."""
    if row.per_try is None or row.change is None:
        return False
    same = abs(math.log1p(row.per_try)) <= math.log1p(_SAME_PER_TRY)
    return same or (row.per_try > 0) != (row.change > 0)


def _no_surer(row: PairedRow, accuracy: PairedRow) -> PairedRow:
    """A row that only tells the pass rate again is not decided where the accuracy is not.

    Cases that flipped by chance are most of its change. A difference of a thousandth that every case shows makes its
    test significant nevertheless, for that asks whether there is any difference at all.
    """
    if row.verdict not in (Verdict.BETTER, Verdict.WORSE) or row.verdict is accuracy.verdict:
        return row
    if row.per_try is None or not restates_pass_rate(row):
        return row
    size = f"{abs(100 * row.per_try):.1f}"
    amount = "the same" if float(size) == 0.0 else f"{size} % {'more' if row.per_try > 0 else 'less'}"
    reason = f"the pass rate again, of which nothing is decided (a try takes {amount})"
    return replace(row, verdict=Verdict.INCONCLUSIVE, reason=reason, more_cases=accuracy.more_cases)


def _flips(pair: MeasuredPair, rows: Mapping[str, PairedRow]) -> HeadToHead:
    return flips_of(pair.pairing, rows["accuracy"], rows[ERROR_RATE])


def _suite_metrics(policy: GatePolicy) -> tuple[str, ...]:
    asked = [rule.metric for rule in policy.rules if rule.metric in AGENT_METRICS]
    return tuple(dict.fromkeys([*SUITE_ROWS, *(_SAME_ROW.get(metric, metric) for metric in asked)]))


def _family(metric: str, pair: MeasuredPair, policy: GatePolicy) -> str:
    tiers = {rule.tier for rule in policy.rules if _SAME_ROW.get(rule.metric, rule.metric) == metric}
    if Tier.CRITICAL in tiers:
        return _CRITICAL
    if _is_the_efficiency(metric, pair) or (metric not in SUITE_ROWS and Tier.SUPPORTING not in tiers):
        return _ALONE
    return _OTHERS


def _is_the_efficiency(metric: str, pair: MeasuredPair) -> bool:
    """Whether a resource is all that the efficiency is made of: then the two are one row."""
    quantity = pair.rows["efficiency"].row.quantity
    return metric not in SUITE_ROWS and quantity in (metric, IN_PLACE_OF.get(metric))
