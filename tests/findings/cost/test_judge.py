from __future__ import annotations

import math
from dataclasses import replace

import pytest

from agentdyno.errors import NotComparable, SpecError
from agentdyno.findings.cost.judge import ACCURACY_ALONE, WITH_SPEED, cost_report
from agentdyno.findings.cost.judge_spending import cost_interval, spending_of
from agentdyno.findings.cost.model import CostReport, CostRow
from agentdyno.model.record import AgentRecord

from ..economy_builders import agent_record, bench, cases, tried, without_answer


def row(report: CostReport, agent: str) -> CostRow:
    return next(item for item in report.rows if item.agent == agent)


def codes(report: CostReport) -> set[str]:
    return {warning.code for warning in report.warnings}


def flat(agent: str, passes: list[int], cost: float | None, seconds: float = 1.0, **fields: object) -> AgentRecord:
    return agent_record(agent, cases(passes, cost=cost, duration=seconds), **fields)


HALF = [1, 0] * 10


def test_money_per_task_and_per_success_follows_from_all_executions() -> None:
    record = agent_record(
        "solver@1",
        [
            tried("a", 3, 3, cost=0.02, duration=1.0, used={"total_tokens": 100.0}),  # $0.06
            tried("b", 1, 3, cost=0.04, duration=4.0, used={"total_tokens": 50.0}),  # $0.12
            tried("c", 0, 2, cost=0.01, duration=2.0, used={"total_tokens": 10.0}),  # $0.02
        ],
    )
    found = row(cost_report([record]), "solver@1")
    assert (found.tasks, found.successes) == (8, 4)
    assert found.cost_usd == pytest.approx(0.20, rel=1e-12)
    assert found.cost_per_task_usd == pytest.approx(0.025, rel=1e-12)
    assert found.cost_per_success_usd == pytest.approx(0.05, rel=1e-12)
    assert found.accuracy == pytest.approx((1 + 1 / 3 + 0) / 3)
    assert found.duration_s == 2.0
    assert found.total_tokens == 470.0
    assert found.performance == ACCURACY_ALONE
    assert found.performance_per_dollar == pytest.approx((4 / 9) / 0.025)
    assert not found.never_succeeded


def test_performance_is_accuracy_times_speed_where_every_agent_has_both() -> None:
    first = agent_record("a@1", cases([1, 0], cost=0.01), bench(speed=0.5))
    second = agent_record("b@1", cases([1, 1], cost=0.02), bench(speed=0.8))
    report = cost_report([first, second])
    assert row(report, "a@1").performance == WITH_SPEED
    assert row(report, "a@1").performance_per_dollar == pytest.approx(0.5 * 0.5 / 0.01)
    assert row(report, "b@1").performance_per_dollar == pytest.approx(1.0 * 0.8 / 0.02)


def test_one_agent_without_a_speed_score_or_on_another_machine_leaves_accuracy_alone_for_all() -> None:
    first = agent_record("a@1", cases([1, 0], cost=0.01), bench(speed=0.5))
    second = agent_record("b@1", cases([1, 1], cost=0.02), bench(speed=None))
    elsewhere = agent_record("b@1", cases([1, 1], cost=0.02), bench(speed=0.8), machine_id="machine-2")
    for other in (second, elsewhere):
        report = cost_report([first, other])
        assert {item.performance for item in report.rows} == {ACCURACY_ALONE}
        assert row(report, "a@1").performance_per_dollar == pytest.approx(50.0)


def test_accuracy_and_speed_of_a_suite_are_means_over_its_benchmarks() -> None:
    own = [*cases([1, 1, 1, 0], cost=0.01), tried("m", 0, benchmark="maths", cost=0.06)]
    record = agent_record("a@1", own, bench("facts", speed=0.4), bench("maths", speed=0.6))
    report = cost_report([record])
    assert report.rows[0].accuracy == pytest.approx(0.375)  # (3/4 + 0) / 2
    assert report.rows[0].performance_per_dollar == pytest.approx(0.375 * 0.5 / 0.02)
    facts, maths = report.benchmark_rows
    assert (facts.benchmark, facts.tasks, facts.successes) == ("facts", 4, 3)
    assert facts.cost_per_success_usd == pytest.approx(0.04 / 3)
    assert facts.performance_per_dollar == pytest.approx(0.75 * 0.4 / 0.01)
    assert maths.never_succeeded
    assert maths.cost_per_success_usd is None
    assert maths.cost_usd == pytest.approx(0.06)


def test_an_agent_that_never_succeeded_has_no_cost_per_success_and_says_so() -> None:
    report = cost_report([flat("hopeless@1", [0, 0, 0], 0.5, 0.1), flat("fine@1", [1, 1, 1], 1.0)])
    found = row(report, "hopeless@1")
    assert found.never_succeeded
    assert (found.cost_per_success_usd, found.cost_interval) == (None, None)
    assert found.cost_per_task_usd == 0.5
    assert found.performance_per_dollar == 0.0
    assert "never_succeeded" in codes(report)
    assert found.on_latency_frontier is None
    assert row(report, "fine@1").on_latency_frontier is True  # alone there: nobody beats it


def test_an_unknown_cost_is_none_and_stays_off_the_frontiers_with_a_warning() -> None:
    partly = agent_record("partly@1", [tried("c0", cost=0.01), tried("c1", cost=None)])
    report = cost_report([partly, flat("a@1", [1, 0], 0.01), flat("b@1", [1, 1], 0.02)])
    found = row(report, "partly@1")
    assert (found.cost_usd, found.cost_per_task_usd, found.cost_per_success_usd) == (None, None, None)
    assert found.performance_per_dollar is None
    assert found.performance.endswith("the cost is not known")
    assert (found.on_accuracy_frontier, found.accuracy_frontier_probability) == (None, None)
    assert row(report, "a@1").on_accuracy_frontier is True
    assert "unknown_cost" in codes(report)
    assert "partly@1" in next(item.message for item in report.warnings if item.code == "unknown_cost")


def test_a_free_agent_has_no_performance_per_dollar_and_stands_on_the_frontier() -> None:
    report = cost_report([flat("local@1", HALF, 0.0), flat("paid@1", HALF, 0.01), flat("best@1", [1] * 20, 0.02)])
    found = row(report, "local@1")
    assert found.performance_per_dollar is None
    assert found.performance == "accuracy: it costs nothing"
    assert (found.cost_per_success_usd, found.cost_interval) == (0.0, (0.0, 0.0))
    assert [item.on_accuracy_frontier for item in report.rows] == [True, False, True]
    assert found.accuracy_frontier_probability == 1.0
    assert row(report, "paid@1").accuracy_frontier_probability == 0.0


def test_an_agent_that_is_better_and_cheaper_in_every_case_is_always_on_both_frontiers_and_alone() -> None:
    report = cost_report([flat("best@1", [1] * 12, 0.01, 1.0), flat("worse@1", [0] * 11 + [1], 0.02, 2.0)])
    best, worse = report.rows
    assert (best.on_accuracy_frontier, best.accuracy_frontier_probability) == (True, 1.0)
    assert (best.on_latency_frontier, best.latency_frontier_probability) == (True, 1.0)
    assert (worse.on_accuracy_frontier, worse.on_latency_frontier) == (False, False)
    assert (worse.accuracy_frontier_probability, worse.latency_frontier_probability) == (0.0, 0.0)


def test_the_probability_is_how_often_the_cases_drawn_again_say_the_same() -> None:
    # The dearer agent is right in one case more of ten: it falls off where a draw misses that case, 0.9^10 = 0.349.
    report = cost_report([flat("cheap@1", [1] * 9 + [0], 0.01), flat("dear@1", [1] * 10, 0.02)])
    dear = row(report, "dear@1")
    assert dear.on_accuracy_frontier is True
    assert dear.accuracy_frontier_probability == pytest.approx(1 - 0.9**10, abs=0.05)
    assert cost_report([*[flat("cheap@1", [1] * 9 + [0], 0.01), flat("dear@1", [1] * 10, 0.02)]]) == report


def test_cases_of_one_group_are_drawn_together() -> None:
    grouped = [tried(f"c{place}", int(place < 5), group="easy" if place < 5 else "hard") for place in range(10)]
    other = [tried(f"c{place}", 1, cost=0.02, group="easy" if place < 5 else "hard") for place in range(10)]
    report = cost_report([agent_record("cheap@1", grouped), agent_record("dear@1", other)])
    # Both groups easy: one draw in four.
    assert row(report, "dear@1").accuracy_frontier_probability == pytest.approx(0.75, abs=0.05)


def test_a_single_group_of_cases_gives_a_frontier_without_probability() -> None:
    own = [tried(f"c{place}", group="g") for place in range(3)]
    report = cost_report([agent_record("a@1", own), agent_record("b@1", own)])
    assert [item.on_accuracy_frontier for item in report.rows] == [True, True]
    assert [item.accuracy_frontier_probability for item in report.rows] == [None, None]
    assert report.rows[0].cost_interval is None


def test_frontiers_rest_on_common_cases_and_say_how_many() -> None:
    # Over all its cases the first looks cheaper; on the case that both have it is not.
    first = agent_record("a@1", [tried("x", cost=0.05), tried("y", cost=0.0), tried("z", cost=0.0)])
    second = agent_record("b@1", [tried("x", cost=0.04), tried("w", cost=0.04)])
    report = cost_report([first, second])
    assert [item.on_accuracy_frontier for item in report.rows] == [False, True]
    assert "1 cases" in next(item.message for item in report.warnings if item.code == "few_common_cases")


def test_agents_without_a_common_case_have_no_frontier_and_a_warning() -> None:
    report = cost_report([agent_record("a@1", [tried("x")]), agent_record("b@1", [tried("y")])])
    assert [item.on_accuracy_frontier for item in report.rows] == [None, None]
    assert "no_common_cases" in codes(report)
    assert report.configurations == ()
    assert not [item for item in report.opportunities if item.kind == "cheaper_agent"]


def test_different_suites_are_refused_and_different_versions_of_one_are_a_warning() -> None:
    first = flat("a@1", [1, 1], 0.01)
    with pytest.raises(NotComparable, match="different suites: first-suite, other"):
        cost_report([first, replace(first, agent="b@1", suite_id="other")])
    report = cost_report([first, replace(first, agent="b@1", suite="another-digest")])
    assert "suite_versions" in codes(report)
    with pytest.raises(NotComparable, match="no agent"):
        cost_report([])
    with pytest.raises(SpecError, match="at least 1 task, got 0"):
        cost_report([first], volume=0)


def test_the_frontier_of_latency_is_that_of_the_machine_with_the_most_agents() -> None:
    report = cost_report(
        [
            flat("a@1", [1, 1, 1], 0.02, 2.0),
            flat("b@1", [1, 1, 1], 0.03, 1.0),
            flat("c@1", [1, 1, 1], 0.01, 0.1, machine_id="machine-2"),
        ]
    )
    assert [item.on_latency_frontier for item in report.rows] == [True, True, None]
    assert [item.on_accuracy_frontier for item in report.rows] == [False, False, True]
    assert "different_machines" in codes(report)


def test_simulated_agents_are_marked_and_do_not_stand_beside_measured_ones() -> None:
    real = [flat("a@1", [1, 0, 1], 0.02), flat("b@1", [1, 1, 1], 0.03)]
    made_up = flat("sim@1", [1, 1, 1], 0.001, simulated=True)
    report = cost_report([*real, made_up])
    assert [item.simulated for item in report.rows] == [False, False, True]
    assert [item.on_accuracy_frontier for item in report.rows] == [True, True, None]
    assert "simulated" in codes(report)
    assert not any(item.agent == "sim@1" or "sim@1" in item.text for item in report.opportunities)
    alone = cost_report([made_up, replace(made_up, agent="other@1")])
    assert [item.on_accuracy_frontier for item in alone.rows] == [True, True]


def test_an_agent_that_only_raised_has_no_accuracy_and_no_place() -> None:
    broken = agent_record("broken@1", [without_answer(f"c{place}", 2) for place in range(4)])
    report = cost_report([broken, flat("a@1", [1] * 4, 0.01), flat("b@1", [1] * 4, 0.02)])
    found = row(report, "broken@1")
    assert (found.accuracy, found.on_accuracy_frontier, found.duration_s) == (None, None, None)
    assert found.never_succeeded
    assert found.performance == "accuracy: no case has a score"
    assert [item.on_accuracy_frontier for item in report.rows] == [None, True, False]


def test_a_record_without_executions_is_a_row_of_unknowns() -> None:
    report = cost_report([agent_record("empty@1", [], bench()), flat("a@1", [1], 0.01)])
    found = row(report, "empty@1")
    assert (found.tasks, found.cost_usd, found.cost_per_task_usd, found.never_succeeded) == (0, None, None, False)
    assert "no_executions" in codes(report)


def test_the_interval_of_the_cost_per_success_covers_what_the_cases_leave_open() -> None:
    mixed = spending_of(flat("a@1", [1, 0, 1, 1, 0, 1, 1, 1, 0, 1] * 4, 0.01))
    found = cost_interval(mixed, 7)
    assert found is not None
    low, high = found
    # 28 of 40 succeed: Wilson's interval of 0.70 is 0.546 … 0.819, so 0.01 / p lies in 0.0122 … 0.0183.
    assert low == pytest.approx(0.0122, abs=0.0006)
    assert high == pytest.approx(0.0183, abs=0.0012)
    assert low < 0.01 * 40 / 28 < high
    assert cost_interval(mixed, 7) == found
    assert cost_interval(mixed, 9) != found


def test_the_intervals_of_few_and_of_many_cases_agree() -> None:
    import numpy as np

    rng = np.random.default_rng(2)
    costs, passed = rng.lognormal(-4.0, 0.5, size=401), rng.random(401) < 0.7
    own = [tried(f"c{place}", int(passed[place]), cost=float(costs[place])) for place in range(401)]
    many = cost_interval(spending_of(agent_record("a@1", own)), 0)
    fewer = cost_interval(spending_of(agent_record("a@1", own[:400])), 0)
    assert many is not None
    assert many == pytest.approx(fewer, rel=0.02)


def test_success_in_every_case_is_no_proof_of_success_in_every_other() -> None:
    few = cost_interval(spending_of(flat("a@1", [1] * 5, 0.01)), 0)
    many = cost_interval(spending_of(flat("a@1", [1] * 500, 0.01)), 0)
    assert few is not None
    assert many is not None
    assert few[0] == pytest.approx(0.01, rel=1e-3)
    assert few[1] == pytest.approx(0.01 / 0.619, rel=0.05)  # the 2.5 % point of Beta(5.5, 0.5)
    assert many[1] < 0.0101


def test_an_interval_without_a_finite_end_is_none() -> None:
    rare = spending_of(flat("a@1", [1, 0, 0, 0], 0.01))
    assert cost_interval(rare, 0) is None
    assert cost_interval(spending_of(flat("a@1", [1], 0.01)), 0) is None
    assert cost_interval(spending_of(flat("a@1", [1, 1], None)), 0) is None


def test_intervals_of_the_cost_per_success_cover_the_truth_about_19_times_in_20() -> None:
    import numpy as np

    rng = np.random.default_rng(5)
    hits = 0
    for number in range(200):
        costs = rng.lognormal(-4.0, 0.8, size=60)
        passed = rng.random(60) < 0.7
        own = [
            tried(f"c{i}", int(ok), cost=float(cost)) for i, (cost, ok) in enumerate(zip(costs, passed, strict=True))
        ]
        found = cost_interval(spending_of(agent_record("a@1", own)), number)
        assert found is not None
        hits += found[0] <= math.exp(-4.0 + 0.32) / 0.7 <= found[1]
    assert hits >= 180


def test_every_number_of_a_report_is_finite_or_none() -> None:
    strange = [
        flat("nan@1", [1, 0, 1], float("nan")),
        flat("negative@1", [1, 0, 1], -1.0),
        flat("free@1", [0, 0, 0], 0.0),
        flat("tiny@1", [1, 0, 1], 1e-300, 1e-300),
        agent_record("none@1", [without_answer(f"c{place}") for place in range(3)]),
    ]
    report = cost_report(strange)
    for item in (*report.rows, *report.benchmark_rows):
        for name in CostRow.__dataclass_fields__:
            value = getattr(item, name)
            for number in value if isinstance(value, tuple) else (value,):
                assert not isinstance(number, float) or math.isfinite(number), (item.agent, name)
