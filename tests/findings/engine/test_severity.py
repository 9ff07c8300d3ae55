from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.findings.engine.severity import RANKS, Worsening, dimension_of, severity_of, threshold_of, worsening
from agentdyno.findings.history.model_regression import Severity


@pytest.mark.parametrize(
    ("amount", "expected"),
    [
        (0.101, Severity.LOW),
        (0.199, Severity.LOW),
        (0.20, Severity.MEDIUM),
        (0.30, Severity.HIGH),
        (0.499, Severity.HIGH),
        (0.50, Severity.CRITICAL),
    ],
)
def test_severity_goes_by_multiples_of_the_threshold(amount: float, expected: Severity) -> None:
    assert severity_of("accuracy", Worsening(amount, True), 0.4, 0.1) is expected
    assert severity_of("duration_s", Worsening(amount, True), 0.4, 0.1) is expected


@pytest.mark.parametrize("metric", ["cost", "cost_usd", "efficiency", "total_tokens"])
def test_money_and_resources_weigh_one_step_less(metric: str) -> None:
    found = [severity_of(metric, Worsening(amount, True), 1.0, 0.1) for amount in (0.15, 0.25, 0.35, 0.6)]
    assert found == [Severity.LOW, Severity.LOW, Severity.MEDIUM, Severity.HIGH]


def test_what_never_succeeds_any_more_is_critical_however_small_the_loss() -> None:
    assert severity_of("accuracy", Worsening(0.11, True), 0.0, 0.1) is Severity.CRITICAL
    assert severity_of("pass_rate", Worsening(0.11, True), 0.0, 0.1) is Severity.CRITICAL
    assert severity_of("error_rate", Worsening(0.11, False), 1.0, 0.1) is Severity.CRITICAL
    assert severity_of("failure_rate", Worsening(0.11, False), 1.0, 0.1) is Severity.CRITICAL
    assert severity_of("error_rate", Worsening(0.11, False), 0.9, 0.1) is Severity.LOW


def test_a_threshold_of_zero_is_weighed_as_one_per_cent() -> None:
    assert severity_of("speed", Worsening(0.015, True), 1.0, 0.0) is Severity.LOW
    assert severity_of("speed", Worsening(0.03, True), 1.0, 0.0) is Severity.HIGH


def test_direction_decides_what_is_worse() -> None:
    assert worsening("accuracy", 0.8, 0.6, higher_is_better=True).amount == pytest.approx(0.25)
    assert worsening("duration_s", 0.8, 0.6, higher_is_better=False).amount == pytest.approx(-0.25)


def test_a_rate_of_failing_changes_by_points_and_not_by_parts_of_itself() -> None:
    found = worsening("error_rate", 0.01, 0.03, higher_is_better=False)
    assert found.amount == pytest.approx(0.02)
    assert not found.relative
    assert not found.exceeds(0.1)


def test_errors_that_appear_from_zero_are_a_plain_difference() -> None:
    found = worsening("error_rate", 0.0, 0.2, higher_is_better=False)
    assert found == Worsening(0.2, relative=False)
    assert found.exceeds(0.1)
    assert severity_of("error_rate", found, 0.2, 0.1) is Severity.MEDIUM


def test_a_score_of_zero_that_rises_is_an_improvement_in_points() -> None:
    found = worsening("accuracy", 0.0, 0.3, higher_is_better=True)
    assert found == Worsening(-0.3, relative=False)
    assert found.improves(0.1)


def test_what_was_free_and_now_costs_counts_however_little_and_is_high_less_one_step() -> None:
    found = worsening("cost", 0.0, 0.002, higher_is_better=False, unit="usd")
    assert found == Worsening(0.002, relative=False, from_nothing=True)
    assert found.exceeds(0.1)
    assert severity_of("cost", found, 0.002, 0.1) is Severity.MEDIUM
    assert found.text(0.1, "usd") == "$2.00 per 1,000 worse, from nothing"


def test_a_ratio_that_is_no_number_is_told_plainly() -> None:
    found = worsening("duration_s", 5e-324, 1e300, higher_is_better=False, unit="s")
    assert math.isfinite(found.amount)
    assert not found.relative


def test_amounts_read_as_per_cent_or_points() -> None:
    assert Worsening(0.25, True).text(0.1) == "25 % worse (threshold 10 %)"
    assert Worsening(-0.031, False).text(0.1) == "3.1 points better (threshold 10 points)"
    assert Worsening(12.5, True).text(0.1) == "1,250 % worse (threshold 10 %)"


def test_thresholds_go_by_metric_then_quantity_then_ten_per_cent() -> None:
    assert threshold_of(0.2, "speed") == 0.2
    assert threshold_of({"duration_s": 0.3}, "speed", "duration_s") == 0.3
    assert threshold_of({"cost": 0.3}, "speed", "duration_s") == 0.1


@pytest.mark.parametrize("bad", [-0.1, math.nan, math.inf])
def test_a_threshold_must_be_a_share(bad: float) -> None:
    with pytest.raises(ValueError, match="speed must be 0 or more"):
        threshold_of({"speed": bad}, "speed")


def test_metrics_of_one_dimension_are_told_together() -> None:
    assert dimension_of("duration_s") == dimension_of("speed")
    assert dimension_of("failure_rate") == "reliability"
    assert dimension_of("made_up") == "made_up"


@given(
    st.floats(0.0, 100.0), st.floats(0.0, 100.0), st.sampled_from(["accuracy", "cost", "duration_s", "error_rate"])
)
def test_a_larger_loss_is_never_less_severe(first: float, second: float, metric: str) -> None:
    small, large = sorted((first, second))
    found = [severity_of(metric, Worsening(amount, True), 0.5, 0.1) for amount in (small, large)]
    assert RANKS[found[0]] <= RANKS[found[1]]
