"""Levels of a search: the steps done at each of them, what they say together, and where the target breaks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from agentdyno.findings.stress.judge_steps import SHORTFALL, SHORTFALL_LIMIT, StepJudgement, StepOutcome, judge
from agentdyno.findings.stress.model import BreakingPoint
from agentdyno.model.load import Objective, SelfCheck

CLIENT_VOTES = 3
"""Client-limited steps at one level after which no more is tried there: a busy moment passes."""
UNITS = {"rate": "requests/s", "concurrency": "requests in flight", "size": "words", "memory": "bytes"}


@dataclass(frozen=True, slots=True)
class LevelVerdict:
    """``met`` is ``None`` where the client was the limit, or nothing tells. ``decisive`` is a step that says so."""

    level: float
    met: bool | None
    decisive: StepJudgement
    steps: int


@dataclass(frozen=True, slots=True)
class Bracket:
    """``held`` is the highest level that met the objectives below ``broke``, the lowest that did not. ``client`` is
    the lowest level at which the client was the limit, where that is below ``broke``."""

    held: float | None
    broke: float | None
    client: float | None = None
    judgement: StepJudgement | None = None

    @property
    def width(self) -> float | None:
        """The length of the interval as a share of ``held``."""
        if self.held is None or self.broke is None or self.held <= 0.0:
            return None
        return (self.broke - self.held) / self.held


def verdict_of(level: float, judgements: Sequence[StepJudgement]) -> LevelVerdict:
    """What the steps at one level say together: the majority; a tie is no hold; three client-limited ones stop it."""
    good = [one for one in judgements if one.met is True]
    bad = [one for one in judgements if one.met is False]
    client = [one for one in judgements if one.met is None]
    if len(client) >= CLIENT_VOTES or not (good or bad):
        return LevelVerdict(level, None, client[-1] if client else StepJudgement(None), len(judgements))
    broke = len(bad) >= len(good)
    return LevelVerdict(level, not broke, (bad if broke else good)[-1], len(judgements))


def verdicts(
    steps: Iterable[StepOutcome], judged: Callable[[StepOutcome], StepJudgement]
) -> tuple[LevelVerdict, ...]:
    """One verdict per level, ascending. Steps without a level are left out."""
    votes: dict[float, list[StepJudgement]] = {}
    for step in steps:
        if step.level is not None:
            votes.setdefault(step.level, []).append(judged(step))
    return tuple(verdict_of(level, votes[level]) for level in sorted(votes))


def bracket(found: Sequence[LevelVerdict]) -> Bracket:
    """Between which levels the objectives are first missed, for a load that grows with the level."""
    broke = next((one for one in found if one.met is False), None)
    below = [one for one in found if broke is None or one.level < broke.level]
    held = max((one.level for one in below if one.met is True), default=None)
    client = next((one for one in below if one.met is None and one.decisive.client), None)
    if client is not None and held is not None and client.level < held:
        client = None
    decisive = broke or client
    return Bracket(
        held,
        broke.level if broke else None,
        client.level if client else None,
        decisive.decisive if decisive else None,
    )


def lowest(steps: Iterable[StepOutcome]) -> StepOutcome | None:
    """The first step at the lowest level: what the others are compared with."""
    levelled = [step for step in steps if step.level is not None and step.asked]
    return min(levelled, key=lambda step: step.level or 0.0, default=None)


def breaking_point(axis: str, found: Bracket) -> BreakingPoint | None:
    """``None`` where nothing broke. The best guess is what the target served in the step that broke it, where it fell
    behind; else the middle of the interval."""
    if found.broke is None:
        return None
    value = found.broke if found.held is None else (found.held + found.broke) / 2.0
    behind = found.judgement.values.get(SHORTFALL, (None, 0.0))[0] if found.judgement and axis == "rate" else None
    if found.held is not None and behind is not None and behind > SHORTFALL_LIMIT:
        value = min(max(found.broke * (1.0 - behind), found.held), found.broke)
    interval = None if found.held is None else (min(found.held, found.broke), max(found.held, found.broke))
    missed = found.judgement.missed[0] if found.judgement and found.judgement.missed else ""
    return BreakingPoint(axis, value, found.held, found.broke, interval, UNITS.get(axis, ""), missed)


RATE, CONCURRENCY, SIZE, MEMORY, RATE_LIMIT = "rate", "concurrency", "size", "memory", "rate_limit"
REFUSED_SHARE = 0.01
HONOURED = "honoured"
"""The role of a step whose requests wait as the target tells them to: late on purpose, and judged by nothing."""


def axis_of(outcome: StepOutcome) -> str:
    """What the step's level counts; ``rate`` where it does not say."""
    return str(outcome.note.get("axis", RATE))


def judge_step(
    outcome: StepOutcome,
    objectives: Sequence[Objective],
    base: StepOutcome | None,
    self_check: SelfCheck | None = None,
) -> StepJudgement:
    """``base`` is the step at the lowest level. A step of growing inputs is not held to five times the latency of the
    smallest: longer inputs take longer. Where the rate limit is looked for, being refused for it comes first."""
    axis = axis_of(outcome)
    if outcome.role == HONOURED:
        return StepJudgement(None)
    if axis == CONCURRENCY:
        return judge(outcome, objectives, base, self_check=self_check, open_loop=False)
    if axis == SIZE:
        return judge(outcome, objectives, None, self_check=self_check, open_loop=False)
    found = judge(outcome, objectives, base, self_check=self_check)
    if axis == RATE_LIMIT and outcome.asked and outcome.rate_limited > REFUSED_SHARE * outcome.asked:
        share = outcome.rate_limited / outcome.asked
        values = {**found.values, "rate_limited": (share, REFUSED_SHARE)}
        return replace(found, missed=("rate_limited", *found.missed), values=values)
    return found


def base_of(steps: Sequence[StepOutcome]) -> StepOutcome | None:
    """The step that the others are compared with: the one for it, else the one at the lowest level."""
    normal = next((step for step in steps if step.role == "normal" and step.asked), None)
    return normal or lowest(steps) or next((step for step in steps if step.asked), None)


def judging(
    steps: Sequence[StepOutcome], objectives: Sequence[Objective], self_check: SelfCheck | None = None
) -> Callable[[StepOutcome], StepJudgement]:
    """Judges any step of a scenario whose steps are all known."""
    base = base_of(steps)
    return lambda outcome: judge_step(outcome, objectives, base, self_check)
