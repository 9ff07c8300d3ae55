"""What one scenario did to one target: its steps, ready to be read, and what reading them says."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from agentdyno.findings.figures.histograms import quantile
from agentdyno.findings.stress.judge_levels import (
    Bracket,
    axis_of,
    base_of,
    bracket,
    breaking_point,
    judge_step,
    verdicts,
)
from agentdyno.findings.stress.judge_steps import SHORTFALL, StepJudgement, StepOutcome
from agentdyno.findings.stress.model import BreakingPoint, FittedLaw, LimitedBy
from agentdyno.findings.stress.words import level_words, missed_words
from agentdyno.model.form import RunWarning
from agentdyno.model.load import Objective, Outcome, SelfCheck

_MOSTLY = 0.5
_SLOWER = 1.5


@dataclass(frozen=True, slots=True)
class Course:
    """All steps of a scenario with what they are judged by."""

    scenario: str
    params: Mapping[str, object]
    steps: tuple[StepOutcome, ...]
    objectives: tuple[Objective, ...] = ()
    self_check: SelfCheck | None = None
    base: StepOutcome | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        object.__setattr__(self, "base", base_of(self.steps))

    def judge(self, step: StepOutcome) -> StepJudgement:
        return judge_step(step, self.objectives, self.base, self.self_check)

    def role(self, name: str) -> tuple[StepOutcome, ...]:
        return tuple(step for step in self.steps if step.role == name)

    def number(self, name: str) -> float | None:
        value = self.params.get(name)
        return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None

    def bracket(self) -> Bracket:
        """Between which levels the objectives are first missed, over all steps that have a level."""
        return bracket(verdicts(self.steps, self.judge))


@dataclass(frozen=True, slots=True)
class Reading:
    """What a scenario's steps say. ``main`` is the step that its headline is of."""

    broke: bool
    limited_by: LimitedBy
    evidence: str
    score: float | None
    main: StepOutcome | None
    point: BreakingPoint | None = None
    figures: Mapping[str, float | None] = field(default_factory=dict)
    law: FittedLaw | None = None
    client_reason: str = ""
    warnings: tuple[RunWarning, ...] = ()


Reader = Callable[[Course], Reading]


def client_reading(main: StepOutcome | None, reason: str, **figures: float | None) -> Reading:
    """A scenario in which the client was the limit says nothing about the target: no break, no score."""
    return Reading(
        False, LimitedBy.CLIENT, f"The client was the limit: {reason}.", None, main, None, figures, None, reason
    )


def blame(course: Course, step: StepOutcome, judgement: StepJudgement) -> LimitedBy:
    """What made a step miss its objectives."""
    if judgement.client:
        return LimitedBy.CLIENT
    if not judgement.missed:
        return LimitedBy.NOTHING
    axis = axis_of(step)
    failed = step.asked - step.ok
    if "rate_limited" in judgement.missed or (failed and step.rate_limited >= _MOSTLY * failed):
        return LimitedBy.RATE_LIMIT
    if axis in ("size", "memory"):
        return LimitedBy.SIZE if axis == "size" else LimitedBy.MEMORY
    unserved = step.unsent + step.outcomes.get(Outcome.TIMEOUT, 0)
    if judgement.missed[0] == "error_rate" and unserved < _MOSTLY * failed:
        return LimitedBy.ERRORS  # first: whoever is refused a connection has waited for one, too
    if step.sent and step.waited + step.unsent >= _MOSTLY * step.asked and not _slowed(course, step):
        return LimitedBy.CONNECTIONS
    return LimitedBy.THROUGHPUT if SHORTFALL in judgement.missed or unserved else LimitedBy.LATENCY


def _slowed(course: Course, step: StepOutcome) -> bool:
    """Whether answers took longer once they were sent: then the target is slow, and the connections wait for it."""
    usual = quantile(course.base.service, 0.5) if course.base else None
    seen = quantile(step.service, 0.5)
    return usual is None or seen is None or seen > _SLOWER * usual


def at_level(course: Course, level: float | None) -> StepOutcome | None:
    """The last step at a level."""
    return next((step for step in reversed(course.steps) if step.level is not None and step.level == level), None)


def search_reading(course: Course, score: Callable[[Bracket], float | None]) -> Reading:
    """What a search says: where it broke, why, and what still held."""
    between = course.bracket()
    main = at_level(course, between.held) or next(iter(course.steps), None)
    axis = axis_of(main) if main else "rate"
    held = f"{level_words(axis, between.held)} held" if between.held is not None else "no level held"
    if between.broke is None:
        if between.client is not None and between.judgement is not None:
            reason = f"at {level_words(axis, between.client)} {between.judgement.client}"
            return client_reading(main, f"{reason}; {held}")
        evidence = f"{held[0].upper()}{held[1:]}, the most that was tried." if main else "Nothing was measured."
        known = score(between) if main and between.held is not None else None
        return Reading(False, LimitedBy.NOTHING, evidence, known, main)
    step = at_level(course, between.broke)
    judgement = between.judgement or StepJudgement(False)
    limited = blame(course, step, judgement) if step else LimitedBy.NOTHING
    evidence = f"At {level_words(axis, between.broke)} {missed_words(judgement)}; {held}."
    if between.client is not None:
        at = level_words(axis, between.client)
        evidence += f" At {at} the client was the limit, so that the interval is no narrower, and there is no score."
    point = breaking_point("rate" if axis == "rate_limit" else axis, between)
    known = None if between.client is not None else score(between)
    return Reading(True, limited, evidence, known, main, point)


def position(held: float | None, start: float, ceiling: float) -> float:
    """How far up a search got on a scale of doublings, 0 to 1: the first level counts as one."""

    if held is None or held <= 0.0 or start <= 0.0 or ceiling < start:
        return 0.0
    reached, all_of_it = 1.0 + math.log2(held / start), 1.0 + math.log2(ceiling / start)
    return min(max(reached / all_of_it, 0.0), 1.0)


def weighted(parts: Sequence[tuple[float, float | None]]) -> float | None:
    """0 to 100 from (weight, part of 1); parts that are not known are left out with their weights."""
    known = [(weight, min(max(part, 0.0), 1.0)) for weight, part in parts if part is not None]
    total = sum(weight for weight, _ in known)
    return 100.0 * sum(weight * part for weight, part in known) / total if total > 0.0 else None


def served(step: StepOutcome | None) -> float | None:
    """The share of what was asked that succeeded."""
    return step.ok / step.asked if step is not None and step.asked else None
