"""Samples of one arm of a suite, taken one by one, as small numbers per case: nothing else is kept of them."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field

from agentdyno.findings.figures.claims import Disturbed
from agentdyno.findings.figures.scorer_tallies import ScorerTally, tally_scorers, with_raised
from agentdyno.findings.figures.traces import Remarks
from agentdyno.model import Benchmark, CaseFigures, FailureKind, Phase, Reducer, Rubric, Sample, Status
from agentdyno.model.metric import LARGEST
from agentdyno.model.sample import disturbance_of
from agentdyno.stats import clustered_mean_interval, pass_at_k, pass_hat_k, t_interval, wilson

SPENT = ("duration_s", "total_tokens", "api_calls", "cost_usd")
"""Readings that are added up over all executions; cost is not known where one of them is not."""
_NOT_BILLED = (FailureKind.HTTP_ERROR, FailureKind.RATE_LIMITED)
_MOST_RESAMPLED = 2_000


@dataclass(slots=True)
class CaseTally:
    """Executions of one case, cancelled ones left out: ``tries`` of which ``scored`` have a score."""

    tries: int = 0
    scored: int = 0
    passed: int = 0
    errors: int = 0
    total: float = 0.0
    best: float = 0.0
    spent: list[float] = field(default_factory=lambda: [0.0] * len(SPENT))
    statuses: Counter[str] = field(default_factory=Counter)

    def add(self, sample: Sample) -> None:
        self.count(sample, score_of(sample), has_passed(sample))

    def count(self, sample: Sample, score: float | None, passed: bool) -> None:
        """``add`` where it is known how the sample was judged."""
        self.statuses[sample.status.value] += 1
        self.tries += 1
        self.passed += passed
        self.errors += sample.status is Status.ERROR
        if score is not None:
            self.scored += 1
            self.total += score
            self.best = max(self.best, score)

    @property
    def unanswered(self) -> bool:
        """Whether there is no answer to judge, because every try ended in an error."""
        return not self.scored and self.errors == self.tries > 0

    def score(self, rubric: Rubric) -> float | None:
        """The executions of the case as one score; ``None`` where none was scored, or fewer than k.

        A scored try is one for pass@k; pass^k counts every try, so that an error is a try that did not succeed.
        """
        if not self.scored:
            return None
        if rubric.reducer is Reducer.MEAN:
            return self.total / self.scored
        if rubric.reducer is Reducer.MAX:
            return self.best
        if rubric.reducer is Reducer.PASS_AT_K:
            return pass_at_k(self.scored, self.passed, rubric.k)
        return pass_hat_k(self.tries, self.passed, rubric.k)


@dataclass(slots=True)
class ArmFigures:
    """What an agent did in one benchmark. ``add`` its samples in any order; memory does not grow with outputs.

    Warm-ups and cancelled samples do not count. Readings of usable samples are kept as bare numbers (``values``, with
    the position of the case in ``owners``). A timeout or a passed limit scores 0, an error nothing. ``scorers`` tells
    how each scorer fared, by its place in the rubric.
    """

    benchmark: Benchmark
    tallies: dict[str, CaseTally] = field(default_factory=dict)
    values: dict[str, array[float]] = field(default_factory=dict)
    owners: dict[str, array[int]] = field(default_factory=dict)
    named: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    statuses: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    judge_cost_usd: float | None = 0.0
    remarks: Remarks = field(default_factory=Remarks)
    positions: dict[str, int] = field(default_factory=dict)
    scorers: dict[int, ScorerTally] = field(default_factory=dict)

    answers: bool = True

    @classmethod
    def of(
        cls, benchmark: Benchmark, samples: Iterable[Sample], *, prints: bool = True, answers: bool = True
    ) -> ArmFigures:
        """Of all these; ``prints`` as in ``Remarks``. Without ``answers`` nothing is remembered of single ones, nor
        how each scorer fared, and samples need not have their outputs: for who sets cases against each other."""
        remarks = Remarks(prints=prints) if answers else Remarks(prints=False, most_remembered=0)
        figures = cls(benchmark, remarks=remarks, answers=answers)
        for sample in samples:
            figures.add(sample)
        return figures

    def add(self, sample: Sample) -> None:
        if sample.phase is not Phase.MEASURED:
            return
        status, usable = sample.status, sample.usable
        self.statuses[status.value] += 1
        if status is Status.CANCELLED:
            return
        tally = self.tallies.get(sample.case_id)
        if tally is None:
            tally = self.tallies[sample.case_id] = CaseTally()
            self.positions[sample.case_id] = len(self.positions)
        score, passed = score_of(sample), has_passed(sample)
        tally.count(sample, score, passed)
        if usable and self.answers:
            self._add_named(sample)
            tally_scorers(self.scorers, sample)
        details = sample.details
        if not details.get("cached"):
            self._add_readings(sample, tally)
            if usable:
                self._keep_readings(sample)
        if "judge_cost_usd" in details:
            self._add_judging(details["judge_cost_usd"])
        self.remarks.add(sample, passed, score)

    def _add_named(self, sample: Sample) -> None:
        for name, value in sample.scores.items():
            if name != "score" and value is not None and math.isfinite(value):
                cell = self.named.setdefault(name, {}).setdefault(sample.case_id, [0.0, 0.0])
                cell[0] += value
                cell[1] += 1

    def _add_readings(self, sample: Sample, tally: CaseTally) -> None:
        readings = sample.readings
        for place, name in enumerate(SPENT):
            value = readings.get(name)
            if value is not None and abs(value) <= LARGEST:
                tally.spent[place] += value
            elif place == 0 and disturbance_of(sample) is not None:
                pass  # the bench stood still: that time is nobody's
            elif place == 0 or sample.failure is None or sample.failure.kind not in _NOT_BILLED:
                # What the other side refused used no token and cost nothing; of all else it is not known.
                self.unknown[name] += 1

    def _keep_readings(self, sample: Sample) -> None:
        owner, kept, owners = self.positions[sample.case_id], self.values, self.owners
        for name, value in sample.readings.items():
            if abs(value) <= LARGEST:
                values = kept.get(name)
                if values is None:
                    values = kept[name] = array("d")
                    owners[name] = array("l")
                values.append(value)
                owners[name].append(owner)

    def _add_judging(self, cost: object) -> None:
        if self.judge_cost_usd is not None:
            known = isinstance(cost, (int, float)) and not isinstance(cost, bool)
            self.judge_cost_usd = self.judge_cost_usd + float(cost) if known else None  # type: ignore[arg-type]

    def case_scores(self) -> dict[str, float | None]:
        """The score of every case that was tried, in the order in which they were met."""
        return {case_id: tally.score(self.benchmark.rubric) for case_id, tally in self.tallies.items()}

    def in_order(self, cases: Container[str]) -> list[str]:
        """Those of the benchmark's cases, in its order."""
        return [case.id for case in self.benchmark.cases if case.id in cases]

    def clusters(self) -> dict[str, str]:
        """What each case counts as one with: its group, else itself."""
        groups = {case.id: case.group for case in self.benchmark.cases}
        return {case_id: cluster_of(case_id, groups.get(case_id)) for case_id in self.tallies}

    def figures(self) -> CaseFigures:
        """``cases`` are those of the benchmark, whether or not they were reached."""
        scores = [score for score in self.case_scores().values() if score is not None]
        mean = math.fsum(scores) / len(scores) if scores else None
        variance = None
        if mean is not None and len(scores) > 1:
            variance = math.fsum((score - mean) ** 2 for score in scores) / (len(scores) - 1)
        return CaseFigures(
            cases=max(len(self.benchmark.cases), len(self.tallies)),
            scored=len(scores),
            mean=mean,
            variance=variance,
            passed=sum(tally.passed for tally in self.tallies.values()),
            samples=sum(tally.tries for tally in self.tallies.values()),
        )

    def totals(self) -> dict[str, float]:
        """Sums over all executions, and what judging cost apart; what is not known of each is left out."""
        if not self.tallies:
            return {}
        sums = {
            name: math.fsum(tally.spent[place] for tally in self.tallies.values())
            for place, name in enumerate(SPENT)
            if not self.unknown[name]
        }
        if self.judge_cost_usd is not None:
            sums["judge_cost_usd"] = self.judge_cost_usd
        return sums

    @property
    def proxied(self) -> bool:
        """Whether a model call went through the recording proxy."""
        return self.remarks.recorded.calls > 0

    @property
    def disturbed(self) -> Disturbed:
        """Executions in which the bench itself stood still."""
        return self.remarks.claims.disturbed

    def known_cost(self) -> float:
        """US dollars that are known to have been spent; less than the cost where some of it is not known."""
        return math.fsum(tally.spent[SPENT.index("cost_usd")] for tally in self.tallies.values())

    def named_means(self) -> dict[str, list[float]]:
        """Per further score (correctness, completeness…), the mean of each case that has it."""
        cells_of = with_raised(self.named, self.scorers)
        return {
            name: [total / number for total, number in cells.values()] for name, cells in sorted(cells_of.items())
        }


def score_of(sample: Sample) -> float | None:
    """0 for a timeout or a passed limit, ``None`` for an error and for what nobody could judge."""
    if sample.status in (Status.TIMEOUT, Status.LIMIT):
        return 0.0
    if sample.status not in (Status.OK, Status.FAILED):
        return None
    score = sample.scores.get("score")
    return None if score is None or not math.isfinite(score) else score


def has_passed(sample: Sample) -> bool:
    """Whether the answer was right. One that a scorer could not judge is not; without any scorer, an answer is."""
    return sample.status is Status.OK and not ("score" in sample.scores and sample.scores["score"] is None)


def cluster_of(case_id: str, group: str | None) -> str:
    return f"case {case_id}" if group is None else f"group {group}"


def accuracy_interval(scores: Mapping[str, float | None], clusters: Mapping[str, str]) -> tuple[float, float] | None:
    """95 % interval of the mean case score.

    Wilson's where every case is simply right or wrong, else BCa over cases (Student's t above 2,000); cluster-robust
    where cases share groups. ``None`` without a scored case, for one cluster, and for one score between 0 and 1.
    """
    known = {case_id: score for case_id, score in scores.items() if score is not None}
    values = list(known.values())
    if not values:
        return None
    binary = all(value in (0.0, 1.0) for value in values)
    labels = [clusters.get(case_id, case_id) for case_id in known]
    count = len(set(labels))
    if count < len(values):
        return _clustered(values, labels, count)
    if binary:
        interval = wilson(round(sum(values)), len(values))
    elif len(values) < 2:
        return None
    elif len(values) > _MOST_RESAMPLED:
        interval = t_interval(values)
    else:
        from agentdyno.stats import bca

        interval = bca(values)
    return max(0.0, interval.low), min(1.0, interval.high)


def _clustered(values: list[float], labels: list[str], count: int) -> tuple[float, float] | None:
    if count < 2:
        return None
    if set(values) in ({0.0}, {1.0}):
        # No spread was seen, which is not proof that there is none: each cluster counts as one case.
        interval = wilson(round(values[0]) * count, count)
        return interval.low, interval.high
    found = clustered_mean_interval(values, labels)
    return None if found is None else (max(0.0, found.low), min(1.0, found.high))
