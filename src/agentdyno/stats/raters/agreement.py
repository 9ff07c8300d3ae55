"""How well raters agree: confusion, Cohen's kappa of two, Krippendorff's alpha of any number with gaps."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from ..distributions import t_quantile
from ..effects import Estimate
from ..intervals import Interval
from ..samples import Array, require_count, require_inside_unit

_DRAWS = 1000
_SEED = 20260101


def confusion(first: Sequence[Hashable], second: Sequence[Hashable]) -> Counter[tuple[Hashable, Hashable]]:
    """How often the first rater said one thing and the second another."""
    _require_pairs(first, second)
    return Counter(zip(first, second, strict=True))


def cohens_kappa(
    first: Sequence[Hashable],
    second: Sequence[Hashable],
    clusters: Sequence[Hashable] | None = None,
    confidence: float = 0.95,
) -> Estimate | None:
    """Agreement of two raters beyond chance: 1 is perfect, 0 what chance would give. ``None`` where both gave one
    and the same grade throughout: chance alone would agree, too.

    The interval is that of Fleiss, Cohen and Everitt (1969), with Student's t in place of the normal law. Items that
    share a label in ``clusters`` (several answers to one question) count as one.
    """
    _require_pairs(first, second)
    n = len(first)
    share = {value: count / n for value, count in Counter(first).items()}
    other = {value: count / n for value, count in Counter(second).items()}
    agree = np.array([a == b for a, b in zip(first, second, strict=True)], dtype=np.float64)
    observed = float(agree.mean())
    expected = math.fsum(share[value] * other.get(value, 0.0) for value in share)
    if expected >= 1.0:
        return None
    kappa = (observed - expected) / (1.0 - expected)
    chance = np.array([other.get(a, 0.0) + share.get(b, 0.0) for a, b in zip(first, second, strict=True)])
    influence = (agree - observed) / (1.0 - expected)
    influence -= (1.0 - observed) * (chance - 2.0 * expected) / (1.0 - expected) ** 2
    sums = cluster_sums(influence / n, clusters)
    half = _half_width(sums, confidence)
    return Estimate(kappa, Interval(max(-1.0, kappa - half), min(1.0, kappa + half), confidence))


def krippendorff_alpha(
    ratings: Sequence[Sequence[float | None]],
    level: Literal["nominal", "interval"] = "nominal",
    confidence: float = 0.95,
) -> Estimate | None:
    """Agreement of any number of raters, ``None`` in ``ratings`` where one gave no grade.

    A row of ``ratings`` is what one item was given, one place a rater; items with fewer than two grades tell nothing.
    ``None`` where fewer than two items are left or all grades are the same. The interval is a seeded bootstrap over
    items.
    """
    require_inside_unit(confidence, "confidence")
    rows = [[float(grade) for grade in row if grade is not None] for row in ratings]
    rows = [row for row in rows if len(row) > 1]
    values = sorted({grade for row in rows for grade in row})
    if len(rows) < 2 or len(values) < 2:
        return None
    pairs = np.stack([_coincidences(row, values) for row in rows])
    apart = np.subtract.outer(values, values)
    distance = (apart != 0).astype(np.float64) if level == "nominal" else apart**2
    alpha = float(_alpha(pairs.sum(axis=0)[None], distance)[0])
    weights = np.random.default_rng(_SEED).multinomial(len(rows), [1 / len(rows)] * len(rows), size=_DRAWS)
    drawn = np.tensordot(weights.astype(np.float64), pairs, axes=(1, 0))
    found = _alpha(drawn, distance)
    found = found[np.isfinite(found)]
    tail = (1.0 - confidence) / 2.0
    low, high = np.quantile(found, [tail, 1.0 - tail]) if found.size else (-1.0, 1.0)
    return Estimate(alpha, Interval(float(min(low, alpha)), float(max(high, alpha)), confidence))


def cluster_sums(values: Array, clusters: Sequence[Hashable] | None) -> Array:
    """The sum of the values of each cluster; without clusters each value is its own."""
    if clusters is None:
        return values
    if len(clusters) != values.size:
        raise ValueError(f"values and clusters must pair up, got {values.size} and {len(clusters)}")
    codes: dict[Hashable, int] = {}
    membership = [codes.setdefault(label, len(codes)) for label in clusters]
    return np.bincount(membership, weights=values, minlength=len(codes)).astype(np.float64)


def _half_width(sums: Array, confidence: float) -> float:
    count = sums.size
    if count < 2:
        return math.inf
    variance = count / (count - 1) * float((sums**2).sum())
    return t_quantile(0.5 + require_inside_unit(confidence, "confidence") / 2.0, count - 1) * math.sqrt(variance)


def _coincidences(row: Sequence[float], values: Sequence[float]) -> npt.NDArray[np.float64]:
    """Ordered pairs of grades of one item, each weighing 1 / (grades - 1)."""
    counts = np.array([row.count(value) for value in values], dtype=np.float64)
    pairs: npt.NDArray[np.float64] = (np.outer(counts, counts) - np.diag(counts)) / (len(row) - 1)
    return pairs


def _alpha(pairs: npt.NDArray[np.float64], distance: npt.NDArray[np.float64]) -> Array:
    """Of a stack of coincidence matrices; NaN where all grades are the same."""
    totals = pairs.sum(axis=2)
    n = totals.sum(axis=1)
    observed = (pairs * distance).sum(axis=(1, 2)) / n
    # Pairs of one grade with itself add nothing, as their distance is 0.
    expected = np.einsum("ic,cd,id->i", totals, distance, totals) / (n * (n - 1.0))
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Array = 1.0 - observed / expected
    return found


def _require_pairs(first: Sequence[Hashable], second: Sequence[Hashable]) -> None:
    require_count(len(first), "the number of items", at_least=1)
    if len(first) != len(second):
        raise ValueError(f"both raters must grade the same items, got {len(first)} and {len(second)}")
