"""Does a case pass as often as it has to? A test with few tries, and more of them only where they are needed.

A case is tried ``first`` times. With fewer than ``suspicious`` wrong answers among these it meets the requirement.
Else it is tried again, one try at a time and at most ``most`` times in all, and the requirement is broken as soon as
``broken`` answers were wrong. The tries end early where so many wrong answers cannot come any more, or could hardly
come even from a case that has clearly fallen. So the rule is "``broken`` wrong answers within ``most`` tries".

Two things fix ``broken``, the smallest number with which both hold:

- *Over all cases.* A healthy case fails a quarter as often as allowed (required 80 %: it passes 95 %). The chance
  that any of ``cases`` healthy cases is called broken is at most ``level``.
- *At the requirement.* A single case that passes exactly as often as it must is called broken at most once in ten
  times. With 25 tries no test can be surer about it and still find a case that fell from 80 % to 50 %.

All chances are sums over the binomial paths, exact up to rounding.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

HEALTHY_SHARE = 0.25
"""A healthy case fails this share of what is allowed."""
FALLEN_ODDS = 4.0
"""A case has clearly fallen where its odds to fail are so many times those allowed: 80 % required, 50 % left."""
AT_REQUIREMENT = 0.10
"""Chance to call a case broken that passes exactly as often as it must."""
OVERLOOKED = 0.035
"""Chance that a fallen case may look unsuspicious at first."""
HOPELESS = 0.10
"""A case is let go where a fallen one would reach the bound with less than this chance."""


class Requirement(StrEnum):
    """Where a case stands."""

    MET = "met"
    BROKEN = "broken"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class PassRateTest:
    """The rule for cases that were tried ``first`` times. ``required`` is the smallest pass rate that is allowed."""

    required: float
    first: int
    most: int
    suspicious: int
    broken: int

    def state(self, tries: int, wrong: int) -> Requirement:
        """After ``tries`` tries of which ``wrong`` were wrong. Whoever asks on after ``MET`` breaks the rule."""
        if wrong >= self.broken:
            return Requirement.BROKEN
        left, lacking = self.most - tries, self.broken - wrong
        if lacking > left or (tries <= self.first and wrong < self.suspicious):
            return Requirement.MET
        return Requirement.MET if _at_least(lacking, left, fallen(self.required)) < HOPELESS else Requirement.OPEN

    def chance_broken(self, pass_rate: float) -> float:
        """How probable it is that a case with this true pass rate is called broken."""
        return sum(weight for state, _, weight in self._ends(1.0 - pass_rate) if state is Requirement.BROKEN)

    def expected_repeats(self, pass_rate: float) -> float:
        """Tries after the first ones, on average."""
        return sum(weight * (tries - self.first) for _, tries, weight in self._ends(1.0 - pass_rate))

    def _ends(self, failing: float) -> Iterator[tuple[Requirement, int, float]]:
        """Every way in which the tries end: where the case stands then, after how many tries, how probably."""
        open_states = {wrong: _exactly(wrong, self.first, failing) for wrong in range(self.first + 1)}
        tries = self.first
        while open_states:
            following: dict[int, float] = {}
            for wrong, weight in open_states.items():
                state = self.state(tries, wrong)
                if state is not Requirement.OPEN:
                    yield state, tries, weight
                    continue
                following[wrong + 1] = following.get(wrong + 1, 0.0) + weight * failing
                following[wrong] = following.get(wrong, 0.0) + weight * (1.0 - failing)
            open_states, tries = following, tries + 1


@cache
def pass_rate_test(required: float, first: int, repeats: int, cases: int, level: float) -> PassRateTest:
    """The test for ``cases`` cases, each tried ``first`` times and at most ``repeats`` times more.

    ``required`` lies between 0 and 1, both excluded; ``level`` is the chance to call any of the cases broken although
    all are healthy.
    """
    if not 0.0 < required < 1.0 or first < 1 or repeats < 0 or cases < 1 or not 0.0 < level < 1.0:
        raise ValueError(f"no test for {required=}, {first=}, {repeats=}, {cases=}, {level=}")
    suspicious = 1
    while suspicious < first and 1.0 - _at_least(suspicious + 1, first, fallen(required)) <= OVERLOOKED:
        suspicious += 1
    most = first + repeats
    for broken in range(1, most + 2):
        test = PassRateTest(required, first, most, suspicious, broken)
        any_healthy = -math.expm1(cases * math.log1p(-test.chance_broken(healthy(required))))
        if any_healthy <= level and test.chance_broken(required) <= AT_REQUIREMENT:
            break
    return test


@cache
def found_from(test: PassRateTest, power: float = 0.95) -> float | None:
    """The highest true pass rate that is called broken with at least this chance; ``None`` where none is."""
    if test.chance_broken(0.0) < power:
        return None
    low, high = 0.0, test.required
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if test.chance_broken(middle) >= power else (low, middle)
    return low


def healthy(required: float) -> float:
    """The pass rate of a healthy case."""
    return 1.0 - HEALTHY_SHARE * (1.0 - required)


def fallen(required: float) -> float:
    """The share of wrong answers of a case that has clearly fallen."""
    odds = FALLEN_ODDS * (1.0 - required) / required
    return odds / (1.0 + odds)


def _exactly(count: int, tries: int, rate: float) -> float:
    return math.comb(tries, count) * rate**count * (1.0 - rate) ** (tries - count)


@cache
def _at_least(count: int, tries: int, rate: float) -> float:
    return math.fsum(_exactly(some, tries, rate) for some in range(max(0, count), tries + 1))
