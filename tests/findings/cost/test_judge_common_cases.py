from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.findings.cost.judge_common_cases import CommonCases, common_cases, known_use
from agentdyno.model.case import CaseKey
from agentdyno.model.record import CaseRecord

from ..economy_builders import agent_record, bench, cases, tried


def grid(*records: list[CaseRecord]) -> CommonCases:
    return common_cases([agent_record(f"agent{place}@1", own) for place, own in enumerate(records)])


def test_only_cases_that_all_tried_with_the_same_question_and_rubric_are_common() -> None:
    changed = replace(tried("b"), digest="another question")
    shared = grid([tried("a"), tried("b"), tried("c")], [tried("c"), changed, tried("a"), tried("d")])
    assert shared.keys == (CaseKey("facts", "a"), CaseKey("facts", "c"))
    untried = replace(tried("a"), tries=0)
    assert grid([tried("a")], [untried]).keys == ()
    judged = agent_record("x@1", [tried("a")], bench(rubric="exact"))
    otherwise = agent_record("y@1", [tried("a")], bench(rubric="fuzzy"))
    assert common_cases([judged, otherwise]).keys == ()
    assert common_cases([]).keys == ()


def test_cost_per_task_weighs_cases_by_their_tries_and_accuracy_weighs_benchmarks_alike() -> None:
    own = [
        tried("a", 1, 1, cost=0.01),
        tried("b", 0, 3, cost=0.03),
        tried("m", 1, 1, cost=0.02, benchmark="maths"),
    ]
    shared = grid(own)
    assert shared.cost_per_task()[0, 0] == pytest.approx(0.12 / 5)  # 0.01 + 3 · 0.03 + 0.02
    assert shared.accuracy()[0, 0] == pytest.approx(0.75)  # (1/2 + 1) / 2
    twice = shared.accuracy(np.array([[3.0, 1.0, 1.0]]))
    assert twice[0, 0] == pytest.approx(0.875)  # (3/4 + 1) / 2


def test_a_case_without_a_score_costs_and_does_not_count_for_accuracy() -> None:
    shared = grid([tried("a", cost=0.01), tried("b", score=None, cost=0.03)])
    assert shared.accuracy()[0, 0] == 1.0
    assert shared.cost_per_task()[0, 0] == pytest.approx(0.02)


def test_what_is_no_amount_is_unknown() -> None:
    assert known_use(tried("a", cost=0.5), "cost_usd") == 0.5
    for value in (None, -1.0, float("nan"), float("inf")):
        assert np.isnan(known_use(tried("a", cost=value), "cost_usd"))


def test_equal_agents_stay_equal_whatever_the_order_of_their_sums() -> None:
    costs = [0.1, 0.2, 0.3, 0.7, 1e-9]
    first = [tried(f"c{place}", cost=cost) for place, cost in enumerate(costs)]
    second = [tried(f"c{place}", cost=cost) for place, cost in enumerate(reversed(costs))]
    found = grid(first, second).cost_per_task()
    assert found[0, 0] == found[0, 1]


@given(st.lists(st.tuples(st.integers(1, 9), st.integers(0, 3)), min_size=1, max_size=9))
def test_the_latency_of_a_draw_is_the_median_of_the_values_as_often_as_drawn(drawn: list[tuple[int, int]]) -> None:
    shared = grid([tried(f"c{place}", duration=float(value)) for place, (value, _) in enumerate(drawn)])
    found = shared.latency(np.array([[float(times) for _, times in drawn]]))[0, 0]
    repeated = [float(value) for value, times in drawn for _ in range(times)]
    assert found == np.median(repeated) if repeated else np.isnan(found)


def test_draws_are_seeded_keep_groups_together_and_every_benchmark_at_its_size() -> None:
    own = [
        *(tried(f"a{place}", group=f"g{place // 2}") for place in range(6)),
        *(tried(f"m{place}", benchmark="maths") for place in range(4)),
    ]
    shared = grid(own)
    assert shared.independent == 7
    weights = np.concatenate(list(shared.draws(3)))
    assert np.array_equal(weights, np.concatenate(list(shared.draws(3))))
    assert not np.array_equal(weights, np.concatenate(list(shared.draws(4))))
    assert np.array_equal(weights[:, 0], weights[:, 1])
    assert (weights[:, :6].sum(axis=1) == 6).all()
    assert (weights[:, 6:].sum(axis=1) == 4).all()


def test_benchmarks_of_one_case_are_drawn_over_the_whole_suite() -> None:
    shared = grid([tried("a", benchmark="one"), tried("b", benchmark="two"), tried("c", benchmark="three")])
    weights = np.concatenate(list(shared.draws(0)))
    assert (weights.sum(axis=1) == 3).all()
    assert weights.std() > 0
    assert np.isfinite(shared.accuracy(weights)).all()


def test_a_draw_without_any_score_of_an_agent_is_not_a_number() -> None:
    shared = grid(cases([1, 1]), [tried("c0"), tried("c1", score=None)])
    found = shared.accuracy(np.array([[0.0, 2.0]]))[0]
    assert found[0] == 1.0
    assert np.isnan(found[1])
