"""Changes of level in short series: found, provisional, and none in noise. Thresholds are those of the module."""

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from agentdyno.stats.samples import Array
from agentdyno.stats.series.changepoint import analyse, detect
from agentdyno.stats.series.short import Cut, find_cuts

from ..properties import quick
from .test_changepoint import noise

NIGHTS = [4.42, 3.23, 3.20, 3.22, 3.33, 3.21, 6.23, 6.28, 6.31, 6.32, 6.20, 6.30, 6.52, 6.43]
"""Medians of 14 runs in ms: the first with cold caches, then a doubling."""


def test_the_p_value_is_that_of_scipys_t_test_times_the_places_tried() -> None:
    before, after = [10.0, 10.4, 9.8, 10.1, 9.9, 10.2], [12.0, 12.3, 11.9, 12.2]
    (cut,) = find_cuts(np.array(before + after))
    assert (cut.at, cut.confirmed) == (6, True)
    # Ten points can be cut after the third to the eighth: six places.
    assert cut.p_value == pytest.approx(6 * scipy_stats.ttest_ind(before, after).pvalue)


def test_the_scatter_is_pooled_over_all_levels_hand_calculated() -> None:
    # Around 1 and 5 each value is one tenth off: ten squares of 0.01, ten points less two levels.
    values = np.array([1.1, 0.9, 1.1, 0.9, 5.1, 4.9, 5.1, 4.9, 5.1, 4.9])
    (cut,) = find_cuts(values)
    assert cut.at == 4
    assert cut.sigma == pytest.approx(math.sqrt(10 * 0.01 / 8))
    (change,) = analyse(values)
    assert change.effect == pytest.approx(4.0 / math.sqrt(0.0125))


def test_fourteen_nights_with_a_cold_first_one_and_a_doubling() -> None:
    (change,) = analyse(NIGHTS)
    assert (change.index, change.confirmed) == (6, True)
    assert (change.before, change.after) == pytest.approx((3.225, 6.305))
    seen = {n: [(c.index, c.confirmed) for c in analyse(NIGHTS[:n])] for n in range(5, 10)}
    assert seen == {5: [], 6: [], 7: [], 8: [(6, False)], 9: [(6, True)]}


@pytest.mark.parametrize(("before", "after"), [(5, 3), (6, 4), (8, 6), (3, 3), (20, 9)])
def test_a_doubling_with_a_hundredth_of_noise_is_found_where_it_is(before: int, after: int) -> None:
    for seed in range(100):
        values = (1 + 0.01 * noise("gauss", before + after, seed)) * np.repeat([1.0, 2.0], [before, after])
        assert before in detect(values)


@pytest.mark.parametrize("before", [4, 6, 10, 20])
def test_two_points_of_a_new_level_are_provisional(before: int) -> None:
    for seed in range(100):
        values = (1 + 0.01 * noise("gauss", before + 2, seed)) * np.repeat([1.0, 2.0], [before, 2])
        assert (before, False) in [(change.index, change.confirmed) for change in analyse(values)]


def test_a_step_of_five_sigmas_is_found_in_nine_of_ten_from_eight_and_four_points_on() -> None:
    found = 0
    for seed in range(400):
        values = noise("gauss", 12, seed)
        values[8:] += 5.0
        found += any(abs(place - 8) <= 1 for place in detect(values))
    assert found >= 360


@pytest.mark.parametrize(("before", "after", "least"), [(8, 4, 65), (8, 6, 72), (10, 10, 75), (16, 4, 68)])
def test_spikes_hide_a_step_of_five_sigmas_in_fewer_than_one_series_of_three(
    before: int, after: int, least: int
) -> None:
    """Of 100 series; where every spike is known and taken away, 91 to 99 of a hundred are found."""
    found = 0
    for seed in range(100):
        values = noise("spikes", before + after, 50_000 + seed)
        values[before:] += 5.0
        found += any(abs(place - before) <= 1 for place in detect(values))
    assert found >= least


def test_several_bad_nights_hide_no_change() -> None:
    values = (1 + 0.01 * noise("gauss", 16, 5)) * np.repeat([1.0, 1.3], [9, 7])
    values[[2, 6, 12]] *= [3.0, 2.5, 4.0]
    assert detect(values) == [9]


@pytest.mark.parametrize(("kind", "most"), [("gauss", 12), ("t3", 12), ("spikes", 12), ("ar1", 60)])
def test_noise_alone_seldom_raises_anything(kind: str, most: int) -> None:
    """300 series of 8, 10, 14 and 20 points each: 1 %, and 5 % where neighbours correlate by 0.6."""
    assert sum(bool(analyse(noise(kind, n, 1_000 * n + k))) for n in (8, 10, 14, 20) for k in range(300)) <= most


@pytest.mark.parametrize("cold", [1, 2])
@pytest.mark.parametrize("n", [7, 14, 29])
def test_first_runs_with_cold_caches_are_no_regime(cold: int, n: int) -> None:
    for seed in range(30):
        values = 1 + 0.01 * noise("gauss", n, seed)
        values[:cold] *= 1.6
        assert all(change.index > 3 for change in analyse(values))


def test_a_bad_night_hides_no_change() -> None:
    for place in (0, 3, 9):
        values = (1 + 0.01 * noise("gauss", 12, 5)) * np.repeat([1.0, 1.3], [6, 6])
        values[place] *= 3.0
        assert detect(values) == [6]


def test_a_level_that_came_and_went_is_two_changes() -> None:
    values = (1 + 0.01 * noise("gauss", 20, 8)) * np.repeat([1.0, 1.5, 1.0], [8, 5, 7])
    assert detect(values) == [8, 13]


def test_a_ramp_is_not_cut_into_steps() -> None:
    for seed in range(50):
        ramp = 1.05 ** np.arange(20) * (1 + 0.02 * noise("gauss", 20, seed))
        assert analyse(ramp) == ()


def test_of_two_values_four_in_a_row_confirm_and_three_do_not() -> None:
    # A case that passes by the toss of a coin gives three of one and three of the other too often.
    assert analyse([0.75, 0.75, 0.75, 0.5, 0.5, 0.5]) == ()
    assert [(c.index, c.confirmed) for c in analyse([0.75] * 5 + [0.5] * 3)] == [(5, False)]
    assert [(c.index, c.confirmed) for c in analyse([0.75] * 4 + [0.5] * 4)] == [(4, True)]


def test_fewer_than_six_points_show_nothing() -> None:
    assert analyse([1.0, 1.01, 9.0, 9.01, 9.02]) == ()
    assert detect([1.0, 1.01, 0.99, 9.0, 9.01, 9.02]) == [3]


def _places(cuts: tuple[Cut, ...]) -> list[tuple[int, bool]]:
    return [(cut.at, cut.confirmed) for cut in cuts]


@quick
@given(st.integers(0, 10_000), st.integers(6, 29), st.integers(-(2**20), 2**20), st.integers(-200, 200))
def test_shifting_and_scaling_move_no_cut(seed: int, n: int, shift: int, power: int) -> None:
    values: Array = np.rint(1024.0 * (noise("t3", n, seed) + 8.0 * (np.arange(n) >= n // 2))) / 1024.0
    moved: Array = (values + shift) * 2.0**power
    assert _places(find_cuts(moved)) == _places(find_cuts(values))
    assert _places(find_cuts(-values)) == _places(find_cuts(values))


@quick
@given(st.lists(st.floats(-1e100, 1e100), min_size=6, max_size=29))
def test_any_short_series_gives_regimes_of_three_points_and_two_at_the_end(values: list[float]) -> None:
    changes = analyse(values)
    bounds = [0, *(change.index for change in changes), len(values)]
    lengths = [stop - start for start, stop in pairwise(bounds)]
    assert all(length >= 3 for length in lengths[:-1])
    assert lengths[-1] >= 2
    assert all(change.confirmed for change in changes[:-1])
    assert all(0.0 <= change.p_value <= 1.0 and math.isfinite(change.effect) for change in changes)
