"""The search for the level at which a target first misses its objectives: doubling, then bisection.

A level that broke is done again before it counts, so that one noisy step does not decide; the same goes for a step
at which the client was the limit. The search ends there and says so: a slow client is no breaking target.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from enum import StrEnum

from agentdyno.errors import SpecError
from agentdyno.findings.stress.judge_levels import CLIENT_VOTES, Bracket, LevelVerdict, bracket, lowest, verdict_of
from agentdyno.findings.stress.judge_steps import StepJudgement, StepOutcome
from agentdyno.model.load import Step

WIDTH = 0.10
_MOST_VOTES = 7


class SearchEnding(StrEnum):
    """Why a search ended. ``found``: the interval is narrow enough. ``ceiling``: it held all that was to be tried.
    ``floor``: it broke at the lowest level. ``client``: the client is the limit. ``steps``: no steps were left."""

    FOUND = "found"
    CEILING = "ceiling"
    FLOOR = "floor"
    CLIENT = "client"
    STEPS = "steps"


@dataclass(frozen=True, slots=True)
class Search:
    """From ``start`` upwards to ``ceiling`` at most (downwards to ``floor`` where ``start`` breaks already), until
    the interval is no wider than ``width`` times its lower end. ``whole`` levels are whole numbers. ``broke`` is a
    level that is known to break, ``held`` one that is known to hold."""

    start: float
    ceiling: float
    floor: float = 0.0
    width: float = WIDTH
    confirm: int = 1
    whole: bool = False
    factor: float = 2.0
    max_steps: int = 60
    held: float | None = None
    broke: float | None = None

    def __post_init__(self) -> None:
        if not 0.0 < self.start <= self.ceiling or not math.isfinite(self.ceiling):
            raise SpecError(
                f"a search goes from a level above 0 upwards, not from {self.start:g} to {self.ceiling:g}",
                remedy="Give a first level above 0 and a ceiling that is not below it.",
            )


@dataclass(frozen=True, slots=True)
class LimitFound:
    """Where a search ended. ``base`` is the step at the lowest level."""

    ending: SearchEnding
    between: Bracket
    verdicts: tuple[LevelVerdict, ...]
    base: StepOutcome | None


StepAt = Callable[[float, int], Step]
"""The step at a level; the number counts the steps at that level from 0."""
JudgedAs = Callable[[StepOutcome, StepOutcome | None], StepJudgement]
"""Judges a step, given the one at the lowest level so far."""


@dataclass(slots=True)
class _Progress:
    """What a search knows so far. Judgements are of the moment at which their step was done."""

    search: Search
    step_at: StepAt
    judged: JudgedAs
    outcomes: list[StepOutcome] = field(default_factory=list)
    found: dict[float, LevelVerdict] = field(default_factory=dict)

    def between(self) -> Bracket:
        seen = bracket([self.found[level] for level in sorted(self.found)])
        held = self.search.held if seen.held is None else seen.held
        broke = self.search.broke if seen.broke is None else seen.broke
        return Bracket(held, broke, seen.client, seen.judgement)

    def end(self, ending: SearchEnding) -> LimitFound:
        levels = tuple(self.found[level] for level in sorted(self.found))
        return LimitFound(ending, self.between(), levels, lowest(self.outcomes))

    @property
    def exhausted(self) -> bool:
        return len(self.outcomes) >= self.search.max_steps

    def untold(self, level: float) -> SearchEnding:
        """Why there is no verdict at a level."""
        return SearchEnding.CLIENT if self.found[level].decisive.client else SearchEnding.STEPS

    def attempt(self, level: float) -> Generator[Step, StepOutcome, bool | None]:
        """Does steps at one level until its verdict stands."""
        votes: list[StepJudgement] = []
        while not self.exhausted and len(votes) < _MOST_VOTES and not _settled(votes, self.search.confirm):
            outcome = yield self.step_at(level, len(votes))
            self.outcomes.append(outcome)
            votes.append(self.judged(outcome, lowest(self.outcomes)))
        self.found[level] = verdict_of(level, votes)
        return self.found[level].met


def find_limit(search: Search, step_at: StepAt, judged: JudgedAs) -> Generator[Step, StepOutcome, LimitFound]:
    """Yields the steps to do and is sent what came of each; returns where the target breaks."""
    progress = _Progress(search, step_at, judged)
    if search.broke is None:
        ending = yield from _double(progress)
        if ending is not None:
            return progress.end(ending)
    if progress.between().held is None:
        ending = yield from _halve(progress)
        if ending is not None:
            return progress.end(ending)
    return progress.end((yield from _bisect(progress)))


def _settled(votes: list[StepJudgement], confirm: int) -> bool:
    good = sum(vote.met is True for vote in votes)
    bad = sum(vote.met is False for vote in votes)
    client = sum(vote.met is None for vote in votes)
    if client >= CLIENT_VOTES:
        return True
    # A hold needs no confirmation unless a step at the same level broke.
    return bad >= 1 + confirm or (good >= 1 and bad == 0) or (good > bad > 0)


def _double(progress: _Progress) -> Generator[Step, StepOutcome, SearchEnding | None]:
    search, level = progress.search, progress.search.start
    while True:
        met = yield from progress.attempt(level)
        if met is None:
            return progress.untold(level)
        if met is False:
            return None
        if level >= search.ceiling:
            return SearchEnding.CEILING
        if progress.exhausted:
            return SearchEnding.STEPS
        level = min(_rounded(level * search.factor, search.whole), search.ceiling)


def _halve(progress: _Progress) -> Generator[Step, StepOutcome, SearchEnding | None]:
    """Downwards from a level that broke to one that holds."""
    search = progress.search
    level = progress.between().broke or search.start
    while True:
        lower = _rounded(level / search.factor, search.whole)
        if lower < search.floor or lower <= 0.0 or lower >= level:
            return SearchEnding.FLOOR
        level = lower
        met = yield from progress.attempt(level)
        if met is True:
            return None
        if met is None:
            return progress.untold(level)
        if progress.exhausted:
            return SearchEnding.STEPS


def _bisect(progress: _Progress) -> Generator[Step, StepOutcome, SearchEnding]:
    search = progress.search
    while True:
        between = progress.between()
        if between.held is None or between.broke is None:
            return SearchEnding.FLOOR
        width = between.width
        if width is None or width <= search.width or (search.whole and between.broke - between.held <= 1.0):
            return SearchEnding.FOUND
        if progress.exhausted:
            return SearchEnding.STEPS
        middle = _rounded(math.sqrt(between.held * between.broke), search.whole)
        middle = min(max(middle, between.held + 1.0), between.broke - 1.0) if search.whole else middle
        if middle in (between.held, between.broke):
            return SearchEnding.FOUND
        if (yield from progress.attempt(middle)) is None:
            return progress.untold(middle)


def _rounded(level: float, whole: bool) -> float:
    """Levels have four digits: nobody asks for 141.42136 requests a second."""
    if whole:
        return float(max(round(level), 1))
    digits = 4 - math.ceil(math.log10(level))
    return round(level, digits)
