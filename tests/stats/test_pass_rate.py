"""A requirement per case: the exact chances of the test, by other ways than its own."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from agentdyno.stats.pass_rate import PassRateTest, Requirement, fallen, found_from, healthy, pass_rate_test


def the_test() -> PassRateTest:
    """100 cases, each required at 80 %, tried 5 times and at most 20 times more."""
    return pass_rate_test(0.8, 5, 20, 100, 0.005)


def walked(test: PassRateTest, failing: float) -> float:
    """The chance to be called broken, over every sequence of answers, one by one."""
    total = 0.0
    for answers in product((0, 1), repeat=test.most):
        wrong = sum(answers[: test.first])
        for tries in range(test.first, test.most + 1):
            if tries > test.first:
                wrong += answers[tries - 1]
            state = test.state(tries, wrong)
            if state is not Requirement.OPEN:
                break
        if state is Requirement.BROKEN:
            total += failing ** sum(answers) * (1 - failing) ** (test.most - sum(answers))
    return total


def test_eight_wrong_answers_within_25_tries_break_a_requirement_of_80_percent_over_100_cases() -> None:
    test = the_test()
    assert (test.suspicious, test.broken, test.most) == (1, 8, 25)


def test_an_unchanged_agent_is_blocked_less_than_once_in_200_checks_of_100_cases() -> None:
    healthy_case = the_test().chance_broken(0.95)
    assert healthy_case == pytest.approx(1.7295e-5, rel=1e-4)
    assert 1 - (1 - healthy_case) ** 100 < 1 / 200


def test_a_case_that_falls_to_half_is_found_in_95_of_100() -> None:
    assert the_test().chance_broken(0.5) == pytest.approx(0.951080322265625, abs=1e-12)
    assert found_from(the_test()) == pytest.approx(0.5014650, abs=1e-6)


def test_the_block_rates_at_80_and_85_percent_are_those_that_are_published() -> None:
    assert the_test().chance_broken(0.8) == pytest.approx(0.0983261, abs=1e-7)
    assert the_test().chance_broken(0.85) == pytest.approx(0.0227664, abs=1e-7)


@pytest.mark.parametrize("pass_rate", [0.95, 0.85, 0.8, 0.5])
def test_letting_go_early_costs_next_to_nothing_against_trying_every_suspicious_case_25_times(
    pass_rate: float,
) -> None:
    failing = 1 - pass_rate
    whole = sum(binom.pmf(first, 5, failing) * binom.sf(7 - first, 20, failing) for first in range(1, 6))
    assert whole * 0.99 < the_test().chance_broken(pass_rate) <= whole


def test_a_healthy_case_is_repeated_three_times_on_average() -> None:
    assert the_test().expected_repeats(0.95) == pytest.approx(2.80418, abs=1e-5)
    assert the_test().expected_repeats(1.0) == 0
    assert the_test().expected_repeats(0.0) == 3  # 5 wrong answers, and 3 more


@pytest.mark.parametrize(("first", "repeats", "broken"), [(3, 9, 4), (1, 10, 3), (5, 6, 6), (4, 0, 2)])
@pytest.mark.parametrize("pass_rate", [0.95, 0.8, 0.5])
def test_the_chances_are_those_of_walking_through_every_sequence_of_answers(
    first: int, repeats: int, broken: int, pass_rate: float
) -> None:
    test = PassRateTest(0.8, first, first + repeats, 1, broken)
    assert test.chance_broken(pass_rate) == pytest.approx(walked(test, 1 - pass_rate), abs=1e-12)


def test_a_case_without_a_wrong_answer_is_not_tried_again() -> None:
    assert the_test().state(5, 0) is Requirement.MET
    assert the_test().state(5, 1) is Requirement.OPEN
    assert the_test().state(8, 8) is Requirement.BROKEN


def test_tries_end_where_the_bound_cannot_be_reached_any_more() -> None:
    assert the_test().state(24, 6) is Requirement.MET
    assert the_test().state(24, 7) is Requirement.OPEN
    assert the_test().state(25, 7) is Requirement.MET


def test_healthy_and_fallen_are_95_and_50_percent_of_a_required_80() -> None:
    assert healthy(0.8) == pytest.approx(0.95)
    assert 1 - fallen(0.8) == pytest.approx(0.5)


@given(
    required=st.floats(0.5, 0.99),
    first=st.integers(1, 12),
    repeats=st.integers(0, 20),
    cases=st.integers(1, 5_000),
    level=st.sampled_from((0.001, 0.005, 0.05)),
)
def test_whatever_is_asked_the_chances_keep_their_bounds_and_fewer_wrong_answers_would_not(
    required: float, first: int, repeats: int, cases: int, level: float
) -> None:
    test = pass_rate_test(required, first, repeats, cases, level)
    assert 1 - (1 - test.chance_broken(healthy(required))) ** cases <= level + 1e-9
    assert test.chance_broken(required) <= 0.1
    looser = PassRateTest(required, first, test.most, test.suspicious, test.broken - 1)
    kept = 1 - (1 - looser.chance_broken(healthy(required))) ** cases <= level
    assert test.broken == 1 or not (kept and looser.chance_broken(required) <= 0.1)
    assert test.chance_broken(0.5 * required) >= test.chance_broken(required)


@pytest.mark.parametrize("required", [0.0, 1.0])
def test_a_rate_of_nothing_or_of_everything_has_no_test(required: float) -> None:
    with pytest.raises(ValueError, match="no test for"):
        pass_rate_test(required, 5, 20, 100, 0.005)
