"""Two agents on the same cases: which were fixed and which broke, beside what the row of accuracy says."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from agentdyno.findings.engine.versions import version_number
from agentdyno.findings.standing.model import AgentStanding, HeadToHead
from agentdyno.model import Verdict
from agentdyno.model.case import CaseKey

if TYPE_CHECKING:  # every run picks a pair; few of them judge one
    from agentdyno.findings.duel.model import PairedRow
    from agentdyno.findings.engine.pairing import Pairing


def flips_of(pairing: Pairing, accuracy: PairedRow, errors: PairedRow) -> HeadToHead:
    """Case by case; test, interval and verdict are those of the row. Scores under different rubrics do not pair.

    Cases that ended in an error have no score, so what became of them is told by the row of the error rate.
    """
    first, second = pairing.first.score, pairing.second.score
    scored = np.flatnonzero(pairing.judged_alike & ~np.isnan(first) & ~np.isnan(second))
    thresholds = {name: pairing.baseline.benchmark(name).pass_threshold for name in pairing.benchmarks}
    fixed: list[tuple[float, CaseKey]] = []
    broken: list[tuple[float, CaseKey]] = []
    right = 0
    for place in scored.tolist():
        key, old, new = pairing.keys[place], float(first[place]), float(second[place])
        threshold = thresholds[key.benchmark]
        if old < threshold <= new:
            fixed.append((old - new, key))
        elif new < threshold <= old:
            broken.append((new - old, key))
        else:
            right += old >= threshold
    return HeadToHead(
        baseline=pairing.labels[0],
        candidate=pairing.labels[1],
        cases=len(scored),
        clusters=accuracy.clusters,
        baseline_mean=accuracy.baseline,
        candidate_mean=accuracy.candidate,
        difference=accuracy.change,
        interval=accuracy.interval,
        p_value=accuracy.p_value,
        method=accuracy.method or accuracy.reason,
        detectable=accuracy.detectable,
        fixed=_largest_first(fixed),
        broken=_largest_first(broken),
        both_right=right,
        both_wrong=len(scored) - right - len(fixed) - len(broken),
        unpaired=pairing.missed + pairing.changed + len(pairing.keys) - len(scored),
        same_run=pairing.same_run,
        verdict=accuracy.verdict or Verdict.INCONCLUSIVE,
        adjusted_p=accuracy.adjusted_p,
        family=accuracy.family,
        more_cases=accuracy.more_cases,
        reason=accuracy.reason,
        error_rates=(errors.baseline or 0.0, errors.candidate or 0.0) if pairing.had_errors else None,
        error_verdict=errors.verdict if pairing.had_errors else None,
    )


def _largest_first(changed: Sequence[tuple[float, CaseKey]]) -> tuple[CaseKey, ...]:
    ordered = sorted(changed, key=lambda item: (item[0], item[1].benchmark, item[1].case_id))
    return tuple(key for _, key in ordered)


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
