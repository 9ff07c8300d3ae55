"""What could be had at best: a step of 5 sigma among spikes, found by a rule that knows the noise and the step.

By Neyman and Pearson no rule finds more, at the same false alarms, than one that holds the likelihood of a step
against that of no step. This one is told that one point in twenty is a spike of 5 to 20 sigma and that the step has
5; level, scale, place and direction it is not told (level and scale are integrated out, places weighed alike). It is
held to the same limits as ours: at most 5 % of series of AR(1) 0.6 and 1 % of spikes and of Gaussian noise without a
step raise anything. Of another noise or another step it promises nothing: a bound, and no detector.
"""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path

import numpy as np
from scipy.special import ndtr

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from benchmarks.changepoints_tool import Array, make_noise
from benchmarks.ratio_table import print_heading, print_table

SHAPES = ((8, 4), (10, 4), (16, 4), (26, 4))
STEP = 5.0
LIMITS = {"ar1": 0.05, "spikes": 0.01, "gauss": 0.01}
_SCALES = np.exp(np.linspace(math.log(0.12), math.log(3.0), 26))
_LEVELS = np.arange(-7.0, 7.01, 0.2)
"""Where the likelihood of these series, whose true level is 0 and whose scale is 1, is not negligible."""
_REACH, _FINE = 200.0, 200


def _log_density_table() -> Array:
    z = np.linspace(-_REACH, _REACH, int(2 * _REACH * _FINE) + 1)
    normal = np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
    up, down = ((ndtr(side - 5.0) - ndtr(side - 20.0)) / 15.0 for side in (z, -z))
    spiked = 0.75 * np.maximum(up, 0.0) + 0.25 * np.maximum(down, 0.0)
    return np.asarray(np.log(np.maximum(0.95 * normal + 0.05 * spiked, 1e-300)))


_TABLE = _log_density_table()


def log_density(z: Array) -> Array:
    """Of the noise with spikes, in its own sigmas."""
    return _TABLE[np.clip(((z + _REACH) * _FINE).astype(np.int64), 0, _TABLE.size - 1)]


def log_correlated(series: Array, correlation: float) -> Array:
    """The likelihood of AR(1) noise with level and scale integrated out, for each row."""
    n = series.shape[1]
    apart = np.abs(np.subtract.outer(np.arange(n), np.arange(n)))
    matrix = (apart == 0).astype(float) if correlation == 0 else correlation ** apart.astype(float)
    inverse, ones = np.linalg.inv(matrix), np.ones(n)
    weight = float(ones @ inverse @ ones)
    squares = np.einsum("mi,ij,mj->m", series, inverse, series) - (series @ inverse @ ones) ** 2 / weight
    half = (n - 1) / 2
    constant = math.lgamma(half) - math.log(2.0) + half * math.log(2.0) - half * math.log(2.0 * math.pi)
    return np.asarray(
        -half * np.log(squares) - 0.5 * math.log(weight) - 0.5 * np.linalg.slogdet(matrix)[1] + constant
    )


def log_spiked(series: Array) -> tuple[Array, Array]:
    """The same for noise with spikes, without a step and with one anywhere with three points a side."""
    m, n = series.shape
    places = np.arange(3, n - 2)
    without, stepped = np.full(m, -np.inf), np.full(m, -np.inf)
    for scale in _SCALES:
        for level in _LEVELS:
            z, base = (series - level) / scale, -n * math.log(scale)
            before = np.cumsum(log_density(z), axis=1)
            without = np.logaddexp(without, before[:, -1] + base)
            for shift in (STEP, -STEP):
                after = np.cumsum(log_density(z - shift), axis=1)
                cut = before[:, places - 1] + after[:, -1:] - after[:, places - 1]
                best = cut.max(axis=1)
                mean = best + np.log(np.exp(cut - best[:, None]).mean(axis=1)) - math.log(2.0)
                stepped = np.logaddexp(stepped, mean + base)
    return without, stepped


Evidence = tuple[Array, Array, Array, Array]


def evidence(series: Array) -> Evidence:
    """For a step, and for three kinds of no step; in one unknown unit, which the thresholds take up."""
    without, stepped = log_spiked(series)
    return stepped, log_correlated(series, 0.6), without, log_correlated(series, 0.0)


def best_share(stepped: Evidence, quiet: dict[str, Evidence]) -> float:
    """The share of steps found by the best mixture of the three alternatives that keeps all limits."""
    best = 0.0
    for first in np.arange(-6.0, 14.0, 1.0):
        for second in np.arange(-6.0, 14.0, 2.0):
            for third in (-6.0, 0.0, 4.0, 8.0, 12.0):

                def ratio(found: Evidence, a: float = first, b: float = second, c: float = third) -> Array:
                    return np.asarray(found[0] - np.logaddexp(np.logaddexp(found[1] + a, found[2] + b), found[3] + c))

                limit = max(np.quantile(ratio(found), 1.0 - LIMITS[name]) for name, found in quiet.items())
                best = max(best, float((ratio(stepped) > limit).mean()))
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--series", type=int, default=800, help="of each kind (default 800)")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--quick", action="store_true", help="few series: shows that it works")
    options = parser.parse_args()
    series = 40 if options.quick else options.series
    print_heading()
    rows = []
    for before, after in SHAPES[:1] if options.quick else SHAPES:
        random = np.random.default_rng([options.seed, before, after])

        def made(kind: str, n: int = before + after, random: np.random.Generator = random) -> Array:
            return np.stack([make_noise(kind, n, random) for _ in range(series)])

        steps = made("spikes")
        steps[:, before:] += STEP
        share = best_share(evidence(steps), {kind: evidence(made(kind)) for kind in LIMITS})
        rows.append([f"{before} + {after}", f"{share:.1%}"])
    notes = [f"{series:,} series of each kind, of which the limits are taken, too"]
    print_table("A step of 5 sigma among spikes: found at best", ["points", "found"], rows, notes)


if __name__ == "__main__":
    main()
