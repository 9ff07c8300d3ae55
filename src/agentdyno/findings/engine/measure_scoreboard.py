"""The scores of two agents over the cases they share: as seen, under exchanges of labels, and under resampling."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from agentdyno.findings.engine.measure_totals import per_execution
from agentdyno.findings.engine.pairing import Codes, Flags, Numbers, PairedSide, Pairing
from agentdyno.findings.figures.dimensions import DIMENSIONS, FRUGAL, WEIGHTS, is_measured
from agentdyno.stats.samples import median_of
from agentdyno.stats.swap import Patterns, exchanged

RESAMPLES = 400


@dataclass(frozen=True, slots=True)
class Term:
    """One part of a dimension's score in one benchmark: what is divided by what, and the values that score 1 and 0.

    ``columns`` are places among the columns of a side: one quotient, or for reliability two. Speed has none: it is a
    median, of ``times`` (seconds, both sides) of the cases of ``members``.
    """

    dimension: str
    place: int
    columns: tuple[int, ...] = ()
    bounds: tuple[float, float] | None = None
    of_machine: bool = False
    members: Codes | None = None
    times: tuple[Numbers, Numbers] | None = None


@dataclass(frozen=True, slots=True)
class Scoreboard:
    """Everything that scores rest on, per cluster: columns of both sides and the terms made of them."""

    first: Numbers
    second: Numbers
    terms: tuple[Term, ...]
    clusters: Codes
    places: Codes

    @property
    def dimensions(self) -> tuple[str, ...]:
        held = {term.dimension for term in self.terms}
        return tuple(name for name in DIMENSIONS if name in held)

    def observed(self) -> tuple[dict[str, float], dict[str, float]]:
        """By dimension the score of each side, the mean over benchmarks."""
        made = []
        for place, side in enumerate((self.first, self.second)):
            medians = {id(term): np.array([median_of(term.times[place])]) for term in self.terms if term.times}
            scores = self._scores(side.sum(axis=0, keepdims=True), medians)
            made.append({name: float(values[0]) for name, values in scores.items()})
        return made[0], made[1]

    def exchanged(self, patterns: Patterns) -> Numbers:
        """The difference of the overall scores under patterns of exchanges, one a row."""
        moved = exchanged(patterns, self.second - self.first)
        columns = np.ascontiguousarray(patterns.T)
        medians = {
            id(term): exchanged_medians(term.times, columns, self.clusters[term.members])
            for term in self.terms
            if term.times is not None and term.members is not None
        }
        sides = []
        for place, totals in enumerate((self.first.sum(axis=0) + moved, self.second.sum(axis=0) - moved)):
            found = {key: both[place] for key, both in medians.items()}
            sides.append(weighted(self._scores(totals, found)))
        return sides[1] - sides[0]

    def error(self, seed: int) -> float | None:
        """Standard error of the difference of the overall scores, from clusters drawn again within each benchmark.

        Of n clusters n - 1 are drawn, so that the variance comes out right. ``None`` where a benchmark has one.
        """
        weights = _drawn_again(seed, self.places.tobytes(), self.clusters.tobytes())
        if weights is None:
            return None
        sides = []
        for place, columns in enumerate((self.first, self.second)):
            medians = {
                id(term): _weighted_medians(term.times[place], weights[:, self.clusters[term.members]])
                for term in self.terms
                if term.times is not None and term.members is not None
            }
            sides.append(weighted(self._scores(exchanged(weights, columns), medians)))
        drawn = sides[1] - sides[0]
        drawn = drawn[np.isfinite(drawn)]
        return float(drawn.std(ddof=1)) if drawn.size > RESAMPLES // 2 else None

    def _scores(self, sums: Numbers, medians: Mapping[int, Numbers]) -> dict[str, Numbers]:
        parts: dict[str, dict[int, list[Numbers]]] = {}
        for term in self.terms:
            value = medians[id(term)] if term.times is not None else _quotient(sums, term.columns)
            score = value if term.bounds is None else scores_between(value, term.bounds)
            parts.setdefault(term.dimension, {}).setdefault(term.place, []).append(score)
        return {
            name: np.mean([np.mean(values, axis=0) for values in places.values()], axis=0)
            for name, places in parts.items()
        }


@lru_cache(maxsize=8)
def _drawn_again(seed: int, places: bytes, clusters: bytes) -> Numbers | None:
    """How often each cluster is drawn in each resample; the same for all agents on the same cases."""
    of, members = np.frombuffer(places, dtype=np.int64), np.frombuffer(clusters, dtype=np.int64)
    generator = np.random.default_rng(seed % 2**63)
    weights = np.zeros((RESAMPLES, int(members.max()) + 1))
    for place in np.unique(of):
        own = np.unique(members[of == place])
        if own.size < 2:
            return None
        weights[:, own] = generator.multinomial(own.size - 1, np.full(own.size, 1.0 / own.size), RESAMPLES)
    weights.flags.writeable = False
    return weights


def scoreboard(pairing: Pairing, dimensions: Sequence[str]) -> Scoreboard:
    """The terms of ``dimensions`` that both sides have in a benchmark."""
    columns: tuple[list[Numbers], list[Numbers]] = ([], [])
    terms: list[Term] = []
    spent = {
        name: tuple(
            per_execution(side, name, pairing.places) * side.tries for side in (pairing.first, pairing.second)
        )
        for name in _needed(dimensions)
    }
    for place, benchmark in enumerate(pairing.benchmarks):
        own = pairing.places == place
        measured = _measured(pairing, benchmark, dimensions)
        for dimension, name, made in _parts(pairing, own, measured, spent):
            bounds = pairing.targets(benchmark).get(name) if name else None
            if dimension not in measured or (name and bounds is None):
                continue
            start = len(columns[0])
            for side, held in zip(columns, made, strict=True):
                side.extend(held)
            machine = name in ("cpu_s", "peak_rss_bytes")
            terms.append(Term(dimension, place, tuple(range(start, len(columns[0]))), bounds, machine))
        if "speed" in measured and (term := _speed(pairing, own, place, benchmark)) is not None:
            terms.append(term)
    first, second = (_by_cluster(side, pairing) for side in columns)
    return Scoreboard(first, second, tuple(terms), pairing.clusters, pairing.places)


def _measured(pairing: Pairing, benchmark: str, dimensions: Sequence[str]) -> tuple[str, ...]:
    """Those that the benchmark measures."""
    held = [record.benchmark(benchmark).scores for record in (pairing.baseline, pairing.candidate)]
    return tuple(name for name in dimensions if all(is_measured(scores, name) for scores in held))


def scores_between(values: Numbers, bounds: tuple[float, float]) -> Numbers:
    """``score_between`` of many values; what is not a number, as after no success, scores 0."""
    target, limit = math.log(bounds[0]), math.log(bounds[1])
    with np.errstate(divide="ignore"):
        logs = np.log(np.nan_to_num(values, nan=np.inf, posinf=np.inf))
    return np.asarray(np.clip((limit - logs) / (limit - target), 0.0, 1.0), dtype=np.float64)


def _needed(dimensions: Sequence[str]) -> tuple[str, ...]:
    return (*(("cost_usd",) if "cost" in dimensions else ()), *(FRUGAL if "efficiency" in dimensions else ()))


_Columns = tuple[list[Numbers], list[Numbers]]


def _parts(
    pairing: Pairing,
    own: Flags,
    dimensions: Sequence[str],
    spent: Mapping[str, tuple[Numbers, ...]],
) -> Iterator[tuple[str, str, _Columns]]:
    """Dimension, the quantity that its target is of ("" for shares), and the columns of both sides."""
    sides = pairing.first, pairing.second
    if "accuracy" in dimensions:
        scored = own & ~np.isnan(sides[0].score) & ~np.isnan(sides[1].score)
        if scored.any():
            yield (
                "accuracy",
                "",
                _both([[np.where(scored, side.score, 0.0), scored.astype(np.float64)] for side in sides]),
            )
    if "reliability" in dimensions:
        enough = own & ~np.isnan(sides[0].lasting) & ~np.isnan(sides[1].lasting)
        if enough.any():
            yield "reliability", "", _both([_reliable(side, own, enough) for side in sides])
    if not all((side.passed * own).any() for side in sides):
        return
    for name, values in spent.items():
        known = all(not np.isnan(value[own]).any() for value in values)
        if known:
            held = [[np.where(own, value, 0.0), side.passed * own] for value, side in zip(values, sides, strict=True)]
            yield ("cost" if name == "cost_usd" else "efficiency"), name, _both(held)


def _both(held: Sequence[Sequence[Numbers]]) -> _Columns:
    first, second = ([np.asarray(column, dtype=np.float64) for column in side] for side in held)
    return first, second


def _reliable(side: PairedSide, own: Flags, enough: Flags) -> list[Numbers]:
    return [np.where(enough, side.lasting, 0.0), enough.astype(np.float64), side.errors * own, side.tries * own]


def _speed(pairing: Pairing, own: Flags, place: int, benchmark: str) -> Term | None:
    bounds = pairing.targets(benchmark).get("duration_s")
    first, second = pairing.first.used("duration_s"), pairing.second.used("duration_s")
    members = np.flatnonzero(own & ~np.isnan(first) & ~np.isnan(second))
    if bounds is None or not members.size:
        return None
    times = first[members], second[members]
    return Term("speed", place, bounds=bounds, of_machine=True, members=members, times=times)


def _by_cluster(columns: Sequence[Numbers], pairing: Pairing) -> Numbers:
    made = np.zeros((pairing.cluster_count, len(columns)))
    for place, column in enumerate(columns):
        made[:, place] = np.bincount(pairing.clusters, column, minlength=pairing.cluster_count)
    return made


def _quotient(sums: Numbers, columns: Sequence[int]) -> Numbers:
    with np.errstate(divide="ignore", invalid="ignore"):
        share = sums[:, columns[0]] / sums[:, columns[1]]
        return share if len(columns) == 2 else share * (1.0 - sums[:, columns[2]] / sums[:, columns[3]])


def weighted(scores: Mapping[str, Numbers]) -> Numbers:
    """The dimensions by their weights, as one score."""
    total: Numbers = np.sum([WEIGHTS[name] * values for name, values in scores.items()], axis=0)
    return total / math.fsum(WEIGHTS[name] for name in scores)


def exchanged_medians(times: tuple[Numbers, Numbers], swapped: Patterns, units: Codes) -> tuple[Numbers, Numbers]:
    """The medians of both sides under every pattern: all values are sorted once, and counted off by side.

    ``swapped`` has a row per unit and a column per pattern; ``units`` says which one each time belongs to.
    """
    count = times[0].size
    values = np.concatenate(times)
    order = np.argsort(values, kind="stable")
    theirs = (order >= count).astype(np.uint8)
    # Whole rows are added up at once, in the smallest numbers that hold them: several times as fast as ``cumsum``.
    small = np.min_scalar_type(2 * count)
    running = (swapped[units[order % count]] ^ theirs[:, None]).astype(small, copy=False)
    for place in range(1, 2 * count):
        running[place] += running[place - 1]
    ordered = values[order]
    found = []
    for counted in (np.arange(1, 2 * count + 1, dtype=small)[:, None] - running, running):
        # How many values come before the middle one of this side, or before the two of them.
        before = [(counted < rank).sum(axis=0, dtype=small) for rank in {(count + 1) // 2, count // 2 + 1}]
        found.append(np.mean([ordered[place] for place in before], axis=0))
    return found[0], found[1]


def _weighted_medians(values: Numbers, weights: Numbers) -> Numbers:
    order = np.argsort(values, kind="stable")
    running = np.cumsum(weights[:, order], axis=1)
    total = running[:, -1]
    places = np.minimum((running < total[:, None] / 2.0).sum(axis=1), values.size - 1)
    return np.where(total > 0, values[order][places], median_of(values))
