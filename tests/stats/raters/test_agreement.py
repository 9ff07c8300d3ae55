"""Agreement of raters, against worked examples from the literature."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.stats.raters.agreement import cohens_kappa, confusion, krippendorff_alpha

from ..properties import quick

KRIPPENDORFF_2011 = (
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
)
"""Four observers and twelve units with gaps: "Computing Krippendorff's Alpha-Reliability", 2011, example C."""
FLEISS = {("p", "p"): 75, ("p", "n"): 1, ("p", "o"): 4, ("n", "p"): 5, ("n", "n"): 4, ("n", "o"): 1, ("o", "o"): 10}
"""100 patients, two raters: Fleiss, Levin and Paik, "Statistical Methods for Rates and Proportions", table 18.1."""


def _raters(table: dict[tuple[str, str], int]) -> tuple[list[str], list[str]]:
    pairs = [pair for pair, count in table.items() for _ in range(count)]
    return [first for first, _ in pairs], [second for _, second in pairs]


def _units(lines: tuple[str, ...]) -> list[list[float | None]]:
    rows = [[None if word == "." else float(word) for word in line.split()] for line in lines]
    return [list(unit) for unit in zip(*rows, strict=True)]


def test_kappa_of_a_table_that_can_be_worked_out_by_hand() -> None:
    # 20 both yes, 15 both no, 5 and 10 otherwise: 0.70 agree, 0.50 would by chance.
    first, second = _raters({("y", "y"): 20, ("y", "n"): 5, ("n", "y"): 10, ("n", "n"): 15})
    found = cohens_kappa(first, second)
    assert found is not None
    assert found.point == pytest.approx(0.4)


def test_kappa_and_its_error_are_those_of_the_published_example() -> None:
    first, second = _raters(FLEISS)
    found = cohens_kappa(first, second)
    assert found is not None
    assert found.point == pytest.approx(0.676, abs=0.001)
    error = (found.interval.high - found.point) / 1.98422  # Student's t of 99 degrees of freedom
    assert error == pytest.approx(_published_error(FLEISS) * math.sqrt(100 / 99), rel=1e-4)


def _published_error(table: dict[tuple[str, str], int]) -> float:
    """Fleiss, Cohen and Everitt (1969), formula 13, written out."""
    n, names = sum(table.values()), sorted({name for pair in table for name in pair})
    p = np.array([[table.get((a, b), 0) / n for b in names] for a in names])
    rows, columns = p.sum(axis=1), p.sum(axis=0)
    agreed, chance = np.trace(p), float(rows @ columns)
    kappa = (agreed - chance) / (1 - chance)
    a = sum(p[i, i] * (1 - (rows[i] + columns[i]) * (1 - kappa)) ** 2 for i in range(len(names)))
    b = (1 - kappa) ** 2 * sum(
        p[i, j] * (columns[i] + rows[j]) ** 2 for i in range(len(names)) for j in range(len(names)) if i != j
    )
    c = (kappa - chance * (1 - kappa)) ** 2
    return float(math.sqrt((a + b - c) / n) / (1 - chance))


def test_a_rater_who_says_the_same_always_has_kappa_zero_and_two_of_them_none() -> None:
    found = cohens_kappa([1, 0, 1, 0], [1, 1, 1, 1])
    assert found is not None
    assert found.point == 0.0
    assert cohens_kappa([1, 1, 1], [1, 1, 1]) is None


def test_answers_to_one_question_count_as_one_and_widen_the_interval() -> None:
    first, second = _raters({("y", "y"): 20, ("y", "n"): 5, ("n", "y"): 10, ("n", "n"): 15})
    alone = cohens_kappa(first, second)
    together = cohens_kappa(first, second, clusters=[i // 5 for i in range(50)])
    assert alone is not None
    assert together is not None
    assert together.point == alone.point
    assert together.interval.low < alone.interval.low


def test_confusion_counts_pairs() -> None:
    assert confusion(["pass", "fail", "pass"], ["pass", "pass", "pass"]) == {
        ("pass", "pass"): 2,
        ("fail", "pass"): 1,
    }


@pytest.mark.parametrize(("level", "alpha"), [("nominal", 0.743), ("interval", 0.849)])
def test_alpha_is_that_of_krippendorffs_example(level: str, alpha: float) -> None:
    found = krippendorff_alpha(_units(KRIPPENDORFF_2011), "nominal" if level == "nominal" else "interval")
    assert found is not None
    assert found.point == pytest.approx(alpha, abs=0.0005)
    assert found.interval.low < found.point < found.interval.high


def test_alpha_of_two_observers_without_gaps() -> None:
    # Example A of the same paper: ten units, two observers, binary data, alpha 1 - 19 · 4 / (14 · 6) = 0.095.
    first, second = "0100000010", "1110010000"
    found = krippendorff_alpha([[float(a), float(b)] for a, b in zip(first, second, strict=True)])
    assert found is not None
    assert found.point == pytest.approx(0.095, abs=0.0005)


def test_alpha_is_unknown_where_nothing_varies_or_nobody_graded_twice() -> None:
    assert krippendorff_alpha([[1.0, 1.0], [1.0, 1.0]]) is None
    assert krippendorff_alpha([[1.0, None], [0.0, None]]) is None


def test_raters_of_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="same items, got 2 and 1"):
        cohens_kappa([1, 0], [1])


@quick
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=2, max_size=60))
def test_kappa_does_not_depend_on_who_comes_first(pairs: list[tuple[bool, bool]]) -> None:
    first, second = [a for a, _ in pairs], [b for _, b in pairs]
    one, other = cohens_kappa(first, second), cohens_kappa(second, first)
    assert (one is None) == (other is None)
    if one is not None and other is not None:
        assert one.point == pytest.approx(other.point)
        assert one.interval.low <= one.point <= one.interval.high <= 1.0
