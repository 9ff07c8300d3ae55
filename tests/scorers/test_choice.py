from __future__ import annotations

import pytest

from agentdyno.scorers.choice import MultipleChoice, find_choice
from tests.scorers.building import complaint, correctness, judged

CITIES = {"A": "Paris", "B": "Lyon", "C": "Marseille", "D": "New Paris"}


@pytest.mark.parametrize(
    ("text", "letter"),
    [
        ("B", "B"),
        ("b", "B"),
        ("(b)", "B"),
        ("B.", "B"),
        ("**B**", "B"),
        ("Answer: B", "B"),
        ("answer: b", "B"),
        ("ANSWER: (C)", "C"),
        ("The correct answer is **C**.", "C"),
        ("The answer is option D because it is north.", "D"),
        ("I first thought the answer is A. But no: the answer is B.", "B"),
        ("I choose C", "C"),
        ("B) Lyon", "B"),
        ("B. Lyon", "B"),
        ("It must be (b), as everybody knows", "B"),
        ("Lyon", "B"),
        ("lyon.", "B"),
        ("I would say Marseille, of course.", "C"),
        ("It is New Paris", "D"),
        ("A", "A"),
        ("A dog would know it is B", "B"),
        ("A good question. I cannot tell.", None),
        ("The answer is a matter of taste", None),
        ("Paris or Lyon", None),
        ("A or B", None),
        ("E", None),
        ("", None),
        ("Answer: E", None),
    ],
)
def test_the_letter_is_found_in_free_text(text: str, letter: str | None) -> None:
    assert find_choice(text, CITIES) == letter


@pytest.mark.parametrize("target", ["B", "b", "(B)", 1, "Lyon"])
def test_the_target_may_be_letter_position_or_text(target: object) -> None:
    assert complaint(MultipleChoice(), target, {"choices": list(CITIES.values())}) is None
    assert correctness(MultipleChoice(), "Answer: B", target, choices=list(CITIES.values())) == 1.0
    assert correctness(MultipleChoice(), "Answer: C", target, choices=CITIES) == 0.0


def test_without_listed_choices_any_letter_is_one() -> None:
    assert complaint(MultipleChoice(), "E") is None
    assert correctness(MultipleChoice(), "Answer: E", "E") == 1.0
    assert correctness(MultipleChoice(), "No idea", "E") == 0.0


def test_an_answer_without_a_choice_is_wrong_and_says_so() -> None:
    score = judged(MultipleChoice(), "Nobody knows", "B", choices=CITIES)
    assert score.values == {"correctness": 0.0}
    assert score.explanation == "want B, no choice found in 'Nobody knows'"


def test_signed_numbers_are_different_choices() -> None:
    assert find_choice("It is -5", {"A": "5", "B": "-5"}) == "B"


def test_bad_choices_and_targets_are_refused_beforehand() -> None:
    assert "none of the choices" in (complaint(MultipleChoice(), "E", {"choices": ["x", "y"]}) or "")
    assert "none of the choices" in (complaint(MultipleChoice(), 2, {"choices": ["x", "y"]}) or "")
    assert "single letters" in (complaint(MultipleChoice(), "A", {"choices": {"first": "x"}}) or "")
    assert "1 to 26" in (complaint(MultipleChoice(), "A", {"choices": []}) or "")
    assert complaint(MultipleChoice(), None) is not None


@pytest.mark.parametrize("text", ["answer" + " " * 200_000, "(" * 200_000, "\n" * 200_000, "a" + "." * 200_000])
def test_hostile_texts_come_to_an_end(text: str) -> None:
    assert find_choice(text, {"B": "x", "C": "y"}) is None
