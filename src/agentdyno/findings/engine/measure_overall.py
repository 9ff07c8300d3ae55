"""Whether the overall scores of two agents differ by more than chance, and their score in each dimension."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from agentdyno.findings.duel.model import PairedRow
from agentdyno.findings.engine.flips import SAME_WITHIN
from agentdyno.findings.engine.judge import Measured, MeasureOptions, VerdictLimits
from agentdyno.findings.engine.measure_scoreboard import Scoreboard, scoreboard, weighted
from agentdyno.findings.engine.measure_totals import with_error
from agentdyno.findings.engine.pairing import Pairing
from agentdyno.findings.figures.dimensions import DIMENSIONS, OVERALL
from agentdyno.stats.swap import MOST_SWAPPED, large_sample_test, significance_of

MOST_DRAWS = 9_999
"""Exchanges tried at most: medians make each of them dear."""


def measure_overall(pairing: Pairing, benchmark: str, options: MeasureOptions) -> Measured:
    """The weighted mean of the dimensions that both sides have a score in."""
    seed, tolerance = options.seed, options.tolerance
    limits = VerdictLimits.plain(tolerance, SAME_WITHIN)
    board = scoreboard(pairing, DIMENSIONS)
    row = PairedRow(OVERALL, benchmark, OVERALL, "ratio", True, False, None, None)
    if (reason := _refusal(pairing, board)) is not None:
        return Measured(replace(row, reason=reason), limits)
    first, second = (weighted({k: np.array([v]) for k, v in side.items()})[0] for side in board.observed())
    shift = float(second - first)
    clusters = len(board.first)
    row = replace(
        row,
        quantity=" · ".join(board.dimensions),
        baseline=float(first),
        candidate=float(second),
        change=shift,
        cases=len(pairing.keys),
        clusters=clusters,
    )
    if clusters < 2:
        return Measured(replace(row, reason="one independent case says nothing about others"), limits)
    error = board.error(seed)
    if clusters > MOST_SWAPPED and error:
        test = large_sample_test(shift, error)
    else:
        test = significance_of(shift, board.exchanged, clusters, seed=seed, draws=MOST_DRAWS)
    method = test.method if clusters == len(pairing.keys) else f"{test.method}, over groups of cases"
    row = replace(row, p_value=test.p_value, method=method)
    return with_error(Measured(row, limits, shift), error)


def dimension_pair(pairing: Pairing, metric: str) -> tuple[float | None, float | None]:
    """The score of both sides in a dimension or overall, 0..1; ``None`` where a side has no value or no target."""
    board = scoreboard(pairing, DIMENSIONS if metric == OVERALL else (metric,))
    if not pairing.same_machine:
        left = tuple(term for term in board.terms if not term.of_machine)
        if metric == OVERALL and len(left) < len(board.terms):
            return None, None
        board = replace(board, terms=left)
    if not board.terms:
        return None, None
    first, second = board.observed()
    if metric != OVERALL:
        return first[metric], second[metric]
    both = [float(weighted({k: np.array([v]) for k, v in side.items()})[0]) for side in (first, second)]
    return both[0], both[1]


def _refusal(pairing: Pairing, board: Scoreboard) -> str | None:
    if not board.terms:
        return "no dimension has a score on both sides"
    if not pairing.same_machine and any(term.of_machine for term in board.terms):
        held = dict.fromkeys(term.dimension for term in board.terms if term.of_machine)
        return f"it holds {' and '.join(held)}, measured on different machines"
    if len(board.dimensions) == 1:
        return f"only {board.dimensions[0]} has a score: the others need targets, or three tries a case"
    return None
