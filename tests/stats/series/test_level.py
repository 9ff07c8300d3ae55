"""Where a series stands now: by hand, against SciPy, and how often the interval holds the truth."""

import math

import numpy as np
import pytest
from scipy import stats as scipy_stats

from agentdyno.stats import median_interval
from agentdyno.stats.series.level import last_level, slope_end

from .test_changepoint import noise


def test_six_points_and_more_give_the_exact_interval_of_their_median() -> None:
    values = [9.0, 9.5, 8.5, 9.0, 3.1, 3.4, 2.9, 3.0, 3.3, 3.2]
    middle, interval = last_level(values, [4])
    assert middle == pytest.approx(3.15)
    assert interval == median_interval(values[4:])


def test_fewer_points_borrow_the_scatter_around_all_levels() -> None:
    # Squares around 1 and 5: eight of 0.01 less the mean of the three; by hand 0.04 + 0.02 over 7 - 2 points.
    values = [1.1, 0.9, 1.1, 0.9, 5.1, 5.0, 4.9]
    middle, interval = last_level(values, [4])
    reach = scipy_stats.t.ppf(0.975, 5) * math.sqrt((0.04 + 0.02) / 5 / 3 * math.pi / 2)
    assert middle == 5.0
    assert interval is not None
    assert (interval.low, interval.high) == pytest.approx((5.0 - reach, 5.0 + reach))


def test_too_few_points_have_no_interval() -> None:
    assert last_level([3.0]) == (3.0, None)
    assert last_level([3.0, 4.0]) == (3.5, None)
    assert last_level([3.0, 4.0, 5.0])[1] is not None
    assert last_level([3.0] * 5) == (3.0, None)
    assert last_level([3.0] * 5 + [4.0] * 3, [5]) == (4.0, None)


def test_the_end_of_a_slope_is_the_end_of_the_parabola_through_it() -> None:
    values = 1.05 ** np.arange(20) + 0.02 * noise("gauss", 20, 1)
    value, interval = slope_end(values)
    assert value == pytest.approx(float(np.polyval(np.polyfit(np.arange(20), values, 2), 19)))
    assert value == pytest.approx(1.05**19, abs=0.03)
    assert interval.low < value < interval.high
    exact, none = slope_end([float(place) for place in range(8)])
    assert exact == pytest.approx(7.0)
    assert none.high - none.low == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("points", [2, 3, 5, 8])
def test_the_interval_holds_the_level_as_often_as_it_says(points: int) -> None:
    held = 0
    for seed in range(400):
        values = noise("gauss", 8 + points, seed)
        interval = last_level(values, [8])[1]
        assert interval is not None
        held += interval.low <= 0.0 <= interval.high
    assert held >= 370
