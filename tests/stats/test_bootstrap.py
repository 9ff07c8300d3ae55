"""Bootstrap intervals: agreement with SciPy, reproducibility and coverage."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats as scipy_stats

from agentdyno.stats import Interval, Statistic, bca, hierarchical

Function = Callable[..., npt.NDArray[np.float64]]
SKEWED = np.random.default_rng(0).lognormal(size=40)


def _spread(rows: npt.NDArray[np.float64], axis: int) -> npt.NDArray[np.float64]:
    return np.asarray(rows.std(axis=axis))


@pytest.mark.parametrize(("name", "function"), [("mean", np.mean), ("median", np.median), (_spread, np.std)])
def test_bca_agrees_with_scipys(name: Statistic, function: Function) -> None:
    expected = scipy_stats.bootstrap(
        (SKEWED,),
        function,
        n_resamples=20_000,
        method="BCa",
        rng=np.random.default_rng(1),
    ).confidence_interval
    got = bca(SKEWED, name, resamples=20_000)
    width = expected.high - expected.low
    assert got.low == pytest.approx(expected.low, abs=0.06 * width)
    assert got.high == pytest.approx(expected.high, abs=0.06 * width)


def test_the_same_seed_gives_the_same_interval_and_another_seed_another() -> None:
    assert bca(SKEWED, seed=7) == bca(SKEWED, seed=7)
    assert bca(SKEWED, seed=7) != bca(SKEWED, seed=8)


@pytest.mark.parametrize(("statistic", "function"), [("mean", np.mean), ("median", np.median)])
def test_a_named_statistic_gives_what_its_function_gives(statistic: Statistic, function: Function) -> None:
    named, called = bca(SKEWED[:21], statistic), bca(SKEWED[:21], function)
    assert (named.low, named.high) == pytest.approx((called.low, called.high))


def test_equal_values_give_a_zero_width_interval() -> None:
    assert bca([2.5] * 5) == Interval(2.5, 2.5, 0.95)


def test_two_values_give_an_interval_inside_them() -> None:
    got = bca([1.0, 2.0])
    assert 1.0 <= got.low <= got.high <= 2.0


def test_one_value_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 2"):
        bca([1.0])


def test_a_statistic_that_ignores_the_axis_is_refused() -> None:
    with pytest.raises(ValueError, match="reduce the given axis"):
        bca(SKEWED, lambda rows, axis: rows.mean())


def test_a_statistic_that_gives_nan_is_refused() -> None:
    with pytest.raises(ValueError, match="NaN"):
        bca(SKEWED, lambda rows, axis: rows.mean(axis=axis) * np.nan)


def test_an_unknown_statistic_name_is_refused() -> None:
    with pytest.raises(ValueError, match="mode"):
        bca(SKEWED, "mode")  # type: ignore[arg-type]


def test_a_large_sample_is_resampled_in_pieces() -> None:
    x = np.random.default_rng(3).normal(10.0, 1.0, 30_000)
    got = bca(x, resamples=200)
    assert got.low < x.mean() < got.high
    assert got.high - got.low == pytest.approx(2 * 1.96 / np.sqrt(30_000), rel=0.25)


def test_bca_covers_the_mean_of_skewed_values() -> None:
    rng = np.random.default_rng(4)
    truth = np.exp(0.125)
    intervals = [bca(rng.lognormal(0.0, 0.5, 40), resamples=500, seed=i) for i in range(1000)]
    assert np.mean([i.low <= truth <= i.high for i in intervals]) >= 0.93


def test_bca_covers_the_median() -> None:
    rng = np.random.default_rng(5)
    intervals = [bca(rng.lognormal(size=40), "median", resamples=400, seed=i) for i in range(600)]
    assert np.mean([i.low <= 1.0 <= i.high for i in intervals]) >= 0.93


def test_the_hierarchical_interval_covers_where_groups_differ() -> None:
    rng = np.random.default_rng(6)
    nested, flat = [], []
    for i in range(150):
        groups = [(level + 0.2 * rng.normal(size=10)).tolist() for level in rng.normal(size=15)]
        h = hierarchical(groups, resamples=200, seed=i)
        b = bca(np.concatenate(groups), "median", resamples=200, seed=i)
        nested.append(h.low <= 0.0 <= h.high)
        flat.append(b.low <= 0.0 <= b.high)
    assert np.mean(nested) >= 0.9
    assert np.mean(flat) < 0.75


def test_the_hierarchical_interval_takes_groups_of_different_sizes() -> None:
    groups = [[1.0], [2.0, 2.1, 2.2], [3.0, 3.1]]
    got = hierarchical(groups, "mean", seed=1)
    assert 1.0 <= got.low < 2.2 < got.high <= 3.1
    assert got == hierarchical(groups, "mean", seed=1)


def test_no_group_and_an_empty_group_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 1 group"):
        hierarchical([])
    with pytest.raises(ValueError, match=r"groups\[1\]"):
        hierarchical([[1.0], []])
