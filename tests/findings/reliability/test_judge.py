from __future__ import annotations

import math
from dataclasses import replace
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.errors import NotComparable
from agentdyno.findings.reliability.judge import chance_alike, merged_errors, reliabilities, reliability_of
from agentdyno.findings.standing.model import ScoreEstimate
from agentdyno.model.record import AgentRecord, CaseRecord, ErrorClass

from ..economy_builders import agent_record, bench, cases, tried, without_answer


def of(own: list[CaseRecord], *benchmarks: object) -> AgentRecord:
    return agent_record("solver@1", own, *benchmarks)  # type: ignore[arg-type]


tallies = st.integers(1, 6).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n)))


@given(st.lists(tallies, min_size=1, max_size=4))
def test_pass_hat_and_pass_at_are_what_trying_every_choice_of_k_tries_gives(own: list[tuple[int, int]]) -> None:
    found = reliability_of(of([tried(f"c{i}", passed, tries) for i, (tries, passed) in enumerate(own)]))
    common = min(tries for tries, _ in own)
    assert [k for k, _ in found.pass_hat] == list(range(1, common + 1)) == [k for k, _ in found.pass_at]
    for (k, hat), (_, at) in zip(found.pass_hat, found.pass_at, strict=True):
        every, some = [], []
        for tries, passed in own:
            outcomes = [True] * passed + [False] * (tries - passed)
            chosen = list(combinations(outcomes, k))
            every.append(sum(map(all, chosen)) / len(chosen))
            some.append(sum(map(any, chosen)) / len(chosen))
        assert hat.value == pytest.approx(sum(every) / len(every), abs=1e-12)
        assert at == pytest.approx(sum(some) / len(some), abs=1e-12)


@given(tallies)
def test_consistency_is_the_share_of_pairs_of_tries_that_end_alike(tally: tuple[int, int]) -> None:
    tries, passed = tally
    pairs = list(combinations([True] * passed + [False] * (tries - passed), 2))
    expected = sum(first == second for first, second in pairs) / len(pairs) if pairs else None
    assert chance_alike(tries, passed) == (None if expected is None else pytest.approx(expected))


def test_consistency_flaky_cases_and_error_rate_are_counted_by_hand() -> None:
    own = [
        tried("a", 4, 4),  # always right: 1
        tried("b", 2, 4),  # (1 + 1) / 6
        tried("c", 0, 4),  # always wrong: 1
        tried("d", 3, 4, statuses={"ok": 3, "error": 1}),  # 3 / 6
    ]
    found = reliability_of(of(own))
    assert found.consistency.value == pytest.approx((1 + 1 / 3 + 1 + 1 / 2) / 4)
    assert found.flaky == 2
    assert found.error_rate == pytest.approx(1 / 16)
    assert found.statuses == {"error": 1, "failed": 6, "ok": 9}
    assert (found.cases, found.tries) == (4, 16)
    assert found.pass_hat[0][1].value == pytest.approx(9 / 16)
    assert found.pass_hat[3][1].value == pytest.approx(1 / 4)


def test_intervals_hold_the_value_are_seeded_and_shrink_with_more_cases() -> None:
    few, many = (reliability_of(of(cases([3, 2, 0, 3] * size, tries=3))) for size in (3, 60))
    for found in (few, many):
        for _, estimate in found.pass_hat:
            assert estimate.interval is not None
            assert estimate.value is not None
            assert 0 <= estimate.interval[0] <= estimate.value <= estimate.interval[1] <= 1
    narrow, wide = (found.pass_hat[0][1].interval for found in (many, few))
    assert narrow is not None
    assert wide is not None
    assert narrow[1] - narrow[0] < (wide[1] - wide[0]) / 3
    # 0, 2/3, 1, 1 have variance 1/6: the standard error of 240 of them is 0.0264.
    assert narrow[1] - narrow[0] == pytest.approx(2 * 1.96 * math.sqrt(1 / 6 / 240), rel=0.15)
    record = of(cases([3, 2, 0, 3] * 3, tries=3))
    assert reliability_of(record) == few
    assert reliability_of(record, seed=1) != few


@pytest.mark.parametrize(("passed", "value"), [(3, 1.0), (0, 0.0)])
def test_when_every_case_ends_alike_the_interval_admits_that_others_may_not(passed: int, value: float) -> None:
    few = reliability_of(of(cases([passed] * 5, tries=3)))
    many = reliability_of(of(cases([passed] * 500, tries=3)))
    for k in range(3):
        estimate = few.pass_hat[k][1]
        assert estimate.value == value
        assert estimate.interval is not None
        # Beta(5.5, 0.5) has its 2.5 % point at 0.62.
        assert estimate.interval == pytest.approx((0.62, 1.0) if value else (0.0, 0.38), abs=0.05)
    certain = many.pass_hat[0][1].interval
    assert certain is not None
    assert certain[1] - certain[0] < 0.01
    assert few.consistency.value == 1.0
    assert few.consistency.interval is not None
    assert few.consistency.interval[0] < 0.8


def test_equal_cases_that_pass_half_the_time_are_not_certain_either() -> None:
    interval = reliability_of(of(cases([1] * 6, tries=2))).pass_hat[0][1].interval
    assert interval is not None
    assert interval[0] < 0.3
    assert interval[1] > 0.7


def test_one_group_of_cases_gives_no_interval_and_groups_count_once() -> None:
    one = reliability_of(of([tried(f"c{i}", i % 2, 1, group="g") for i in range(8)]))
    assert one.pass_hat == ((1, ScoreEstimate(0.5, None)),)
    grouped = [tried(f"c{i}", int(i < 20), group=f"g{i // 10}") for i in range(40)]
    alone = [replace(case, group=None) for case in grouped]
    wide, narrow = (reliability_of(of(own)).pass_hat[0][1].interval for own in (grouped, alone))
    assert wide is not None
    assert narrow is not None
    assert wide[1] - wide[0] > 2 * (narrow[1] - narrow[0])


def test_without_repeats_there_is_no_consistency_and_only_pass_one() -> None:
    found = reliability_of(of(cases([1, 0, 1])))
    assert found.consistency == ScoreEstimate(None)
    assert [k for k, _ in found.pass_hat] == [1]
    uneven = reliability_of(of([tried("a", 1, 1), tried("b", 2, 3), tried("c", 3, 3)]))
    assert [k for k, _ in uneven.pass_hat] == [1]
    assert uneven.consistency.value == pytest.approx((1 / 3 + 1) / 2)
    single = reliability_of(of([tried("a", 1, 1), tried("b", 2, 3)]))
    assert single.consistency == ScoreEstimate(pytest.approx(1 / 3), None)  # type: ignore[arg-type]


def test_one_benchmark_is_looked_at_alone_and_an_unknown_one_is_refused() -> None:
    record = of([*cases([2, 2], tries=2), tried("m", 0, 2, benchmark="maths")], bench("facts"), bench("maths"))
    assert reliability_of(record, "facts").pass_hat[1][1].value == 1.0
    assert reliability_of(record, "maths").pass_hat[1][1].value == 0.0
    assert reliability_of(record).pass_hat[1][1].value == pytest.approx(2 / 3)
    with pytest.raises(NotComparable, match="no results in benchmark math") as caught:
        reliability_of(record, "math")
    assert "maths" in str(caught.value)


def test_an_agent_that_only_raised_and_one_that_did_nothing_are_described_all_the_same() -> None:
    broken = reliability_of(of([without_answer(f"c{i}", 3) for i in range(4)]))
    assert broken.error_rate == 1.0
    assert broken.pass_hat[2][1].value == 0.0
    assert broken.consistency.value == 1.0
    nothing = reliability_of(of([], bench()))
    assert (nothing.cases, nothing.tries, nothing.error_rate) == (0, 0, None)
    assert (nothing.pass_hat, nothing.pass_at, nothing.consistency) == ((), (), ScoreEstimate(None))


def test_errors_of_all_benchmarks_are_merged_by_class() -> None:
    first = bench("a", errors=(ErrorClass("error", "reset", "gone", 2, "gone at N", ("x", "y")),))
    second = bench(
        "b",
        errors=(
            ErrorClass("failed", "", "", 9, "", ("q",)),
            ErrorClass("error", "reset", "gone", 3, "", ("y", "z")),
        ),
    )
    assert merged_errors([first, second]) == (
        ErrorClass("failed", "", "", 9, "", ("q",)),
        ErrorClass("error", "reset", "gone", 5, "gone at N", ("x", "y", "z")),
    )
    record = of([tried("x", benchmark="a"), tried("q", benchmark="b")], first, second)
    assert [item.count for item in reliability_of(record).errors] == [9, 5]
    assert [item.count for item in reliability_of(record, "a").errors] == [2]


def test_spread_is_the_median_over_cases_of_deviation_to_use() -> None:
    own = [
        tried("a", duration=2.0, cost=0.0, spread={"duration_s": 0.2, "cost_usd": 0.0}),
        tried("b", duration=1.0, spread={"duration_s": 0.5}),
        tried("c", duration=4.0, spread={"duration_s": 1.2}),
        tried("d", duration=None, spread={"duration_s": 9.0}),
    ]
    assert reliability_of(of(own)).spread == {"duration_s": pytest.approx(0.3)}


def test_every_record_is_described_and_simulated_ones_are_marked() -> None:
    first = of(cases([1, 0]))
    second = replace(first, agent="other@1", simulated=True)
    assert [(item.agent, item.simulated) for item in reliabilities([first, second])] == [
        ("solver@1", False),
        ("other@1", True),
    ]
