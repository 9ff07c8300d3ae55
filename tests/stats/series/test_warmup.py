"""Warm-up: found where there is one, and rarely where there is none."""

import math

import numpy as np
import numpy.typing as npt
import pytest

from agentdyno.stats import warmup_end

STEPS = np.arange(60)
DECAYS = {
    "geometric": np.where(STEPS < 10, 3.0 ** (1 - STEPS / 10), 1.0),
    "exponential": 1.0 + 2.0 * np.exp(-STEPS / 3.0),
    "linear": np.maximum(3.0 - 0.2 * STEPS, 1.0),
}


@pytest.mark.parametrize("sigma", [0.05, 0.3, 1.0])
def test_a_stationary_series_rarely_shows_a_warm_up(sigma: float) -> None:
    rng = np.random.default_rng(0)
    ends = np.array([warmup_end(rng.lognormal(0, sigma, 50)) for _ in range(1000)])
    assert np.mean(ends > 3) <= 0.02
    assert np.mean(ends > 0) <= 0.05


@pytest.mark.parametrize("n", [10, 20, 200])
def test_short_and_long_stationary_series_do_not_cry_wolf_either(n: int) -> None:
    rng = np.random.default_rng(n)
    ends = np.array([warmup_end(rng.lognormal(0, 0.2, n)) for _ in range(600)])
    assert np.mean(ends > 3) <= 0.03
    assert np.mean(ends > 0) <= 0.06


@pytest.mark.parametrize("sigma", [0.02, 0.05, 0.1])
@pytest.mark.parametrize("shape", sorted(DECAYS))
def test_a_decay_over_ten_samples_is_found(shape: str, sigma: float) -> None:
    rng = np.random.default_rng(1)
    ends = np.array([warmup_end(DECAYS[shape] * rng.lognormal(0, sigma, 60)) for _ in range(300)])
    assert np.mean((ends >= 4) & (ends <= 16)) >= 0.9


def test_a_rise_is_found_as_well_as_a_decay() -> None:
    rng = np.random.default_rng(2)
    ends = [warmup_end(rng.lognormal(0, 0.05, 60) / DECAYS["geometric"]) for _ in range(100)]
    assert all(4 <= end <= 16 for end in ends)


def test_a_single_slow_first_call_is_the_warm_up() -> None:
    rng = np.random.default_rng(3)

    def series() -> npt.NDArray[np.float64]:
        x = rng.lognormal(0, 0.05, 30)
        x[0] *= 4
        return x

    assert np.mean([warmup_end(series()) == 1 for _ in range(200)]) >= 0.9


def test_a_later_spike_is_not_a_warm_up() -> None:
    x = np.random.default_rng(4).lognormal(0, 0.05, 40)
    x[8] *= 10
    assert warmup_end(x) == 0


def test_a_series_that_settles_too_late_ends_at_the_limit() -> None:
    x = np.where(np.arange(40) < 30, 3.0 - 0.05 * np.arange(40), 1.5)
    assert warmup_end(x) == 20
    assert warmup_end(x, max_fraction=0.25) == 10


def test_constant_values_have_no_warm_up_but_a_constant_start_has() -> None:
    assert warmup_end([5.0] * 20) == 0
    assert warmup_end([9.0] * 2 + [5.0] * 18) == 2


def test_coarse_values_do_not_look_like_a_warm_up() -> None:
    rng = np.random.default_rng(5)
    ends = [warmup_end(rng.choice([10.0, 11.0], 40, p=[0.8, 0.2])) for _ in range(400)]
    assert np.mean(np.array(ends) > 0) <= 0.05


def test_values_below_zero_are_taken_as_they_are() -> None:
    rng = np.random.default_rng(6)
    x = rng.normal(0, 0.1, 40)
    x[:6] -= 5.0
    assert 6 <= warmup_end(x) <= 8


@pytest.mark.parametrize("n", [1, 4, 8])
def test_too_short_a_series_has_no_warm_up(n: int) -> None:
    assert warmup_end([100.0, *[1.0] * (n - 1)]) == 0


def test_bad_input_is_refused() -> None:
    with pytest.raises(ValueError, match="max_fraction"):
        warmup_end([1.0, 2.0], max_fraction=1.0)
    with pytest.raises(ValueError, match="at least 1"):
        warmup_end([])
    with pytest.raises(ValueError, match="NaN"):
        warmup_end([math.nan])
