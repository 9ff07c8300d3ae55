"""How far an agent can be relied on, from what it did in every try of every case."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb
from statistics import median

import numpy as np
import numpy.typing as npt

from agentdyno.errors import NotComparable, nearest
from agentdyno.findings.figures.traces import MOST_CASES
from agentdyno.findings.reliability.model import Perturbed, Reliability
from agentdyno.findings.standing.model import ScoreEstimate
from agentdyno.model.case import CaseKey
from agentdyno.model.identity import derive_seed
from agentdyno.model.record import AgentRecord, BenchmarkRecord, CaseRecord, ErrorClass
from agentdyno.stats import clustered_mean_interval, pass_at_k, pass_hat_k, t_interval, wilson

RESAMPLES = 1_000
_FEWEST_RESAMPLES = 100
_MOST_DRAWN = 5_000_000
_FLAT = 1e-12


@dataclass(frozen=True, slots=True)
class _Draws:
    """Cases drawn again: weights by draw and case; ``members`` is the cluster of each case."""

    weights: npt.NDArray[np.float64]
    members: npt.NDArray[np.int64]
    seed: int


def reliability_of(record: AgentRecord, benchmark: str = "", *, seed: int = 0) -> Reliability:
    """One agent over its suite, or in one benchmark. Raises ``NotComparable`` for a benchmark that it lacks.

    Shares are means over cases; their 95 % intervals come from drawing the cases again, those that share a group, or
    ask the same in another form, together. Where no draw differs, the Jeffreys posterior of so many independent
    cases takes their place: certainty does not come from few cases. ``None`` for a single cluster.
    """
    own = [item for item in record.benchmarks if benchmark in ("", item.benchmark_id)]
    if benchmark and not own:
        known = nearest(benchmark, (item.benchmark_id for item in record.benchmarks))
        raise NotComparable(f"{record.agent} has no results in benchmark {benchmark}", remedy=known)
    cases = [case for case in record.cases if case.tries and benchmark in ("", case.benchmark)]
    draws = _draws(cases, derive_seed(seed, record.arm_agent, benchmark))
    common = min((case.tries for case in cases), default=0)
    statuses: Counter[str] = Counter()
    for case in cases:
        statuses.update(case.statuses)
    tries = sum(case.tries for case in cases)
    return Reliability(
        agent=record.agent,
        benchmark=benchmark,
        cases=len(cases),
        tries=tries,
        pass_hat=tuple((k, _share(_each(cases, k, hat=True), draws)) for k in range(1, common + 1)),
        pass_at=tuple((k, _mean(_each(cases, k, hat=False))) for k in range(1, common + 1)),
        consistency=_consistency(cases, draws),
        flaky=sum(0 < case.passed < case.tries for case in cases),
        error_rate=sum(case.errors for case in cases) / tries if tries else None,
        statuses=dict(sorted(statuses.items())),
        errors=merged_errors(own),
        spread=_spread(cases),
        perturbed=perturbed_of(record, cases),
        simulated=record.simulated,
    )


def reliabilities(records: Sequence[AgentRecord], *, seed: int = 0) -> tuple[Reliability, ...]:
    """Each agent over its suite."""
    return tuple(reliability_of(record, seed=seed) for record in records)


def chance_alike(tries: int, passed: int) -> float | None:
    """The chance that two different tries of a case end alike, without bias; ``None`` for a single try."""
    return None if tries < 2 else (comb(passed, 2) + comb(tries - passed, 2)) / comb(tries, 2)


def merged_errors(benchmarks: Sequence[BenchmarkRecord]) -> tuple[ErrorClass, ...]:
    """The classes of several benchmarks as one list, the most frequent first."""
    found: dict[tuple[str, str, str], ErrorClass] = {}
    for benchmark in benchmarks:
        for item in benchmark.errors:
            key = (item.status, item.kind, item.message)
            known = found.get(key)
            if known is None:
                found[key] = item
                continue
            cases = tuple(dict.fromkeys((*known.cases, *item.cases)))[:MOST_CASES]
            example = known.example or item.example
            found[key] = ErrorClass(*key, count=known.count + item.count, example=example, cases=cases)
    return tuple(sorted(found.values(), key=lambda item: (-item.count, item.status, item.kind, item.message)))


def _each(cases: Sequence[CaseRecord], k: int, *, hat: bool) -> list[float]:
    formula = pass_hat_k if hat else pass_at_k
    return [value for case in cases if (value := formula(case.tries, case.passed, k)) is not None]


def _draws(cases: Sequence[CaseRecord], seed: int) -> _Draws:
    first = origins(cases)
    codes: dict[str, int] = {}
    members = np.array([codes.setdefault(first[case.key].cluster, len(codes)) for case in cases], dtype=np.int64)
    size = len(codes)
    rng = np.random.default_rng(seed)
    count = max(_FEWEST_RESAMPLES, min(RESAMPLES, _MOST_DRAWN // max(1, len(cases))))
    drawn = np.zeros((count, len(cases)))
    for row in drawn:
        row[:] = np.bincount(rng.integers(size, size=size), minlength=size)[members] if size else 0
    return _Draws(drawn, members, seed)


def _share(values: Sequence[float], draws: _Draws, of: npt.NDArray[np.bool_] | None = None) -> ScoreEstimate:
    """The mean of the values with its interval; ``of`` marks the cases that have one, all of them unless given."""
    mean = _mean(values)
    own = draws.weights if of is None else draws.weights[:, of]
    clusters = len(np.unique(draws.members if of is None else draws.members[of]))
    if clusters < 2:
        return ScoreEstimate(mean)
    total = own.sum(axis=1)
    drawn = np.divide(own @ np.array(values), total, out=np.full(len(own), mean), where=total > 0)
    if float(drawn.max() - drawn.min()) <= _FLAT:
        # The same numbers for every k, so that what is certain does not depend on it.
        rng = np.random.default_rng(draws.seed)
        drawn = rng.beta(mean * clusters + 0.5, (1.0 - mean) * clusters + 0.5, size=RESAMPLES)
    low, high = (float(end) for end in np.quantile(drawn, [0.025, 0.975]))
    return ScoreEstimate(mean, (max(0.0, min(low, mean)), min(1.0, max(high, mean))))


def _consistency(cases: Sequence[CaseRecord], draws: _Draws) -> ScoreEstimate:
    chances = [chance_alike(case.tries, case.passed) for case in cases]
    known = [value for value in chances if value is not None]
    if not known:
        return ScoreEstimate(None)
    return _share(known, draws, np.array([value is not None for value in chances]))


def _spread(cases: Sequence[CaseRecord]) -> Mapping[str, float]:
    """By metric the median over cases of standard deviation / what an execution uses; what uses nothing has none."""
    found: dict[str, list[float]] = {}
    for case in cases:
        for name, deviation in case.spread.items():
            typical = case.used.get(name)
            if typical is not None and typical > 0 and math.isfinite(deviation / typical):
                found.setdefault(name, []).append(deviation / typical)
    return {name: float(median(values)) for name, values in sorted(found.items())}


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


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
