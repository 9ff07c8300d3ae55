"""How far the scores of an arm can be trusted: all five from the same resampled cases, so that they move together."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from agentdyno.findings.figures.cases import SPENT, ArmFigures
from agentdyno.findings.figures.dimensions import DIMENSIONS, FRUGAL, OVERALL, RELIABLE_TRIES, WEIGHTS, Targets
from agentdyno.model import Benchmark
from agentdyno.model.identity import derive_seed
from agentdyno.stats import pass_hat_k
from agentdyno.stats.samples import median_of

Draws: TypeAlias = npt.NDArray[np.float64]

RESAMPLES = 500
_MOST_AT_ONCE = 2_000_000
_MOST_DURATIONS = 100_000


def score_draws(figures: ArmFigures, targets: Targets, seed: int = 0) -> dict[str, Draws]:
    """By dimension, its score in each of ``RESAMPLES`` resamples of the cases; what has no score is left out.

    Cases that share a group are drawn together. Empty for fewer than two independent cases. Shares that show no
    spread (every case right) are drawn from the Jeffreys posterior instead: certainty does not come from few cases.
    """
    labels = list(figures.clusters().values())
    # In the order of their names: with one seed, the n-th draw takes the same cases in every run of them.
    codes = {label: code for code, label in enumerate(sorted(set(labels)))}
    if len(codes) < 2:
        return {}
    members = np.array([codes[label] for label in labels])
    rng = np.random.default_rng(seed)
    columns = _columns(figures)
    sums = np.zeros((len(codes), len(columns)))
    np.add.at(sums, members, np.stack(list(columns.values()), axis=1))
    weights = rng.multinomial(len(codes), np.full(len(codes), 1.0 / len(codes)), size=RESAMPLES).astype(np.float64)
    drawn = dict(zip(columns, (weights @ sums).T, strict=True))
    found: dict[str, Draws] = {}
    if columns["scored"].any():
        found["accuracy"] = _share(drawn["score"], drawn["scored"], len(codes), rng)
    if columns["lasting_of"].any():
        lasting = _share(drawn["lasting"], drawn["lasting_of"], len(codes), rng)
        found["reliability"] = lasting * (1.0 - drawn["errors"] / np.maximum(drawn["tries"], 1.0))
    bounds = targets.get("duration_s")
    if bounds is not None and "duration_s" in figures.values:
        found["speed"] = _scored(_medians(figures, members, weights), bounds)
    found |= _thrift(figures, targets, drawn)
    return found


def overall_draws(draws: Mapping[str, Draws]) -> Draws | None:
    """The weighted mean of the dimensions in every resample."""
    known = [name for name in DIMENSIONS if name in draws]
    if not known:
        return None
    total: Draws = np.sum([WEIGHTS[name] * draws[name] for name in known], axis=0)
    return total / sum(WEIGHTS[name] for name in known)


def mean_draws(draws: Sequence[Draws]) -> Draws | None:
    """The mean over several arms in every resample."""
    return np.mean(np.stack(list(draws)), axis=0) if draws else None


def interval_of(draws: Draws | None, value: float | None) -> tuple[float, float] | None:
    """The middle 95 % of the draws, widened to hold the value itself."""
    if draws is None or value is None:
        return None
    low, high = (float(end) for end in np.quantile(draws, [0.025, 0.975]))
    return max(0.0, min(low, value)), min(1.0, max(high, value))


def _columns(figures: ArmFigures) -> dict[str, Draws]:
    """Sums per case; a statistic of a resample is a quotient of them."""
    tallies = list(figures.tallies.values())
    scores = [tally.score(figures.benchmark.rubric) for tally in tallies]
    lasting = [pass_hat_k(tally.tries, tally.passed, RELIABLE_TRIES) for tally in tallies]
    rows: dict[str, list[float]] = {
        "tries": [tally.tries for tally in tallies],
        "passed": [tally.passed for tally in tallies],
        "errors": [tally.errors for tally in tallies],
        "score": [score or 0.0 for score in scores],
        "scored": [score is not None for score in scores],
        "lasting": [value or 0.0 for value in lasting],
        "lasting_of": [value is not None for value in lasting],
    }
    for place, name in enumerate(SPENT):
        rows[name] = [tally.spent[place] for tally in tallies]
    columns = {name: np.array(values, dtype=np.float64) for name, values in rows.items()}
    for name in ("cpu_s", "peak_rss_bytes"):
        if name in figures.values:
            owners = np.frombuffer(figures.owners[name], dtype=np.dtype("l"))
            values = np.frombuffer(figures.values[name], dtype=np.float64)
            columns[name] = np.bincount(owners, values, minlength=len(tallies)).astype(np.float64)
            columns[f"{name} of"] = np.bincount(owners, minlength=len(tallies)).astype(np.float64)
    return columns


def _share(hits: Draws, of: Draws, clusters: int, rng: np.random.Generator) -> Draws:
    share = hits / np.maximum(of, 1e-300)
    share = np.where(of > 0, share, np.nan)
    if np.nanmin(share) == np.nanmax(share) and float(np.nanmin(share)) in (0.0, 1.0):
        right = clusters * float(np.nanmin(share))
        return rng.beta(right + 0.5, clusters - right + 0.5, size=share.size)
    return np.where(np.isnan(share), np.nanmean(share), share)


def _thrift(figures: ArmFigures, targets: Targets, drawn: Mapping[str, Draws]) -> dict[str, Draws]:
    """Cost and efficiency: sums over successes. A resample without any success scores 0."""
    passed = drawn["passed"]
    if not any(tally.passed for tally in figures.tallies.values()):
        return {}
    used: dict[str, Draws] = {}
    with np.errstate(divide="ignore", invalid="ignore"):
        for name in ("cost_usd", "total_tokens"):
            if not figures.unknown[name]:
                used[name] = np.where(passed > 0, drawn[name] / passed, np.inf)
        for name in ("cpu_s", "peak_rss_bytes"):
            if name in drawn:
                mean = drawn[name] / drawn[f"{name} of"]
                used[name] = np.where(passed > 0, mean * drawn["tries"] / passed, np.inf)
    scored = {name: _scored(values, targets[name]) for name, values in used.items() if name in targets}
    found = {"cost": scored["cost_usd"]} if "cost_usd" in scored else {}
    parts = mean_draws([scored[name] for name in FRUGAL if name in scored])
    return found if parts is None else {**found, "efficiency": parts}


def _scored(values: Draws, bounds: tuple[float, float]) -> Draws:
    target, limit = np.log(bounds[0]), np.log(bounds[1])
    with np.errstate(divide="ignore"):
        logs = np.log(np.maximum(np.nan_to_num(values, nan=np.inf, posinf=np.inf), 0.0))
    return np.asarray(np.clip((limit - logs) / (limit - target), 0.0, 1.0), dtype=np.float64)


def _medians(figures: ArmFigures, members: npt.NDArray[np.int64], weights: Draws) -> Draws:
    """The weighted median duration of every resample."""
    values = np.frombuffer(figures.values["duration_s"], dtype=np.float64)
    owners = np.frombuffer(figures.owners["duration_s"], dtype=np.dtype("l"))
    order = np.argsort(values, kind="stable")
    order = order[:: max(1, -(-order.size // _MOST_DURATIONS))]
    ordered, clusters = values[order], members[owners[order]]
    rows = max(1, _MOST_AT_ONCE // ordered.size)
    medians = np.empty(len(weights))
    for start in range(0, len(weights), rows):
        running = np.cumsum(weights[start : start + rows, clusters], axis=1)
        total = running[:, -1:]
        places = np.minimum((running < total / 2.0).sum(axis=1), ordered.size - 1)
        medians[start : start + rows] = np.where(total[:, 0] > 0, ordered[places], median_of(ordered))
    return medians


MOST_CLUSTERS = 500
MOST_VALUES = 5_000


def resampling_seed(benchmark: Benchmark) -> int:
    """One per version of a benchmark: draws of two runs then have the same cases, and can be set side by side."""
    return derive_seed(0, benchmark.digest)


def sampled_draws(
    figures: ArmFigures, targets: Targets, scores: Mapping[str, float | None], seed: int
) -> tuple[dict[str, Draws], float]:
    """``score_draws`` of the dimensions that have a score, and the share of the cases that was drawn from.

    Of an arm with more than ``MOST_CLUSTERS`` independent cases, so many are drawn from, picked by ``seed``: they are
    as certain as 500 draws can make them, and closing stays fast.
    """
    part, share = _part(figures, seed)
    draws = score_draws(part, targets, seed)
    return {name: found for name, found in draws.items() if scores.get(name) is not None}, share


def score_errors(draws: Mapping[str, Draws], share: float, scores: Mapping[str, float | None]) -> dict[str, float]:
    """By dimension and ``overall``; what has no score, or fewer than two independent cases, is left out.

    ``share`` is the part of the cases that was drawn from; the errors are scaled to all of them.
    """
    scale = math.sqrt(share)
    errors = {name: float(np.std(draws[name], ddof=1)) * scale for name in DIMENSIONS if name in draws}
    whole = overall_draws(draws)
    if whole is not None and all(name in draws for name in DIMENSIONS if scores.get(name) is not None):
        errors[OVERALL] = float(np.std(whole, ddof=1)) * scale
    return errors


def _part(figures: ArmFigures, seed: int) -> tuple[ArmFigures, float]:
    """Figures of at most ``MOST_CLUSTERS`` clusters, with durations thinned; and which share of all they are."""
    clusters = figures.clusters()
    labels = sorted(set(clusters.values()))
    if len(labels) <= MOST_CLUSTERS:
        return _thinned(figures), 1.0
    places = np.random.default_rng(seed).choice(len(labels), MOST_CLUSTERS, replace=False)
    picked = {labels[place] for place in places}
    kept = [case_id for case_id in figures.tallies if clusters[case_id] in picked]
    # The owner of a value is the position of its case.
    moved = np.full(len(figures.tallies), -1)
    moved[[figures.positions[case_id] for case_id in kept]] = np.arange(len(kept))
    values, owners = {}, {}
    for name, all_values in figures.values.items():
        new_owners = moved[np.frombuffer(figures.owners[name], dtype=np.dtype("l"))]
        mine = new_owners >= 0
        if mine.any():
            values[name] = array("d", np.frombuffer(all_values, dtype=np.float64)[mine].tobytes())
            owners[name] = array("l", new_owners[mine].astype(np.dtype("l")).tobytes())
    part = replace(
        figures,
        tallies={case_id: figures.tallies[case_id] for case_id in kept},
        positions={case_id: place for place, case_id in enumerate(kept)},
        values=values,
        owners=owners,
    )
    return _thinned(part), MOST_CLUSTERS / len(labels)


def _thinned(figures: ArmFigures) -> ArmFigures:
    """Every n-th duration of each case in the order of size, where there are more than ``MOST_VALUES`` of all."""
    held = figures.values.get("duration_s", array("d"))
    step = -(-len(held) // MOST_VALUES)
    if step <= 1:
        return figures
    values = np.frombuffer(held, dtype=np.float64)
    owners = np.frombuffer(figures.owners["duration_s"], dtype=np.dtype("l"))
    kept = np.lexsort((values, owners))[step // 2 :: step]
    return replace(
        figures,
        values={**figures.values, "duration_s": array("d", values[kept].tobytes())},
        owners={**figures.owners, "duration_s": array("l", owners[kept].tobytes())},
    )
