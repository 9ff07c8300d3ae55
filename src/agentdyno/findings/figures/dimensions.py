"""The five scores of an arm and their weighted mean, from targets that do not depend on who else is on the board."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from agentdyno.errors import SpecError, nearest
from agentdyno.model import Provenance

if TYPE_CHECKING:
    from agentdyno.model import ArmResult, Benchmark

DIMENSIONS = ("accuracy", "speed", "efficiency", "cost", "reliability")
WEIGHTS: Mapping[str, float] = {
    "accuracy": 0.30,
    "speed": 0.20,
    "efficiency": 0.20,
    "cost": 0.15,
    "reliability": 0.15,
}
OVERALL = "overall"
FRUGAL = ("total_tokens", "cpu_s", "peak_rss_bytes")
"""What efficiency is made of, each per success."""
TARGETED = ("duration_s", "cost_usd", *FRUGAL)
RELIABLE_TRIES = 3
"""Tries that must all succeed for a case to count as reliable."""

_TELLS: Mapping[str, str] = {
    **dict.fromkeys(("score", "correctness", "completeness", "relevance"), "accuracy"),
    **dict.fromkeys(("duration_s", "ttft_s", "itl_s", "tokens_per_s"), "speed"),
    **dict.fromkeys((*FRUGAL, "input_tokens", "output_tokens"), "efficiency"),
    "cost_usd": "cost",
}
"""The dimension that a metric of ``metrics_measured`` tells about; one that is not here tells about none."""

Targets = Mapping[str, tuple[float, float]]
"""By metric, the value that scores 1 and the value that scores 0."""


@dataclass(frozen=True, slots=True)
class Quantities:
    """What the scores are made of; ``None`` is unknown.

    ``used`` gives the median ``duration_s`` and, per success, ``cost_usd``, ``total_tokens``, ``cpu_s`` and
    ``peak_rss_bytes``; without any success there is none of the latter. ``reliable`` is the mean over cases of the
    chance that three tries all succeed, and ``error_rate`` the share of executions that ended in an error.
    """

    accuracy: float | None
    used: Mapping[str, float]
    error_rate: float | None = None
    reliable: float | None = None


def measured_dimensions(metrics: Collection[str]) -> tuple[str, ...]:
    """The dimensions that a benchmark is scored in, by its ``metrics_measured``: all where that is empty.

    A dimension stands for itself, a metric for the dimension that it tells about.
    """
    named = {_TELLS.get(name, name) for name in metrics}
    return tuple(name for name in DIMENSIONS if not metrics or name in named)


def score_between(value: float | None, bounds: tuple[float, float] | None) -> float | None:
    """1 at the target or better, 0 at the limit or worse, linear in the logarithm between them.

    ``None`` without a value or without bounds, and for bounds that leave nothing between them.
    """
    if value is None or bounds is None or math.isnan(value):
        return None
    target, limit = bounds
    if not 0 < target < limit:
        return None
    if value <= target:
        return 1.0
    if value >= limit:
        return 0.0
    return (math.log(limit) - math.log(value)) / (math.log(limit) - math.log(target))


def dimension_scores(quantities: Quantities, targets: Targets) -> dict[str, float | None]:
    """The five dimensions and ``overall``, each in 0..1 or ``None``."""

    def scored(name: str) -> float | None:
        return score_between(quantities.used.get(name), targets.get(name))

    parts = [part for part in map(scored, FRUGAL) if part is not None]
    reliability = None
    if quantities.reliable is not None and quantities.error_rate is not None:
        reliability = (1.0 - quantities.error_rate) * quantities.reliable
    scores: dict[str, float | None] = {
        "accuracy": quantities.accuracy,
        "speed": scored("duration_s"),
        "efficiency": math.fsum(parts) / len(parts) if parts else None,
        "cost": scored("cost_usd"),
        "reliability": reliability,
    }
    return {**scores, OVERALL: overall(scores)}


TARGETED_DIMENSIONS = ("speed", "efficiency", "cost")
"""The dimensions that depend on targets."""


def only_measured(scores: Mapping[str, float | None], dimensions: Collection[str]) -> dict[str, float | None]:
    """Without the other dimensions, which have no entry then, not even an unknown one; ``overall`` without them."""
    kept = {name: score for name, score in scores.items() if name not in DIMENSIONS or name in dimensions}
    return {**kept, OVERALL: overall(kept)}


def is_measured(scores: Mapping[str, float | None], dimension: str) -> bool:
    """Whether the benchmark of these scores measures the dimension; so it is said to where nothing was concluded."""
    return OVERALL not in scores or dimension in scores


def scores_with(arm: ArmResult, targets: Targets) -> dict[str, float | None]:
    """The scores of a closed arm with other targets: what depends on none stays, the rest is worked out again.

    Where the arm does not say what it used (an import of scores alone) a score that needs a target is unknown; so is
    that of a dimension that its benchmark does not measure.
    """
    kept = {name: arm.scores.get(name) for name in ("accuracy", "reliability")}
    if "accuracy" not in arm.scores and arm.case_figures is not None:
        kept["accuracy"] = arm.case_figures.mean
    fresh = dimension_scores(Quantities(kept["accuracy"], used_by(arm)), targets)
    held = [name for name in TARGETED_DIMENSIONS if is_measured(arm.scores, name)]
    scores = {**dict.fromkeys(TARGETED_DIMENSIONS), **{name: fresh[name] for name in held}, **kept}
    return {**scores, OVERALL: overall(scores)}


def spread_factors(used: Targets, now: Targets) -> dict[str, float]:
    """By dimension, how much further a score moves with the targets of ``now`` than with those that it was made with.

    A score is linear in the logarithm between target and limit: the closer these are, the more it moves.
    """
    factors = {}
    for dimension, metrics in (("speed", ("duration_s",)), ("cost", ("cost_usd",)), ("efficiency", FRUGAL)):
        both = [name for name in metrics if name in used and name in now]
        ranges = [math.log(used[name][1] / used[name][0]) / math.log(now[name][1] / now[name][0]) for name in both]
        factors[dimension] = math.fsum(ranges) / len(ranges) if ranges else 1.0
    return factors


def overall(scores: Mapping[str, float | None], weights: Mapping[str, float] = WEIGHTS) -> float | None:
    """The weighted mean of the dimensions that are known; ``None`` when none that has a weight is."""
    known = {name: score for name in DIMENSIONS if (score := scores.get(name)) is not None}
    weight = math.fsum(weights.get(name, 0.0) for name in known)
    if weight <= 0:
        return None
    return math.fsum(weights.get(name, 0.0) * score for name, score in known.items()) / weight


def check_weights(weights: Mapping[str, float], where: str | None = None) -> dict[str, float]:
    """The weight of each of the five dimensions, as given; 0 for one that is not named.

    They need not add up to 1: an overall score is divided by the weights of the dimensions it rests on. Raises
    ``SpecError``, which names ``where`` they were written, for an unknown dimension, for a weight that is negative or
    no finite number, and where no weight is above 0.
    """
    for name, weight in weights.items():
        if name not in DIMENSIONS:
            raise SpecError(f"there is no dimension {name!r} to weigh", where=where, remedy=nearest(name, DIMENSIONS))
        number = isinstance(weight, int | float) and not isinstance(weight, bool)
        if not number or not math.isfinite(weight) or weight < 0:
            raise SpecError(
                f"the weight of {name} is {weight!r}",
                where=where,
                remedy="A weight is a number of 0 or more; 0 leaves the dimension out of the overall score.",
            )
    if not any(weights.values()):
        raise SpecError(
            "no dimension has a weight above 0",
            where=where,
            remedy="Give at least one of them a weight: " + ", ".join(DIMENSIONS) + ".",
        )
    return {name: float(weights.get(name, 0.0)) for name in DIMENSIONS}


def missing_dimensions(scores: Mapping[str, float | None]) -> tuple[str, ...]:
    """The dimensions that are measured and have no score: where there is one, ``overall`` is partial."""
    return tuple(name for name in DIMENSIONS if scores.get(name) is None and is_measured(scores, name))


def used_by(arm: ArmResult) -> dict[str, float]:
    """What a closed arm used: its median duration, and the rest per success. What only it says of itself is left out.

    Memory per success is the mean peak of an execution times executions per success, as CPU time is.
    """
    used: dict[str, float] = {}
    duration = arm.metrics.get("duration_s")
    if duration is not None and duration.n and duration.median is not None:
        used["duration_s"] = duration.median
    figures = arm.case_figures
    if figures is None or not figures.passed:
        return used
    for name in ("cost_usd", "total_tokens"):
        if name in arm.totals and not _is_reported(arm, name):
            used[name] = arm.totals[name] / figures.passed
    for name in ("cpu_s", "peak_rss_bytes"):
        metric = arm.metrics.get(name)
        if metric is not None and metric.n:
            used[name] = metric.mean * figures.samples / figures.passed
    return used


def _is_reported(arm: ArmResult, name: str) -> bool:
    metric = arm.metrics.get(name)
    return metric is not None and metric.provenance is Provenance.REPORTED


def targets_for(benchmark: Benchmark, baseline: ArmResult | None = None) -> dict[str, tuple[float, float]]:
    """Target and limit by metric: what the rubric says, else half and five times what the baseline agent uses.

    ``baseline`` is that agent's latest closed arm of this benchmark. A metric that has neither is left out, and what
    rests on it gets no score.
    """
    used = used_by(baseline) if baseline is not None else {}
    found = {}
    for name in TARGETED:
        known = used.get(name)
        own = known if known is not None and known > 0 and math.isfinite(known) else None
        target = benchmark.rubric.targets.get(name, None if own is None else own / 2)
        limit = benchmark.rubric.limits.get(name, None if own is None else own * 5)
        if target is not None and limit is not None and 0 < target < limit:
            found[name] = (target, limit)
    return found
