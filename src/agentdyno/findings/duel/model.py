"""Two or more agents on the same cases, metric by metric."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from agentdyno.findings.standing.model import HeadToHead
from agentdyno.model.case import CaseKey
from agentdyno.model.form import RunWarning
from agentdyno.model.metric import Verdict


@dataclass(frozen=True, slots=True)
class PairedRow:
    """One metric of two agents, the unit being the case.

    ``metric`` is a dimension (``accuracy``, ``speed``, ``efficiency``, ``cost``, ``reliability``), ``overall`` or a
    quantity (``duration_s``, ``cost_usd``…); ``benchmark`` is "" for the whole suite. ``baseline`` and ``candidate``
    are the quantity that was tested, in ``unit``; the scores are in 0..1, ``None`` where there is no target.

    ``change`` is candidate / baseline - 1 where ``relative``, else candidate - baseline; ``interval`` and
    ``detectable`` (the smallest change these cases would show 8 times in 10, always positive) are of the same kind.
    ``p_value`` is two-sided and uncorrected; it is below ``level`` exactly where the interval, which inverts the same
    test at 1 - ``level``, leaves zero. ``adjusted_p`` is after Holm's correction together with the other rows of its
    family, ``family`` of them in all; 0 where there is no test. ``level`` is 0.05, and 0.01 where runs are tested.
    ``per_try`` is, of what is counted per success, the relative change per execution, the pass rate left out.
    ``per_success`` is, of a cost, what a success cost on both sides, ``None`` where there was none: it follows from
    the row and the pass rate, and is not tested.
    ``effect`` is the matched-pairs rank-biserial correlation, positive where the candidate is better. ``wins`` and
    ``losses`` count cases. ``verdict`` is the candidate's; it is ``None`` where the two do not compare, and
    ``reason`` says why. ``more_cases`` is how many more would decide an inconclusive row.
    """

    metric: str
    benchmark: str
    quantity: str
    unit: str
    higher_is_better: bool
    relative: bool
    baseline: float | None
    candidate: float | None
    baseline_score: float | None = None
    candidate_score: float | None = None
    change: float | None = None
    interval: tuple[float, float] | None = None
    p_value: float | None = None
    adjusted_p: float | None = None
    effect: float | None = None
    detectable: float | None = None
    more_cases: int | None = None
    cases: int = 0
    clusters: int = 0
    wins: int = 0
    losses: int = 0
    verdict: Verdict | None = None
    reason: str = ""
    method: str = ""
    family: int = 0
    level: float = 0.05
    per_try: float | None = None
    per_success: tuple[float | None, float | None] | None = None

    @property
    def percentage(self) -> float | None:
        """Candidate against baseline in per cent of the baseline; ``None`` at zero."""
        if self.baseline is None or self.candidate is None or self.baseline == 0:
            return None
        return 100.0 * (self.candidate - self.baseline) / abs(self.baseline)

    @property
    def worsening(self) -> float | None:
        """The change with its sign turned so that more is worse."""
        if self.change is None:
            return None
        return -self.change if self.higher_is_better else self.change


@dataclass(frozen=True, slots=True)
class Duel:
    """Baseline against candidate.

    ``rows`` are the five dimensions and ``overall`` over the whole suite, and the error rate where an execution ended
    in an error: accuracy is corrected together with the error rate, the others with each other.
    ``benchmark_rows`` are the dimensions per benchmark, another family. ``winner`` is an agent's label or ``None``,
    and ``why`` says why in either case: accuracy, the error rate, reliability, cost and time decide it.
    ``category_winners`` gives per category of benchmarks the agent that is better there. ``flips`` is the accuracy
    case by case.
    Recommendations cite the numbers they rest on.
    ``baseline_runs`` and ``candidate_runs`` give by benchmark the id of the run that a side's answers are of.
    ``steady_broken`` cases were seen to be right in every try of the baseline and wrong in every one of the
    candidate, ``steady_fixed`` ones the other way round.
    """

    baseline: str
    candidate: str
    suite: str
    rows: tuple[PairedRow, ...]
    benchmark_rows: tuple[PairedRow, ...]
    flips: HeadToHead
    winner: str | None
    why: str
    dimension_winners: Mapping[str, str | None] = field(default_factory=dict)
    category_winners: Mapping[str, str | None] = field(default_factory=dict)
    recommendations: tuple[str, ...] = ()
    paired: bool = True
    warnings: tuple[RunWarning, ...] = ()
    baseline_runs: Mapping[str, str] = field(default_factory=dict)
    candidate_runs: Mapping[str, str] = field(default_factory=dict)
    steady_broken: tuple[CaseKey, ...] = ()
    steady_fixed: tuple[CaseKey, ...] = ()

    def row(self, metric: str) -> PairedRow:
        for item in self.rows:
            if item.metric == metric:
                return item
        raise KeyError(metric)


@dataclass(frozen=True, slots=True)
class CaseScores:
    """One case under every agent; ``None`` where an agent has no score. ``disagree``: some pass and some do not."""

    key: CaseKey
    scores: Mapping[str, float | None]
    disagree: bool


@dataclass(frozen=True, slots=True)
class AllAgainstAll:
    """Three or more agents: every pair, Holm's correction over the families of all pairs together.

    ``wins`` counts pairs in which an agent is the winner. ``winner`` beats, or is not beaten by, every other and
    wins at least once; ``None`` with the reason in ``why``. ``cases`` are those on which the agents disagree first.
    """

    agents: tuple[str, ...]
    suite: str
    duels: tuple[Duel, ...]
    wins: Mapping[str, int]
    winner: str | None
    why: str
    cases: tuple[CaseScores, ...] = ()
    warnings: tuple[RunWarning, ...] = ()
