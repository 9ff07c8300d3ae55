"""Rules that end a run, or one arm of it, before the plan does."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from agentdyno.contracts import StopRule
from agentdyno.model.form import RunWarning
from agentdyno.model.metric import reported_name
from agentdyno.model.plan import Phase, Plan, Trial
from agentdyno.model.sample import Sample, Status
from agentdyno.model.spec import AutoStop, Spec
from agentdyno.runner.executor import Facts

MIN_SAMPLES_TO_GIVE_UP = 3


@dataclass(slots=True)
class FatalFailure:
    """Stops the run when the executor met something that every further trial would meet alike."""

    facts: Facts

    def observe(self, sample: Sample) -> None:
        pass

    def skip(self, _trial: Trial) -> bool:
        return False

    def stop(self, _plan: Plan) -> str | None:
        return None if self.facts.fatal is None else self.facts.fatal.message


@dataclass(slots=True)
class TimeBudget:
    """Stops the run when ``budget_s`` seconds have passed; the trial in progress is finished."""

    budget_s: float
    clock: Callable[[], float]
    started: float = field(init=False)

    def __post_init__(self) -> None:
        self.started = self.clock()

    def observe(self, sample: Sample) -> None:
        pass

    def skip(self, _trial: Trial) -> bool:
        return False

    def stop(self, _plan: Plan) -> str | None:
        if self.clock() - self.started < self.budget_s:
            return None
        return f"the time budget of {self.budget_s:g} s is used up (time_budget_s)"


@dataclass(slots=True)
class FailureRate:
    """Gives an arm up when more than ``limit`` of its samples failed, three at the least."""

    limit: float
    failures: Counter[str] = field(default_factory=Counter)
    totals: Counter[str] = field(default_factory=Counter)

    def observe(self, sample: Sample) -> None:
        self.totals[sample.arm_id] += 1
        self.failures[sample.arm_id] += sample.status not in (Status.OK, Status.FAILED)

    def skip(self, trial: Trial) -> bool:
        return self.given_up(trial.arm_id)

    def stop(self, _plan: Plan) -> str | None:
        return None

    def given_up(self, arm_id: str) -> bool:
        total = self.totals[arm_id]
        return total >= MIN_SAMPLES_TO_GIVE_UP and self.failures[arm_id] > self.limit * total


@dataclass(slots=True)
class PrecisionReached:
    """Skips further samples of an arm once ``precise`` says that its median is known well enough.

    With two sides in a run, both go on until both are precise: ``partners`` maps an arm to its other side.
    """

    autos: Mapping[str, AutoStop]
    precise: Callable[[list[float], float], bool]
    partners: Mapping[str, str] = field(default_factory=dict)
    durations: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    settled: set[str] = field(default_factory=set)

    def observe(self, sample: Sample) -> None:
        auto = self.autos.get(sample.arm_id)
        duration = sample.readings.get("duration_s")
        if auto is None or duration is None or sample.phase is not Phase.MEASURED:
            return
        values = self.durations[sample.arm_id]
        values.append(duration)
        enough = len(values) >= auto.minimum and len(values) % 5 == 0
        if enough and sample.arm_id not in self.settled and self.precise(values, auto.precision):
            self.settled.add(sample.arm_id)

    def skip(self, trial: Trial) -> bool:
        if trial.phase is not Phase.MEASURED or trial.arm_id not in self.settled:
            return False
        partner = self.partners.get(trial.arm_id)
        return partner is None or partner in self.settled

    def stop(self, _plan: Plan) -> str | None:
        return None


@dataclass(slots=True)
class TimeGiven:
    """Skips further samples once the arms together have had ``each_s`` seconds of measured time each, and every arm
    its fewest samples: arms that take turns get the same number of them.

    Without taking turns (``together``) each arm is looked at alone.
    """

    autos: Mapping[str, AutoStop]
    each_s: float
    together: bool = True
    spent_s: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    counts: Counter[str] = field(default_factory=Counter)
    settled: set[str] = field(default_factory=set)

    def observe(self, sample: Sample) -> None:
        self.counts[sample.arm_id] += 1
        self.spent_s[sample.arm_id] += sample.readings.get("duration_s", 0.0)
        arms = self.autos if self.together else (sample.arm_id,)
        enough = all(self.counts[arm_id] >= self.autos[arm_id].minimum for arm_id in arms)
        if enough and sum(self.spent_s[arm_id] for arm_id in arms) >= self.each_s * len(arms):
            self.settled.update(arms)

    def skip(self, trial: Trial) -> bool:
        return trial.arm_id in self.settled

    def stop(self, _plan: Plan) -> str | None:
        return None


@dataclass(frozen=True, slots=True)
class CommonRules:
    """What ends a run of any kind, or one arm of it."""

    failing: FailureRate
    rules: tuple[StopRule, ...]

    @classmethod
    def of(cls, spec: Spec, facts: Facts, clock: Callable[[], float]) -> CommonRules:
        """An arm that is given up comes first: what rules behind it count as begun is begun."""
        failing = FailureRate(spec.max_failure_rate)
        rules: list[StopRule] = [FatalFailure(facts), failing]
        if spec.time_budget_s is not None:
            rules.append(TimeBudget(spec.time_budget_s, clock))
        return cls(failing, tuple(rules))

    def given_up(self, plan: Plan) -> list[str]:
        """The arms that failed too often."""
        return [arm.arm_id for arm in plan.arms if self.failing.given_up(arm.arm_id)]


def given_up_warnings(arm_ids: list[str], tried: str) -> list[RunWarning]:
    """One for each arm that was given up; ``tried`` is what its trials are called."""
    return [
        RunWarning(
            "given-up",
            f"given up: too many of its {tried} failed (max_failure_rate)",
            "Mend it and run again, or raise max_failure_rate.",
            arm_id,
        )
        for arm_id in arm_ids
    ]


def spent_usd(sample: Sample) -> float:
    """What a sample cost, its judge included; what is unknown counts as nothing here and is warned of elsewhere.

    What the agent itself says it cost is good enough here: the dearer of the two figures counts.
    """
    judge = sample.details.get("judge_cost_usd")
    own = max(sample.readings.get(name, 0.0) for name in ("cost_usd", reported_name("cost_usd")))
    return own + (judge if isinstance(judge, (int, float)) else 0.0)
