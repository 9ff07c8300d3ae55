"""What a comparison of experiments found, in the tiers of a policy."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from agentdyno.errors import NotComparable
from agentdyno.findings.gate.judge_experiments import judge_experiments
from agentdyno.findings.gate.model import GateReport, GateVerdict
from agentdyno.model import ArmComparison, Comparison, MetricComparison, Verdict, known_metric
from agentdyno.model.metric import Direction, Metric
from agentdyno.model.policy import GatePolicy, GateRule, Tier


def found(
    name: str = "duration_s", ratio: float = 1.2, verdict: Verdict | None = Verdict.WORSE, **fields: object
) -> MetricComparison:
    made = MetricComparison(
        metric=known_metric(name),
        baseline_n=20,
        candidate_n=18,
        baseline=0.01,
        candidate=0.01 * ratio,
        ratio=ratio,
        interval=(ratio * 0.95, ratio * 1.05),
        p_value=0.001,
        verdict=verdict,
        reason="significant and beyond ±3.0%" if verdict is Verdict.WORSE else "not significant",
        threshold=0.03,
        detectable=0.02,
        method="Mann-Whitney test on samples",
    )
    return replace(made, **fields)  # type: ignore[arg-type]


def gate(*metrics: MetricComparison, policy: GatePolicy | None = None, **fields: object) -> GateReport:
    made = Comparison("main", "candidate", True, (ArmComparison("sort", "b", "c", metrics=metrics),))
    return judge_experiments(replace(made, **fields), policy or GatePolicy(), name="bench")  # type: ignore[arg-type]


def test_a_slower_experiment_blocks_without_any_policy() -> None:
    report = gate(found())
    assert report.verdict is GateVerdict.BLOCK
    (row,) = report.rows
    assert row.rule == GateRule("duration_s", Tier.CRITICAL, 0.03)
    assert (row.exceeded, row.significant, row.p_worse) == (True, True, 0.0005)
    assert row.reason == "worse by 20.0 %, 3.0 % are allowed; significant and beyond ±3.0%"
    assert report.summary == "duration_s of sort 10 ms → 12 ms is worse by 20.0 %"
    assert (report.baseline, report.candidate, report.suite, report.paired) == ("main", "candidate", "bench", True)


def test_the_figures_claim_no_pairs_of_cases() -> None:
    row = gate(found()).rows[0].row
    assert (row.cases, row.clusters, row.wins, row.losses, row.more_cases) == (0, 0, 0, 0, None)
    assert row.method == "Mann-Whitney test on samples, 18 samples a side"
    assert (row.benchmark, row.relative) == ("sort", True)
    assert row.change == pytest.approx(0.2)


def test_the_figures_are_those_of_the_comparison_with_the_level_that_they_are_of() -> None:
    row = gate(found(p_value=0.004, adjusted_p=0.012, family=3)).rows[0]
    assert row.row.interval == pytest.approx((0.14, 0.26))
    assert (row.row.p_value, row.row.adjusted_p, row.row.family, row.row.level) == (0.004, 0.012, 3, 0.01)
    assert row.p_worse == pytest.approx(0.006)
    assert gate(found(interval=(0.0, math.inf))).rows[0].row.interval is None


def test_metrics_that_the_policy_does_not_name_are_shown_only() -> None:
    report = gate(found(verdict=Verdict.SAME, ratio=1.0), found("cpu_s"))
    assert report.verdict is GateVerdict.PASS
    assert [row.rule.tier for row in report.rows] == [Tier.CRITICAL, Tier.ADVISORY]
    assert report.rows[1].reason.endswith("advisory, so it does not count")


def test_the_default_rules_of_agents_do_not_loosen_experiments() -> None:
    assert GatePolicy().rule("duration_s") == GateRule("duration_s", Tier.SUPPORTING, 0.1)
    assert gate(found(ratio=1.05)).verdict is GateVerdict.BLOCK


def test_a_rule_of_the_user_decides_tier_and_tolerance() -> None:
    own = GatePolicy((GateRule("duration_s", Tier.SUPPORTING, 0.1),), own_tiers=("duration_s",))
    assert gate(found(ratio=1.05), policy=own).verdict is GateVerdict.WARN
    own = replace(own, own_tolerances=("duration_s",))
    report = gate(found(ratio=1.05), policy=own)
    assert report.verdict is GateVerdict.PASS
    assert report.rows[0].reason.startswith("worse by 5.0 %, within 10.0 %")
    assert gate(found(), policy=own).verdict is GateVerdict.WARN
    tight = GatePolicy((GateRule("duration_s", Tier.CRITICAL, 0.001),), own_tolerances=("duration_s",))
    assert gate(found(ratio=1.05), policy=tight).rows[0].rule.tolerance == 0.03


def test_off_takes_the_metric_out() -> None:
    off = GatePolicy((), own_tiers=("duration_s",))
    report = gate(found(), policy=off)
    assert (report.verdict, report.rows) == (GateVerdict.PASS, ())
    assert gate(found("cpu_s"), policy=off).verdict is GateVerdict.PASS


def test_slower_that_may_be_chance_is_open_with_the_samples_that_decide() -> None:
    report = gate(found(verdict=Verdict.INCONCLUSIVE, p_value=0.3, more_samples=12))
    assert report.verdict is GateVerdict.INCONCLUSIVE
    assert report.rows[0].reason.endswith("not significant; about 12 more samples a side would decide")


def test_a_change_within_the_threshold_passes_with_what_it_could_hide() -> None:
    report = gate(found(ratio=1.01, verdict=Verdict.INCONCLUSIVE, p_value=0.3, detectable=0.08))
    assert report.verdict is GateVerdict.PASS
    assert report.rows[0].reason == "worse by 1.0 %, within 3.0 %; a change of less than 8.0 % can stay unseen"


def test_a_higher_is_better_metric_is_worse_when_it_falls() -> None:
    metric = Metric("result.rows", "/s", Direction.HIGHER)
    policy = GatePolicy((GateRule("result.rows", Tier.CRITICAL, 0.1),), own_tiers=("result.rows",))
    fine = found(verdict=Verdict.SAME, ratio=1.0)
    report = gate(fine, found(ratio=0.9715, metric=metric), policy=policy)
    row = report.rows[1]
    assert row.verdict is GateVerdict.BLOCK  # the threshold is on logarithms: 1 / 1.03 is beyond it
    assert row.row.worsening == pytest.approx(0.0285)
    assert gate(fine, found(ratio=1.3, metric=metric, verdict=Verdict.BETTER), policy=policy).verdict == "PASS"


def test_times_of_another_machine_leave_it_open() -> None:
    report = gate(
        found(verdict=None, p_value=None, reason="not judged: different machines"), found("cpu_s", verdict=None)
    )
    assert report.verdict is GateVerdict.INCONCLUSIVE
    assert [row.reason for row in report.rows] == ["not judged: different machines"]


def test_an_arm_without_a_time_on_both_sides_leaves_it_open() -> None:
    report = gate(found("cpu_s", verdict=Verdict.SAME, ratio=1.0))
    assert report.verdict is GateVerdict.INCONCLUSIVE
    assert report.summary.endswith("duration_s is not known on both sides of sort")


def test_arms_without_a_partner_are_told_and_none_at_all_is_not_comparable() -> None:
    report = gate(found(verdict=Verdict.SAME, ratio=1.0), only_in_baseline=("old",), only_in_candidate=("new",))
    assert report.verdict is GateVerdict.PASS
    assert [item.message for item in report.warnings] == ["only the baseline has old", "only the candidate has new"]
    with pytest.raises(NotComparable):
        gate(arms=())


def test_another_metric_can_be_the_critical_one() -> None:
    latency = found(metric=Metric("latency_p99_s", "s", Direction.LOWER))
    made = Comparison("before", "after", False, (ArmComparison("spike", "b", "c", metrics=(latency,)),))
    report = judge_experiments(made, GatePolicy(), name="load", critical="latency_p99_s")
    assert report.verdict is GateVerdict.BLOCK
    assert report.rows[0].rule.tier is Tier.CRITICAL
    nothing = Comparison("before", "after", False, (ArmComparison("spike", "b", "c", metrics=()),))
    missing = judge_experiments(nothing, GatePolicy(), critical="latency_p99_s")
    assert missing.verdict is GateVerdict.INCONCLUSIVE
    assert missing.summary.endswith("latency_p99_s is not known on both sides of spike")
