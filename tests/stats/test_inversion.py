from __future__ import annotations

import itertools
import math

import numpy as np
import numpy.typing as npt
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.stats import mcnemar
from agentdyno.stats.inversion import Inversion, invert_law, invert_linear_swap, invert_swap
from agentdyno.stats.swap import Patterns

from ..properties import examples

Numbers = npt.NDArray[np.float64]
ALPHAS = st.sampled_from([0.01, 0.05, 0.2])


def agrees(found: Inversion, alpha: float) -> bool:
    return (found.p_value < alpha) == (not found.low <= 0.0 <= found.high)


def of_means(values: list[float], alpha: float = 0.05) -> Inversion:
    count = len(values)
    return invert_linear_swap(np.array(values) / count, np.full(count, 1 / count), alpha=alpha)


def p_by_signs(values: list[float], shift: float) -> float:
    """By all patterns of signs of the values less the shift."""
    moved = np.array(values) - shift
    signs = np.array(list(itertools.product((1, -1), repeat=len(values))))
    return float((np.abs(signs @ moved) >= abs(moved.sum()) - 1e-9).mean())


@pytest.mark.parametrize(("broken", "fixed", "cases"), [(4, 0, 30), (8, 0, 58), (1, 8, 12), (3, 11, 200), (0, 0, 9)])
def test_cases_that_are_right_or_wrong_have_the_p_value_of_mcnemars_exact_test(
    broken: int, fixed: int, cases: int
) -> None:
    values = [-1.0] * broken + [1.0] * fixed + [0.0] * (cases - broken - fixed)
    found = of_means(values)
    assert found.p_value == pytest.approx(mcnemar(broken, fixed).p_value)
    assert found.method == "swap test exact"
    assert agrees(found, 0.05)


def test_an_interval_holds_the_shifts_that_all_exchanges_of_signs_do_not_refute() -> None:
    values = [0.3, -0.2, 0.9, 0.1, 0.4, -0.1, 0.7, 0.2, 0.05]
    found = of_means(values)
    assert found.p_value == pytest.approx(p_by_signs(values, 0.0))
    for inside, outside in ((found.low + 1e-6, found.low - 1e-6), (found.high - 1e-6, found.high + 1e-6)):
        assert p_by_signs(values, inside) >= 0.05 > p_by_signs(values, outside)


def test_of_many_values_the_interval_is_nearly_students() -> None:
    values = np.random.default_rng(3).normal(0.1, 0.5, 200)
    found = of_means(values.tolist())
    expected = scipy.stats.ttest_1samp(values, 0.0)
    low, high = expected.confidence_interval(0.95)
    assert (found.low, found.high) == pytest.approx((low, high), abs=0.003)
    assert found.p_value == pytest.approx(expected.pvalue, abs=0.003)


@given(st.lists(st.sampled_from([-1.0, -2 / 3, -1 / 3, 0.0, 1 / 3, 2 / 3, 1.0]), min_size=2, max_size=40), ALPHAS)
@examples(80)
def test_scores_of_cases_never_have_a_p_value_that_contradicts_their_interval(
    values: list[float], alpha: float
) -> None:
    assert agrees(of_means(values, alpha), alpha)


@given(st.lists(st.floats(-1, 1), min_size=2, max_size=40), st.integers(0, 3), ALPHAS)
@examples(60)
def test_no_statistic_of_exchanges_contradicts_its_interval(values: list[float], seed: int, alpha: float) -> None:
    differences = np.array(values)
    shares = np.arange(1.0, len(values) + 1) / sum(range(1, len(values) + 1))

    def crooked(patterns: Patterns) -> Numbers:
        signs = 1.0 - 2.0 * patterns
        return np.asarray(np.sinh(signs @ differences) + (signs @ shares) ** 3 / 10)

    observed = float(crooked(np.zeros((1, len(values)), dtype=np.uint8))[0])
    assert agrees(invert_swap(observed, crooked, shares, alpha=alpha, seed=seed), alpha)


@given(st.floats(-5, 5), st.floats(0.01, 3), st.one_of(st.none(), st.integers(1, 30)), ALPHAS)
@examples(100)
def test_a_known_law_never_contradicts_its_interval(
    shift: float, error: float, degrees: int | None, alpha: float
) -> None:
    found = invert_law(shift, error, alpha=alpha, degrees=degrees)
    assert agrees(found, alpha)
    law = scipy.stats.norm if degrees is None else scipy.stats.t(degrees)
    assert found.p_value == pytest.approx(2 * float(law.sf(abs(shift) / error)), rel=1e-9, abs=1e-12)
    reach = float(law.ppf(1 - alpha / 2)) * error
    assert (found.low, found.high) == pytest.approx((shift - reach, shift + reach), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("alpha", [0.01, 0.05])
@pytest.mark.parametrize("degrees", [None, 3, 12])
def test_a_shift_at_the_very_edge_is_told_alike_by_both(alpha: float, degrees: int | None) -> None:
    law = scipy.stats.norm if degrees is None else scipy.stats.t(degrees)
    edge = float(law.ppf(1 - alpha / 2))
    for shift in (edge, math.nextafter(edge, 0.0), math.nextafter(edge, 9.0), -edge):
        assert agrees(invert_law(shift, 1.0, alpha=alpha, degrees=degrees), alpha)


def test_without_spread_the_shift_is_all_that_is_known() -> None:
    assert invert_law(0.2, 0.0, alpha=0.05) == Inversion(0.0, 0.2, 0.2, "no spread")
    assert invert_law(0.0, 0.0, alpha=0.05).p_value == 1.0


def test_too_few_units_bound_nothing() -> None:
    found = of_means([0.5, 0.6, 0.7, 0.8, 0.9])
    assert found.p_value == pytest.approx(2 / 2**5)
    assert (found.low, found.high) == (-math.inf, math.inf)
