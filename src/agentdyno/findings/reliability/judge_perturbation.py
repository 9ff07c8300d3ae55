"""The same questions in another form: whether an agent answers them as it answers the originals."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from agentdyno.findings.reliability.model import Perturbed
from agentdyno.model.case import CaseKey
from agentdyno.model.record import AgentRecord, CaseRecord
from agentdyno.stats import clustered_mean_interval, t_interval, wilson


def origins(cases: Sequence[CaseRecord]) -> dict[CaseKey, CaseRecord]:
    """By case, the one that it asks in another form, itself where there is none; forms of forms lead to the first."""
    known = {case.key: case for case in cases}
    return {case.key: _first(case, known) for case in cases}


def _first(case: CaseRecord, known: Mapping[CaseKey, CaseRecord]) -> CaseRecord:
    met = {case.key}
    while case.perturbs is not None:
        parent = known.get(CaseKey(case.benchmark, case.perturbs))
        if parent is None or parent.key in met:
            break
        met.add(parent.key)
        case = parent
    return case


def perturbed_of(record: AgentRecord, cases: Sequence[CaseRecord]) -> Perturbed | None:
    """Every form beside its original, where both have a score; a case is right from its benchmark's threshold on.

    The interval of the change counts all forms of one original, and originals that share a group, as one.
    ``None`` without such a pair.
    """
    thresholds = {item.benchmark_id: item.pass_threshold for item in record.benchmarks}
    first = origins(cases)
    pairs: list[tuple[CaseRecord, float, float, bool, bool]] = []
    for case in cases:
        original = first[case.key]
        if original.key == case.key or original.score is None or case.score is None:
            continue
        threshold = thresholds.get(case.benchmark, 0.5)
        right = original.score >= threshold, case.score >= threshold
        pairs.append((case, original.score, case.score, *right))
    if not pairs:
        return None
    changes = [after - before for _, before, after, _, _ in pairs]
    clusters = [first[case.key].cluster for case, *_ in pairs]
    return Perturbed(
        pairs=len(pairs),
        original=_mean([before for _, before, *_ in pairs]),
        perturbed=_mean([after for _, _, after, *_ in pairs]),
        agreement=_mean([float(was == now) for *_, was, now in pairs]),
        change=_mean(changes),
        interval=_interval(changes, clusters),
        broken=tuple(case.case_id for case, _, _, was, now in pairs if was and not now),
    )


def _interval(changes: Sequence[float], clusters: Sequence[str]) -> tuple[float, float] | None:
    """Student's, cluster-robust where originals have several forms. Without any spread, Wilson's bound of what was
    not seen."""
    count = len(set(clusters))
    if count < 2:
        return None
    if len(set(changes)) == 1:
        reach = wilson(0, count).high
        low, high = changes[0] - reach, changes[0] + reach
    else:
        found = t_interval(changes) if count == len(changes) else clustered_mean_interval(changes, clusters)
        if found is None:
            return None
        low, high = found.low, found.high
    return max(-1.0, low), min(1.0, high)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
