from __future__ import annotations

import pytest

from agentdyno.scorers.numeric import Numeric, find_numbers
from tests.scorers.building import complaint, correctness, judged


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("The answer is 42.", [42]),
        ("17 * 23 = 391", [17, 23, 391]),
        ("17-23", [17, 23]),
        ("-3.5 and +4", [-3.5, 4]),
        ("−7", [-7]),
        ("-$1,234.50", [-1234.5]),
        ("1,234,567", [1234567]),
        ("1\u202f234\u202f567", [1234567]),
        ("12 345", [12, 345]),
        ("1'000", [1000]),
        ("1,2345", [1, 2345]),
        ("1e3, 2.5E-2", [1000, 0.025]),
        ("2 × 10^5", [200000]),
        (r"3 \times 10^{-2}", [0.03]),
        ("3/4", [0.75]),
        ("1 3/4 cups", [1.75]),
        (r"\frac{3}{4}", [0.75]),
        ("5/0", []),
        (".5", [0.5]),
        ("12 km and 3kg", [12, 3]),
        ("25 m^2, 9 cm2", [25, 9]),
        ("GPT4 says x2", []),
        ("- 42", [42]),
        ("* 42", [42]),
        ("1e999", []),
        ("no number", []),
        ("€5", [5]),
        ("9" * 400, []),
    ],
)
def test_numbers_are_found_as_people_write_them(text: str, numbers: list[float]) -> None:
    assert [item.value for item in find_numbers(text)] == pytest.approx(numbers)


def test_a_decimal_comma_is_an_option() -> None:
    assert correctness(Numeric(decimal_comma=True), "1.234,56 €", 1234.56) == 1.0
    assert correctness(Numeric(decimal_comma=True), "3,14", "3,14") == 1.0


def test_the_last_number_counts_unless_told_otherwise() -> None:
    assert correctness(Numeric(), "17 * 23 = 391", 391) == 1.0
    assert correctness(Numeric(), "391 = 17 * 23", 391) == 0.0
    assert correctness(Numeric(which="first"), "391 = 17 * 23", 391) == 1.0
    assert correctness(Numeric(which="any"), "it is 391 or 5", 391) == 1.0


def test_tolerances_are_absolute_or_relative() -> None:
    assert correctness(Numeric(), 3.14, 3.14159) == 0.0
    assert correctness(Numeric(absolute=0.01), 3.14, 3.14159) == 1.0
    assert correctness(Numeric(relative=0.01), "103", 102) == 1.0
    assert correctness(Numeric(relative=0.001), "103", 102) == 0.0
    assert correctness(Numeric(), 0.1 + 0.2, 0.3) == 1.0


def test_a_percentage_equals_its_number_and_its_fraction() -> None:
    assert correctness(Numeric(), "45 %", 45) == 1.0
    assert correctness(Numeric(), "45%", 0.45) == 1.0
    assert correctness(Numeric(), "0.45", "45 percent") == 1.0
    assert correctness(Numeric(), "45%", "45%") == 1.0
    assert correctness(Numeric(), "0.45%", "45%") == 0.0


def test_an_answer_without_a_number_is_wrong_and_says_so() -> None:
    score = judged(Numeric(), "I cannot say", 3)
    assert score.values == {"correctness": 0.0}
    assert score.explanation == "no number in 'I cannot say'"
    assert judged(Numeric(), "it is 4", 3).explanation == "want 3, got 4"
    assert correctness(Numeric(), True, 1) == 0.0
    assert correctness(Numeric(), float("nan"), 1) == 0.0
    assert correctness(Numeric(), 10**400, 1) == 0.0


def test_targets_that_are_not_one_number_are_refused_beforehand() -> None:
    for target in (None, "many", "1 or 2", True, [1], {"a": 1, "b": 2}):
        expected = None if target == [1] else str
        said = complaint(Numeric(), target)
        assert said is None if expected is None else isinstance(said, str), target
    assert complaint(Numeric(), "3/4") is None
    assert complaint(Numeric(), 5) is None


@pytest.mark.parametrize("text", ["1" * 100_000, "1" + " " * 100_000, "1," * 50_000, r"\frac{" * 20_000])
def test_hostile_texts_come_to_an_end(text: str) -> None:
    assert len(find_numbers(text)) <= 50_000
