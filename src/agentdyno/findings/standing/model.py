"""What analysis concludes about the agents of a suite: where each stands, what it fails, and who beats whom."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from agentdyno.model.case import CaseKey
from agentdyno.model.findings import Findings
from agentdyno.model.metric import Verdict
from agentdyno.model.sample import LEFT_OUT

if TYPE_CHECKING:
    from agentdyno.findings.profile.model import PerformanceProfile


@dataclass(frozen=True, slots=True)
class ScoreEstimate:
    """A score in 0..1 with its 95 % interval; ``None`` where it is not known."""

    value: float | None
    interval: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class ScorerMean:
    """What one scorer says of an agent: the mean of its main value over the cases that it judged, in 0..1.

    ``scorer`` is its name, with a number where a rubric has it twice. ``primary`` is the scorer that weighs most in
    its rubric, the first of those that weigh the same. ``interval`` is of 95 %, and missing over several benchmarks.
    """

    scorer: str
    value: float | None
    interval: tuple[float, float] | None
    weight: float
    primary: bool


@dataclass(frozen=True, slots=True)
class ArmStanding:
    """One agent in one benchmark. ``scores`` has the five dimensions and ``overall``; ``scored`` counts cases, and
    ``unanswered`` those of which every try ended in an error."""

    arm_id: str
    benchmark: str
    agent: str
    scores: Mapping[str, ScoreEstimate]
    cases: int
    scored: int
    passed: int
    samples: int
    simulated: bool = False
    by_scorer: tuple[ScorerMean, ...] = field(default=(), metadata=LEFT_OUT)
    unanswered: int = field(default=0, metadata=LEFT_OUT)


@dataclass(frozen=True, slots=True)
class AgentStanding:
    """One agent over the whole suite: each score is the mean over its benchmarks.

    ``passed`` and ``samples`` count executions, ``cases`` and ``scored`` cases; ``statuses`` counts executions by
    their end. Durations are seconds per case, over all benchmarks; money is US dollars. ``missing`` names the
    dimensions that are unknown in at least one benchmark; ``overall`` is then partial. ``known_cost_usd`` is what is
    known of the cost where ``cost_usd``, the whole of it, is not. ``not_measured`` are dimensions that no benchmark
    of the suite measures, by its ``metrics_measured``. ``by_scorer`` has what each scorer says, in the order of the
    rubrics; a scorer of several benchmarks is the mean over these. Of ``unanswered`` cases every try ended in an
    error: they are no part of the accuracy, and ``accuracy_of_all`` is what it is where they count as wrong, ``None``
    where there are none.
    """

    agent: str
    name: str
    version: str
    scores: Mapping[str, ScoreEstimate]
    cases: int
    scored: int
    passed: int
    samples: int
    statuses: Mapping[str, int] = field(default_factory=dict)
    duration_s: float | None = None
    duration_p95_s: float | None = None
    ttft_s: float | None = None
    total_tokens: float | None = None
    cost_usd: float | None = None
    known_cost_usd: float | None = None
    cost_per_success_usd: float | None = None
    judge_cost_usd: float | None = None
    missing: tuple[str, ...] = ()
    simulated: bool = False
    not_measured: tuple[str, ...] = field(default=(), metadata=LEFT_OUT)
    by_scorer: tuple[ScorerMean, ...] = field(default=(), metadata=LEFT_OUT)
    unanswered: int = field(default=0, metadata=LEFT_OUT)
    accuracy_of_all: float | None = field(default=None, metadata=LEFT_OUT)

    @property
    def partial(self) -> bool:
        return bool(self.missing)

    @property
    def pass_rate(self) -> float | None:
        return self.passed / self.samples if self.samples else None


@dataclass(frozen=True, slots=True)
class FailedCase:
    """A case that an agent did not pass in ``bad`` of ``tries`` executions; ``got`` and ``why`` are of the first."""

    benchmark: str
    case_id: str
    agent: str
    status: str
    bad: int
    tries: int
    want: str
    got: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class ScorerTrouble:
    """A scorer that could not judge all answers of an agent in a benchmark.

    Of ``answers`` it raised on ``raised``, which count as 0, and had no verdict about ``unscored``. ``cases`` are the
    first few of these, ``cases_total`` counts them all; ``why`` is what was said of the first.
    """

    benchmark: str
    agent: str
    scorer: str
    answers: int
    raised: int
    unscored: int
    why: str
    cases: tuple[str, ...] = ()
    cases_total: int = 0


@dataclass(frozen=True, slots=True)
class HeadToHead:
    """Two agents on the same cases, the unit being the case.

    ``difference`` is the candidate's mean case score less the baseline's, with its 95 % ``interval``; ``fixed`` cases
    only the candidate gets right, ``broken`` ones only the baseline, those that changed most first. ``detectable`` is
    the smallest difference that this many cases would show 8 times in 10. ``clusters`` counts independent groups of
    cases; with one there is neither interval nor p-value. ``unpaired`` cases lack a score on a side.

    The test and the verdict are those of the row of accuracy: ``p_value`` is uncorrected and below 0.05 exactly where
    the interval leaves zero, ``adjusted_p`` is corrected over ``family`` rows and decides. ``more_cases`` would
    decide what is inconclusive; ``reason`` says why the verdict is what it is. ``error_rates`` are those of both,
    with the verdict of their own row; ``None`` where no execution ended in an error.
    """

    baseline: str
    candidate: str
    cases: int
    clusters: int
    baseline_mean: float | None
    candidate_mean: float | None
    difference: float | None
    interval: tuple[float, float] | None
    p_value: float | None
    method: str
    detectable: float | None
    fixed: tuple[CaseKey, ...] = ()
    broken: tuple[CaseKey, ...] = ()
    both_right: int = 0
    both_wrong: int = 0
    unpaired: int = 0
    same_run: bool = True
    verdict: Verdict = Verdict.INCONCLUSIVE
    adjusted_p: float | None = None
    family: int = 0
    more_cases: int | None = None
    reason: str = ""
    error_rates: tuple[float, float] | None = field(default=None, metadata=LEFT_OUT)
    error_verdict: Verdict | None = field(default=None, metadata=LEFT_OUT)


@dataclass(frozen=True, slots=True)
class SuiteStanding:
    """Everything concluded about one run of a suite; ``agents`` are in the order of their overall score.

    ``failed`` holds the first failed cases of each arm, ``failed_total`` counts them all. ``scorers`` are those that
    raised or had no verdict.
    """

    run_id: str
    benchmarks: tuple[str, ...]
    agents: tuple[AgentStanding, ...]
    arms: tuple[ArmStanding, ...]
    failed: tuple[FailedCase, ...] = ()
    failed_total: int = 0
    head_to_head: HeadToHead | None = None
    scorers: tuple[ScorerTrouble, ...] = ()


@dataclass(frozen=True, slots=True)
class HeldCase:
    """A case that is quarantined, and why: a sentence without its full stop."""

    key: CaseKey
    reason: str


@dataclass(frozen=True, slots=True)
class SuiteFindings(Findings):
    """Findings with the standings of the suites among the results, and the cases that the project quarantines.

    ``profiles`` are those of the agents, for reports. ``pairs`` has the first of three or more agents against every
    other one.
    """

    standings: tuple[SuiteStanding, ...] = ()
    held: tuple[HeldCase, ...] = ()
    profiles: tuple[PerformanceProfile, ...] = ()
    pairs: tuple[HeadToHead, ...] = field(default=(), metadata=LEFT_OUT)


@dataclass(frozen=True, slots=True)
class Foresight:
    """What a planned run of a suite will ask and could show, before it starts.

    ``detectable`` is the smallest drop of accuracy (0.1: ten points of a hundred) that two agents of this run would
    show 8 times in 10, ``None`` where no drop could be shown; ``assumption`` says what that rests on.
    """

    calls: int
    warmups: int
    cases: int
    clusters: int
    agents: int
    detectable: float | None
    assumption: str
