"""Censored times: tests and medians against SciPy and against figures worked out by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import stats

from agentdyno.model import CensoredValue
from agentdyno.stats.survival import log_rank, median_time


def group(*values: float, beyond: tuple[float, ...] = ()) -> list[CensoredValue]:
    """Times that were reached, and times ``beyond`` which something lies."""
    return [CensoredValue(v, reached=True) for v in values] + [CensoredValue(v, reached=False) for v in beyond]


def scipy_data(items: list[CensoredValue]) -> stats.CensoredData:
    return stats.CensoredData(
        [item.value for item in items if item.reached], right=[item.value for item in items if not item.reached]
    )


# Remission of leukaemia in weeks (Freireich et al. 1963), the textbook's example: 6-MP against placebo.
TREATED = group(6, 6, 6, 7, 10, 13, 16, 22, 23, beyond=(6, 9, 10, 11, 17, 19, 20, 25, 32, 32, 34, 35))
PLACEBO = group(1, 1, 2, 2, 3, 4, 4, 5, 5, 8, 8, 8, 8, 11, 11, 12, 12, 15, 17, 22, 23)


def test_the_log_rank_test_of_the_leukaemia_trial_is_that_of_the_textbook() -> None:
    found = log_rank(TREATED, PLACEBO)
    assert found is not None
    assert found.z**2 == pytest.approx(16.793, abs=5e-4)
    assert found.z < 0, "the treated stay in remission for longer"
    gehan = log_rank(TREATED, PLACEBO, weight="gehan")
    assert gehan is not None
    assert gehan.z**2 == pytest.approx(13.458, abs=5e-4)


def test_medians_of_the_leukaemia_trial_are_those_of_the_textbook() -> None:
    assert median_time(TREATED).median == 23
    assert median_time(PLACEBO).median == 8
    assert median_time(TREATED).high is None, "its upper end lies beyond what was watched"


@pytest.mark.parametrize("seed", range(20))
def test_the_log_rank_test_agrees_with_scipy(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sides = []
    for scale in (300.0, 450.0):
        times = np.round(rng.exponential(scale, rng.integers(4, 15)))
        sides.append([CensoredValue(float(min(t, 600)), reached=bool(t < 600)) for t in times])
    ours, theirs = log_rank(sides[0], sides[1]), stats.logrank(scipy_data(sides[0]), scipy_data(sides[1]))
    assert ours is not None
    assert ours.p_value == pytest.approx(theirs.pvalue, abs=1e-12)
    assert abs(ours.z) == pytest.approx(abs(theirs.statistic), abs=1e-9)


def test_gehans_test_by_hand() -> None:
    """Times 1 and 3 against 2 and beyond 3: at 1, 2 and 3 there are 4, 3 and 2 on their way."""
    found = log_rank(group(1, 3), group(2, beyond=(3,)), weight="gehan")
    assert found is not None
    observed = 4 * (1 - 2 / 4) + 3 * (0 - 1 / 3) + 2 * (1 - 1 / 2)
    variance = 16 * 1 / 4 + 9 * (1 / 3) * (2 / 3) + 4 * 1 / 4
    assert found.z == pytest.approx(observed / math.sqrt(variance))


def test_where_nobody_got_there_nothing_is_compared() -> None:
    never = group(beyond=(1000, 1000))
    assert log_rank(never, never) is None
    assert median_time(never).median is None


def test_median_and_interval_agree_with_scipy() -> None:
    curve = stats.ecdf(scipy_data(TREATED)).sf
    lower: Any = curve.confidence_interval(method="log-log").low
    found = median_time(TREATED)
    assert found.median == curve.quantiles[np.argmax(curve.probabilities <= 0.5)]
    assert found.low == curve.quantiles[np.argmax(lower.probabilities <= 0.5)]


@pytest.mark.parametrize("bad", [[], [CensoredValue(math.nan, reached=True)], [CensoredValue(-1, reached=True)]])
def test_times_must_be_numbers(bad: list[CensoredValue]) -> None:
    with pytest.raises(ValueError, match="expected finite times"):
        median_time(bad)


def test_a_value_that_was_not_reached_is_shown_as_more_than_it() -> None:
    assert str(CensoredValue(1000, reached=False)) == "> 1000"
    assert CensoredValue(364, reached=True).show() == "364"
    assert CensoredValue(0.25, reached=False).show("s") == "> 250 ms"


def test_censored_values_cannot_be_averaged() -> None:
    with pytest.raises(TypeError):
        np.mean(group(1, 2))  # type: ignore[arg-type]
