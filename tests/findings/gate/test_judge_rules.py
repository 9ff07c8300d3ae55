"""Every way that a rule can end, from rows of given figures."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from agentdyno.findings.duel.model import PairedRow
from agentdyno.findings.gate.judge_rules import (
    allowed,
    judge_rows,
    one_sided_p,
    overall_verdict,
    spelled,
    visible_change,
)
from agentdyno.findings.gate.model import GateRow, GateVerdict
from agentdyno.model.metric import Verdict
from agentdyno.model.policy import GateRule, Tier

from ..gate_records import row

ALPHA = 0.01


def judged(found: PairedRow, tier: Tier = Tier.CRITICAL, tolerance: float = 0.02, silent: str = "") -> GateRow:
    return judge_rows([(GateRule(found.metric, tier, tolerance), found)], ALPHA, silent)[0]


def needed_at(metric: str, alpha: float) -> int:
    assert metric == "accuracy"
    return round(1 / alpha)


def test_a_critical_metric_that_is_worse_beyond_tolerance_and_chance_blocks() -> None:
    found = judged(row())
    assert found.verdict is GateVerdict.BLOCK
    assert (found.exceeded, found.significant) == (True, True)
    assert found.p_worse == pytest.approx(0.0002)
    assert found.reason == "worse by 10.0 points, 2.0 points are allowed, and beyond chance (p = 0.0004)"


def test_a_supporting_metric_warns_and_an_advisory_one_does_not_count() -> None:
    assert judged(row("duration_s"), Tier.SUPPORTING, 0.1).verdict is GateVerdict.WARN
    found = judged(row("duration_s"), Tier.ADVISORY, 0.1)
    assert found.verdict is GateVerdict.PASS
    assert (found.exceeded, found.significant) == (True, True)
    assert found.reason.endswith("advisory, so it does not count")


def test_worse_beyond_the_tolerance_that_may_be_chance_is_open_and_says_how_many_cases_decide() -> None:
    found = judged(row(p_value=0.2, change=-0.05, verdict=Verdict.INCONCLUSIVE, more_cases=48))
    assert found.verdict is GateVerdict.INCONCLUSIVE
    assert (found.exceeded, found.significant) == (True, False)
    doubt = "but it may be chance (p = 0.2); about 48 more cases would decide"
    assert found.reason == f"worse by 5.0 points, 2.0 points are allowed, {doubt}"


def test_what_is_decided_at_five_per_cent_and_not_at_one_asks_how_many_cases_the_gate_takes() -> None:
    worse = row(p_value=0.02, adjusted_p=0.04, family=2)
    rule = GateRule("accuracy", Tier.CRITICAL, 0.02)
    (found,) = judge_rows([(rule, worse)], ALPHA, "", needed_at)
    # Two rows share 1 %, so that each is asked about at half of it.
    told = "may be chance (p = 0.04 after correction over 2 rows)"
    assert found.reason.endswith(f"{told}; about 200 more cases would decide")
    assert judge_rows([(rule, worse)], ALPHA)[0].reason.endswith(told)


def test_of_a_supporting_metric_the_same_passes_with_a_note() -> None:
    found = judged(row("duration_s", p_value=0.2), Tier.SUPPORTING, 0.1)
    assert found.verdict is GateVerdict.PASS
    assert "may be chance" in found.reason


def test_significant_within_the_tolerance_passes() -> None:
    found = judged(row(change=-0.015))
    assert found.verdict is GateVerdict.PASS
    assert (found.exceeded, found.significant) == (False, True)
    assert found.reason == "worse by 1.5 points, within 2.0 points"


def test_exactly_the_tolerance_is_within_it_whatever_rounding_does() -> None:
    assert 0.90 - 0.88 > 0.02
    assert judged(row(change=0.88 - 0.90)).exceeded is False
    assert judged(row("duration_s", change=1.1 - 1.0), Tier.CRITICAL, 0.1).exceeded is False
    assert judged(row(change=-0.0201)).exceeded is True


def test_a_pass_names_what_it_could_have_hidden() -> None:
    found = judged(row(change=0.0, p_value=1.0, detectable=0.06, verdict=Verdict.INCONCLUSIVE))
    seen = 0.06 * (norm.isf(0.005) + norm.isf(0.2)) / (norm.isf(0.025) + norm.isf(0.2))
    assert found.reason == f"unchanged; a change of less than {100 * seen:.1f} points can stay unseen"
    assert visible_change(row(detectable=0.06), 0.005) == pytest.approx(seen)


def test_a_pass_whose_interval_rules_worse_out_needs_no_such_note() -> None:
    found = judged(row(change=0.3, interval=(0.1, 0.5), detectable=0.06, verdict=Verdict.BETTER))
    assert found.reason == "better by 30.0 points"
    found = judged(row(change=0.0, interval=(-0.05, 0.05), detectable=0.06, verdict=Verdict.INCONCLUSIVE))
    assert "can stay unseen" in found.reason


def test_a_better_metric_passes_and_says_so() -> None:
    found = judged(row(change=0.05, verdict=Verdict.BETTER))
    assert found.verdict is GateVerdict.PASS
    assert found.p_worse == pytest.approx(0.9998)
    assert found.reason == "better by 5.0 points"


@pytest.mark.parametrize(
    ("tier", "verdict", "reason"),
    [
        (Tier.CRITICAL, GateVerdict.INCONCLUSIVE, "measured on different machines"),
        (Tier.SUPPORTING, GateVerdict.PASS, "measured on different machines; not counted"),
        (Tier.ADVISORY, GateVerdict.PASS, "measured on different machines; not counted"),
    ],
)
def test_what_does_not_compare_leaves_only_a_critical_question_open(
    tier: Tier, verdict: GateVerdict, reason: str
) -> None:
    missing = row("duration_s", verdict=None, change=None, p_value=None, reason="measured on different machines")
    found = judged(missing, tier)
    assert (found.verdict, found.reason) == (verdict, reason)
    assert (found.exceeded, found.significant, found.p_worse) == (None, None, None)


@pytest.mark.parametrize("metric", ["accuracy", "error_rate"])
def test_where_nothing_was_answered_the_metrics_of_answers_block(metric: str) -> None:
    missing = row(metric, verdict=None, change=None, p_value=None, candidate=None)
    found = judged(missing, silent="all 15 executions ended in errors")
    assert found.verdict is GateVerdict.BLOCK
    assert found.reason == "nothing was answered: all 15 executions ended in errors"
    assert judged(missing, Tier.SUPPORTING, silent="x").verdict is GateVerdict.WARN
    assert judged(missing, Tier.ADVISORY, silent="x").verdict is GateVerdict.PASS
    assert judged(row("cost_usd", verdict=None), silent="x").verdict is GateVerdict.INCONCLUSIVE


def test_a_change_without_a_test_is_open() -> None:
    found = judged(row(p_value=None, verdict=Verdict.INCONCLUSIVE, reason="3 independent cases can show nothing"))
    assert found.verdict is GateVerdict.INCONCLUSIVE
    assert (found.exceeded, found.significant) == (True, None)
    assert found.reason.endswith("; 3 independent cases can show nothing")


def test_the_worse_half_of_the_corrected_p_value_is_what_counts() -> None:
    pairs = [
        (GateRule("accuracy", Tier.CRITICAL, 0.02), row(p_value=0.006, adjusted_p=0.012, family=2)),
        (GateRule("error_rate", Tier.CRITICAL, 0.02), row("error_rate", p_value=0.5, adjusted_p=0.5, family=2)),
        (GateRule("duration_s", Tier.SUPPORTING, 0.1), row("duration_s", p_value=0.008, adjusted_p=0.008, family=1)),
    ]
    found = judge_rows(pairs, ALPHA)
    assert [item.p_worse for item in found] == pytest.approx([0.006, 0.25, 0.004])
    assert [item.verdict for item in found] == [GateVerdict.INCONCLUSIVE, GateVerdict.INCONCLUSIVE, GateVerdict.WARN]
    alone = judged(row(p_value=0.006, adjusted_p=0.006, family=1))
    assert alone.p_worse == pytest.approx(0.003)
    assert alone.verdict is GateVerdict.BLOCK


def test_what_was_free_may_not_cost_anything() -> None:
    paid = row("cost_usd", unit="usd", quantity="cost_usd", relative=False, baseline=0.0, candidate=0.02, change=0.02)
    rule = GateRule("cost_usd", Tier.CRITICAL, 0.1)
    assert allowed(rule, paid) == 0.0
    found = judge_rows([(rule, paid)], ALPHA)[0]
    assert found.verdict is GateVerdict.BLOCK
    assert found.reason.startswith("worse by $0.02, nothing is allowed")
    tokens = row("total_tokens", unit="", quantity="total_tokens", relative=False, change=12.0)
    assert allowed(GateRule("total_tokens", Tier.CRITICAL, 0.1), tokens) == 0.0


def test_a_p_value_is_halved_towards_the_side_of_the_change() -> None:
    assert one_sided_p(row(p_value=0.01, adjusted_p=0.02, change=0.1)) == pytest.approx(0.99)
    assert one_sided_p(row(p_value=0.01, adjusted_p=0.02)) == pytest.approx(0.01)
    assert one_sided_p(row(p_value=None)) is None
    assert one_sided_p(row(p_value=1.0, change=0.0)) == 0.5


def test_sizes_read_as_percent_points_or_quantities() -> None:
    assert spelled(-0.1234, row("duration_s")) == "12.3 %"
    assert spelled(1.5, row("duration_s")) == "150 %"
    assert spelled(-0.042, row()) == "4.2 points"
    assert spelled(0.0, row()) == "0 points"
    assert spelled(0.02, row("cost_usd", unit="usd", relative=False)) == "$0.02"


@pytest.mark.parametrize(
    ("verdicts", "overall"),
    [
        ("", "PASS"),
        ("PASS", "PASS"),
        ("PASS WARN", "WARN"),
        ("WARN INCONCLUSIVE", "INCONCLUSIVE"),
        ("INCONCLUSIVE BLOCK WARN PASS", "BLOCK"),
    ],
)
def test_the_gravest_verdict_decides(verdicts: str, overall: str) -> None:
    rule = GateRule("accuracy", Tier.CRITICAL, 0.02)
    rows = [GateRow(rule, row(), None, None, None, GateVerdict(name), "") for name in verdicts.split()]
    assert overall_verdict(rows) == overall


@given(
    st.sampled_from(list(Tier)),
    st.one_of(st.none(), st.floats(-1, 1)),
    st.one_of(st.none(), st.floats(0, 1)),
    st.floats(0, 1),
    st.sampled_from([None, *Verdict]),
    st.integers(0, 50),
)
def test_nothing_blocks_that_is_not_critical_exceeded_and_significant(
    tier: Tier, change: float | None, p_value: float | None, tolerance: float, verdict: Verdict | None, losses: int
) -> None:
    found = judged(row(change=change, p_value=p_value, verdict=verdict, losses=losses), tier, tolerance)
    blocks = found.verdict is GateVerdict.BLOCK
    assert blocks == (tier is Tier.CRITICAL and found.exceeded is True and found.significant is True)
    assert (found.verdict is GateVerdict.WARN) == (
        tier is Tier.SUPPORTING and found.exceeded is True and found.significant is True
    )
    assert found.reason
    if blocks:
        assert change is not None
        assert -change > tolerance
        assert p_value is not None
        assert p_value / 2 < ALPHA / 2


def test_cases_that_would_decide_elsewhere_are_not_said_to_decide_in_the_gate() -> None:
    """A verdict of 5 % needs fewer cases than one of 1 %."""
    rule = GateRule("accuracy", Tier.CRITICAL, 0.02)
    open_row = row(p_value=0.2, change=-0.05, verdict=Verdict.INCONCLUSIVE, more_cases=48)
    (found,) = judge_rows([(rule, open_row)], ALPHA, "", needed_at)
    assert found.reason.endswith("; about 100 more cases would decide")
