from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from agentdyno.findings.engine.flips import pick_pair
from agentdyno.findings.engine.judgement import judgement
from agentdyno.findings.figures.cases import ArmFigures
from agentdyno.findings.record.judge import record_of
from agentdyno.findings.standing.model import AgentStanding, HeadToHead, ScoreEstimate
from agentdyno.model import Benchmark, Status, Verdict
from agentdyno.model.case import CaseKey
from agentdyno.model.record import AgentRecord
from agentdyno.stats import wilson

from ..suite_builders import arm, benchmark, case, sample, suite_of, suite_result


def contender(
    scores: Mapping[str, Sequence[float | Status]], of: Benchmark, label: str = "x@1", run_id: str = "run"
) -> AgentRecord:
    samples = [
        sample(case_id, outcome, epoch) for case_id, epochs in scores.items() for epoch, outcome in enumerate(epochs)
    ]
    own = arm(label, of.benchmark_id, samples)
    result = replace(suite_result(suite_of(of), own), run_id=run_id)
    return record_of(result, {own.arm_id: ArmFigures.of(of, samples)}, label)


def head_to_head(first: AgentRecord, second: AgentRecord) -> HeadToHead:
    return judgement(first, second).flips


def one_each(bits: str) -> dict[str, list[float | Status]]:
    return {f"c{i:02}": [float(bit)] for i, bit in enumerate(bits)}


def names(keys: Sequence[CaseKey]) -> list[str]:
    return [key.case_id for key in keys]


def test_cases_that_flip_are_named_and_tested_exactly() -> None:
    of = benchmark(*(f"c{i:02}" for i in range(12)))
    found = head_to_head(contender(one_each("000000001110"), of), contender(one_each("111111110110"), of, "x@2"))
    assert names(found.fixed) == [f"c{i:02}" for i in range(8)]
    assert names(found.broken) == ["c08"]
    assert (found.both_right, found.both_wrong) == (2, 1)
    # Of nine cases that flipped, one broke: 2 * (1 + 9) / 2**9.
    assert found.p_value == pytest.approx(0.0390625)
    assert found.method == "swap test exact"
    assert found.difference == pytest.approx(7 / 12)
    assert found.baseline_mean == pytest.approx(3 / 12)
    assert found.candidate_mean == pytest.approx(10 / 12)
    assert found.interval == pytest.approx((1 / 6, 1.0))
    assert found.verdict is Verdict.BETTER


def test_the_other_way_round_it_is_worse() -> None:
    of = benchmark(*(f"c{i:02}" for i in range(12)))
    found = head_to_head(contender(one_each("111111110110"), of), contender(one_each("000000001110"), of))
    assert found.verdict is Verdict.WORSE
    assert found.difference == pytest.approx(-7 / 12)


def test_repeated_cases_are_compared_by_their_means() -> None:
    of = benchmark("a", "b", "c")
    first = contender({"a": [1, 0], "b": [1, 1], "c": [0, 0]}, of)
    second = contender({"a": [1, 1], "b": [1, 0], "c": [1, 1]}, of)
    found = head_to_head(first, second)
    # With signs exchanged (0.5, -0.5, 1) adds up to 1, 0, 2 or 1: three of four are as far as what was seen.
    assert found.p_value == pytest.approx(0.75)
    assert found.difference == pytest.approx((0.5 - 0.5 + 1.0) / 3)
    assert names(found.fixed) == ["c"]
    assert names(found.broken) == []
    assert (found.both_right, found.both_wrong) == (2, 0)


def test_the_largest_change_comes_first() -> None:
    of = benchmark("a", "b")
    first = contender({"a": [0, 0, 1], "b": [0, 0, 0]}, of)
    second = contender({"a": [1, 1, 0], "b": [1, 1, 1]}, of)
    assert names(head_to_head(first, second).fixed) == ["b", "a"]


def test_cases_without_a_score_on_a_side_are_counted_and_not_compared() -> None:
    of = benchmark("a", "b", "c")
    first = contender({"a": [1.0], "b": [Status.ERROR], "c": [0.0]}, of)
    second = contender({"a": [1.0], "b": [1.0]}, of)
    found = head_to_head(first, second)
    assert (found.cases, found.unpaired) == (1, 2)
    assert found.interval is None
    assert found.verdict is Verdict.INCONCLUSIVE


def test_nothing_in_common_is_no_finding() -> None:
    found = head_to_head(
        contender({"a": [1.0]}, benchmark("a")), contender({"b": [1.0]}, benchmark("b", name="other"))
    )
    assert found.cases == 0
    assert found.difference is None
    assert found.p_value is None
    assert found.detectable is None


def test_a_case_that_was_changed_between_two_runs_is_not_the_same_case() -> None:
    before = benchmark("a", case("b", target="old"))
    after = benchmark("a", case("b", target="new"))
    scores: dict[str, list[float | Status]] = {"a": [1.0], "b": [1.0]}
    found = head_to_head(contender(scores, before), contender(scores, after, run_id="later"))
    assert (found.cases, found.unpaired, found.same_run) == (1, 1, False)


def test_cases_of_one_group_are_one_observation() -> None:
    cases = [case(f"c{i:02}", f"g{i // 4}") for i in range(24)]
    of = benchmark(*cases)
    found = head_to_head(contender(one_each("0" * 24), of), contender(one_each("1" * 12 + "0" * 12), of))
    assert found.clusters == 6
    # Three of six groups flipped, all one way: two-sided p = 2 / 2**3.
    assert found.p_value == pytest.approx(0.25)
    assert "groups" in found.method
    alone = head_to_head(
        contender(one_each("0" * 24), benchmark(*(f"c{i:02}" for i in range(24)))),
        contender(one_each("1" * 12 + "0" * 12), benchmark(*(f"c{i:02}" for i in range(24)))),
    )
    assert alone.p_value is not None
    assert alone.p_value < 0.001
    assert found.detectable is not None
    assert alone.detectable is not None
    assert found.detectable > alone.detectable


def test_a_single_group_has_neither_interval_nor_p_value() -> None:
    cases = [case(f"c{i:02}", "g") for i in range(4)]
    found = head_to_head(
        contender(one_each("0000"), benchmark(*cases)), contender(one_each("1111"), benchmark(*cases))
    )
    assert (found.interval, found.p_value, found.detectable) == (None, None, None)
    assert found.difference == 1.0


def test_agents_that_never_differ_are_not_certain_to_be_the_same() -> None:
    of = benchmark(*(f"c{i:02}" for i in range(20)))
    found = head_to_head(contender(one_each("1" * 20), of), contender(one_each("1" * 20), of))
    reach = wilson(0, 20).high
    assert found.interval == pytest.approx((-reach, reach))
    assert found.p_value == 1.0
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.detectable is not None
    assert found.detectable > 0.1


def test_many_cases_without_a_difference_are_the_same() -> None:
    of = benchmark(*(f"c{i:02}" for i in range(200)))
    found = head_to_head(contender(one_each("10" * 100), of), contender(one_each("10" * 100), of))
    assert found.verdict is Verdict.SAME


def standing(agent: str, overall: float) -> AgentStanding:
    name, _, version = agent.rpartition("@")
    estimate = ScoreEstimate(overall)
    return AgentStanding(agent, name, version, {"overall": estimate, "accuracy": estimate}, 1, 1, 1, 1)


def test_two_versions_of_one_agent_matter_most() -> None:
    agents = [standing("best@1", 0.9), standing("mine@1.10", 0.8), standing("mine@1.9", 0.7)]
    assert pick_pair(agents) == ("mine@1.9", "mine@1.10")
    assert pick_pair([agents[0], agents[2], agents[1]]) == ("mine@1.9", "mine@1.10")


def test_versions_that_are_no_numbers_keep_the_order_of_the_run() -> None:
    agents = [standing("mine@3fa9c0d1", 0.8), standing("mine@0b1c2d3e", 0.7)]
    assert pick_pair(agents, ["mine@0b1c2d3e", "mine@3fa9c0d1"]) == ("mine@0b1c2d3e", "mine@3fa9c0d1")
    assert pick_pair(agents, ["mine@3fa9c0d1", "mine@0b1c2d3e"]) == ("mine@3fa9c0d1", "mine@0b1c2d3e")


def test_without_versions_the_two_best_meet() -> None:
    agents = [standing("best@1", 0.9), standing("second@1", 0.8), standing("third@1", 0.7)]
    assert pick_pair(agents) == ("second@1", "best@1")
    assert pick_pair(agents[:1]) is None
    assert pick_pair([]) is None


def test_the_threshold_of_the_rubric_says_what_is_right() -> None:
    of = benchmark("a")
    strict = replace(of, rubric=replace(of.rubric, pass_threshold=0.9))
    first, second = contender({"a": [0.6]}, strict), contender({"a": [0.95]}, strict)
    assert names(head_to_head(first, second).fixed) == ["a"]
    assert names(head_to_head(contender({"a": [0.6]}, of), contender({"a": [0.95]}, of)).fixed) == []


@pytest.mark.parametrize("changed", [1, 2, 3])
def test_so_many_more_cases_as_a_few_are_told_to_miss_do_decide_when_they_go_on_alike(changed: int) -> None:
    """Of four cases some broke. Six is the fewest with which a test can say anything at all: not what is missing."""
    found = head_to_head(*broken_in(4, changed, 1))
    assert found.more_cases is not None
    times = -(-(4 + found.more_cases) // 4)
    assert head_to_head(*broken_in(4, changed, times)).verdict is Verdict.WORSE
    assert head_to_head(*broken_in(4, changed, max(1, times // 3))).verdict is Verdict.INCONCLUSIVE


def broken_in(cases: int, changed: int, times: int) -> tuple[AgentRecord, AgentRecord]:
    of = benchmark(*(f"c{i:02}" for i in range(cases * times)))
    after = ("0" * changed + "1" * (cases - changed)) * times
    return contender(one_each("1" * cases * times), of), contender(one_each(after), of, "x@2")
