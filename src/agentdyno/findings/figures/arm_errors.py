"""Standard errors of an arm's scores, from the same draws that its intervals come from."""

from __future__ import annotations

import math
from array import array
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from agentdyno.findings.figures.cases import ArmFigures
from agentdyno.findings.figures.dimensions import DIMENSIONS, OVERALL, Targets
from agentdyno.findings.figures.resampling import overall_draws, score_draws

MOST_CLUSTERS = 500
MOST_VALUES = 5_000


def score_errors(
    figures: ArmFigures, targets: Targets, scores: Mapping[str, float | None], seed: int
) -> dict[str, float]:
    """By dimension and ``overall``; what has no score, or fewer than two independent cases, is left out.

    Of an arm with more than ``MOST_CLUSTERS`` independent cases, so many are drawn from, picked by ``seed``, and the
    errors scaled to all of them: they are as certain as 500 draws can make them, and closing stays fast.
    """
    part, share = _part(figures, seed)
    draws = {name: found for name, found in score_draws(part, targets, seed).items() if scores.get(name) is not None}
    scale = math.sqrt(share)
    errors = {name: float(np.std(draws[name], ddof=1)) * scale for name in DIMENSIONS if name in draws}
    whole = overall_draws(draws)
    if whole is not None and all(name in draws for name in DIMENSIONS if scores.get(name) is not None):
        errors[OVERALL] = float(np.std(whole, ddof=1)) * scale
    return errors


def _part(figures: ArmFigures, seed: int) -> tuple[ArmFigures, float]:
    """Figures of at most ``MOST_CLUSTERS`` clusters, with durations thinned; and which share of all they are."""
    clusters = figures.clusters()
    labels = list(dict.fromkeys(clusters.values()))
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
