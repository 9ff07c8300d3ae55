"""Two agents on the same cases: which were fixed, which broke, and whether the difference is more than chance."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import stdev

from agentdyno.findings.engine.pairing import Pairing
from agentdyno.findings.figures.cases import ArmFigures, cluster_of
from agentdyno.findings.standing.model import AgentStanding, HeadToHead
from agentdyno.model import Case, Verdict
from agentdyno.model.case import CaseKey
from agentdyno.stats import (
    clustered_mean_interval,
    mcnemar,
    minimum_detectable_difference,
    t_interval,
    wilcoxon_signed_rank,
    wilson,
)

ALPHA = 0.05
SAME_WITHIN = 0.03
"""Two agents are the same where the whole interval of their difference lies within three points of a hundred."""
_VERSION = re.compile(r"v?(\d+(?:\.\d+)*)(?:[-+.]?[0-9a-z]*)?", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Contender:
    """An agent of a run, with its figures by benchmark."""

    label: str
    run_id: str
    figures: Mapping[str, ArmFigures]


@dataclass(frozen=True, slots=True)
class ScorePair:
    """The scores of one case on both sides; from ``threshold`` on it is right."""

    key: CaseKey
    cluster: str
    first: float
    second: float
    threshold: float


def head_to_head(baseline: Contender, candidate: Contender) -> HeadToHead:
    """Two agents of closed runs, case by case; see ``flips_of``.

    Cases whose input or target differ between two runs, and cases without a score on a side, are counted as unpaired.
    """
    pairs, unpaired = _pair(baseline, candidate)
    return flips_of((baseline.label, candidate.label), pairs, unpaired, baseline.run_id == candidate.run_id)


def record_flips(pairing: Pairing) -> HeadToHead:
    """The accuracy of two records, case by case; scores under different rubrics do not pair."""
    pairs = score_pairs(pairing)
    unpaired = pairing.missed + pairing.changed + len(pairing.keys) - len(pairs)
    return flips_of(pairing.labels, pairs, unpaired, pairing.same_run)


def score_pairs(pairing: Pairing) -> list[ScorePair]:
    """The paired cases that have a score on both sides under one rubric."""
    thresholds = {name: pairing.baseline.benchmark(name).pass_threshold for name in pairing.benchmarks}
    columns = zip(
        pairing.first.cases,
        pairing.first.score.tolist(),
        pairing.second.score.tolist(),
        pairing.judged_alike.tolist(),
        strict=True,
    )
    return [
        ScorePair(case.key, case.cluster, old, new, thresholds[case.benchmark])
        for case, old, new, alike in columns
        if alike and not math.isnan(old) and not math.isnan(new)
    ]


def flips_of(labels: tuple[str, str], pairs: Sequence[ScorePair], unpaired: int, same_run: bool) -> HeadToHead:
    """Case by case: McNemar where every case is right or wrong, else Wilcoxon on case scores.

    Where cases share groups, the means of the groups are what is tested.
    """
    differences = [pair.second - pair.first for pair in pairs]
    clusters = [pair.cluster for pair in pairs]
    count = len(set(clusters))
    p_value, method = _test(pairs, count)
    interval = _interval(differences, clusters, count)
    fixed = [pair for pair in pairs if pair.first < pair.threshold <= pair.second]
    broken = [pair for pair in pairs if pair.second < pair.threshold <= pair.first]
    right = sum(pair.first >= pair.threshold and pair.second >= pair.threshold for pair in pairs)
    difference = _mean(differences)
    return HeadToHead(
        baseline=labels[0],
        candidate=labels[1],
        cases=len(pairs),
        clusters=count,
        baseline_mean=_mean([pair.first for pair in pairs]),
        candidate_mean=_mean([pair.second for pair in pairs]),
        difference=difference,
        interval=interval,
        p_value=p_value,
        method=method,
        detectable=_detectable(differences, clusters, count),
        fixed=_keys(fixed),
        broken=_keys(broken),
        both_right=right,
        both_wrong=len(pairs) - right - len(fixed) - len(broken),
        unpaired=unpaired,
        same_run=same_run,
        verdict=_verdict(difference, interval, p_value),
    )


def pick_pair(agents: Sequence[AgentStanding], order: Iterable[str] = ()) -> tuple[str, str] | None:
    """Baseline and candidate of the comparison that matters most: two versions of one agent, else the two best.

    ``agents`` are in the order of their standing. The lower version is the baseline; versions that are not numbers
    keep the ``order`` in which the run names its agents. Of the two best, the second is the baseline.
    """
    listed = dict.fromkeys([*order, *(item.agent for item in agents)])
    places = {agent: place for place, agent in enumerate(listed)}
    for place, best in enumerate(agents):
        others = [item for item in agents[place + 1 :] if item.name == best.name and item.version != best.version]
        if others and best.name:
            older, newer = sorted((best, others[0]), key=lambda item: places[item.agent])
            versions = version_number(older.version), version_number(newer.version)
            if versions[0] is not None and versions[1] is not None and versions[0] > versions[1]:
                older, newer = newer, older
            return older.agent, newer.agent
    return (agents[1].agent, agents[0].agent) if len(agents) > 1 else None


def _pair(baseline: Contender, candidate: Contender) -> tuple[list[ScorePair], int]:
    pairs, unpaired = [], 0
    for name in baseline.figures.keys() & candidate.figures.keys():
        first, second = baseline.figures[name], candidate.figures[name]
        cases = {case.id: case for case in first.benchmark.cases}
        others = cases if second.benchmark is first.benchmark else {case.id: case for case in second.benchmark.cases}
        before, after = first.case_scores(), second.case_scores()
        for case_id in dict.fromkeys([*before, *after]):
            old, new = before.get(case_id), after.get(case_id)
            case = cases.get(case_id)
            if old is None or new is None or not _same_case(case, others.get(case_id)):
                unpaired += 1
                continue
            cluster = f"{name} {cluster_of(case_id, case.group if case is not None else None)}"
            threshold = first.benchmark.rubric.pass_threshold
            pairs.append(ScorePair(CaseKey(name, case_id), cluster, old, new, threshold))
    return sorted(pairs, key=lambda pair: (pair.key.benchmark, pair.key.case_id)), unpaired


def _same_case(first: Case | None, second: Case | None) -> bool:
    if first is None or second is None:
        return first is second
    return first is second or (first.input, first.target, first.turns) == (second.input, second.target, second.turns)


def _test(pairs: Sequence[ScorePair], clusters: int) -> tuple[float | None, str]:
    if not pairs or clusters < 2:
        return (
            None,
            "one independent case says nothing about others: at least 6 are needed"
            if pairs
            else "no case has a score on both sides",
        )
    if clusters < len(pairs):
        found = wilcoxon_signed_rank(_group_means(pairs))
        return found.p_value, f"{found.method}, over groups of cases"
    if all(value in (0.0, 1.0) for pair in pairs for value in (pair.first, pair.second)):
        won = sum(pair.second > pair.first for pair in pairs)
        lost = sum(pair.second < pair.first for pair in pairs)
        found = mcnemar(lost, won)
    else:
        found = wilcoxon_signed_rank([pair.second - pair.first for pair in pairs])
    return found.p_value, found.method


def _group_means(pairs: Sequence[ScorePair]) -> list[float]:
    groups: dict[str, list[float]] = {}
    for pair in pairs:
        groups.setdefault(pair.cluster, []).append(pair.second - pair.first)
    return [math.fsum(values) / len(values) for values in groups.values()]


def _interval(differences: list[float], clusters: list[str], count: int) -> tuple[float, float] | None:
    """Student's, cluster-robust where cases share groups. Without any spread, Wilson's bound of what was not seen."""
    if count < 2:
        return None
    if len(set(differences)) == 1:
        reach = wilson(0, count).high
        low, high = differences[0] - reach, differences[0] + reach
    else:
        found = (
            t_interval(differences) if count == len(differences) else clustered_mean_interval(differences, clusters)
        )
        if found is None:
            return None
        low, high = found.low, found.high
    return max(-1.0, low), min(1.0, high)


def _detectable(differences: list[float], clusters: list[str], count: int) -> float | None:
    """From the spread that was seen; where none was, from the most that this many cases could have hidden."""
    if count < 2:
        return None
    groups: dict[str, list[float]] = {}
    for difference, cluster in zip(differences, clusters, strict=True):
        groups.setdefault(cluster, []).append(difference)
    spread = stdev([math.fsum(values) / len(values) for values in groups.values()])
    spread = spread or math.sqrt(wilson(0, count).high)
    found = minimum_detectable_difference(spread, count, alpha=ALPHA)
    return found if found <= 1.0 else None


def _verdict(difference: float | None, interval: tuple[float, float] | None, p_value: float | None) -> Verdict:
    if difference is None or interval is None or p_value is None:
        return Verdict.INCONCLUSIVE
    if p_value < ALPHA and difference != 0:
        return Verdict.BETTER if difference > 0 else Verdict.WORSE
    if interval[0] >= -SAME_WITHIN and interval[1] <= SAME_WITHIN:
        return Verdict.SAME
    return Verdict.INCONCLUSIVE


def _keys(pairs: Sequence[ScorePair]) -> tuple[CaseKey, ...]:
    changed = sorted(pairs, key=lambda pair: (-abs(pair.second - pair.first), pair.key.benchmark, pair.key.case_id))
    return tuple(pair.key for pair in changed)


def _mean(values: Sequence[float]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def version_number(version: str) -> tuple[int, ...] | None:
    found = _VERSION.fullmatch(version) if "." in version or len(version) < 6 else None
    return tuple(int(part) for part in found[1].split(".")) if found else None
