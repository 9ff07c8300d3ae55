"""The one judgement of two agents: everybody who compares two reads rows of it and tests nothing again.

**Families** are the tiers of the policy. Its critical metrics (accuracy and the error rate unless it says otherwise)
are corrected together; so are all other rows of the suite, and the rows of single benchmarks. A quantity is one row
under all its names: speed and ``duration_s``, cost and ``cost_usd``, and efficiency where it has one resource. What
the policy adds as advisory is judged by itself, for it decides nothing.
"""

from __future__ import annotations

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
from agentdyno.model.policy import AGENT_METRICS, DEFAULT_POLICY, GatePolicy, Tier
from agentdyno.model.record import UNKNOWN_SPREAD, AgentRecord, RunSpread

ERROR_RATE = "error_rate"
SUITE_ROWS = (*DIMENSIONS, OVERALL, ERROR_RATE)
BENCHMARK_ROWS = (*DIMENSIONS, ERROR_RATE)
_SAME_ROW = {"duration_s": "speed", "cost_usd": "cost"}
_CRITICAL, _OTHERS, _BENCHMARKS, _ALONE = "critical", "others", "benchmarks", ""


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
        made.append(PairJudgement(pair.pairing, rows, parts, _flips(pair, rows), pair.rows))
    return tuple(made)


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
