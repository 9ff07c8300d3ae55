from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
import scipy.stats

from agentdyno.errors import SpecError
from agentdyno.findings.duel.model import PairedRow
from agentdyno.findings.engine.judge import (
    Measured,
    MeasureOptions,
    VerdictLimits,
    fewest_clusters,
    judge,
    more_cases,
)
from agentdyno.findings.engine.measure import METRICS, measure, paired_row
from agentdyno.findings.engine.pairing import pair_records
from agentdyno.model import Verdict
from agentdyno.model.record import AgentRecord
from agentdyno.stats import wilson

from ..duel_builders import answered, bench, record, scored, using

RANDOM = np.random.default_rng(11)
BEFORE = np.exp(RANDOM.normal(0.0, 0.6, 20))
AFTER = BEFORE * np.exp(RANDOM.normal(0.2, 0.15, 20))


def test_right_and_wrong_cases_are_tested_as_mcnemar_does_exactly() -> None:
    first, second = scored("a@1", [0.0] * 8 + [1.0] * 4), scored("b@1", [1.0] * 8 + [0.0] + [1.0] * 3)
    row = paired_row(first, second, "accuracy")
    assert row.p_value == pytest.approx(scipy.stats.binomtest(1, 9).pvalue)
    assert row.method == "swap test exact"
    assert (row.wins, row.losses, row.cases, row.clusters) == (8, 1, 12, 12)
    assert row.change == pytest.approx(7 / 12)
    assert [row.baseline, row.candidate] == pytest.approx([4 / 12, 11 / 12])
    assert (row.baseline_score, row.candidate_score) == (row.baseline, row.candidate)
    assert row.interval == pytest.approx((inverted_low([1.0] * 8 + [-1.0] + [0.0] * 3), 1.0))
    # Nine tied ranks of 5: eight rises, one fall.
    assert row.effect == pytest.approx(7 / 9)
    assert row.verdict is Verdict.BETTER
    assert row.higher_is_better
    assert not row.relative


def inverted_low(differences: Sequence[float]) -> float:
    """The lowest shift that a test by all exchanges of signs does not refute at 5 %, by trying many."""
    values = np.array(differences)
    signs = np.array(list(itertools.product((1, -1), repeat=values.size)))

    def p_of(shift: float) -> float:
        moved = values - shift
        return float((np.abs(signs @ moved) >= abs(moved.sum()) - 1e-9).mean())

    low, high = -1.0, float(values.mean())
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (low, middle) if p_of(middle) >= 0.05 else (middle, high)
    return high


def test_scores_between_are_tested_by_exchanging_sides_and_their_interval_inverts_it() -> None:
    before = [i / 20 for i in range(10)]
    after = [value + (i + 1) / 97 * (1 if i % 3 else -1) for i, value in enumerate(before)]
    row = paired_row(scored("a@1", before), scored("b@1", after), "accuracy")
    differences = np.array(after) - np.array(before)
    patterns = np.array(list(itertools.product((1, -1), repeat=10)))
    far = np.abs(patterns @ differences) >= abs(differences.sum()) - 1e-12
    assert row.p_value == pytest.approx(float(far.mean()))
    assert row.method == "swap test exact"
    low, high = inverted_low(differences.tolist()), -inverted_low((-differences).tolist())
    assert row.interval == pytest.approx((low, high), abs=1e-8)


def test_groups_of_cases_are_what_is_tested() -> None:
    def grouped(agent: str, flipped: int) -> AgentRecord:
        return record(agent, [answered(f"c{i:02}", float(i // 4 < flipped), group=f"g{i // 4}") for i in range(24)])

    row = paired_row(grouped("a@1", 0), grouped("b@1", 3), "accuracy")
    assert (row.cases, row.clusters) == (24, 6)
    assert row.p_value == pytest.approx(0.25)
    assert row.verdict is Verdict.INCONCLUSIVE


def test_times_are_compared_by_paired_log_ratios() -> None:
    row = paired_row(using("a@1", "duration_s", BEFORE.tolist()), using("b@1", "duration_s", AFTER.tolist()), "speed")
    logs = np.log(AFTER / BEFORE)
    assert row.p_value == pytest.approx(scipy.stats.wilcoxon(logs).pvalue)
    walsh = sorted((logs[i] + logs[j]) / 2 for i in range(20) for j in range(i, 20))
    assert row.change == pytest.approx(math.expm1(float(np.median(walsh))))
    # The signed-rank law at 20: P(W <= 52) is at most 2.5 %, so the 53rd average from either end bounds.
    assert row.interval == pytest.approx((math.expm1(walsh[52]), math.expm1(walsh[-53])))
    assert row.baseline == pytest.approx(float(np.median(BEFORE)))
    assert row.verdict is Verdict.WORSE
    assert row.relative
    assert row.unit == "s"
    assert (row.wins, row.losses) == (int((logs < 0).sum()), int((logs > 0).sum()))
    assert row.effect is not None
    assert row.effect < 0


def test_times_of_one_group_count_once_with_their_mean() -> None:
    def grouped(agent: str, values: Sequence[float]) -> AgentRecord:
        return record(agent, [answered(f"c{i:02}", group=f"g{i // 2}", duration_s=v) for i, v in enumerate(values)])

    row = paired_row(grouped("a@1", BEFORE.tolist()), grouped("b@1", AFTER.tolist()), "duration_s")
    means = np.log(AFTER / BEFORE).reshape(10, 2).mean(axis=1)
    assert row.p_value == pytest.approx(scipy.stats.wilcoxon(means).pvalue)
    assert (row.cases, row.clusters) == (20, 10)


def test_a_significant_change_of_time_within_the_tolerance_is_the_same() -> None:
    slower = [value * 1.01 for value in BEFORE]
    sides = using("a@1", "duration_s", BEFORE.tolist()), using("b@1", "duration_s", slower)
    row = paired_row(*sides, "duration_s")
    assert row.p_value is not None
    assert row.p_value < 0.001
    assert row.verdict is Verdict.SAME
    assert paired_row(*sides, "duration_s", tolerance=0.005).verdict is Verdict.WORSE


def test_tokens_per_success_are_a_quotient_of_totals() -> None:
    # Tokens per execution times three tries, over what passed: 18 * 3 / 20 against 9 * 3 / 21.
    first = record("a@1", [answered(f"c{i}", tries=3, passed=2 + (i < 2) * 1, total_tokens=i / 2) for i in range(9)])
    second = record("b@1", [answered(f"c{i}", tries=3, passed=2 + (i < 3) * 1, total_tokens=i / 4) for i in range(9)])
    row = paired_row(first, second, "total_tokens")
    assert row.baseline == pytest.approx(18 * 3 / 20)
    assert row.candidate == pytest.approx(9 * 3 / 21)
    assert row.change == pytest.approx((27 / 21) / (54 / 20) - 1)
    assert row.percentage == pytest.approx(100 * row.change)  # type: ignore[operator]
    assert row.per_try == pytest.approx(-0.5)
    assert row.per_success is None
    # Eight of nine cases halve what they take: only what was seen and its near equals are as far, of 2**8 patterns.
    assert row.method == "swap test exact"
    assert row.p_value == pytest.approx(2 / 2**8)
    assert row.verdict is Verdict.BETTER


def test_cost_is_of_every_case_asked_and_what_a_success_costs_is_told_beside_it() -> None:
    first = record("a@1", [answered(f"c{i}", tries=3, passed=2 + (i < 2) * 1, cost_usd=i / 2) for i in range(9)])
    second = record("b@1", [answered(f"c{i}", tries=3, passed=2 + (i < 3) * 1, cost_usd=i / 4) for i in range(9)])
    row = paired_row(first, second, "cost_usd")
    # 18 dollars and 9 over nine cases, each tried three times.
    assert (row.baseline, row.candidate) == pytest.approx((2.0, 1.0))
    assert row.change == pytest.approx(-0.5)
    assert row.per_success == pytest.approx((18 * 3 / 20, 9 * 3 / 21))
    assert (row.per_try, row.unit, row.wins, row.losses) == (None, "usd", 8, 0)
    assert row.p_value == pytest.approx(2 / 2**8)
    assert row.verdict is Verdict.BETTER
    assert paired_row(first, second, "cost").change == row.change


@pytest.mark.parametrize("seed", range(4))
def test_which_answers_were_right_does_not_move_the_verdict_on_cost(seed: int) -> None:
    random = np.random.default_rng(seed)
    costs = np.exp(random.normal(0.0, 0.8, (2, 40)))
    rows = []
    for passes in (np.full((2, 40), 3), random.integers(0, 4, (2, 40))):
        sides = [
            record(
                name,
                [
                    answered(f"c{i:02}", right / 3, tries=3, passed=int(right), cost_usd=usd)
                    for i, (right, usd) in enumerate(zip(own, paid, strict=True))
                ],
            )
            for name, own, paid in zip(("a@1", "b@1"), passes, costs, strict=True)
        ]
        rows.append(replace(paired_row(sides[0], sides[1], "cost_usd"), per_success=None))
    assert rows[0] == rows[1]
    assert rows[0].change == pytest.approx(costs[1].sum() / costs[0].sum() - 1)


def test_the_interval_of_a_ratio_holds_the_ratios_that_exchanges_do_not_refute() -> None:
    costs = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    other = [1.5, 1.8, 3.9, 4.1, 6.0, 5.5, 9.0, 8.8]
    row = paired_row(using("a@1", "cost_usd", costs), using("b@1", "cost_usd", other), "cost_usd")
    first, second = np.array(costs), np.array(other)
    swaps = np.array(list(itertools.product((0, 1), repeat=8)))

    def p_of(ratio: float) -> float:
        scaled = second / ratio
        sides = swaps @ first + (1 - swaps) @ scaled, (1 - swaps) @ first + swaps @ scaled
        seen = abs(math.log(scaled.sum() / first.sum()))
        return float((np.abs(np.log(sides[0] / sides[1])) >= seen - 1e-9).mean())

    assert row.p_value == pytest.approx(p_of(1.0))
    assert row.interval is not None
    # The rows are scaled to first order, so that the ends are those of the exact scaling within a few parts in 1,000.
    for end, inwards in zip(row.interval, (0.005, -0.005), strict=True):
        assert p_of(1 + end + inwards) >= 0.05 > p_of(1 + end - inwards)
    without = [
        math.log((sum(other) - other[i]) / 7) - math.log((sum(costs) - costs[i]) / 7) for i in range(len(costs))
    ]
    error = math.sqrt(7 / 8 * sum((value - np.mean(without)) ** 2 for value in without))
    least = (scipy.stats.t.ppf(0.975, 7) + scipy.stats.t.ppf(0.8, 7)) * error
    assert row.detectable == pytest.approx(math.expm1(least), rel=0.02)


def test_efficiency_is_the_geometric_mean_of_what_both_sides_know() -> None:
    def spending(agent: str, tokens: float, cpu: float) -> AgentRecord:
        return record(agent, [answered(f"c{i}", total_tokens=tokens + i, cpu_s=cpu) for i in range(8)])

    row = paired_row(spending("a@1", 100, 1.0), spending("b@1", 200, 2.0), "efficiency")
    assert row.quantity == "total_tokens · cpu_s"
    assert row.baseline == 1.0
    assert row.candidate == pytest.approx(math.sqrt((200 * 8 + 28) / (100 * 8 + 28) * 2.0))
    apart = paired_row(
        spending("a@1", 100, 1.0),
        replace(spending("b@1", 200, 2.0), machine_id="other"),
        "efficiency",
    )
    assert apart.quantity == "total_tokens"
    assert apart.candidate == pytest.approx(200 + 3.5)
    assert apart.verdict is Verdict.WORSE


def test_a_case_that_only_raised_is_taken_to_use_what_the_others_do() -> None:
    lost = [answered("c0", None, tries=2, errors=2), *(answered(f"c{i}", tries=2, cpu_s=3.0) for i in range(1, 8))]
    well = [answered(f"c{i}", tries=2, cpu_s=3.0) for i in range(8)]
    row = paired_row(record("a@1", well), record("b@1", lost), "cpu_s")
    assert row.baseline == pytest.approx(3.0)
    assert row.candidate == pytest.approx(3.0 * 16 / 14)


def test_reliability_is_freedom_from_errors_times_three_in_a_row() -> None:
    first = record("a@1", [answered(f"c{i}", tries=4, passed=4) for i in range(8)])
    second = record("b@1", [answered(f"c{i}", 0.75, tries=4, passed=3, errors=1 if i < 4 else 0) for i in range(8)])
    row = paired_row(first, second, "reliability")
    # C(3, 3) / C(4, 3) = 1/4; 4 errors in 32 executions.
    assert [row.baseline, row.candidate] == pytest.approx([1.0, 0.25 * (1 - 4 / 32)])
    assert row.candidate_score == row.candidate
    assert row.verdict is Verdict.WORSE
    assert paired_row(first, second, "pass_hat_3").candidate == pytest.approx(0.25)
    rates = paired_row(first, second, "error_rate")
    assert (rates.baseline, rates.candidate, rates.change) == (0.0, 0.125, 0.125)
    assert not rates.higher_is_better
    assert rates.worsening == 0.125


def test_reliability_takes_the_cases_that_were_tried_often_enough() -> None:
    mixed = [answered(f"c{i}", tries=3 if i else 2) for i in range(8)]
    row = paired_row(record("a@1", mixed), record("b@1", mixed), "pass_hat_3")
    assert row.cases == 7
    once = record("a@1", [answered(f"c{i}") for i in range(8)])
    row = paired_row(once, once, "reliability")
    assert (row.verdict, row.p_value, row.baseline) == (None, None, None)
    assert "three times" in row.reason


def test_shares_that_never_vary_are_not_certain() -> None:
    side = record("a@1", [answered(f"c{i:02}", tries=3) for i in range(20)])
    row = paired_row(side, replace(side, agent="b@1"), "error_rate")
    reach = wilson(0, 20).high
    assert row.interval == pytest.approx((-reach, reach))
    assert row.verdict is Verdict.INCONCLUSIVE
    # Wilson's bound comes under three points at 1.96**2 * 0.97 / 0.03 = 124.2 cases.
    assert row.more_cases == 125 - 20


def with_scores(agent: str, seconds: float, right: int, **fields: object) -> AgentRecord:
    cases = [answered(f"c{i:02}", float(i < right), duration_s=seconds * (1 + i / 100)) for i in range(20)]
    return record(agent, cases, [bench(targets={"duration_s": (1.0, 16.0)})], **fields)


def test_overall_is_the_weighted_mean_of_the_dimensions_that_both_have() -> None:
    first, second = with_scores("a@1", 4.0, 10), with_scores("b@1", 2.0, 18)
    row = paired_row(first, second, "overall")
    speed = [(math.log(16) - math.log(seconds * 1.095)) / math.log(16) for seconds in (4.0, 2.0)]
    expected = [(0.3 * right + 0.2 * score) / 0.5 for right, score in zip((0.5, 0.9), speed, strict=True)]
    assert [row.baseline, row.candidate] == pytest.approx(expected)
    assert (row.baseline_score, row.candidate_score) == (row.baseline, row.candidate)
    assert row.quantity == "accuracy · speed"
    assert row.verdict is Verdict.BETTER
    assert row.interval is not None
    assert row.interval[0] < row.change < row.interval[1]  # type: ignore[operator]
    pair = paired_row(first, second, "speed")
    assert [pair.baseline_score, pair.candidate_score] == pytest.approx(speed)


def test_overall_is_the_mean_over_benchmarks_of_each_dimension() -> None:
    def two(agent: str, right: tuple[int, int]) -> AgentRecord:
        cases = [answered(f"c{i}", float(i < right[0]), tries=3) for i in range(8)]
        cases += [answered(f"d{i}", float(i < right[1]), tries=3, benchmark="other") for i in range(4)]
        return record(agent, cases)

    row = paired_row(two("a@1", (8, 2)), two("b@1", (4, 2)), "overall")
    # Each try passes or none does, so that reliability equals accuracy in both benchmarks.
    assert [row.baseline, row.candidate] == pytest.approx([0.75, 0.5])
    assert paired_row(two("a@1", (8, 2)), two("b@1", (4, 2)), "accuracy").baseline == pytest.approx(10 / 12)


def test_overall_needs_more_than_one_dimension() -> None:
    row = paired_row(scored("a@1", [1.0] * 8), scored("b@1", [0.0] * 8), "overall")
    assert row.verdict is None
    assert row.reason.startswith("only accuracy has a score")


@pytest.mark.parametrize("metric", ["speed", "duration_s", "ttft_s", "cpu_s", "peak_rss_bytes"])
def test_what_depends_on_the_machine_is_not_compared_across_machines(metric: str) -> None:
    used = {"duration_s": 1.0, "ttft_s": 0.1, "cpu_s": 1.0, "peak_rss_bytes": 1e6}
    first = record("a@1", [answered(f"c{i}", used=used) for i in range(8)])
    row = paired_row(first, replace(first, agent="b@1", machine_id="other"), metric)
    assert (row.verdict, row.reason) == (None, "measured on different machines")
    assert (row.baseline, row.change, row.p_value) == (None, None, None)
    row = paired_row(replace(first, machine_id=""), replace(first, machine_id=""), metric)
    assert row.verdict is None
    assert "machine" in row.reason


@pytest.mark.parametrize("metric", ["speed", "duration_s", "ttft_s"])
def test_times_of_a_recorded_run_are_not_compared_with_those_of_another(metric: str) -> None:
    used = {"duration_s": 1.0, "ttft_s": 0.1, "cpu_s": 1.0}
    first = record("a@1", [answered(f"c{i}", used=used) for i in range(8)])
    far = replace(first, agent="b@1", proxied=True)
    far = replace(far, benchmarks=tuple(replace(item, run_id="another") for item in far.benchmarks))
    row = paired_row(first, far, metric)
    assert (row.verdict, row.change) == (None, None)
    assert row.reason == "model calls of b@1 went through the recording proxy, those of the other not"
    both = replace(first, proxied=True)
    assert "recording proxy" not in paired_row(both, far, metric).reason
    assert "recording proxy" not in paired_row(first, far, "accuracy").reason


def test_times_are_shown_and_not_judged_where_the_bench_stood_still_too_often() -> None:
    first = record("a@1", [answered(f"c{i}", used={"duration_s": 1.0}) for i in range(12)])
    slower = record("b@1", [answered(f"c{i}", used={"duration_s": 2.0}) for i in range(12)])
    assert paired_row(first, replace(slower, disturbed=0.05), "speed").verdict is Verdict.WORSE
    row = paired_row(replace(first, disturbed=0.06), slower, "speed")
    assert (row.verdict, row.p_value) == (Verdict.INCONCLUSIVE, None)
    assert row.reason == "the bench itself stood still during 6% of the executions of a@1"
    assert (row.baseline, row.candidate) == (1.0, 2.0)
    assert "stood still" not in paired_row(replace(first, disturbed=0.06), slower, "accuracy").reason


def test_overall_is_compared_across_machines_only_without_what_depends_on_them() -> None:
    far = with_scores("b@1", 2.0, 18, machine_id="other")
    row = paired_row(with_scores("a@1", 4.0, 10), far, "overall")
    assert row.verdict is None
    assert row.reason == "it holds speed, measured on different machines"
    plain = record("a@1", [answered(f"c{i}", tries=3) for i in range(8)])
    worse = record("b@1", [answered(f"c{i}", 0.0, tries=3) for i in range(8)], machine_id="other")
    assert paired_row(plain, worse, "overall").verdict is Verdict.WORSE


@pytest.mark.parametrize("metric", METRICS)
def test_simulated_and_real_are_not_compared(metric: str) -> None:
    first = with_scores("a@1", 4.0, 10)
    row = paired_row(first, with_scores("b@1", 2.0, 18, simulated=True), metric)
    assert row.verdict is None
    assert row.change is None
    assert row.reason == "b@1 was simulated and the other was not"


def test_two_simulated_agents_compare() -> None:
    first, second = (with_scores(name, 4.0, right, simulated=True) for name, right in (("a@1", 4), ("b@1", 18)))
    assert paired_row(first, second, "accuracy").verdict is Verdict.BETTER


def test_scores_under_different_rubrics_do_not_compare_and_times_do() -> None:
    first = using("a@1", "duration_s", BEFORE.tolist())
    second = using("b@1", "duration_s", AFTER.tolist(), benchmarks=[bench(rubric="stricter")])
    for metric in ("accuracy", "reliability", "overall", "efficiency"):
        row = paired_row(first, second, metric)
        assert row.verdict is None
        assert "rubrics differ" in row.reason
    paid = using("a@1", "cost_usd", BEFORE.tolist())
    dearer = using("b@1", "cost_usd", [2 * usd for usd in BEFORE], benchmarks=[bench(rubric="stricter")])
    cost = paired_row(paid, dearer, "cost")
    assert (cost.verdict, cost.per_success, cost.baseline_score) == (Verdict.WORSE, None, None)
    assert paired_row(first, second, "duration_s").verdict is Verdict.WORSE
    assert paired_row(first, second, "error_rate").verdict is Verdict.INCONCLUSIVE


@pytest.mark.parametrize("metric", METRICS)
def test_without_a_common_case_there_is_a_reason_and_no_number(metric: str) -> None:
    first = record("a@1", [answered("x")])
    second = record("b@1", [answered("x", digest="changed")])
    row = paired_row(first, second, metric)
    assert (row.verdict, row.baseline, row.change, row.interval, row.p_value) == (None, None, None, None, None)
    assert row.reason == "no case in common: 1 have the same id and ask something else"


@pytest.mark.parametrize("metric", ["total_tokens", "efficiency"])
def test_an_agent_that_never_succeeded_takes_nothing_per_success(metric: str) -> None:
    first = record("a@1", [answered(f"c{i}", total_tokens=5.0) for i in range(8)])
    second = record("b@1", [answered(f"c{i}", 0.0, total_tokens=5.0) for i in range(8)])
    row = paired_row(first, second, metric)
    assert (row.verdict, row.change, row.reason) == (None, None, "b@1 never succeeded")


def test_an_agent_that_never_succeeded_has_a_cost_and_none_per_success() -> None:
    first = record("a@1", [answered(f"c{i}", cost_usd=1.0) for i in range(8)])
    second = record("b@1", [answered(f"c{i}", 0.0, cost_usd=0.5) for i in range(8)])
    row = paired_row(first, second, "cost")
    assert [row.baseline, row.candidate] == pytest.approx([1.0, 0.5])
    assert row.per_success == (1.0, None)


def test_an_unknown_cost_is_not_zero() -> None:
    first = record("a@1", [answered(f"c{i}", cost_usd=1.0) for i in range(8)])
    second = record("b@1", [answered("c0"), *(answered(f"c{i}", cost_usd=1.0) for i in range(1, 8))])
    row = paired_row(first, second, "cost_usd")
    assert (row.verdict, row.baseline, row.candidate) == (None, None, None)
    assert row.reason == "cost_usd of b@1 is not known in 1 of 8 cases"


def test_what_costs_nothing_has_no_ratio() -> None:
    free, paid = using("a@1", "cost_usd", [0.0] * 8), using("b@1", "cost_usd", [0.5] * 8)
    both = paired_row(free, free, "cost_usd")
    assert (both.verdict, both.change, both.percentage) == (Verdict.SAME, 0.0, None)
    row = paired_row(free, paid, "cost_usd")
    assert not row.relative
    assert (row.baseline, row.candidate, row.change) == (0.0, 0.5, 0.5)
    assert row.percentage is None
    assert row.verdict is Verdict.WORSE


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("cases", [1, 3])
def test_few_cases_show_nothing_and_say_how_many_are_needed(metric: str, cases: int) -> None:
    used = {
        "duration_s": 1.0,
        "ttft_s": 0.1,
        "cost_usd": 0.1,
        "total_tokens": 9.0,
        "cpu_s": 1.0,
        "peak_rss_bytes": 9.0,
    }
    first = record("a@1", [answered(f"c{i}", tries=3, used=used) for i in range(cases)])
    double = {name: 2 * value for name, value in used.items()}
    second = record("b@1", [answered(f"c{i}", 0.6, tries=3, passed=2, used=double) for i in range(cases)])
    row = paired_row(first, second, metric)
    assert row.verdict in (None, Verdict.INCONCLUSIVE)
    assert row.reason
    assert row.detectable is None
    if cases == 3:
        assert row.more_cases == 3
        assert "at least 6" in row.reason


@pytest.mark.parametrize("metric", METRICS)
def test_no_number_that_is_not_one_comes_out(metric: str) -> None:
    strange = [float("nan"), float("inf"), 0.0, -1.0, 1e-300, 1e300, 1.0, 2.0]
    names = ("duration_s", "ttft_s", "cost_usd", "total_tokens", "cpu_s", "peak_rss_bytes")
    first = record("a@1", [answered(f"c{i}", tries=3, used=dict.fromkeys(names, v)) for i, v in enumerate(strange)])
    second = record(
        "b@1",
        [
            answered(f"c{i}", float("nan"), tries=3, passed=1, used=dict.fromkeys(names, v))
            for i, v in enumerate(strange[::-1])
        ],
    )
    for sides in ((first, second), (second, first), (second, second)):
        row = paired_row(*sides, metric)
        numbers = [row.baseline, row.candidate, row.change, row.p_value, row.effect, row.detectable]
        numbers += list(row.interval or ())
        assert all(math.isfinite(number) for number in numbers if number is not None)


def test_an_unknown_metric_is_refused_with_the_nearest() -> None:
    side = scored("a@1", [1.0])
    with pytest.raises(SpecError, match="Did you mean accuracy"):
        paired_row(side, side, "acuracy")


def test_one_benchmark_is_compared_alone() -> None:
    cases = [answered(f"c{i}", float(i < 4), benchmark=name) for name in ("facts", "other") for i in range(8)]
    better = [replace(case, score=1.0) if case.benchmark == "other" else case for case in cases]
    row = paired_row(record("a@1", cases), record("b@1", better), "accuracy", "other")
    assert (row.benchmark, row.cases, row.change) == ("other", 8, 0.5)
    assert paired_row(record("a@1", cases), record("b@1", better), "accuracy", "facts").change == 0.0
    assert paired_row(record("a@1", cases), record("b@1", better), "accuracy", "none").verdict is None


def test_the_same_seed_gives_the_same_row() -> None:
    random = np.random.default_rng(2)
    costs = np.exp(random.normal(0, 1, (2, 40)))
    sides = using("a@1", "cost_usd", costs[0].tolist()), using("b@1", "cost_usd", costs[1].tolist())
    pairing = pair_records(*sides)
    again = [measure(pairing, "cost_usd", "", MeasureOptions(4)) for _ in range(2)]
    assert again[0] == again[1]
    rows = [measure(pairing, "cost_usd", "", MeasureOptions(seed)).row.p_value for seed in (4, 5)]
    assert rows[0] != rows[1]
    assert rows[0] == pytest.approx(rows[1], abs=0.05)


def row_of(p_value: float | None, change: float = 0.1) -> PairedRow:
    made = PairedRow(
        "accuracy", "", "score", "ratio", True, False, 0.5, 0.5 + change, change=change, p_value=p_value, cases=50
    )
    return replace(made, clusters=50, interval=(change - 0.08, change + 0.08))


def test_a_family_is_corrected_by_holm_and_its_members_decide_by_that() -> None:
    limits = VerdictLimits.plain(None, 0.03)
    family = [Measured(row_of(p), limits, 0.1, 0.3) for p in (0.01, 0.02, 0.045)]
    family.append(Measured(row_of(None), limits))
    first, second, third, untested = judge(family, ["all"] * 4)
    assert [row.adjusted_p for row in (first, second, third)] == [pytest.approx(p) for p in (0.03, 0.04, 0.045)]
    assert {row.family for row in (first, second, third)} == {3}
    assert (untested.adjusted_p, untested.family, untested.verdict) == (None, 0, None)
    stricter = judge([Measured(row_of(p), limits, 0.1, 0.3) for p in (0.03, 0.04)], ["all"] * 2)
    assert [row.verdict for row in stricter] == [Verdict.INCONCLUSIVE, Verdict.INCONCLUSIVE]
    assert stricter[1].reason == "not significant among 2 comparisons"


def test_families_are_corrected_apart_and_a_row_without_one_is_alone() -> None:
    limits = VerdictLimits.plain(None, 0.03)
    found = [Measured(row_of(0.03), limits, 0.1, 0.3) for _ in range(4)]
    rows = judge(found, ["critical", "others", "others", ""])
    assert [row.adjusted_p for row in rows] == pytest.approx([0.03, 0.06, 0.06, 0.03])
    assert [row.family for row in rows] == [1, 2, 2, 1]


def test_a_row_in_which_too_few_cases_differ_takes_nothing_from_the_others() -> None:
    limits = VerdictLimits.plain(None, 0.03)
    for losses, adjusted in ((0, 0.03), (5, 0.03), (6, 0.06)):  # 1 in 16 at best, and 1 in 32
        quiet = Measured(replace(row_of(1.0, 0.0), wins=0, losses=losses), limits, 0.0, 0.1)
        first, second = judge([Measured(row_of(0.03), limits, 0.1, 0.3), quiet], ["critical"] * 2)
        assert first.adjusted_p == pytest.approx(adjusted)
        assert second.adjusted_p == 1.0


def test_six_independent_cases_are_the_fewest_at_five_per_cent() -> None:
    assert fewest_clusters() == 6
    assert fewest_clusters(0.01) == 8


def test_more_cases_are_counted_from_what_was_seen() -> None:
    # (1.96 + 0.8416)**2 * (0.3 / 0.1)**2 = 70.6 pairs by the normal law; Student's t asks for 73.
    found = Measured(row_of(0.1), VerdictLimits.plain(None, 0.0), 0.1, 0.3)
    assert more_cases(found, 0.05) == 73 - 50
    # An interval within three points around no change: ((1.96 + 0.8416) * 0.3 / 0.03)**2 = 784.9.
    nothing = Measured(row_of(0.9, 0.0), VerdictLimits.plain(None, 0.03), 0.0, 0.3)
    assert more_cases(nothing, 0.05) == 785 - 50
    # Two cases to a cluster.
    halved = Measured(replace(row_of(0.1), clusters=25), VerdictLimits.plain(None, 0.0), 0.1, 0.3)
    assert more_cases(halved, 0.05) == 2 * (73 - 25)
    assert more_cases(Measured(row_of(0.9, 0.0), VerdictLimits.plain(None, 0.0), 0.0, 0.3), 0.05) is None


def test_a_tolerance_asks_for_more_than_significance() -> None:
    found = Measured(row_of(0.001, 0.05), VerdictLimits.plain(0.08, 0.03), 0.05, 0.1)
    row = judge([found], [""])[0]
    assert row.verdict is Verdict.INCONCLUSIVE
    assert row.reason == "significant, but not beyond ±8 points"


@pytest.mark.parametrize("count", [7, 8])
def test_the_overall_score_is_tested_by_exchanging_the_agents_case_by_case(count: int) -> None:
    random = np.random.default_rng(count)
    seconds = np.exp(random.normal(0.7, 0.5, (2, count)))
    scores = random.integers(0, 3, (2, count)) / 2
    sides = [
        record(
            agent,
            [answered(f"c{i}", float(scores[side, i]), duration_s=float(seconds[side, i])) for i in range(count)],
            [bench(targets={"duration_s": (0.1, 40.0)})],
        )
        for side, agent in enumerate(("a@1", "b@1"))
    ]

    def difference(swapped: tuple[int, ...]) -> float:
        wholes = []
        for side in (0, 1):
            chosen = [side ^ swap for swap in swapped]
            accuracy = np.mean([scores[own, i] for i, own in enumerate(chosen)])
            middle = np.median([seconds[own, i] for i, own in enumerate(chosen)])
            speed = (math.log(40.0) - math.log(middle)) / (math.log(40.0) - math.log(0.1))
            wholes.append((0.3 * accuracy + 0.2 * speed) / 0.5)
        return float(wholes[1] - wholes[0])

    every = [difference(pattern) for pattern in itertools.product((0, 1), repeat=count)]
    observed = difference((0,) * count)
    row = paired_row(sides[0], sides[1], "overall")
    assert row.change == pytest.approx(observed)
    assert row.p_value == pytest.approx(sum(abs(value) >= abs(observed) - 1e-9 for value in every) / len(every))


def test_the_interval_of_a_plain_overall_score_is_that_of_accuracy() -> None:
    # All tries of a case end alike, so that accuracy, reliability and their mean are one.
    random = np.random.default_rng(8)
    bits = random.integers(0, 2, (2, 60))
    sides = [
        record(agent, [answered(f"c{i:02}", float(bit), tries=3) for i, bit in enumerate(bits[side])])
        for side, agent in enumerate(("a@1", "b@1"))
    ]
    row, accuracy = (paired_row(sides[0], sides[1], metric) for metric in ("overall", "accuracy"))
    assert row.change == pytest.approx(accuracy.change)
    assert row.interval == pytest.approx(accuracy.interval, abs=0.02)


def test_a_benchmark_of_one_case_leaves_the_overall_score_without_a_smallest_visible_change() -> None:
    cases = [answered(f"c{i}", float(i % 2), tries=3) for i in range(8)]
    side = record("a@1", [*cases, answered("alone", tries=3, benchmark="other")])
    row = paired_row(side, replace(side, agent="b@1"), "overall")
    assert row.p_value == 1.0
    assert row.detectable is None
    assert row.verdict is Verdict.INCONCLUSIVE


def test_errors_of_every_case_count_where_only_some_were_tried_three_times() -> None:
    mixed = [answered("c0", None, tries=2, errors=2), *(answered(f"c{i}", tries=3) for i in range(1, 8))]
    row = paired_row(record("a@1", mixed), record("b@1", mixed), "reliability")
    # Seven cases last; 2 of 23 executions raised.
    assert row.baseline == pytest.approx(1 - 2 / 23)


def test_thousands_of_cases_are_judged_by_the_normal_law() -> None:
    random = np.random.default_rng(6)
    costs = np.exp(random.normal(0.0, 0.5, (2, 2_100)))
    sides = using("a@1", "cost_usd", costs[0].tolist()), using("b@1", "cost_usd", costs[1].tolist())
    row = paired_row(*sides, "cost_usd")
    without = np.log(costs.sum(axis=1, keepdims=True) - costs)
    error = (without[1] - without[0]).std() * math.sqrt(2_099)
    shift = math.log(costs[1].sum() / costs[0].sum())
    assert row.method == "large-sample normal"
    assert row.p_value == pytest.approx(2 * scipy.stats.norm.sf(abs(shift) / error))
