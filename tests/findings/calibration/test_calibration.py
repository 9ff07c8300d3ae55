"""A judge held against people."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from agentdyno.findings.calibration.judge import calibrate_judge, why_not_trusted
from agentdyno.findings.calibration.model import GradedAnswer, JudgeIdentity
from agentdyno.findings.calibration.tables import calibration_tables
from agentdyno.findings.calibration.words import bias_words, kappa_words
from agentdyno.model.codec import from_plain, to_plain

JUDGE = JudgeIdentity("f" * 32, "judge@1")


def graded(number: int, grade: float, *labels: float, agent: str = "a@1", **more: object) -> GradedAnswer:
    said = {f"p{i}": label for i, label in enumerate(labels)}
    return replace(GradedAnswer("b", str(number), agent, 0, grade, said), **more)  # type: ignore[arg-type]


def table(both: int, missed: int, let_pass: int, neither: int) -> list[GradedAnswer]:
    """Answers by what people and the judge say of them."""
    pairs = [(1, 1)] * both + [(1, 0)] * missed + [(0, 1)] * let_pass + [(0, 0)] * neither
    return [graded(i, grade, label) for i, (label, grade) in enumerate(pairs)]


def test_agreement_confusion_and_kappa_are_those_of_the_table() -> None:
    found = calibrate_judge(table(20, 5, 10, 15), JUDGE)
    assert found.confusion == {"pass/pass": 20, "pass/fail": 5, "fail/pass": 10, "fail/fail": 15}
    assert found.agreement == 0.7
    assert found.kappa == pytest.approx(0.4)
    assert (found.answers, found.labelled, found.people) == (50, 50, ("p0",))
    assert kappa_words(found).endswith(", moderate")


def test_the_pass_rate_is_corrected_for_a_judge_that_is_too_kind() -> None:
    others = [graded(1000 + i, float(i % 10 < 8)) for i in range(500)]
    (rate,) = calibrate_judge([*table(50, 0, 30, 20), *others], JUDGE).rates
    assert rate.graded == pytest.approx(0.8)
    assert rate.rate == pytest.approx(0.5, abs=0.01)
    assert rate.interval is not None
    assert rate.interval[1] < 0.65


def test_agents_have_their_own_rates_and_those_with_few_labels_none() -> None:
    answers = [*table(20, 5, 10, 15), *(graded(100 + i, 1.0, agent="b@1") for i in range(30))]
    found = calibrate_judge(answers, JUDGE)
    assert [(item.agent, item.rate is None) for item in found.rates] == [("", False), ("a@1", False), ("b@1", True)]
    assert found.rates[2].reason == "0 labelled answers are too few to correct it, 20 are needed"


def test_people_who_are_divided_are_left_out_of_kappa_and_count_in_alpha() -> None:
    answers = [graded(i, float(i % 2), float(i % 2), float(i % 2)) for i in range(30)]
    answers += [graded(100, 1.0, 1.0, 0.0)]
    found = calibrate_judge(answers, JUDGE)
    assert (found.tied, found.kappa) == (1, 1.0)
    assert found.people_alpha is not None
    assert found.alpha is not None
    assert 0.9 < found.people_alpha < 1.0


def test_a_bias_for_long_answers_is_found_and_said() -> None:
    rng = np.random.default_rng(4)
    answers = []
    for i in range(1000):
        right, length = float(rng.random() < 0.6), float(rng.gamma(2.0, 150.0))
        chance = (0.75 if right else 0.2) + 0.07 * (length - 300) / 100
        labels = (right,) if i < 100 else ()
        answers.append(graded(i, float(rng.random() < chance), *labels, length_tokens=length))
    length_bias = calibrate_judge(answers, JUDGE).biases[0]
    assert length_bias.found
    assert length_bias.value == pytest.approx(0.07, abs=0.03)
    assert bias_words(length_bias).endswith(": found")


def test_a_few_very_long_answers_do_not_hide_a_bias_of_length() -> None:
    rng = np.random.default_rng(3)
    answers = []
    for i in range(1_000):
        right, length = float(rng.random() < 0.7), float(rng.lognormal(np.log(200), 1.0))
        if i % 100 == 7:
            length = 20_000.0  # a grade of 1 has no room for what 200 times 100 tokens would add
        chance = min(1.0, (0.88 if right else 0.28) + 0.07 * (length - 200) / 100)
        labels = (right,) if i < 200 else ()
        answers.append(graded(i, float(rng.random() < chance), *labels, length_tokens=length))
    length_bias = calibrate_judge(answers, JUDGE).biases[0]
    assert length_bias.found
    assert length_bias.value == pytest.approx(0.05, abs=0.03)


def test_self_preference_needs_answers_of_the_judges_own_model() -> None:
    plain = calibrate_judge(table(20, 5, 10, 15), JUDGE).biases[1]
    assert (plain.found, plain.reason) == (None, "no labelled answer is by the judge's own model")
    own = [graded(i, 1.0 if i % 4 else 0.0, float(i % 2), own=True) for i in range(40)]
    foreign = [graded(100 + i, float(i % 2), float(i % 2), own=False) for i in range(40)]
    found = calibrate_judge([*own, *foreign], JUDGE).biases[1]
    assert found.found
    assert found.value == pytest.approx(0.25)


def test_the_place_counts_where_one_answer_gets_two_grades() -> None:
    orders = {"reference first": 1.0, "answer first": 0.0}
    answers = [graded(i, 1.0, by_order=orders if i % 2 else dict.fromkeys(orders, 1.0)) for i in range(40)]
    found = calibrate_judge(answers, JUDGE).biases[2]
    assert found.found
    assert found.value == pytest.approx(-0.5)


@pytest.mark.parametrize(
    ("answers", "reason"),
    [
        (table(45, 2, 3, 50), ""),
        (table(20, 5, 10, 15), "it agrees with people at kappa 0.40, below the floor of 0.6"),
        (table(5, 0, 0, 5), "its calibration rests on 10 labelled answers, 20 are needed"),
        (table(30, 0, 0, 0), "its calibration says nothing: people or judge gave one grade throughout"),
    ],
)
def test_a_judge_is_trusted_above_a_floor_only(answers: list[GradedAnswer], reason: str) -> None:
    assert why_not_trusted(calibrate_judge(answers, JUDGE), 0.6) == reason


def test_a_judge_that_nobody_calibrated_is_not_trusted() -> None:
    assert why_not_trusted(None, 0.6) == "it is not calibrated, or judge, prompt or rubric have changed since"


def test_a_calibration_survives_json_and_is_shown() -> None:
    found = calibrate_judge(table(20, 5, 10, 15), JUDGE, 1_700_000_000_000)
    assert from_plain(type(found), to_plain(found)) == found
    agreement, biases, rates = calibration_tables(found)
    assert [cell.text for cell in agreement.rows[0]] == ["pass", "20", "5"]
    assert "agrees on 70 %, kappa 0.40" in agreement.notes[0]
    assert len(biases.rows) == 3
    assert rates.rows[0][0].text == "a@1"
