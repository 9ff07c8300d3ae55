"""What each scorer of a suite says of an agent, where one score is made of several."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from agentdyno.findings.figures.cases import ArmFigures, accuracy_interval
from agentdyno.findings.standing.model import ScorerMean
from agentdyno.model.suite import ScorerUse


def means_by_scorer(figures: ArmFigures) -> tuple[ScorerMean, ...]:
    """Of one arm, in the order of its rubric; a scorer of which nothing was kept has no value."""
    uses = figures.benchmark.rubric.scorers
    clusters = figures.clusters()
    names, primary = scorer_names(uses), primary_place(uses)
    found = []
    for place, use in enumerate(uses):
        tally = figures.scorers.get(place)
        means = tally.case_means() if tally is not None else {}
        value = math.fsum(means.values()) / len(means) if means else None
        found.append(
            ScorerMean(names[place], value, accuracy_interval(means, clusters), use.weight, place == primary)
        )
    return tuple(found) if any(item.value is not None for item in found) else ()


def joined_means(arms: Sequence[Sequence[ScorerMean]]) -> tuple[ScorerMean, ...]:
    """Of an agent over its benchmarks: each scorer as the mean over those that have it."""
    known = [arm for arm in arms if arm]
    if len(known) <= 1:
        return tuple(known[0]) if known else ()
    own: dict[str, list[ScorerMean]] = {}
    for arm in known:
        for item in arm:
            own.setdefault(item.scorer, []).append(item)
    found = []
    for name, items in own.items():
        values = [item.value for item in items if item.value is not None]
        value = math.fsum(values) / len(values) if values else None
        interval = items[0].interval if len(items) == 1 else None
        weight = max(item.weight for item in items)
        found.append(ScorerMean(name, value, interval, weight, all(item.primary for item in items)))
    return tuple(found)


def scorer_names(uses: Sequence[ScorerUse]) -> tuple[str, ...]:
    """How the scorers of a rubric are called in a table: ``short`` for ``scorers.py@short``; the second of a name
    has its number."""
    seen: Counter[str] = Counter()
    names = []
    for use in uses:
        name = use.name.rpartition("@")[2] or use.name
        seen[name] += 1
        names.append(name if seen[name] == 1 else f"{name} {seen[name]}")
    return tuple(names)


def primary_place(uses: Sequence[ScorerUse]) -> int:
    """Which scorer of a rubric weighs most; of several the first."""
    return max(range(len(uses)), key=lambda place: (uses[place].weight, -place), default=0)
