"""The long-run variance, with and without changes in the way, and the clipping of spikes."""

import math

import numpy as np
import pytest

from agentdyno.stats.samples import Array
from agentdyno.stats.series.long_run_variance import (
    clip_spikes,
    description_cost,
    estimate_noise,
    residuals,
    robust_sigma,
    running_median,
    starting_variance,
)


def correlated(n: int, correlation: float, seed: int) -> Array:
    """A first-order autoregression of variance 1."""
    shocks = np.random.default_rng(seed).standard_normal(n)
    values = shocks.copy()
    for i in range(1, n):
        values[i] = correlation * values[i - 1] + math.sqrt(1.0 - correlation**2) * shocks[i]
    return values


def test_residuals_are_distances_from_the_mean_of_each_stretch() -> None:
    values = np.array([1.0, 3.0, 10.0, 20.0, 30.0])
    assert residuals(values, [2]).tolist() == [-1.0, 1.0, -10.0, 0.0, 10.0]
    assert residuals(values, []).sum() == pytest.approx(0.0)


@pytest.mark.parametrize(("correlation", "long_run"), [(0.0, 1.0), (0.3, 1.3 / 0.7), (0.6, 4.0), (0.8, 9.0)])
def test_the_long_run_variance_of_an_autoregression_is_met_from_above(correlation: float, long_run: float) -> None:
    noise = estimate_noise(correlated(20_000, correlation, 5), [])
    assert noise.variance == pytest.approx(1.0, rel=0.1)
    assert noise.correlation == pytest.approx(correlation, abs=0.03)
    assert long_run * 0.9 < noise.long_run_variance < long_run * 1.25


def test_taking_off_the_means_of_short_stretches_is_made_good() -> None:
    values = correlated(5_000, 0.6, 9)
    every_50 = list(range(50, 5_000, 50))
    plain, cut = estimate_noise(values, []), estimate_noise(values, every_50)
    assert cut.variance == pytest.approx(plain.variance, rel=0.05)
    assert cut.correlation == pytest.approx(plain.correlation, abs=0.03)


def test_a_constant_series_has_no_noise() -> None:
    noise = estimate_noise(np.full(20, 7.0), [])
    assert (noise.variance, noise.long_run_variance, noise.inflation) == (0.0, 0.0, 1.0)


@pytest.mark.parametrize("steps", [1, 3, 10])
def test_the_start_is_not_carried_away_by_steps(steps: int) -> None:
    values = np.random.default_rng(steps).standard_normal(1_000)
    for place in range(1, steps + 1):
        values[place * 1_000 // (steps + 1) :] += 6.0 * (-1) ** place
    assert 0.8 < starting_variance(values) < 4.0


def test_describing_a_jump_as_a_jump_is_cheaper_than_as_wandering() -> None:
    jump = correlated(200, 0.5, 3) + 5.0 * (np.arange(200) >= 90)
    wander = np.cumsum(np.random.default_rng(4).standard_normal(200))
    assert description_cost(jump, [90], 20.0) < description_cost(jump, [], 20.0)
    assert description_cost(wander, [], 20.0) < description_cost(wander, [100], 20.0)


def test_order_zero_is_the_plain_likelihood_of_independent_noise() -> None:
    values = np.tile([1.0, -1.0, -1.0, 1.0], 25)
    assert description_cost(values, [], 9.0) <= 100 * math.log(1.0)
    independent = np.random.default_rng(0).standard_normal(400)
    plain = 400 * math.log(float(np.square(residuals(independent, [200])).mean())) + 9.0
    assert description_cost(independent, [200], 9.0) == pytest.approx(plain, abs=8.0)


def test_a_running_median_follows_a_step_at_once_and_ignores_eight_spikes() -> None:
    step = np.repeat([1.0, 5.0], 20)
    assert running_median(step).tolist() == step.tolist()
    spiky = np.full(40, 2.0)
    spiky[15:23] = 99.0
    assert running_median(spiky).tolist() == [2.0] * 40


def test_spikes_come_back_to_three_sigmas_and_the_rest_stays() -> None:
    values = np.random.default_rng(2).standard_normal(300)
    values[[50, 51, 200]] = [40.0, 60.0, -80.0]
    clipped = clip_spikes(values)
    assert np.abs(clipped[[50, 51, 200]]).max() < 5.0
    assert np.count_nonzero(clipped != values) < 12


def test_rounded_values_have_a_sigma_though_most_deviate_by_nothing() -> None:
    assert robust_sigma(np.array([0.0] * 6 + [1.0] * 4)) > 0.0
    assert robust_sigma(np.array([0.0] * 99 + [1.0])) == 0.0
    assert robust_sigma(np.random.default_rng(6).normal(0.0, 3.0, 20_000)) == pytest.approx(3.0, rel=0.05)
