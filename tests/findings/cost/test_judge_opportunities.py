from __future__ import annotations

import pytest

from agentdyno.findings.cost.judge_opportunities import opportunities
from agentdyno.findings.cost.judge_spending import spending_of
from agentdyno.findings.cost.model import Opportunity
from agentdyno.model.record import AgentRecord

from ..economy_builders import agent_record, cases, tried, without_answer


def found(*records: AgentRecord, volume: int = 1000) -> dict[tuple[str, str], Opportunity]:
    listed = opportunities([spending_of(record) for record in records], volume)
    named = {(item.kind, item.agent): item for item in listed}
    assert len(named) == len(listed)
    return named


GOOD, WEAK = [1] * 29 + [0], [1] * 8 + [0] * 22


def test_an_agent_that_is_as_good_and_cheaper_is_named_with_both_prices_and_the_difference() -> None:
    large, small = agent_record("large@1", cases(GOOD, cost=0.10)), agent_record("small@1", cases(GOOD, cost=0.02))
    nano = agent_record("nano@1", cases(WEAK, cost=0.001))
    listed = found(large, small, nano, volume=2000)
    item = listed["cheaper_agent", "large@1"]
    assert item.text == "small@1 instead of large@1: 80 % cheaper"
    assert item.savings_usd == pytest.approx(0.08 * 2000)
    assert item.evidence[0] == "$0.02 per task against $0.10 per task on the same 30 cases"
    assert "+0.0 points" in item.evidence[1]
    assert ("cheaper_agent", "small@1") not in listed  # the only cheaper one is significantly worse
    assert ("cheaper_agent", "nano@1") not in listed


def test_a_cheaper_agent_needs_enough_cases_a_success_and_a_difference_worth_naming() -> None:
    def named(*records: AgentRecord) -> bool:
        return any(kind == "cheaper_agent" for kind, _ in found(*records))

    dear = agent_record("dear@1", cases(GOOD, cost=0.100))
    assert not named(dear, agent_record("near@1", cases(GOOD, cost=0.095)))
    assert not named(dear, agent_record("unknown@1", cases(GOOD, cost=None)))
    assert not named(dear, agent_record("apart@1", [tried("elsewhere", cost=0.01)]))
    assert not named(dear, agent_record("never@1", cases([0] * 30, cost=0.01)))
    assert not named(dear, agent_record("simulated@1", cases(GOOD, cost=0.01), simulated=True))
    few = agent_record("few@1", cases([1, 1, 1], cost=0.10))
    assert not named(few, agent_record("cheap@1", cases([1, 0, 1], cost=0.01)))
    assert named(few, agent_record("cheap@1", cases([1, 1, 1], cost=0.01)))
    assert named(dear, agent_record("free@1", cases(GOOD, cost=0.0)))


def test_money_for_executions_that_fail_is_what_their_share_of_the_tries_cost() -> None:
    record = agent_record(
        "a@1", [tried("x", 2, 2, cost=0.10), tried("y", 1, 4, cost=0.05), tried("z", 0, 1, cost=0.10)]
    )  # $0.20 + $0.20 + $0.10; of it 0.15 + 0.10 for failures
    item = found(record, volume=700)["failed_executions", "a@1"]
    assert item.text == "50 % of the cost of a@1 goes into executions that fail: $25.00 at 700 tasks"
    assert item.evidence == (
        "4 of 7 executions failed",
        "$0.25 of $0.50, the cost of a case shared evenly by its tries",
    )
    assert item.savings_usd is None
    assert ("failed_executions", "b@1") not in found(agent_record("b@1", cases([1] * 19 + [0])))


def test_billed_executions_without_any_answer_are_named_apart_from_wrong_answers() -> None:
    record = agent_record(
        "a@1", [*cases([1] * 8, cost=0.01), without_answer("slow", 2, cost=0.04, status="timeout")]
    )  # $0.08 and $0.08
    item = found(record)["unanswered", "a@1"]
    assert item.text == "50 % of the cost of a@1 got no answer at all"
    assert item.evidence == (
        "$0.08 of $0.16 for 1 case without any answer",
        "ended: 2 timeout",
        "facts/slow $0.08",
    )
    refused = agent_record("b@1", [*cases([1] * 8, cost=0.01), without_answer("no", 2, cost=0.0)])
    assert ("unanswered", "b@1") not in found(refused)
    assert ("failing_cases", "a@1") not in found(record)


def test_cases_that_never_pass_are_named_where_they_cost_more_than_their_share() -> None:
    record = agent_record("a@1", [*cases([1] * 9, cost=0.01), tried("hard", 0, cost=0.21)])
    item = found(record)["failing_cases", "a@1"]
    assert item.text.startswith("1 case that a@1 never passes: 70 % of its cost")
    assert item.evidence == ("$0.21 of $0.30 for 10 % of the executions", "facts/hard $0.21")
    even = agent_record("b@1", cases([1] * 5 + [0] * 5, cost=0.01))
    assert ("failing_cases", "b@1") not in found(even)


def test_prompts_are_named_where_nearly_all_tokens_are_input_and_every_case_knows_them() -> None:
    def with_tokens(agent: str, inside: float, outside: float | None) -> AgentRecord:
        used = {"input_tokens": inside} | ({} if outside is None else {"output_tokens": outside})
        return agent_record(agent, cases([1, 1], tries=2, used=used))

    item = found(with_tokens("a@1", 900.0, 100.0))["input_tokens", "a@1"]
    assert item.text.startswith("90 % of the tokens of a@1 are its prompts")
    assert item.evidence == ("900 tokens in, 100 out per task",)
    assert ("input_tokens", "b@1") not in found(with_tokens("b@1", 500.0, 500.0))
    assert ("input_tokens", "c@1") not in found(with_tokens("c@1", 900.0, None))
    assert ("input_tokens", "d@1") not in found(with_tokens("d@1", 0.0, 0.0))


def test_more_epochs_than_reliability_needs_are_named_where_every_case_always_ends_alike() -> None:
    item = found(agent_record("a@1", cases([5, 5, 0, 5], tries=5, cost=0.01)))["epochs", "a@1"]
    assert item.text == "a@1 answers every case alike each time: 3 epochs tell as much and save $0.08 per run"
    assert item.evidence == ("4 cases, each with 5 tries or more, all of a case right or all wrong",)
    assert ("epochs", "b@1") not in found(agent_record("b@1", cases([5, 4], tries=5)))
    assert ("epochs", "c@1") not in found(agent_record("c@1", cases([3, 3], tries=3)))


def test_without_known_or_real_money_there_is_no_opportunity() -> None:
    assert found(agent_record("a@1", cases([0, 1], cost=None))) == {}
    assert found(agent_record("a@1", cases([0, 1], cost=0.0))) == {}
    assert found(agent_record("a@1", cases([0, 1], cost=0.1), simulated=True)) == {}
    assert opportunities([], 1000) == ()


def test_the_largest_savings_come_first() -> None:
    listed = opportunities(
        [
            spending_of(agent_record(name, cases(GOOD, cost=cost)))
            for name, cost in (("a@1", 0.05), ("b@1", 0.2), ("c@1", 0.01))
        ],
        1000,
    )
    assert [item.agent for item in listed if item.savings_usd] == ["b@1", "a@1"]
