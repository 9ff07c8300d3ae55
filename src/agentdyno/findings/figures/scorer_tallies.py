"""How the scorers of one arm fared: what they judged, on which answers they raised, where they said nothing."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from agentdyno.model import Benchmark, Sample
from agentdyno.model.identity import canonical_json
from agentdyno.model.sample import RAISED, problem_code, scoring_items

_MAIN = ("correctness", "score")
_MOST_SHAPES = 20
"""Different sets of values that are told apart."""


@dataclass(slots=True)
class ScorerTally:
    """One scorer of an arm's benchmark: on ``raised`` of its ``answers`` it raised, on ``silent`` it had no verdict.

    ``raised_on`` and ``silent_on`` count executions by case; the reasons are those of the first. ``names`` are the
    values that it gives where it does not raise. ``cells`` has by case the sum of its main values and how many there
    are. ``made_of`` counts the answers by the values that its main value was the mean of.
    """

    scorer: str
    answers: int = 0
    raised_on: Counter[str] = field(default_factory=Counter)
    silent_on: Counter[str] = field(default_factory=Counter)
    why_raised: str = ""
    why_silent: str = ""
    names: set[str] = field(default_factory=set)
    cells: dict[str, list[float]] = field(default_factory=dict)
    made_of: Counter[tuple[str, ...]] = field(default_factory=Counter)

    @property
    def raised(self) -> int:
        return self.raised_on.total()

    @property
    def silent(self) -> int:
        return self.silent_on.total()

    def add(self, case_id: str, item: Mapping[str, object]) -> None:
        """What it said of one answer, as it is stored."""
        self.answers += 1
        if problem_code(item) == RAISED:
            self.raised_on[case_id] += 1
            self.why_raised = self.why_raised or str(item.get("explanation", ""))
            self._count(case_id, 0.0)
            return
        values = item.get("values")
        known: Mapping[str, object] = values if type(values) is dict or isinstance(values, Mapping) else {}
        self.names.update(known)
        if _has_none(known):
            self.silent_on[case_id] += 1
            self.why_silent = self.why_silent or str(item.get("explanation", ""))
        elif (value := _main_value(known)) is not None:
            self._count(case_id, value)
            shape = next(((name,) for name in _MAIN if name in known), None) or tuple(sorted(known))
            if shape in self.made_of or len(self.made_of) < _MOST_SHAPES:
                self.made_of[shape] += 1

    @property
    def uneven(self) -> str:
        """What its main value was the mean of, where that was not the same in every answer; "" where it was.

        ``a, b in 4; a in 4``: an answer of which less is judged has a mean of less.
        """
        if len(self.made_of) < 2:
            return ""
        shapes = self.made_of.most_common(3)
        told = [f"{', '.join(shape)} in {times:,}" for shape, times in shapes]
        left = len(self.made_of) - len(shapes)
        return "; ".join([*told, "others elsewhere"] if left else told)

    def _count(self, case_id: str, value: float) -> None:
        cell = self.cells.setdefault(case_id, [0.0, 0.0])
        cell[0] += value
        cell[1] += 1

    def case_means(self) -> dict[str, float]:
        """By case the mean of its main values; a case that it never judged has none."""
        return {case_id: total / number for case_id, (total, number) in self.cells.items()}


def _main_value(values: Mapping[str, object]) -> float | None:
    """The one value that stands for the scorer: its ``correctness``, else its ``score``, else the mean of all."""
    for name in _MAIN:
        if name in values:
            main = values[name]
            return float(main) if isinstance(main, (int, float)) and math.isfinite(main) else None
    known = [float(value) for value in values.values() if isinstance(value, (int, float)) and math.isfinite(value)]
    return math.fsum(known) / len(known) if known else None


def _has_none(values: Mapping[str, object]) -> bool:
    """Whether the one value that stands for the scorer is unknown."""
    for name in _MAIN:
        if name in values:
            return values[name] is None
    return any(value is None for value in values.values())


def tally_scorers(tallies: dict[int, ScorerTally], sample: Sample) -> None:
    """Adds what the scorers said of one answer; ``tallies`` are by the scorer's place in the rubric."""
    for place, item in scoring_items(sample.details):
        tally = tallies.get(place)
        if tally is None:
            tally = tallies[place] = ScorerTally(str(item.get("scorer", "")))
        tally.add(sample.case_id, item)


Cells = dict[str, dict[str, list[float]]]
"""Per name and case the sum of the values and how many there are."""


def with_raised(named: Cells, tallies: Mapping[int, ScorerTally]) -> Cells:
    """``named`` with 0 for each execution on which the scorer that gives a name raised.

    A scorer that raises is stored with ``correctness`` 0, whatever the names are that it gives otherwise: where it is
    known not to give that one, and no other scorer does, the name is left out again.
    """
    raising = [tally for tally in tallies.values() if tally.raised_on]
    if not raising:
        return named
    given = set().union(*(tally.names for tally in tallies.values()))
    known = "correctness" in given or not all(tally.names for tally in raising)
    found = {
        name: {case: list(cell) for case, cell in cells.items()}
        for name, cells in named.items()
        if name != "correctness" or known
    }
    for tally in raising:
        for name in tally.names.difference(_MAIN):
            cells = found.setdefault(name, {})
            for case, times in tally.raised_on.items():
                cells.setdefault(case, [0.0, 0.0])[1] += times
    return found


@dataclass(frozen=True, slots=True)
class BrokenScorer:
    """A scorer that raised on every answer of every agent; ``benchmarks`` are those it is to judge."""

    scorer: str
    benchmarks: tuple[str, ...]
    answers: int
    why: str


def broken_scorers(arms: Iterable[tuple[Benchmark, Mapping[int, ScorerTally]]]) -> list[BrokenScorer]:
    """Scorers that have judged nothing in a whole run, whichever agent answered in whichever benchmark.

    The same scorer with other options is another one.
    """
    found: dict[str, list[tuple[str, ScorerTally]]] = {}
    for benchmark, tallies in arms:
        uses = benchmark.rubric.scorers
        for place, tally in tallies.items():
            options = dict(uses[place].options) if place < len(uses) else {}
            found.setdefault(canonical_json([tally.scorer, options]), []).append((benchmark.benchmark_id, tally))
    return [
        BrokenScorer(
            own[0][1].scorer,
            tuple(dict.fromkeys(name for name, _ in own)),
            sum(tally.answers for _, tally in own),
            next(tally.why_raised for _, tally in own if tally.why_raised),
        )
        for own in found.values()
        if all(tally.raised == tally.answers for _, tally in own) and any(tally.answers for _, tally in own)
    ]
