"""The rate behind a fallible rater's grades."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.stats.intervals import wilson
from agentdyno.stats.raters.prediction_powered import corrected_rate

from ..properties import quick

LABELS = [1, 1, 1, 0, 0, 1, 0, 1]
GRADES = [1, 1, 1, 1, 0, 1, 0, 0]
OTHERS = [1] * 30 + [0] * 10


def test_the_rate_is_that_of_the_formula_worked_out_by_hand() -> None:
    found = corrected_rate(LABELS, GRADES, OTHERS)
    # The covariance by hand: the sum of products is 4, both means are 5/8: (4 - 8 · 25/64) / 7 = 0.125.
    spread = 48 * (35 / 48) * (13 / 48) / 47
    weight = 0.125 / spread / (1 + 8 / 40)
    assert found.weight == pytest.approx(weight)
    assert found.rate == pytest.approx(5 / 8 + weight * (30 / 40 - 5 / 8))
    assert found.labelled == 5 / 8
    assert found.graded == pytest.approx(35 / 48)


def test_a_rater_who_always_says_the_same_leaves_the_labels_alone() -> None:
    found = corrected_rate(LABELS, [1] * 8, [1] * 100)
    assert (found.rate, found.weight, found.worth) == (5 / 8, 0.0, 8.0)


def test_a_rater_who_is_always_right_is_worth_all_its_grades() -> None:
    rng = np.random.default_rng(3)
    truth = (rng.random(1000) < 0.7).astype(float)
    found = corrected_rate(truth[:100], truth[:100], truth[100:])
    assert found.rate == pytest.approx(truth.mean(), abs=0.003)
    assert found.worth > 900
    alone = wilson(int(truth[:100].sum()), 100)
    assert found.interval.high - found.interval.low < 0.4 * (alone.high - alone.low)


def test_a_rater_who_is_too_kind_is_corrected() -> None:
    rng = np.random.default_rng(5)
    truth = (rng.random(2000) < 0.6).astype(float)
    grades = np.where((truth == 0) & (rng.random(2000) < 0.5), 1.0, truth)
    found = corrected_rate(truth[:200], grades[:200], grades[200:])
    assert found.graded > 0.75
    assert found.interval.low < 0.6 < found.interval.high < found.graded


def test_labels_that_all_pass_still_leave_room_for_failures() -> None:
    found = corrected_rate([1.0] * 30, [1.0] * 30, [1.0] * 200)
    assert found.rate == 1.0
    assert found.interval.low == pytest.approx(0.877, abs=0.01)  # Wilson's for 30 of 30, with Student's t


def test_several_answers_to_one_question_are_worth_less() -> None:
    labels, grades, others = LABELS * 5, GRADES * 5, [1, 0] * 40
    alone = corrected_rate(labels, grades, others)
    groups = [*(str(i // 5) for i in range(40)), *(f"other {i}" for i in range(80))]
    together = corrected_rate(sorted(labels), sorted(grades), others, clusters=groups)
    assert together.worth < alone.worth


def test_too_few_labels_and_grades_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match="labels needs at least 4"):
        corrected_rate([1, 0], [1, 0], [1])
    with pytest.raises(ValueError, match=r"must lie in 0\.\.1"):
        corrected_rate([1, 0, 1, 0], [1, 0, 7, 0], [1])


@quick
@given(
    st.lists(st.tuples(st.booleans(), st.booleans()), min_size=4, max_size=50),
    st.lists(st.booleans(), max_size=80),
)
def test_the_rate_lies_in_its_interval_within_0_and_1(pairs: list[tuple[bool, bool]], others: list[bool]) -> None:
    found = corrected_rate([float(a) for a, _ in pairs], [float(b) for _, b in pairs], [float(x) for x in others])
    assert 0.0 <= found.interval.low <= found.rate <= found.interval.high <= 1.0
    assert 0.0 <= found.weight <= 1.0
