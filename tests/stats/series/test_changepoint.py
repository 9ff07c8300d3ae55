"""Changes of level: found where they are, sized, provisional at first, and none in noise."""

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import agentdyno.stats
from agentdyno.stats.samples import Array
from agentdyno.stats.series.changepoint import Change, analyse, detect

from ..properties import quick


def noise(kind: str, n: int, seed: int) -> Array:
    random = np.random.default_rng(seed)
    normal = random.standard_normal(n)
    if kind == "t3":
        return random.standard_t(3, n) / math.sqrt(3.0)
    if kind == "spikes":
        return normal + (random.random(n) < 0.05) * random.uniform(5.0, 20.0, n)
    if kind == "bimodal":
        return normal / 2.0 + np.where(random.random(n) < 0.3, 2.0, 0.0)
    if kind == "ar1":
        for i in range(1, n):
            normal[i] = 0.6 * normal[i - 1] + 0.8 * normal[i]
    return normal


def stepped(n: int, *steps: tuple[int, float]) -> Array:
    levels = np.zeros(n)
    for place, size in steps:
        levels[place:] += size
    return levels


def near(found: Sequence[int], truth: Sequence[int], within: int) -> bool:
    return len(found) == len(truth) and all(abs(a - b) <= within for a, b in zip(found, truth, strict=True))


def test_a_clean_step_is_found_at_its_first_point() -> None:
    assert detect([1.0] * 10 + [2.0] * 10) == [10]
    assert detect([5, 5, 5, 5, 1, 1, 1, 1]) == [4]
    assert detect([1.0] * 12 + [4.0] * 9 + [1.0] * 11 + [2.0] * 8) == [12, 21, 32]


def test_a_change_is_sized_by_medians_with_its_sign() -> None:
    values = [10.0, 11.0, 9.0, 10.0, 10.5] * 6 + [12.0, 13.0, 11.0, 12.0, 12.5] * 6
    (change,) = analyse(values)
    assert (change.index, change.before, change.after) == (30, 10.0, 12.0)
    assert (change.absolute, change.relative, change.direction) == (2.0, 0.2, "up")
    assert change.confirmed
    assert change.p_value < 1e-6
    assert 2.0 < change.effect < 4.0
    (back,) = analyse(values[::-1])
    assert (back.index, back.absolute, back.direction) == (30, -2.0, "down")
    assert back.relative == pytest.approx(-1 / 6)


def test_levels_of_neighbouring_changes_are_those_between_them() -> None:
    changes = analyse([1.0] * 10 + [3.0] * 10 + [2.0] * 10)
    assert [(c.before, c.after) for c in changes] == [(1.0, 3.0), (3.0, 2.0)]


def test_a_change_from_zero_has_no_relative_size() -> None:
    (change,) = analyse([0.0] * 10 + [1.0] * 10)
    assert change.relative is None
    assert change.absolute == 1.0


@pytest.mark.parametrize("kind", ["gauss", "t3", "spikes", "ar1", "bimodal"])
@pytest.mark.parametrize("size", [4.0, 6.0])
def test_clear_steps_are_found_in_every_noise(kind: str, size: float) -> None:
    places = [150, 400, 480, 800]
    levels = stepped(1_000, (150, size), (400, -size), (480, size), (800, size))
    for seed in (101, 102, 103):
        assert near(detect(levels + noise(kind, 1_000, seed)), places, 5)


@pytest.mark.parametrize(
    ("kind", "most"), [("gauss", 0), ("t3", 1), ("spikes", 1), ("ar1", 2), ("bimodal", 1)], ids=lambda v: str(v)
)
def test_noise_alone_raises_at_most_a_tenth_of_an_alarm_in_a_thousand_points(kind: str, most: int) -> None:
    alarms = sum(len(detect(noise(kind, 100, seed))) for seed in range(200))
    alarms += sum(len(detect(noise(kind, 1_000, 1_000 + seed))) for seed in range(5))
    assert alarms <= most


@pytest.mark.parametrize(("times", "per_1000"), [(2.0, 0.1), (3.0, 0.25)])
def test_a_noisier_quarter_raises_no_more_alarms_than_documented(times: float, per_1000: float) -> None:
    alarms = 0
    for seed in range(150):
        values = noise("gauss", 400, seed)
        values[300:] *= times
        alarms += len(detect(values))
    assert alarms <= per_1000 * 150 * 400 / 1_000


def test_correlation_does_not_blur_where_a_level_changed() -> None:
    for seed in range(60):
        assert detect(noise("ar1", 400, seed) + stepped(400, (200, 4.0))) == [200]


def test_drift_without_a_jump_is_not_cut_into_steps() -> None:
    wander = np.cumsum(np.random.default_rng(12).standard_normal(400))
    assert detect(wander) == []


def test_a_single_outlier_is_no_change_wherever_it_is() -> None:
    for place in (0, 1, 7, 20, 39):
        values = [1.0] * 40
        values[place] = 1e6
        assert analyse(values) == ()
    assert analyse([*noise("gauss", 40, 3), 50.0]) == ()


@pytest.mark.parametrize("values", [[], [1.0], [1.0] * 3 + [9.0] * 4, [math.nan] * 20, [7.0] * 50])
def test_too_few_or_equal_values_have_no_change(values: list[float]) -> None:
    assert analyse(values) == ()


def test_missing_values_are_skipped_and_still_counted() -> None:
    values: list[float] = [math.nan, 1.0, 1.2, 0.9, 1.1, math.inf, 1.0, 0.8, 1.1, 1.0, 0.9]
    values += [math.nan, 5.0, 5.1, 4.9, -math.inf, 5.2, 5.0, 4.8, 5.1, 5.0, 4.9]
    assert detect(values) == [12]


def test_a_difference_in_the_last_digit_is_not_a_change() -> None:
    assert analyse([0.3] * 20 + [0.1 + 0.2] * 20) == ()


def test_a_small_shift_is_left_unless_asked_for() -> None:
    values = noise("gauss", 2_000, 21) + stepped(2_000, (1_000, 0.6))
    assert detect(values) == []
    assert near(detect(values, min_effect=0.3), [1_000], 40)


def test_a_stricter_test_leaves_weak_evidence_aside() -> None:
    values = [1.0, 1.4, 0.6, 1.0, 1.2, 0.8, 3.0, 3.4, 2.6, 3.0, 3.2, 2.8]
    assert detect(values) == [6]
    assert detect(values, alpha=1e-6) == []
    longer = noise("gauss", 40, 3) + stepped(40, (36, 6.0))
    assert detect(longer) == [36]
    assert detect(longer, alpha=1e-6) == []


@pytest.mark.parametrize(("min_effect", "alpha"), [(-1.0, 0.05), (math.nan, 0.05), (1.0, 0.0), (1.0, 1.5)])
def test_settings_that_mean_nothing_are_refused(min_effect: float, alpha: float) -> None:
    with pytest.raises(ValueError, match=r"min_effect|alpha"):
        analyse([1.0] * 20, min_effect, alpha)


def test_values_of_two_dimensions_are_refused() -> None:
    with pytest.raises(ValueError, match="one-dimensional"):
        detect(np.zeros((4, 4)))


def test_a_new_level_is_provisional_after_two_points_and_confirmed_by_more() -> None:
    values = noise("gauss", 80, 31) + stepped(80, (60, 6.0))
    seen = {n: [(c.index, c.confirmed) for c in analyse(values[:n])] for n in (60, 61, 62, 63, 66, 80)}
    assert seen == {60: [], 61: [], 62: [(60, False)], 63: [(60, False)], 66: [(60, True)], 80: [(60, True)]}
    assert detect(values[:63]) == []


def test_a_provisional_change_is_withdrawn_when_the_old_level_returns() -> None:
    values = noise("gauss", 80, 32)
    values[60:63] += 6.0
    assert [(c.index, c.confirmed, c.direction) for c in analyse(values[:63])] == [(60, False, "up")]
    assert analyse(values[:70]) == ()
    assert analyse(values) == ()


def test_three_points_of_a_new_level_are_not_filled_up_to_four_with_an_old_one() -> None:
    (change,) = analyse([1.0] * 20 + [9.0] * 3)
    assert (change.index, change.confirmed, change.before, change.after) == (20, False, 1.0, 9.0)


def test_points_far_to_both_sides_are_no_provisional_change() -> None:
    values = noise("gauss", 62, 33)
    values[60:] = [8.0, -8.0]
    assert analyse(values) == ()


def test_a_confirmed_regime_has_four_points_on_each_side() -> None:
    for seed in range(40):
        values = noise("spikes", 60, seed) + stepped(60, (4 + seed, 5.0))
        bounds = [0, *detect(values), 60]
        assert all(b - a >= 4 for a, b in pairwise(bounds))


def test_three_low_points_at_the_start_are_no_regime() -> None:
    values = noise("gauss", 60, 35)
    values[:3] -= 8.0
    assert detect(values) == []


def test_the_public_name_is_there() -> None:
    assert agentdyno.stats.Change is Change


@quick
@given(st.integers(0, 10_000), st.integers(-(2**20), 2**20), st.integers(-200, 200))
def test_shifting_and_scaling_move_no_change(seed: int, shift: int, power: int) -> None:
    # Binary fractions, so that the sums and products here are exact and only the scale differs.
    values = np.rint(1024.0 * (noise("t3", 120, seed) + stepped(120, (50, 5.0), (90, -4.0)))) / 1024.0
    scale = 2.0**power
    before, after = analyse(values), analyse((values + shift) * scale)
    assert [(c.index, c.confirmed) for c in after] == [(c.index, c.confirmed) for c in before]
    for a, b in zip(after, before, strict=True):
        assert a.effect == pytest.approx(b.effect, rel=1e-6)
        assert a.absolute == b.absolute * scale


@pytest.mark.parametrize("kind", ["gauss", "t3", "spikes"])
def test_the_series_backwards_changes_at_the_same_places(kind: str) -> None:
    for seed in range(25):
        values = noise(kind, 200, seed) + stepped(200, (60, 6.0), (140, 6.0))
        backwards = [200 - index for index in detect(values[::-1])][::-1]
        assert near(backwards, detect(values), 3)


@quick
@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=60))
def test_any_floats_give_an_answer(values: list[float]) -> None:
    changes = analyse(values)
    assert [c.index for c in changes] == sorted({c.index for c in changes})
    for change in changes:
        assert 4 <= change.index < len(values)
        assert math.isfinite(values[change.index])
        assert change.effect >= 0.0
        assert 0.0 <= change.p_value <= 1.0
    assert detect(values) == [c.index for c in changes if c.confirmed]


@quick
@given(st.lists(st.sampled_from([0.0, 1.0, 2.0, 1e-320, 1e308, -1e308]), min_size=8, max_size=40))
def test_few_different_values_and_extremes_give_an_answer(values: list[float]) -> None:
    for change in analyse(values):
        assert change.before != change.after
