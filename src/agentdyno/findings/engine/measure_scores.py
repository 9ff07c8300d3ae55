"""Accuracy and times of two agents: quantities that every case has one value of on either side."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from agentdyno.findings.duel.model import PairedRow
from agentdyno.findings.engine.judge import ALPHA, ONE_CASE, SAME_WITHIN, Measured, MeasureOptions, VerdictLimits
from agentdyno.findings.engine.measure_inversion import with_inversion
from agentdyno.findings.engine.measure_totals import SideTotals, measure_totals, share_of
from agentdyno.findings.engine.pairing import Codes, Numbers, Pairing
from agentdyno.stats.inversion_ranks import invert_signed_rank
from agentdyno.stats.samples import median_of
from agentdyno.stats.swap import rank_biserial

TIME_TOLERANCE = 0.03


def measure_accuracy(pairing: Pairing, benchmark: str, options: MeasureOptions) -> Measured:
    """The mean case score over the cases that have one on both sides."""
    limits = VerdictLimits.plain(options.tolerance, SAME_WITHIN)
    row = PairedRow("accuracy", benchmark, "score", "ratio", True, False, None, None)
    first, second = pairing.first.score, pairing.second.score
    scored = ~np.isnan(first) & ~np.isnan(second)
    if not scored.any():
        return Measured(replace(row, reason="no case has a score on both sides"), limits)
    first, second = first[scored], second[scored]
    columns = [np.stack([side, np.ones(side.size)], axis=1) for side in (first, second)]
    totals = SideTotals(columns[0], columns[1], share_of, (first, second), pairing.clusters[scored], (1,))
    return measure_totals(row, totals, limits, options.seed)


def measure_time(pairing: Pairing, metric: str, quantity: str, benchmark: str, tolerance: float | None) -> Measured:
    """Seconds per case; the change is the Hodges-Lehmann ratio of paired cases, less one.

    Cases of one group count as one, with the mean of their logarithms.
    """
    limits = VerdictLimits.relative(TIME_TOLERANCE if tolerance is None else tolerance)
    first, second = pairing.first.used(quantity), pairing.second.used(quantity)
    known = (first > 0) & (second > 0)
    row = PairedRow(
        metric, benchmark, quantity, "s", False, True, None, None, reason=f"no case has {quantity} on both sides"
    )
    if not known.any():
        return Measured(row, limits)
    first, second = first[known], second[known]
    codes = np.unique(pairing.clusters[known], return_inverse=True)[1]
    ratios = np.log(second) - np.log(first)
    means = cluster_means(ratios, codes)
    clusters = means.size
    centre, tested = invert_signed_rank(means, alpha=ALPHA)
    row = replace(
        row,
        baseline=median_of(first),
        candidate=median_of(second),
        change=math.expm1(centre),
        effect=rank_biserial(-ratios),
        cases=ratios.size,
        clusters=clusters,
        wins=int((ratios < 0).sum()),
        losses=int((ratios > 0).sum()),
    )
    if clusters < 2:
        return Measured(replace(row, reason=ONE_CASE), limits)
    if clusters < ratios.size:
        tested = replace(tested, method=f"{tested.method}, over groups of cases")
    error = float(means.std(ddof=1)) / math.sqrt(clusters)
    return with_inversion(Measured(replace(row, reason=""), limits, centre), tested, error)


def cluster_means(values: Numbers, codes: Codes) -> Numbers:
    return np.asarray(np.bincount(codes, values) / np.bincount(codes), dtype=np.float64)
