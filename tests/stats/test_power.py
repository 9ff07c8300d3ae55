"""Planning: published sample sizes, simulated power, and consistency of the two directions."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from agentdyno.stats import (
    mann_whitney,
    minimum_detectable_difference,
    minimum_detectable_ratio,
    required_n,
    samples_to_decide,
)

from .properties import quick


@pytest.mark.parametrize("n", [8, 15, 40])
def test_a_change_of_the_detectable_size_is_detected_as_often_as_promised(n: int) -> None:
    rng = np.random.default_rng(n)
    expected = minimum_detectable_ratio(np.exp(scipy_stats.norm.ppf((np.arange(n) + 0.5) / n) * 0.1))
    assert expected is not None
    found = [
        mann_whitney(rng.lognormal(0, 0.1, n), (1 + expected) * rng.lognormal(0, 0.1, n)).p_value < 0.01
        for _ in range(1000)
    ]
    assert 0.7 <= np.mean(found) <= 0.9


def test_the_detectable_ratio_is_hand_calculated() -> None:
    # Logs -2..2 in 5 equal steps: median residual 1, small-sample factor 5 / 4.2, both sides of 5.
    logs = np.array([-0.02, -0.01, 0.0, 0.01, 0.02])
    sigma = 1.4826022 * 0.01 * 5 / 4.2
    error = sigma * math.sqrt(2 / 5 * math.pi / 3)
    expected = math.expm1((3.3553873 + 0.8888895) * error)
    assert minimum_detectable_ratio(np.exp(logs)) == pytest.approx(expected, rel=1e-6)


def test_more_candidate_samples_detect_smaller_changes() -> None:
    x = np.random.default_rng(0).lognormal(0, 0.1, 30)
    few, same, many = (minimum_detectable_ratio(x, m) for m in (10, None, 300))
    assert few is not None
    assert same is not None
    assert many is not None
    assert few > same > many > 0.0


def test_outliers_barely_move_the_detectable_ratio() -> None:
    x = np.random.default_rng(1).lognormal(0, 0.05, 60)
    y = x.copy()
    y[:3] *= 20
    clean, dirty = minimum_detectable_ratio(x), minimum_detectable_ratio(y)
    assert clean is not None
    assert dirty == pytest.approx(clean, rel=0.25)


def test_mostly_equal_values_fall_back_to_the_standard_deviation() -> None:
    assert minimum_detectable_ratio([1.0] * 9 + [1.5]) == pytest.approx(
        math.expm1((2.8784405 + 0.8620487) * math.log(1.5) / math.sqrt(10) * math.sqrt(0.2 * math.pi / 3)), rel=1e-6
    )
    assert minimum_detectable_ratio([1.0] * 10) == 0.0


@pytest.mark.parametrize("n", [1, 2, 4])
def test_samples_that_can_never_reach_significance_detect_nothing(n: int) -> None:
    assert minimum_detectable_ratio([1.0, 1.1, 1.2, 1.3][:n]) is None


def test_the_smallest_samples_that_can_reach_significance_get_a_number() -> None:
    assert minimum_detectable_ratio([1.0, 1.1, 1.2, 1.3, 1.4]) is not None
    assert minimum_detectable_ratio([1.0, 1.1], alpha=0.4) is not None


@pytest.mark.parametrize(
    ("effect", "paired", "expected"), [(0.5, False, 64), (0.8, False, 26), (0.2, False, 394), (0.5, True, 34)]
)
def test_required_sample_sizes_equal_cohens_tables(effect: float, paired: bool, expected: int) -> None:
    assert required_n(effect, 1.0, alpha=0.05, power=0.8, paired=paired) == pytest.approx(expected, abs=1)


@pytest.mark.parametrize(("n", "paired"), [(8, True), (20, True), (20, False), (200, False)])
def test_the_detectable_difference_has_its_power_under_the_noncentral_t(n: int, paired: bool) -> None:
    difference = minimum_detectable_difference(2.0, n, paired=paired)
    df, scale = (n - 1, math.sqrt(n)) if paired else (2 * n - 2, math.sqrt(n / 2))
    critical = scipy_stats.t.ppf(0.975, df)
    assert scipy_stats.nct.sf(critical, df, difference / 2.0 * scale) == pytest.approx(0.8, abs=0.025)


@quick
@given(st.floats(0.05, 5.0), st.floats(0.1, 10.0), st.booleans())
def test_the_required_number_is_the_smallest_that_detects(effect: float, std: float, paired: bool) -> None:
    n = required_n(effect, std, alpha=0.01, paired=paired)

    def detectable(size: int) -> float:
        return minimum_detectable_difference(std, size, alpha=0.01, paired=paired)

    assert detectable(n) <= effect * (1 + 1e-9)
    assert n == 2 or detectable(n - 1) > effect


def test_no_spread_needs_only_two_values_and_a_tiny_effect_very_many() -> None:
    assert required_n(1.0, 0.0) == 2
    assert required_n(1e-6, 1.0) > 10**12


def test_no_effect_is_refused() -> None:
    with pytest.raises(ValueError, match="effect must not be zero"):
        required_n(0.0, 1.0)


@pytest.mark.parametrize("power", [0.0, 1.0])
def test_impossible_powers_are_refused(power: float) -> None:
    with pytest.raises(ValueError, match="power"):
        required_n(1.0, 1.0, power=power)


def _sides(ratio: float, n: int = 20) -> tuple[list[float], list[float]]:
    spread = np.exp(scipy_stats.norm.ppf((np.arange(n) + 0.5) / n) * 0.1)
    return spread.tolist(), (ratio * spread).tolist()


def test_a_clear_difference_needs_no_more_samples() -> None:
    assert samples_to_decide(*_sides(2.0), 0.03) == 0


def test_the_nearer_to_the_threshold_the_more_samples_it_takes() -> None:
    needed = [samples_to_decide(*_sides(r), 0.03) for r in (1.10, 1.06, 1.04, 1.032)]
    assert all(n is not None for n in needed)
    assert needed == sorted(needed, key=lambda n: n or 0)
    inside = [samples_to_decide(*_sides(r), 0.03) for r in (1.0, 1.01, 1.02, 1.028)]
    assert inside == sorted(inside, key=lambda n: n or 0)


def test_a_ratio_at_the_threshold_is_never_decided() -> None:
    assert samples_to_decide(*_sides(1.0300001), 0.03) is None


def test_one_sample_is_too_few_to_plan_from() -> None:
    assert samples_to_decide([1.0], [1.0, 2.0], 0.03) is None


def test_identical_values_need_only_enough_for_the_test() -> None:
    assert samples_to_decide([1.0] * 2, [1.0] * 2, 0.03) == 3


def test_slower_and_faster_by_the_same_ratio_need_the_same() -> None:
    slow, fast = _sides(1.06)
    assert samples_to_decide(slow, fast, 0.03) == samples_to_decide(fast, slow, 0.03)


def test_the_planned_samples_do_decide() -> None:
    slow, fast = _sides(1.08)
    extra = samples_to_decide(slow, fast, 0.03)
    assert extra
    rng = np.random.default_rng(5)
    n = 20 + extra
    decided = []
    for _ in range(400):
        x, y = rng.lognormal(0, 0.1, n), 1.08 * rng.lognormal(0, 0.1, n)
        shift = float(np.median(np.subtract.outer(np.log(y), np.log(x))))
        decided.append(mann_whitney(x, y).p_value < 0.01 and abs(shift) >= math.log(1.03))
    assert np.mean(decided) >= 0.85


def test_a_threshold_must_be_above_zero() -> None:
    with pytest.raises(ValueError, match="threshold"):
        samples_to_decide([1.0, 2.0], [1.0, 2.0], 0.0)
