"""What moves a grade although the truth is the same."""

from __future__ import annotations

import numpy as np
import pytest

from agentdyno.stats.raters.bias import GradedItems, slope_given


def test_a_slope_without_noise_is_found_exactly() -> None:
    length = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    truth = [0.0, 1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 0.0]
    grades = [0.1 + 0.05 * x + 0.4 * t for x, t in zip(length, truth, strict=True)]
    found = slope_given(GradedItems(grades, length), truth)
    assert found is not None
    assert found.value == pytest.approx(0.05)


def test_the_error_is_hc3_written_out() -> None:
    rng = np.random.default_rng(1)
    x, truth = rng.normal(size=40), (rng.random(40) < 0.5).astype(float)
    y = 0.3 * x + truth + rng.normal(size=40) * (1 + np.abs(x))
    found = slope_given(GradedItems(y, x), truth)
    design = np.column_stack([np.ones(40), x, truth])
    beta = np.linalg.lstsq(design, y, rcond=None)[0]
    hat = design @ np.linalg.inv(design.T @ design) @ design.T
    meat = design.T @ np.diag(((y - design @ beta) / (1 - np.diag(hat))) ** 2) @ design
    bread = np.linalg.inv(design.T @ design)
    error = np.sqrt((bread @ meat @ bread)[1, 1])
    assert found is not None
    assert found.value == pytest.approx(beta[1])
    assert found.interval.high - found.value == pytest.approx(2.026192 * error, rel=1e-5)  # t of 37


def test_longer_answers_that_are_better_are_no_bias() -> None:
    rng = np.random.default_rng(2)
    length = rng.gamma(2.0, 150.0, 400)
    truth = (rng.random(400) < np.clip(length / 600, 0.05, 0.95)).astype(float)
    found = slope_given(GradedItems(truth, length / 100), truth)
    assert found is not None
    assert found.value == pytest.approx(0.0, abs=1e-9)
    assert slope_given(GradedItems(truth, length / 100)) is not None


def test_nothing_is_said_of_what_never_changes_or_of_a_few_items() -> None:
    assert slope_given(GradedItems([1, 0] * 10, [5.0] * 20)) is None
    assert slope_given(GradedItems([1, 0, 1], [1, 2, 3])) is None
    assert slope_given(GradedItems([1, 0] * 10, [1, 0] * 10), [1, 0] * 10) is None
    assert slope_given(GradedItems([1, 0] * 10, list(range(20)), ["one"] * 20)) is None


def test_a_truth_that_is_always_the_same_is_left_out() -> None:
    found = slope_given(GradedItems([0.1 * i for i in range(10)], list(range(10))), [1.0] * 10)
    assert found is not None
    assert found.value == pytest.approx(0.1)


def test_items_without_a_label_make_the_slope_more_certain_and_leave_it_true() -> None:
    rng = np.random.default_rng(7)
    length = rng.gamma(2.0, 1.5, 2000)
    truth = (rng.random(2000) < np.clip(0.3 + 0.1 * length, 0, 1)).astype(float)
    grades = 0.2 + 0.5 * truth + 0.05 * length + rng.normal(0, 0.4, 2000)
    labelled = GradedItems(grades[:200], length[:200])
    alone = slope_given(labelled, truth[:200])
    more = slope_given(labelled, truth[:200], GradedItems(grades[200:], length[200:]))
    assert alone is not None
    assert more is not None
    assert more.interval.low < 0.05 < more.interval.high
    assert more.interval.high - more.interval.low < 0.8 * (alone.interval.high - alone.interval.low)


def test_answers_to_one_question_count_as_one() -> None:
    rng = np.random.default_rng(9)
    cause = np.repeat(rng.normal(size=20), 10)
    grades = np.repeat(rng.normal(size=20), 10)
    alone = slope_given(GradedItems(grades, cause))
    together = slope_given(GradedItems(grades, cause, [i // 10 for i in range(200)]))
    assert alone is not None
    assert together is not None
    assert together.value == pytest.approx(alone.value)
    assert together.interval.high - together.interval.low > 2 * (alone.interval.high - alone.interval.low)


def test_grades_that_the_truth_says_whole_have_no_slope_left_but_rounding() -> None:
    """Every wrong answer is as long as the others, and every right one passes: length says nothing."""
    truth = [1.0] * 38 + [0.0] * 22
    grades = [1.0] * 38 + [1.0, 0.0] * 11
    tokens = [0.0225 + 0.0025 * (place % 3) for place in range(38)] + [0.0325] * 22
    found = slope_given(GradedItems(grades, tokens), truth)
    assert found is not None
    assert (found.value, found.interval.low, found.interval.high, found.p_value) == (0.0, 0.0, 0.0, 1.0)
