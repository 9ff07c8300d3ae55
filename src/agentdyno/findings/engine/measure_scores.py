"""Accuracy and times of two agents: quantities that every case has one value of on either side."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from agentdyno.findings.duel.model import PairedRow
from agentdyno.findings.engine.flips import SAME_WITHIN, record_flips, score_pairs
from agentdyno.findings.engine.judge import ALPHA, Measured, VerdictLimits, fewest_clusters
from agentdyno.findings.engine.pairing import Codes, Numbers, Pairing
from agentdyno.stats import minimum_detectable_difference, paired_ratio, wilcoxon_signed_rank
from agentdyno.stats.swap import rank_biserial

TIME_TOLERANCE = 0.03


def measure_accuracy(pairing: Pairing, benchmark: str, tolerance: float | None) -> Measured:
    """The mean case score, as ``record_flips`` tests it."""
    limits = VerdictLimits.plain(tolerance, SAME_WITHIN)
    found = record_flips(pairing)
    pairs = score_pairs(pairing)
    differences = np.array([pair.second - pair.first for pair in pairs])
    row = PairedRow(
        metric="accuracy",
        benchmark=benchmark,
        quantity="score",
        unit="ratio",
        higher_is_better=True,
        relative=False,
        baseline=found.baseline_mean,
        candidate=found.candidate_mean,
        change=found.difference,
        interval=found.interval,
        p_value=found.p_value,
        effect=rank_biserial(differences),
        detectable=found.detectable if found.clusters >= fewest_clusters() else None,
        cases=found.cases,
        clusters=found.clusters,
        wins=int((differences > 0).sum()),
        losses=int((differences < 0).sum()),
        reason="" if found.p_value is not None else found.method,
        method=found.method,
    )
    if found.p_value is None:
        return Measured(row, limits)
    labels = [pair.cluster for pair in pairs]
    numbers = {label: place for place, label in enumerate(dict.fromkeys(labels))}
    spread = _spread(differences, np.array([numbers[label] for label in labels], dtype=np.int64))
    return Measured(row, limits, found.difference, spread, flat=bool(np.ptp(differences) == 0.0))


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
    estimate = paired_ratio(np.ones(clusters), np.exp(means), 0.95)
    row = replace(
        row,
        baseline=float(np.median(first)),
        candidate=float(np.median(second)),
        change=estimate.point - 1.0,
        effect=rank_biserial(-ratios),
        cases=ratios.size,
        clusters=clusters,
        wins=int((ratios < 0).sum()),
        losses=int((ratios > 0).sum()),
    )
    if clusters < 2:
        return Measured(replace(row, reason="one independent case says nothing about others"), limits)
    test = wilcoxon_signed_rank(means)
    spread = float(means.std(ddof=1))
    low, high = estimate.interval.low - 1.0, estimate.interval.high - 1.0
    row = replace(
        row,
        interval=(low, high) if math.isfinite(high) else None,
        p_value=test.p_value,
        detectable=detectable_ratio(spread, clusters),
        method=test.method if clusters == ratios.size else f"{test.method}, over groups of cases",
        reason="",
    )
    return Measured(row, limits, math.log(estimate.point), spread)


def detectable_ratio(spread: float, clusters: int) -> float | None:
    """The smallest relative change; ``None`` for too few clusters and where it is more than a hundredfold."""
    if clusters < fewest_clusters():
        return None
    found = minimum_detectable_difference(spread, clusters, alpha=ALPHA)
    return math.expm1(found) if found < math.log(100.0) else None


def cluster_means(values: Numbers, codes: Codes) -> Numbers:
    return np.asarray(np.bincount(codes, values) / np.bincount(codes), dtype=np.float64)


def _spread(values: Numbers, codes: Codes) -> float:
    """The standard deviation that one cluster would have for the cluster-robust error of the mean to follow."""
    count = int(codes.max()) + 1
    sums = np.bincount(codes, values - values.mean())
    variance = count / (count - 1) * float((sums**2).sum()) / values.size**2
    return math.sqrt(variance * count)
