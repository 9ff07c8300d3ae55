"""Whether the overall scores of two agents differ by more than chance, and their score in each dimension."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from agentdyno.findings.duel.model import PairedRow
from agentdyno.findings.engine.judge import ALPHA, ONE_CASE, SAME_WITHIN, Measured, MeasureOptions, VerdictLimits
from agentdyno.findings.engine.measure_inversion import with_inversion
from agentdyno.findings.engine.measure_scoreboard import Scoreboard, scoreboard, weighted
from agentdyno.findings.engine.pairing import Numbers, Pairing
from agentdyno.findings.figures.dimensions import DIMENSIONS, OVERALL
from agentdyno.stats.inversion import invert_law, invert_swap
from agentdyno.stats.swap import MOST_SWAPPED

MOST_DRAWS = 9_999
"""Exchanges tried at most: medians make each of them dear."""


def measure_overall(pairing: Pairing, benchmark: str, options: MeasureOptions) -> Measured:
    """The weighted mean of the dimensions that both sides have a score in.

    Of separate runs without those that depend on the machine: what it did in between is no difference of agents.
    """
    limits = VerdictLimits.plain(options.tolerance, SAME_WITHIN)
    board = _comparable(pairing, scoreboard(pairing, DIMENSIONS))
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
        return Measured(replace(row, reason=ONE_CASE), limits)
    error = board.error(options.seed)
    if clusters > MOST_SWAPPED and error:
        tested = invert_law(shift, error, alpha=ALPHA)
    else:
        tested = invert_swap(
            shift, board.exchanged, _shares(pairing), alpha=ALPHA, seed=options.seed, draws=MOST_DRAWS
        )
    if clusters < len(pairing.keys):
        tested = replace(tested, method=f"{tested.method}, over groups of cases")
    return with_inversion(Measured(row, limits, shift), tested, error)


def _comparable(pairing: Pairing, board: Scoreboard) -> Scoreboard:
    if pairing.same_run or not pairing.same_machine:
        return board
    return replace(board, terms=tuple(term for term in board.terms if not term.of_machine))


def _shares(pairing: Pairing) -> Numbers:
    """Of every cluster: benchmarks weigh the same, and cases within a benchmark."""
    sizes = np.bincount(pairing.places)
    of_cases = 1.0 / (len(sizes) * sizes[pairing.places])
    return np.asarray(np.bincount(pairing.clusters, of_cases, minlength=pairing.cluster_count))


def dimension_pair(pairing: Pairing, metric: str) -> tuple[float | None, float | None]:
    """The score of both sides in a dimension or overall, 0..1; ``None`` where a side has no value or no target."""
    board = scoreboard(pairing, DIMENSIONS if metric == OVERALL else (metric,))
    board = _comparable(pairing, board)
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
