from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from agentdyno.findings.duel.model import PairedRow
from agentdyno.findings.history.judge_small_drops import combined_p, several_small_drops
from agentdyno.findings.history.model_regression import Detector, Regression, Severity

from ..records import case, record, row

NAMES = ("a", "b", "c", "d")
OLD = record("1", [case("x", benchmark=name) for name in NAMES], categories=dict.fromkeys(NAMES, "coding"))
NEW = record("2", [case("x", benchmark=name) for name in NAMES])


def drops(rows: list[PairedRow], found: tuple[Regression, ...] = ()) -> list[Regression]:
    return several_small_drops(rows, OLD, NEW, found=found)


def small(p_value: float = 0.04, after: float = 0.76) -> list[PairedRow]:
    return [row("accuracy", 0.8, after, p_value, benchmark=name) for name in NAMES]


def test_small_drops_of_a_category_are_more_than_chance_together() -> None:
    (found,) = drops(small())
    assert (found.detector, found.kind, found.metric) == (Detector.PATTERN, "several-small-drops", "accuracy")
    assert (found.category, found.benchmark) == ("coding", "")
    assert found.amount == pytest.approx(0.05)
    assert [found.baseline, found.current] == pytest.approx([0.8, 0.76])
    assert found.severity is Severity.LOW
    assert "4 of 4 benchmarks of coding (a, b, c, d)" in found.explanation


def test_the_combination_is_stouffers_weighted_by_the_root_of_the_cases() -> None:
    rows = [
        row("accuracy", 0.8, 0.76, 0.04, benchmark="a", cases=100),
        row("accuracy", 0.8, 0.79, 0.6, benchmark="b", cases=25),
        row("accuracy", 0.8, 0.81, 0.5, benchmark="c", cases=36),
    ]
    expected = stats.combine_pvalues([0.02, 0.3, 0.75], method="stouffer", weights=[10, 5, 6]).pvalue
    assert combined_p(rows) == pytest.approx(float(expected), rel=1e-9)


def test_too_few_too_small_and_mixed_drops_are_none() -> None:
    assert drops(small()[:2]) == []
    assert drops(small(after=0.79)) == []
    assert drops(small(p_value=0.6)) == []
    better = [row("accuracy", 0.8, 0.84, 0.04, benchmark=name) for name in NAMES]
    assert drops(better) == []
    assert drops([*small(0.0001)[:2], *better[2:]]) == []
    half = [row("accuracy", 0.8, 0.81, 0.8, benchmark=name) for name in NAMES[2:]]
    assert drops([*small(0.0001, after=0.73)[:2], *half]) == []


def test_what_is_a_regression_by_itself_does_not_count_again() -> None:
    large = row("accuracy", 0.8, 0.4, 0.00001, benchmark="a")
    (found,) = drops([large, *small()[1:]])
    assert "3 of 3 benchmarks" in found.explanation
    assert drops([large, *small()[1:3]]) == []


def test_rows_of_the_whole_suite_and_other_categories_are_apart() -> None:
    mixed = record("1", [case("x", benchmark=name) for name in NAMES], categories={"a": "coding", "b": "facts"})
    assert several_small_drops(small(), mixed, NEW) == []
    assert drops([row("accuracy", 0.8, 0.76, 0.001)] * 4) == []


def test_chance_alone_gives_a_finding_no_more_often_than_it_should() -> None:
    """300 suites of four benchmarks in which nothing changed: at most 2 % give a finding."""
    random = np.random.default_rng(1)
    alarms = 0
    for _ in range(300):
        rows = []
        for name in NAMES:
            gains = random.normal(0.0, 0.1, 30)
            p_value = float(stats.ttest_1samp(gains, 0.0).pvalue)
            rows.append(row("accuracy", 0.5, 0.5 + float(gains.mean()), p_value, benchmark=name))
        alarms += bool(drops(rows))
    assert alarms <= 6
