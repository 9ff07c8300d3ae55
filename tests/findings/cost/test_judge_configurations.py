from __future__ import annotations

import pytest

from agentdyno.findings.cost.judge import cost_report
from agentdyno.findings.cost.judge_configurations import accuracy_against, configuration_rows, not_worse, sweeps
from agentdyno.findings.cost.judge_spending import spending_of
from agentdyno.findings.cost.model import ConfigurationRow
from agentdyno.findings.duel.model import PairedRow
from agentdyno.model.metric import Verdict
from agentdyno.model.record import AgentRecord

from ..economy_builders import agent_record, bench, cases, tried


def configured(model: str, passes: list[int], cost: float | None, **fields: object) -> AgentRecord:
    return agent_record(f"{model}@1", cases(passes, cost=cost), configuration={"model": model, "seed": 1}, **fields)


def rows(*records: AgentRecord, volume: int = 1000) -> dict[str, ConfigurationRow]:
    found = configuration_rows([spending_of(record) for record in records], volume, with_speed=False)
    return {row.agent: row for row in found}


GOOD, WEAK = [1] * 28 + [0] * 2, [1] * 10 + [0] * 20


def test_efficiency_is_performance_per_dollar_in_parts_of_the_best_that_is_not_significantly_worse() -> None:
    found = rows(
        configured("large", GOOD, 0.10),
        configured("medium", GOOD, 0.025),
        configured("small", GOOD, 0.02),
        configured("nano", WEAK, 0.001),
    )
    assert found["small@1"].efficiency == 1.0
    assert found["medium@1"].efficiency == pytest.approx(0.8)
    assert found["large@1"].efficiency == pytest.approx(0.2)
    assert found["nano@1"].efficiency == 1.0  # cheap for what it does, and significantly worse
    assert [row.optimal for row in found.values()] == [False, False, True, False]
    assert "significantly worse than" in found["nano@1"].evidence
    assert found["small@1"].configuration == {"model": "small", "seed": 1}


def test_an_efficiency_of_exactly_four_fifths_is_not_above_it() -> None:
    found = rows(configured("five", [1] * 8, 5.0), configured("four", [1] * 8, 4.0))
    assert found["five@1"].efficiency == 0.8
    assert not found["five@1"].optimal
    assert found["four@1"].optimal


def test_savings_are_against_the_most_expensive_at_the_stated_volume() -> None:
    found = rows(configured("large", GOOD, 0.10), configured("small", GOOD, 0.02), volume=500)
    assert found["small@1"].savings_usd == pytest.approx(0.08 * 500)
    assert found["small@1"].against == "large@1, the most expensive"
    assert (found["large@1"].savings_usd, found["large@1"].against) == (None, "")


def test_speed_counts_where_the_report_counts_it() -> None:
    own = [
        agent_record(f"{name}@1", cases(GOOD, cost=0.01), bench(speed=speed), configuration={"model": name})
        for name, speed in (("quick", 0.9), ("slow", 0.3))
    ]
    report = cost_report(own)
    assert [row.efficiency for row in report.configurations] == [1.0, pytest.approx(1 / 3)]


def test_where_a_free_configuration_is_as_accurate_nothing_paid_is_efficient() -> None:
    found = rows(
        configured("local", GOOD, 0.0),
        configured("weaker", GOOD[:15] + WEAK[:15], 0.0),
        configured("paid", GOOD, 0.01),
    )
    assert found["local@1"].efficiency == 1.0
    assert found["weaker@1"].efficiency == pytest.approx((25 / 30) / (28 / 30))
    assert (found["paid@1"].efficiency, found["paid@1"].optimal) == (0.0, False)


def test_a_free_configuration_that_is_significantly_worse_sets_no_measure() -> None:
    found = rows(configured("local", WEAK, 0.0), configured("paid", GOOD, 0.01))
    assert (found["paid@1"].efficiency, found["paid@1"].optimal) == (1.0, True)
    assert not found["local@1"].optimal


def test_few_cases_prove_nothing_so_only_what_is_no_less_accurate_passes_for_as_good() -> None:
    found = rows(configured("large", [1, 1, 1], 0.10), configured("small", [1, 0, 1], 0.01))
    assert found["large@1"].efficiency == 1.0
    assert not found["small@1"].optimal
    same = rows(configured("large", [1, 1, 1], 0.10), configured("small", [1, 1, 1], 0.01))
    assert same["small@1"].optimal


def test_a_configuration_whose_cost_is_unknown_is_listed_without_a_number() -> None:
    found = rows(configured("large", GOOD, 0.1), configured("small", GOOD, 0.02), configured("odd", GOOD, None))
    assert (found["odd@1"].efficiency, found["odd@1"].optimal, found["odd@1"].savings_usd) == (None, False, None)
    assert found["odd@1"].evidence == "the cost is not known"


def test_configurations_that_achieve_nothing_have_no_efficiency() -> None:
    found = rows(configured("a", [0] * 8, 0.1), configured("b", [0] * 8, 0.2))
    assert [row.efficiency for row in found.values()] == [None, None]
    assert not any(row.optimal for row in found.values())


def test_a_sweep_needs_two_configurations_that_can_be_set_side_by_side() -> None:
    assert rows(configured("large", GOOD, 0.1)) == {}
    assert rows(configured("large", GOOD, 0.1), configured("small", GOOD, None)) == {}
    apart = agent_record("small@1", [tried("elsewhere")], configuration={"model": "small", "seed": 1})
    assert rows(configured("large", GOOD, 0.1), apart) == {}


def test_sweeps_are_agents_with_the_same_keys_or_the_same_beginning_of_their_names() -> None:
    def made(agent: str, **configuration: object) -> AgentRecord:
        return agent_record(agent, [tried("a")], configuration=configuration)

    own = [
        made("solver[hot]@1"),
        made("x@1", model="a"),
        made("solver[cold]@1"),
        made("y@1", model="b"),
        made("z@1", model="b", context=5),
        made("solver@2"),
        made("lonely@1"),
    ]
    assert sweeps([spending_of(record) for record in own]) == [[0, 2, 5], [1, 3]]
    versions = [made("solver@1", model="a"), made("solver@2", model="a")]
    assert sweeps([spending_of(record) for record in versions]) == []
    mixed = [made("x@1", model="a"), agent_record("y@1", [tried("a")], configuration={"model": "b"}, simulated=True)]
    assert sweeps([spending_of(record) for record in mixed]) == []


def compared(verdict: Verdict | None, change: float | None, clusters: int = 30) -> PairedRow:
    return PairedRow(
        "accuracy", "", "score", "ratio", True, False, 0.9, 0.8,
        change=change, interval=(-0.2, 0.0), p_value=0.3, detectable=0.12, cases=30, clusters=clusters,
        verdict=verdict, reason="no case in common",
    )  # fmt: skip


def test_a_candidate_passes_for_as_accurate_only_where_a_test_could_have_shown_otherwise() -> None:
    assert not_worse(compared(Verdict.INCONCLUSIVE, -0.1))
    assert not not_worse(compared(Verdict.INCONCLUSIVE, -0.1, clusters=4))
    assert not_worse(compared(Verdict.INCONCLUSIVE, 0.0, clusters=4))
    assert not_worse(compared(Verdict.BETTER, 0.1))
    assert not not_worse(compared(Verdict.WORSE, -0.1))
    assert not not_worse(compared(None, None))


def test_the_evidence_gives_difference_interval_p_value_and_what_the_cases_could_show() -> None:
    text = accuracy_against(compared(Verdict.INCONCLUSIVE, -0.1), "x@1")
    assert (
        text
        == "no significant difference from x@1 (-10.0 points [-20.0, +0.0], p = 0.3, 30 cases would show 12 points)"
    )
    assert accuracy_against(compared(None, None), "x@1") == "does not compare with x@1: no case in common"
