"""A rate from a few true labels and many grades of a fallible rater: prediction-powered inference.

The labels alone give an unbiased rate with a wide interval. What the rater says of all items, corrected by how far it
is off where the truth is known, is unbiased too. The two are mixed with the weight that makes the variance least
(Angelopoulos, Duchi and Zrnic, "PPI++: Efficient Prediction-Powered Inference", 2023): a useless rater gets the
weight 0, and the labels alone remain. So a rater that errs costs nothing but the labels that tell how.

The plain interval of that paper covers too seldom where nearly all items pass (88 % at a rate of 0.96 with 100
labels). Here the variance is turned into the number of labels that would be worth as much, and Wilson's interval is
taken at that number, with Student's t in place of the normal law since the weight is estimated, too.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from ..distributions import t_quantile
from ..intervals import Interval
from ..samples import Values, require_inside_unit, to_array
from .agreement import cluster_sums


@dataclass(frozen=True, slots=True)
class CorrectedRate:
    """``rate`` is corrected, ``graded`` what the rater alone says of all items, ``labelled`` what the labels say.

    ``weight`` is how much the rater counts, 0..1. ``worth`` is how many labels alone would tell as much.
    """

    rate: float
    interval: Interval
    graded: float
    labelled: float
    weight: float
    worth: float


def corrected_rate(
    labels: Values,
    grades: Values,
    other_grades: Values,
    clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
) -> CorrectedRate:
    """The rate (0..1) among all items: ``labels`` are true values in 0..1 of some items, ``grades`` what the rater
    says of the same, ``other_grades`` what it says of the items without a label. Needs at least 4 labels.

    The labelled items must be a random part of all. ``clusters`` name those of the labelled items, then those of the
    others: items of one cluster (answers to one question) are not independent.
    """
    truth, seen = to_array(labels, "labels", at_least=4), to_array(grades, "grades", at_least=4)
    others = np.asarray(other_grades, dtype=np.float64)
    require_inside_unit(confidence, "confidence")
    if truth.size != seen.size:
        raise ValueError(f"labels and grades must pair up, got {truth.size} and {seen.size}")
    everything = np.concatenate([seen, others])
    if min(truth.min(), everything.min()) < 0 or max(truth.max(), everything.max()) > 1:
        raise ValueError("labels and grades must lie in 0..1")
    n, more = truth.size, others.size
    weight = _weight(truth, seen, everything, more)
    shift = float(others.mean() - seen.mean()) if more else 0.0
    rate = min(1.0, max(0.0, float(truth.mean()) + weight * shift))
    residuals = truth - weight * seen
    influence = (residuals - residuals.mean()) / n
    if more:
        influence = np.concatenate([influence, weight * (others - others.mean()) / more])
    variance, degrees = _variance(influence, n, clusters)
    worth = _worth(rate, variance, n, truth.size + more, clustered=clusters is not None)
    interval = _wilson(rate, worth, t_quantile(0.5 + confidence / 2.0, degrees), confidence)
    return CorrectedRate(rate, interval, float(everything.mean()), float(truth.mean()), weight, worth)


def _weight(truth: Values, seen: Values, everything: Values, more: int) -> float:
    spread = float(np.var(everything, ddof=1))
    if not more or spread <= 0.0:
        return 0.0
    shared = float(np.cov(truth, seen, ddof=1)[0, 1])
    return min(1.0, max(0.0, shared / spread / (1.0 + len(truth) / more)))


def _variance(influence: Values, n: int, clusters: Sequence[Hashable] | None) -> tuple[float, int]:
    """The variance, and the degrees of freedom: labelled clusters less the two that mean and weight take."""
    values = np.asarray(influence)
    sums = cluster_sums(values, clusters)
    labelled = n if clusters is None else len(set(clusters[:n]))
    degrees = max(1, labelled - 2)
    return labelled / degrees * float((sums**2).sum()), degrees


def _worth(rate: float, variance: float, n: int, items: int, *, clustered: bool) -> float:
    """Labels that would be worth as much. Never fewer than there are, since the weight may be 0; of clusters, whose
    labels repeat each other, as few as the variance says."""
    least = 2.0 if clustered else float(n)
    if variance <= 0.0 or not 0.0 < rate < 1.0:
        return float(n)
    return min(float(items), max(least, rate * (1.0 - rate) / variance))


def _wilson(rate: float, n: float, z: float, confidence: float) -> Interval:
    denominator = 1.0 + z * z / n
    centre = (rate + z * z / (2.0 * n)) / denominator
    half = z * math.sqrt(rate * (1.0 - rate) / n + z * z / (4.0 * n * n)) / denominator
    return Interval(max(0.0, centre - half), min(1.0, centre + half), confidence)
