"""A mean that is watched while values come in."""

from __future__ import annotations

import math
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.stats import Capital, Decision, MeanSequence
from tests.stats.properties import quick

# Moments of the fractions sin(t), t even in 0..pi/2, by Wallis's formula.
FIRST, SECOND, THIRD, FOURTH = 2 / math.pi, 1 / 2, 4 / (3 * math.pi), 3 / 8
differences = st.lists(st.sampled_from([-1.0, -0.6, -0.2, 0.0, 0.0, 0.4, 1.0]) | st.floats(-1, 1), max_size=60)


def capital(*values: float, mean: float = 0.0, above: bool = True, low: float = -1.0, high: float = 1.0) -> float:
    bets = Capital([mean], low, high, above=above)
    for value in values:
        bets.add(value)
    return float(bets.now[0])


def sequence(*values: float, alpha: float = 0.05) -> MeanSequence:
    found = MeanSequence(alpha)
    for value in values:
        found.add(value)
    return found


def test_capital_is_the_mean_over_fractions_of_the_product_of_gains() -> None:
    assert capital() == 1.0
    assert capital(0.0, 0.0, 0.0) == pytest.approx(1.0)
    assert capital(1.0) == pytest.approx(1 + FIRST)
    assert capital(1.0, 1.0) == pytest.approx(1 + 2 * FIRST + SECOND)
    assert capital(1.0, -1.0) == pytest.approx(1 - SECOND)
    assert capital(1.0, 0.0, 1.0, 1.0) == pytest.approx(1 + 3 * FIRST + 3 * SECOND + THIRD)
    # (1 + f)^3 (1 - f) = 1 + 2 f - 2 f^3 - f^4
    assert capital(1.0, 1.0, -1.0, 1.0) == pytest.approx(1 + 2 * FIRST - 2 * THIRD - FOURTH)
    assert capital(0.5, -0.2) == pytest.approx(1 + 0.3 * FIRST - 0.1 * SECOND)


def test_a_bet_is_scaled_so_that_all_can_be_lost_at_the_bound_and_nothing_more() -> None:
    # Against a mean of 0.2 in 0..1: the gain of 0.7 is 0.5 / 0.2, the loss of 0.1 is 0.1 / 0.2.
    assert capital(0.7, 0.1, mean=0.2, low=0.0) == pytest.approx(1 + 2.0 * FIRST - 1.25 * SECOND)
    assert capital(0.7, mean=0.2, low=0.0, above=False) == pytest.approx(1 - 0.625 * FIRST)
    assert 0.0 < capital(*[-1.0] * 50) < 0.02


def test_bets_below_are_bets_above_in_the_mirror() -> None:
    values = [0.3, -1.0, 0.2, -0.4]
    mirrored = capital(*(-value for value in values), mean=-0.1)
    assert capital(*values, mean=0.1, above=False) == pytest.approx(mirrored)


@pytest.mark.parametrize("mean", [-0.5, 0.0, 0.03, 0.7])
@pytest.mark.parametrize("above", [True, False])
def test_a_bet_is_fair_at_its_mean(mean: float, above: bool) -> None:
    up = (1 + mean) / 2  # the chance of +1 where the only other value is -1
    third = 1 / 3 * (mean + 1) / 2  # and of another law with the same mean: a third of the mass at the mean itself
    values = {1.0: up, -1.0: 1 - up}
    other = {1.0: 2 * third, -1.0: 2 / 3 - 2 * third, mean: 1 / 3}
    for law in (values, other):
        expected = sum(p * q * capital(x, y, mean=mean, above=above) for x, p in law.items() for y, q in law.items())
        assert expected == pytest.approx(1.0)


def test_many_means_are_watched_at_once_and_values_may_differ_by_mean() -> None:
    bets = Capital([0.0, 0.0, 0.5], above=True)
    bets.add(np.array([1.0, -1.0, 0.5]))
    assert bets.now == pytest.approx([1 + FIRST, 1 - FIRST, 1.0])
    bets.add(-1.0)
    assert bets.most == pytest.approx([1 + FIRST, 1.0, 1.0])
    bets.keep(slice(1, 2))
    assert bets.most == pytest.approx([1.0])


@pytest.mark.parametrize("mean", [-1.0, 1.0, 2.0])
def test_a_mean_at_or_beyond_a_bound_cannot_be_bet_on(mean: float) -> None:
    with pytest.raises(ValueError, match="strictly between"):
        Capital([mean], above=True)


def test_seven_wins_in_a_row_refute_equality_and_six_do_not() -> None:
    # Mean of (1 + sin t)^k over t is 28.8 for k = 6 and 53.5 for k = 7; 2 / 0.05 = 40.
    t = (np.arange(200_000) + 0.5) / 200_000 * math.pi / 2
    six, seven = (float(((1 + np.sin(t)) ** k).mean()) for k in (6, 7))
    assert six < 40 < seven
    found = sequence(*[1.0] * 6)
    assert found.p_value == pytest.approx(2 / six)
    assert not found.excludes(0.0)
    found.add(1.0)
    assert found.p_value == pytest.approx(2 / seven)
    assert found.excludes(0.0)
    assert found.interval.low >= 0.0
    assert found.interval.high == 1.0


def test_the_ends_of_the_interval_are_where_the_capital_passes_the_limit() -> None:
    values = [1.0, 0.0, 0.4, 1.0, -0.2, 1.0, 1.0, 0.6, 0.0, 1.0, 1.0, 0.8]
    found = sequence(*values).interval
    step = 2 / 800
    # The capital was highest at the end for the lower bound: the last values are all high.
    assert capital(*values, mean=found.low) >= 40 > capital(*values, mean=found.low + step)
    assert found.confidence == 0.95


def test_at_first_nothing_is_known() -> None:
    found = MeanSequence()
    assert (found.n, found.mean, found.p_value) == (0, None, 1.0)
    assert (found.interval.low, found.interval.high) == (-1.0, 1.0)
    assert not found.excludes(-1.0)
    assert not found.excludes(1.0)
    assert found.excludes(1.1)


def test_the_mean_is_that_of_the_values() -> None:
    found = sequence(0.5, -0.25, 0.5)
    assert (found.n, found.mean) == (3, 0.25)


def test_evidence_that_was_reached_is_kept_when_later_values_speak_against_it() -> None:
    found = sequence(*[1.0] * 9)
    p_value, low = found.p_value, found.interval.low
    for _ in range(500):
        found.add(-1.0)
    assert found.p_value <= p_value
    assert low <= found.interval.low < found.interval.high


def test_values_of_one_kind_close_in_on_their_mean() -> None:
    found = sequence(*[0.25] * 5_000)
    assert found.interval.low == pytest.approx(0.25, abs=0.006)
    assert found.interval.high == pytest.approx(0.25, abs=0.006)
    assert found.interval.low <= 0.25 <= found.interval.high
    assert math.isfinite(found.p_value)


def test_bounds_and_null_may_be_others() -> None:
    found = MeanSequence(0.1, 0.0, 1.0, null=1 / 3)
    for _ in range(8):
        found.add(1.0)
    assert found.excludes(1 / 3)
    assert found.p_value <= 0.1
    assert (found.interval.high, found.interval.confidence) == (1.0, 0.9)


@pytest.mark.parametrize("value", [1.01, -1.01, math.nan, math.inf])
def test_a_value_outside_of_the_bounds_is_refused(value: float) -> None:
    with pytest.raises(ValueError, match="value"):
        sequence(0.0).add(value)


@pytest.mark.parametrize(("low", "null", "high"), [(0.0, 0.0, 1.0), (1.0, 0.0, -1.0), (-math.inf, 0.0, 1.0)])
def test_impossible_bounds_are_refused(low: float, null: float, high: float) -> None:
    with pytest.raises(ValueError, match="expected low < null < high"):
        MeanSequence(0.05, low, high, null=null)


@given(differences)
@quick
def test_intervals_stay_within_the_bounds_and_only_shrink(values: list[float]) -> None:
    found = MeanSequence()
    intervals = [found.interval]
    p_values = [found.p_value]
    for value in values:
        found.add(value)
        intervals.append(found.interval)
        p_values.append(found.p_value)
    assert all(-1.0 <= item.low < item.high <= 1.0 for item in intervals)
    assert all(a.low <= b.low and b.high <= a.high for a, b in pairwise(intervals))
    assert p_values == sorted(p_values, reverse=True)
    assert found.excludes(0.0) == (found.p_value <= 0.05)


@given(differences)
@quick
def test_the_interval_mirrors_where_the_sides_are_swapped(values: list[float]) -> None:
    found, mirrored = sequence(*values), sequence(*(-value for value in values))
    assert found.interval.low == pytest.approx(-mirrored.interval.high, abs=0.0026)
    assert found.p_value == pytest.approx(mirrored.p_value)


@given(st.lists(st.sampled_from([-1.0, 0.0, 0.0, 1.0]), max_size=25), st.randoms(use_true_random=False))
@quick
def test_the_capital_does_not_depend_on_the_order(values: list[float], random: Random) -> None:
    wins, losses = values.count(1.0), values.count(-1.0)
    shuffled = values[:]
    random.shuffle(shuffled)
    t = (np.arange(20_000) + 0.5) / 20_000 * math.pi / 2
    exact = float(((1 + np.sin(t)) ** wins * (1 - np.sin(t)) ** losses).mean())
    assert capital(*values) == pytest.approx(exact, rel=1e-6)
    assert capital(*shuffled) == pytest.approx(capital(*values))


@given(differences, st.floats(0, 0.5), st.integers(1, 20))
@quick
def test_a_decision_never_fails_and_stays(values: list[float], tolerance: float, least: int) -> None:
    decision = Decision(tolerance, least=least)
    verdicts = [decision.add(value) for value in values]
    decided = [verdict for verdict in verdicts if verdict is not None]
    assert len(set(decided)) <= 1
    assert verdicts[len(verdicts) - len(decided) :] == decided
    assert decision.sequence.n == min(len(values), len(values) - len(decided) + bool(decided))
    assert not decided or decision.sequence.n >= least


def test_a_decision_names_the_direction() -> None:
    decision = Decision(least=7)
    assert [decision.add(1.0) for _ in range(7)] == [None] * 6 + ["better"]
    decision = Decision(least=7)
    assert [decision.add(-1.0) for _ in range(7)] == [None] * 6 + ["worse"]


def test_a_decision_waits_for_the_least_number_of_cases() -> None:
    decision = Decision()
    assert [decision.add(1.0) for _ in range(9)] == [None] * 7 + ["better"] * 2
    assert decision.sequence.n == 8


def test_agents_that_never_differ_are_the_same_in_the_end() -> None:
    decision = Decision()
    verdicts = [decision.add(0.0) for _ in range(400)]
    assert verdicts[-1] == "same"
    # Each case adds 0.03 / 0.97 of what is staked against a mean of -0.03.
    t = (np.arange(20_000) + 0.5) / 20_000 * math.pi / 2
    needed = next(n for n in range(400) if float(((1 + 0.03 / 0.97 * np.sin(t)) ** n).mean()) >= 40)
    assert verdicts.index("same") + 1 == needed == decision.sequence.n == 153
    wide, narrow = Decision(tolerance=0.1), Decision(tolerance=0.0)
    assert sum(wide.add(0.0) is None for _ in range(400)) < needed / 2
    assert {narrow.add(0.0) for _ in range(400)} == {None}


@pytest.mark.parametrize("options", [{"tolerance": -0.1}, {"tolerance": 1.0}, {"alpha": 0.0}, {"least": 0}])
def test_impossible_options_of_a_decision_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(ValueError, match=r"tolerance|alpha|least"):
        Decision(**options)  # type: ignore[arg-type]


def ternary(random: np.random.Generator, experiments: int, n: int, wins: float, losses: float) -> np.ndarray:
    even = random.random((experiments, n))
    return np.where(even < wins, 1.0, np.where(even < wins + losses, -1.0, 0.0))


def first_refutation(values: np.ndarray, limit: float = 40.0) -> np.ndarray:
    """Cases until either direction is refuted, by experiment; more than there are where it is not."""
    experiments, n = values.shape
    sides = [Capital(np.zeros(experiments), above=above) for above in (True, False)]
    ends = np.full(experiments, n + 1)
    for i in range(n):
        for side in sides:
            side.add(values[:, i])
        reached = np.maximum(sides[0].most, sides[1].most) >= limit
        ends = np.where(reached & (ends > n), i + 1, ends)
    return ends


@pytest.mark.parametrize(("wins", "losses"), [(0.1, 0.1), (0.2, 0.2)])
def test_equals_are_told_apart_in_under_five_of_a_hundred_runs_however_often_one_looks(
    wins: float, losses: float
) -> None:
    values = ternary(np.random.default_rng(7), 2_000, 300, wins, losses)
    share = (first_refutation(values) <= 300).mean()
    assert 0.005 < share <= 0.05
    # The same looks with the usual threshold of a t-test would err several times as often.
    counts = np.arange(1, 301)
    sums, squares = values.cumsum(axis=1), (values**2).cumsum(axis=1)
    spread = np.sqrt(np.maximum(squares - sums**2 / counts, 1e-12) / np.maximum(counts - 1, 1))
    naive = (np.abs(sums / counts) > 1.97 * spread / np.sqrt(counts))[:, 20:].any(axis=1).mean()
    assert naive > 0.15


def test_the_interval_covers_at_every_look() -> None:
    random = np.random.default_rng(3)
    missed = 0
    for values in ternary(random, 150, 120, 0.3, 0.1):
        missed += sequence(*values).excludes(0.2)
    assert missed / 150 <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / 150)


def test_twice_the_detectable_difference_is_found_with_under_half_of_the_cases() -> None:
    # 100 cases of which 30 % differ detect a difference of 0.149 in 8 of 10 runs.
    ends = first_refutation(ternary(np.random.default_rng(5), 1_000, 100, 0.3, 0.002))
    assert (ends <= 100).mean() > 0.99
    assert ends.mean() <= 50


def test_a_decision_stops_where_the_capitals_say() -> None:
    random = np.random.default_rng(11)
    laws = [(0.25, 0.05), (0.05, 0.3), (0.0, 0.0)]
    values = np.concatenate([ternary(random, 10, 150, wins, losses) for wins, losses in laws])
    expected = first_refutation(values)
    for row, end in zip(values, expected, strict=True):
        decision = Decision(least=1)
        for value in row:
            decision.add(float(value))
        assert (decision.verdict in ("better", "worse")) == (end <= 150)
        if end <= 150:
            assert decision.sequence.n == end
            assert decision.verdict == ("better" if row[:end].sum() > 0 else "worse")
