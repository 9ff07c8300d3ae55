"""The rule that ends a suite's run once it is known whether the candidate is better, worse or the same."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from agentdyno.findings.figures.cases import CaseTally, cluster_of
from agentdyno.model.metric import Verdict
from agentdyno.model.plan import Phase, Plan, Side, Trial
from agentdyno.model.sample import Sample, Status
from agentdyno.model.suite import Rubric, Suite
from agentdyno.stats import Decision, Interval

CaseName: TypeAlias = tuple[str, str]
"""A benchmark's id and the id of a case in it."""
_FINE_BELOW = 10.0
"""Points: intervals narrower than this are told with a decimal."""


@dataclass(frozen=True, slots=True)
class DecisionOutcome:
    """How far the question is answered.

    ``difference`` is the mean of the case scores, candidate minus baseline (0..1 each), ``None`` without a pair;
    ``interval`` and ``p_value`` hold however often one looked. ``cases`` were answered by both sides, ``unpaired`` of
    them have no score on one. ``observations`` are the independent ones: cases, or groups of related cases. ``same``
    is a difference within ``tolerance``.
    """

    verdict: Verdict
    difference: float | None
    interval: Interval
    p_value: float
    tolerance: float
    cases: int
    planned_cases: int
    unpaired: int
    observations: int
    calls: int
    planned_calls: int

    @property
    def saved_calls(self) -> int:
        """Calls of the fixed plan that were not needed."""
        return max(0, self.planned_calls - self.calls)

    def __str__(self) -> str:
        found = {
            Verdict.BETTER: "decided: candidate is better",
            Verdict.WORSE: "decided: candidate is worse",
            Verdict.SAME: f"decided: candidate is the same to within {100.0 * self.tolerance:g} points",
        }.get(self.verdict, "not decided")
        after = f"after {self.cases:,} of {self.planned_cases:,} cases"
        if self.difference is None:
            return f"{found} {after}"
        digits = 1 if 100.0 * (self.interval.high - self.interval.low) < _FINE_BELOW else 0
        middle, low, high = (
            _points(value, digits) for value in (self.difference, self.interval.low, self.interval.high)
        )
        confidence = f"{100.0 * self.interval.confidence:g} %"
        return f"{found}, {middle} points ({confidence}: {low} to {high}) {after}"


@dataclass(frozen=True, slots=True)
class Cluster:
    """Related cases, or one case: they are observed together. ``calls`` is the number of planned ones by arm."""

    cases: tuple[CaseName, ...]
    calls: Mapping[str, int]


@dataclass(slots=True)
class _Progress:
    """What has arrived of a cluster: keys of samples by arm, and what each arm did with each case."""

    keys: dict[str, set[str]] = field(default_factory=dict)
    tallies: dict[CaseName, dict[str, CaseTally]] = field(default_factory=dict)


@dataclass(slots=True)
class UntilDecided:
    """Stops when ``decision`` has a verdict on candidate against baseline, paired by case.

    ``arms`` gives each arm's benchmark and side, ``clusters`` are in the order of the plan. An observation is the
    mean difference over the cases of a cluster, once both sides have answered all of it; several arms on a side count
    with their mean. Clusters are taken in the order of the plan even where calls overlap, because those that end
    first may be the easy ones; so samples that are replayed in another order lead to the same state. A case without
    a score on a side is no observation. ``given_up`` tells of arms that get no more calls: clusters that wait for one
    are passed over.
    """

    arms: Mapping[str, tuple[str, Side]]
    clusters: Sequence[Cluster]
    rubrics: Mapping[str, Rubric]
    decision: Decision = field(default_factory=Decision)
    given_up: Callable[[str], bool] = lambda _: False
    _place: dict[CaseName, int] = field(init=False)
    _waiting: dict[int, _Progress] = field(default_factory=dict, init=False)
    _next: int = field(default=0, init=False)
    _cases: int = field(default=0, init=False)
    _unpaired: int = field(default=0, init=False)
    _calls: int = field(default=0, init=False)
    _planned_calls: int = field(init=False)

    def __post_init__(self) -> None:
        self._place = {case: place for place, cluster in enumerate(self.clusters) for case in cluster.cases}
        self._planned_calls = sum(sum(cluster.calls.values()) for cluster in self.clusters)

    @classmethod
    def of(
        cls,
        suite: Suite,
        plan: Plan,
        decision: Decision | None = None,
        given_up: Callable[[str], bool] = lambda _: False,
    ) -> UntilDecided:
        """For a plan whose arms have sides; benchmarks that only one side runs do not count."""
        sided = {arm.arm_id: (arm.benchmark, arm.side) for arm in plan.arms if arm.benchmark and arm.side}
        both = {
            benchmark
            for benchmark, _ in sided.values()
            if len({side for name, side in sided.values() if name == benchmark}) == len(Side)
        }
        arms = {arm_id: (benchmark, side) for arm_id, (benchmark, side) in sided.items() if benchmark in both}
        rubrics = {item.benchmark_id: item.rubric for item in suite.benchmarks}
        return cls(arms, clusters_of(suite, plan, arms), rubrics, decision or Decision(), given_up)

    def observe(self, sample: Sample) -> None:
        arm = self.arms.get(sample.arm_id)
        if arm is None or sample.phase is not Phase.MEASURED or sample.status is Status.CANCELLED:
            return
        case = (arm[0], sample.case_id)
        place = self._place.get(case)
        if place is None:
            return
        if place < self._next and place not in self._waiting:
            return
        progress = self._waiting.setdefault(place, _Progress())
        keys = progress.keys.setdefault(sample.arm_id, set())
        if sample.key in keys:
            return
        self._calls += 1
        keys.add(sample.key)
        progress.tallies.setdefault(case, {}).setdefault(sample.arm_id, CaseTally()).add(sample)
        self._advance()

    def skip(self, _trial: Trial) -> bool:
        return False

    def stop(self, _plan: Plan) -> str | None:
        self._advance()
        return None if self.decision.verdict is None else str(self.outcome)

    @property
    def outcome(self) -> DecisionOutcome:
        """As it stands; ``inconclusive`` until it is decided."""
        seen = self.decision.sequence
        verdict = self.decision.verdict
        return DecisionOutcome(
            verdict=Verdict.INCONCLUSIVE if verdict is None else Verdict(verdict),
            difference=seen.mean,
            interval=seen.interval,
            p_value=seen.p_value,
            tolerance=self.decision.tolerance,
            cases=self._cases,
            planned_cases=len(self._place),
            unpaired=self._unpaired,
            observations=seen.n,
            calls=self._calls,
            planned_calls=self._planned_calls,
        )

    def _advance(self) -> None:
        while self.decision.verdict is None and self._next < len(self.clusters):
            cluster = self.clusters[self._next]
            progress = self._waiting.setdefault(self._next, _Progress())
            missing = [
                arm_id for arm_id, count in cluster.calls.items() if len(progress.keys.get(arm_id, ())) < count
            ]
            if not missing:
                self._take(cluster, progress)
                del self._waiting[self._next]
            elif not any(self.given_up(arm_id) for arm_id in missing):
                return
            self._next += 1

    def _take(self, cluster: Cluster, progress: _Progress) -> None:
        differences = []
        for case in cluster.cases:
            baseline, candidate = (self._score(case, side, progress) for side in (Side.BASELINE, Side.CANDIDATE))
            if baseline is None or candidate is None:
                self._unpaired += 1
            else:
                differences.append(candidate - baseline)
        self._cases += len(cluster.cases)
        if differences:
            self.decision.add(math.fsum(differences) / len(differences))

    def _score(self, case: CaseName, side: Side, progress: _Progress) -> float | None:
        """The mean over the arms of a side; ``None`` where one of them has no score."""
        rubric = self.rubrics[case[0]]
        tallies = progress.tallies.get(case, {})
        scores = [tally.score(rubric) for arm_id, tally in tallies.items() if self.arms[arm_id][1] is side]
        known = [score for score in scores if score is not None]
        return math.fsum(known) / len(known) if known and len(known) == len(scores) else None


def clusters_of(suite: Suite, plan: Plan, arms: Mapping[str, tuple[str, Side]]) -> tuple[Cluster, ...]:
    """The clusters of the cases that these arms answer, in the order in which the plan is done with them."""
    groups = {(item.benchmark_id, case.id): case.group for item in suite.benchmarks for case in item.cases}
    calls: dict[CaseName, Counter[str]] = {}
    members: dict[CaseName, dict[CaseName, None]] = {}
    last: dict[CaseName, int] = {}
    for number, trial in enumerate(plan.trials):
        if trial.arm_id not in arms or trial.phase is not Phase.MEASURED:
            continue
        case = (arms[trial.arm_id][0], trial.case_id)
        cluster = (case[0], cluster_of(trial.case_id, groups.get(case)))
        calls.setdefault(cluster, Counter())[trial.arm_id] += 1
        members.setdefault(cluster, {})[case] = None
        last[cluster] = number
    return tuple(Cluster(tuple(members[name]), dict(calls[name])) for name in sorted(last, key=last.__getitem__))


def _points(share: float, digits: int) -> str:
    """Hundredths with their sign, never minus nothing."""
    rounded = round(100.0 * share, digits) + 0.0
    return f"{rounded:+.{digits}f}" if rounded else "0"
