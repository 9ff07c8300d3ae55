from __future__ import annotations

from dataclasses import replace

import pytest

from agentdyno.findings.engine.severity import case_loss, impact_of, overall_loss, paired_cases
from agentdyno.findings.history.judge_versions import (
    judge_rows,
    not_comparable,
    version_rows,
)
from agentdyno.findings.history.model_regression import Detector, Regression, Severity
from agentdyno.model.case import CaseKey
from agentdyno.model.metric import Verdict
from agentdyno.model.record import AgentRecord

from ..records import case, record, row

OLD = record("1.0", [case("a"), case("b"), case("c")])
NEW = record("1.1", [case("a"), case("b", 0.25), case("c", 0.0)], finished_at=2_000)


def judged(*rows: object, thresholds: object = 0.1) -> tuple[list[Regression], list[Regression]]:
    return judge_rows(list(rows), OLD, NEW, thresholds)  # type: ignore[arg-type]


def test_a_drop_beyond_threshold_and_chance_is_a_regression() -> None:
    (found,), better = judged(row("accuracy", 0.8, 0.6, 0.001))
    assert better == []
    assert (found.detector, found.kind, found.metric) == (Detector.VERSION, "drop", "accuracy")
    assert (found.baseline, found.current) == (0.8, 0.6)
    assert found.amount == pytest.approx(0.25)
    assert found.relative
    assert found.severity is Severity.MEDIUM
    assert (found.version, found.since) == ("1.1", 2_000)
    assert "0.800 → 0.600, 25 % worse (threshold 10 %)" in found.explanation


def test_threshold_and_significance_are_both_needed() -> None:
    assert judged(row("accuracy", 0.8, 0.75, 0.0001)) == ([], [])
    assert judged(row("accuracy", 0.8, 0.5, 0.06)) == ([], [])
    assert judged(row("accuracy", 0.8, 0.5, None)) == ([], [])


def test_each_metric_has_its_own_threshold() -> None:
    rows = row("accuracy", 0.8, 0.7), row("speed", 1.0, 1.4)
    assert [item.metric for item in judged(*rows, thresholds={"accuracy": 0.2, "speed": 0.3})[0]] == ["speed"]
    assert [item.metric for item in judged(*rows, thresholds={"duration_s": 0.5})[0]] == ["accuracy"]


def test_direction_is_of_the_quantity_that_was_tested() -> None:
    worse, better = judged(row("speed", 1.0, 1.5), row("cost", 0.02, 0.01))
    assert [(item.metric, item.amount, item.improvement) for item in worse] == [("speed", 0.5, False)]
    assert [(item.metric, item.amount, item.improvement) for item in better] == [("cost", -0.5, True)]


def test_a_zero_baseline_is_told_by_the_plain_difference() -> None:
    (found,), _ = judged(row("error_rate", 0.0, 0.2))
    assert (found.amount, found.relative, found.severity) == (0.2, False, Severity.MEDIUM)
    (cost,), _ = judged(row("cost", 0.0, 0.004))
    assert (cost.amount, cost.relative, cost.severity) == (0.004, False, Severity.MEDIUM)
    assert judged(row("accuracy", 0.0, 0.0, 1.0)) == ([], [])


def test_the_corrected_p_value_of_the_engine_is_told_with_its_family() -> None:
    corrected = replace(row("accuracy", 0.8, 0.6, 0.01), adjusted_p=0.02, family=2)
    (found,), _ = judged(corrected)
    assert found.p_value == 0.02
    assert "p = 0.02 after correction over 2 rows, 40 cases" in found.explanation
    undecided = replace(corrected, adjusted_p=0.06, verdict=Verdict.INCONCLUSIVE)
    assert judged(undecided) == ([], [])


def test_what_the_engine_calls_the_same_is_no_regression_however_low_the_threshold() -> None:
    small = replace(row("speed", 1.0, 1.02), verdict=Verdict.SAME)
    assert judged(small, thresholds=0.01) == ([], [])


def test_the_cases_that_lost_most_are_named_first() -> None:
    (found,), _ = judged(row("accuracy", 1.0, 0.42))
    assert found.impact.cases == (CaseKey("facts", "c"), CaseKey("facts", "b"))
    assert found.impact.text.startswith("2 of 3 cases became worse, 2 of them no longer pass")


def test_a_case_that_asks_something_else_now_is_not_compared() -> None:
    other = record("1.1", [case("a", 0.0, digest="another"), case("b")])
    assert [pair[0].case_id for pair in paired_cases(OLD, other)] == ["b"]


def test_time_and_money_name_the_cases_that_grew_beyond_the_threshold() -> None:
    before = [case(name, used={"duration_s": 1.0, "cost_usd": 0.01}) for name in "abc"]
    after = [
        case("a", used={"duration_s": 1.05, "cost_usd": 0.01}),
        case("b", used={"duration_s": 2.0, "cost_usd": 0.02}),
        case("c", 0.5, used={"duration_s": 3.0, "cost_usd": 0.01}),
    ]
    pairs = paired_cases(record("1", before), record("2", after))
    speed, cost = row("speed", 1.0, 2.0), row("cost", 0.01, 0.02)
    per_success = replace(row("efficiency", 0.01, 0.02), quantity="cost_usd")
    assert [key.case_id for key in impact_of(speed, pairs, OLD, 0.1).cases] == ["c", "b"]
    assert [case_loss(cost, *pair) for pair in pairs] == pytest.approx([0.0, 1.0, 0.0])
    # Half of the tries of c succeed: what a success takes has doubled there too.
    assert [case_loss(per_success, *pair) for pair in pairs] == pytest.approx([0.0, 1.0, 1.0])


def test_errors_and_reliability_name_their_cases() -> None:
    pairs = paired_cases(record("1", [case("a"), case("b")]), record("2", [case("a"), case("b", 0.5, errors=2)]))
    assert case_loss(row("error_rate", 0.0, 0.25), *pairs[1]) == 0.5
    assert case_loss(row("reliability", 1.0, 0.5), *pairs[1]) == 0.5
    assert [key.case_id for key in impact_of(row("error_rate", 0.0, 0.25), pairs, OLD, 0.1).cases] == ["b"]


def test_what_a_change_takes_from_the_overall_score_is_its_weight_times_its_loss() -> None:
    everything = dict.fromkeys(("accuracy", "speed", "efficiency", "cost", "reliability"), 0.8)
    full = record("1", [case("a")], scores=everything)
    assert overall_loss(row("accuracy", 0.8, 0.6), full) == pytest.approx(0.30 * 0.2)
    assert overall_loss(row("speed", 1.0, 2.0, scores=(0.9, 0.5)), full) == pytest.approx(0.20 * 0.4)
    # Only accuracy and speed are known: they weigh 0.3 and 0.2 of 0.5.
    partial = record("1", [case("a")], scores={"accuracy": 0.8, "speed": 0.9, "cost": None})
    assert overall_loss(row("accuracy", 0.8, 0.6), partial) == pytest.approx(0.6 * 0.2)
    # One of two benchmarks is half of the mean.
    two = record("1", [case("a"), case("a", benchmark="code")], scores=everything)
    assert overall_loss(row("accuracy", 0.8, 0.6, benchmark="code"), two) == pytest.approx(0.30 * 0.2 / 2)
    assert overall_loss(row("error_rate", 0.0, 0.2), full) is None
    assert overall_loss(row("speed", 1.0, 2.0), full) is None


def test_rows_that_do_not_compare_are_told_once_per_reason() -> None:
    other = record("2", [case("a", digest="another")])
    rows = version_rows(OLD, other)
    assert judge_rows(rows, OLD, other) == ([], [])
    warnings = not_comparable(rows)
    assert len(warnings) == 1
    assert "no case in common" in warnings[0].message


def version_regressions(old: AgentRecord, new: AgentRecord) -> tuple[list[Regression], list[Regression]]:
    return judge_rows(version_rows(old, new), old, new)


def worse_version() -> tuple[AgentRecord, AgentRecord]:
    names = [f"c{number:02}" for number in range(30)]
    before = [case(name, benchmark=place) for place in ("facts", "code") for name in names]
    after = [case(name, benchmark="facts") for name in names]
    after += [case(name, 0.0 if number < 15 else 1.0, benchmark="code") for number, name in enumerate(names)]
    return record("1.0", before), record("1.1", after)


def test_a_worse_version_is_caught_in_the_benchmark_that_broke_and_nowhere_else() -> None:
    old, new = worse_version()
    worse, better = version_regressions(old, new)
    accuracy = {item.benchmark: item for item in worse if item.metric == "accuracy"}
    assert sorted(accuracy) == ["", "code"]
    assert accuracy["code"].amount == pytest.approx(0.5)
    assert accuracy["code"].severity is Severity.CRITICAL
    assert accuracy[""].amount == pytest.approx(0.25)
    assert {key.case_id for key in accuracy["code"].impact.cases} == {f"c{number:02}" for number in range(15)}
    assert not any(item.benchmark == "facts" for item in worse)
    assert better == []


def test_the_same_the_other_way_round_is_an_improvement() -> None:
    old, new = worse_version()
    worse, better = version_regressions(new, old)
    assert worse == []
    assert {item.benchmark for item in better if item.metric == "accuracy"} == {"", "code"}
    assert all(item.amount < 0 and item.improvement for item in better)


def test_a_version_against_itself_has_nothing() -> None:
    old, _ = worse_version()
    assert version_regressions(old, old) == ([], [])


def test_one_benchmark_is_told_once() -> None:
    assert {found.benchmark for found in version_rows(OLD, NEW)} == {""}
