"""A candidate against its baseline: verdicts, broken cases, and how seldom an agent is blocked against itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from agentdyno.errors import NotComparable
from agentdyno.findings.gate.judge import judge_gate
from agentdyno.findings.gate.model import BrokenCase, GateReport, GateVerdict, Tries
from agentdyno.model.case import CaseKey
from agentdyno.model.policy import GatePolicy, GateRule, Tier
from agentdyno.model.record import AgentRecord, ErrorClass, QuantitySpread, RunSpread

from ..gate_records import case, drawn, record

POLICY = GatePolicy()


def steady(count: int = 40, **fields: object) -> AgentRecord:
    return record([case(f"c{i:02}") for i in range(count)], **fields)  # type: ignore[arg-type]


def with_broken(number: int, count: int = 40, passed: int = 0) -> AgentRecord:
    return record([case(f"c{i:02}", passed if i < number else 5) for i in range(count)], "mine@2")


def verdicts(report: GateReport) -> dict[str, str]:
    return {row.rule.metric: row.verdict.value for row in report.rows}


def test_an_agent_against_itself_passes() -> None:
    report = judge_gate(steady(), steady(), POLICY)
    assert report.verdict is GateVerdict.PASS
    assert set(verdicts(report).values()) == {"PASS"}
    assert report.summary == "none of 6 judged metrics is worse"
    assert (report.broken, report.fixed) == ((), ())
    assert report.paired
    assert (report.baseline, report.candidate, report.suite) == ("mine@1 (baseline)", "mine@1", "first suite")
    assert report.warnings == ()


def test_two_names_for_one_model_are_refused_and_versions_of_one_agent_are_not() -> None:
    def asking(agent: str) -> AgentRecord:
        return steady(agent=agent, asked="workflow:openai:first", models=("the-only-one",))

    with pytest.raises(NotComparable, match="mine and yours are the same model: both answered as the-only-one"):
        judge_gate(asking("mine@1"), asking("yours@1"), POLICY)
    assert judge_gate(asking("mine@1"), asking("mine@2"), POLICY).verdict is GateVerdict.PASS


def test_ten_broken_cases_of_forty_block_and_are_named_the_worst_first() -> None:
    candidate = with_broken(10)
    cases = [replace(item, score=0.2, passed=1) if item.case_id == "c00" else item for item in candidate.cases]
    report = judge_gate(steady(), replace(candidate, cases=tuple(cases)), POLICY)
    assert report.verdict is GateVerdict.BLOCK
    assert verdicts(report)["accuracy"] == "BLOCK"
    assert verdicts(report)["error_rate"] == "PASS"
    assert report.broken[0] == BrokenCase(CaseKey("facts", "c01"), 1.0, 0.0, before=Tries(5, 5), after=Tries(0, 5))
    assert report.broken[-1] == BrokenCase(CaseKey("facts", "c00"), 1.0, 0.2, before=Tries(5, 5), after=Tries(1, 5))
    assert [item.steady for item in report.broken] == [True] * 9 + [False]
    assert len(report.broken) == 10
    fact, inference, *others = report.summary.split("; ")
    broke = "9 cases broke (right in every try before, wrong in every one now)"
    assert fact == f"{broke}: c01, c02, c03, c04, c05 and 4 more"
    assert inference.startswith("accuracy 1.000 → 0.755 is worse by 24.5 points (95 %: ")
    assert others[-1] == "1 case fell below the pass threshold", "what was seen, and no verdict about its pass rate"


def test_of_twenty_cases_eight_broken_ones_block_and_seven_do_not_decide() -> None:
    assert judge_gate(steady(20), with_broken(8, 20), POLICY).verdict is GateVerdict.BLOCK
    report = judge_gate(steady(20), with_broken(7, 20), POLICY)
    assert report.verdict is GateVerdict.INCONCLUSIVE
    assert "more cases would decide" in report.rows[0].reason


def test_a_few_broken_cases_of_many_leave_it_open() -> None:
    report = judge_gate(steady(), with_broken(3), POLICY)
    assert report.verdict is GateVerdict.INCONCLUSIVE
    assert len(report.broken) == 3
    assert "may be chance" in report.summary


def test_fixed_cases_are_named_too() -> None:
    report = judge_gate(with_broken(12), steady(agent="mine@3"), POLICY)
    assert report.verdict is GateVerdict.PASS
    assert report.fixed == tuple(CaseKey("facts", f"c{i:02}") for i in range(12))
    assert report.rows[0].reason == "better by 30.0 points; accuracy is of 40 cases"


def test_slower_by_half_in_another_run_is_judged_by_what_runs_do_there() -> None:
    slow = [replace(item, used={**item.used, "duration_s": 1.5}) for item in steady().cases]
    benchmarks = [replace(item, run_id="run-2") for item in steady().benchmarks]
    candidate = replace(steady(), agent="mine@2", cases=tuple(slow), benchmarks=tuple(benchmarks))
    unknown = judge_gate(steady(), candidate, POLICY)
    assert unknown.verdict is GateVerdict.PASS
    time = next(row for row in unknown.rows if row.rule.metric == "duration_s")
    assert (time.row.baseline, time.row.candidate, time.row.p_value, time.significant) == (1.0, 1.5, None, None)
    command = "`dyno run SUITE --agent mine --against REF`"
    assert time.reason == f"separate runs, not judged: {command} measures both interleaved; not counted"
    spread = RunSpread("host", {"duration_s": QuantitySpread(0.03, 9, "own")})
    report = judge_gate(steady(), candidate, POLICY, spread)
    assert report.verdict is GateVerdict.WARN
    assert verdicts(report)["duration_s"] == "WARN"
    assert [item.code for item in report.warnings] == ["unpaired"]
    assert not report.paired


def test_on_another_machine_times_are_noted_and_not_counted() -> None:
    slow = [replace(item, used={**item.used, "duration_s": 9.0}) for item in steady().cases]
    report = judge_gate(steady(), replace(steady(), machine_id="m2", cases=tuple(slow)), POLICY)
    row = next(row for row in report.rows if row.rule.metric == "duration_s")
    assert report.verdict is GateVerdict.PASS
    assert row.exceeded is None
    assert row.reason == "measured on different machines; not counted"
    critical = GatePolicy((GateRule("duration_s", Tier.CRITICAL, 0.1),))
    assert judge_gate(steady(), replace(steady(), machine_id="m2"), critical).verdict is GateVerdict.INCONCLUSIVE


def test_a_candidate_that_only_errs_blocks_even_with_three_cases() -> None:
    broken = record([case(f"c{i:02}", 0, 5, 5) for i in range(3)], "mine@2")
    report = judge_gate(steady(3), broken, POLICY)
    assert verdicts(report)["accuracy"] == verdicts(report)["error_rate"] == "BLOCK"
    assert "nothing was answered: all 15 executions ended in errors" in report.summary
    assert [item.candidate for item in report.broken] == [None, None, None]
    both = judge_gate(broken, broken, POLICY)
    assert both.verdict is GateVerdict.INCONCLUSIVE  # there is no accuracy to speak of


def test_errors_block_by_their_rate_though_what_is_left_is_right() -> None:
    candidate = record([case(f"c{i:02}", 0 if i < 15 else 5, 5, 5 if i < 15 else 0) for i in range(40)], "mine@2")
    report = judge_gate(steady(), candidate, POLICY)
    assert verdicts(report)["error_rate"] == "BLOCK"
    assert verdicts(report)["accuracy"] == "PASS"
    assert len(report.broken) == 15


def unjudged(count: int, of: int = 30, agent: str = "mine@2") -> AgentRecord:
    """An agent that answers everything, and of whose answers some have no verdict."""
    cases = [case(f"c{i:02}") for i in range(of)]
    silent = [replace(item, scored=0, passed=0, score=None, statuses={"ok": 5}) for item in cases[:count]]
    return record([*silent, *cases[count:]], agent)


def test_more_cases_without_a_score_than_the_baseline_has_block() -> None:
    report = judge_gate(steady(30), unjudged(10), POLICY)
    assert report.verdict is GateVerdict.BLOCK
    found = verdicts(report)
    assert (found["accuracy"], found["error_rate"], found["unscored"]) == ("PASS", "PASS", "BLOCK")
    row = next(row for row in report.rows if row.rule.metric == "unscored")
    assert (row.row.baseline, row.row.cases) == (0.0, 30)
    assert row.row.candidate == pytest.approx(1 / 3)
    assert not row.row.higher_is_better
    assert report.rows[0].reason.endswith("; scored 20 of 30 cases on both sides")
    assert report.summary.startswith("unscored 0.000 → 0.333 is worse by 33.3 points")


def test_one_case_without_a_score_leaves_it_open_and_fewer_than_before_pass() -> None:
    one = judge_gate(steady(30), unjudged(1), POLICY)
    assert (one.verdict, verdicts(one)["unscored"]) == (GateVerdict.INCONCLUSIVE, "INCONCLUSIVE")
    fewer = judge_gate(unjudged(10), unjudged(2, agent="mine@3"), POLICY)
    assert verdicts(fewer)["unscored"] == "PASS"
    assert judge_gate(unjudged(10), unjudged(10), POLICY).verdict is GateVerdict.PASS


def test_a_scorer_that_raised_is_named_with_how_often_and_where() -> None:
    said = "scorer s.py@valid raised KeyError: 'x' (s.py:4)"
    raised = ErrorClass(
        "failed", "scorer", "scorer s.py@valid raised KeyError", 50, said, ("c00", "c01", "c02", "c03")
    )
    candidate = with_broken(10)
    candidate = replace(candidate, benchmarks=(replace(candidate.benchmarks[0], errors=(raised,)),))
    (warning,) = judge_gate(steady(), candidate, POLICY).warnings
    assert warning.code == "scorer-raised"
    assert warning.message == (
        f"{candidate.agent}: {said} on 50 of 200 answers in facts, each of which counts as 0: c00, c01, c02"
    )


def test_benchmarks_explain_and_do_not_decide() -> None:
    def of(bad: int) -> AgentRecord:
        facts = [case(f"c{i:02}") for i in range(60)]
        return record([*facts, *(case(f"t{i}", 0 if i < bad else 5, benchmark="tools") for i in range(5))])

    report = judge_gate(of(0), of(1), POLICY)
    found = {(row.benchmark, row.metric): row for row in report.benchmark_rows}
    assert set(found) == {(name, metric) for name in ("facts", "tools") for metric in ("accuracy", "error_rate")}
    assert found["tools", "accuracy"].change == pytest.approx(-0.2)
    assert report.verdict is GateVerdict.PASS  # 1 of 65 is within two points
    assert judge_gate(steady(), steady(), POLICY).benchmark_rows == ()


def test_no_common_case_is_not_comparable() -> None:
    other = record([case(f"x{i:02}") for i in range(40)])
    changed = replace(steady(), cases=tuple(replace(item, digest="other") for item in steady().cases))
    for candidate in (other, changed, replace(steady(), cases=())):
        with pytest.raises(NotComparable) as caught:
            judge_gate(steady(), candidate, POLICY)
        assert "no case in common" in caught.value.message
        assert caught.value.remedy


def test_cases_without_a_partner_are_left_out_and_told() -> None:
    candidate = record([*(case(f"c{i:02}") for i in range(1, 40)), case("new", 0)], "mine@2")
    report = judge_gate(steady(), candidate, POLICY)
    assert report.verdict is GateVerdict.PASS
    assert report.warnings[0].code == "cases-left-out"
    assert "39 common cases are judged; left out: 2 that only one side has" in report.warnings[0].message


def test_scores_of_other_rules_do_not_compare() -> None:
    other = with_broken(20)
    other = replace(other, benchmarks=tuple(replace(item, rubric="r2") for item in other.benchmarks))
    report = judge_gate(steady(), other, POLICY)
    assert report.verdict is GateVerdict.INCONCLUSIVE
    assert report.broken == ()
    assert any(item.code == "judged-otherwise" for item in report.warnings)


def test_rules_for_experiments_are_not_asked_of_agents() -> None:
    policy = GatePolicy((GateRule("accuracy", Tier.CRITICAL, 0.02), GateRule("result.rows", Tier.CRITICAL, 0.02)))
    assert [row.rule.metric for row in judge_gate(steady(), steady(), policy).rows] == ["accuracy"]


def test_commits_tell_two_records_of_one_version_apart() -> None:
    first, second = replace(steady(), commit="a" * 40), replace(steady(), commit="b" * 40)
    report = judge_gate(first, second, POLICY)
    assert (report.baseline, report.candidate) == ("mine@1 at aaaaaaaaa", "mine@1 at bbbbbbbbb")


@pytest.mark.parametrize(("cases", "epochs"), [(146, 5), (40, 3)])
def test_two_hundred_resamples_of_an_agent_against_itself_block_at_most_twice(cases: int, epochs: int) -> None:
    chances = np.random.default_rng(11).beta(0.5, 0.15, cases)
    policy = GatePolicy(tuple(rule for rule in POLICY.rules if rule.tier is Tier.CRITICAL))
    blocked = 0
    for i in range(200):
        first, second = drawn(chances, epochs, (i, 0)), drawn(chances, epochs, (i, 1), "mine@2")
        blocked += judge_gate(first, second, policy).verdict is GateVerdict.BLOCK
    assert blocked <= 2


def test_a_fifth_of_146_noisy_cases_lost_blocks() -> None:
    chances = np.random.default_rng(11).beta(0.5, 0.15, 146)
    blocked = 0
    for i in range(20):
        worse = np.where(np.random.default_rng(i).random(146) < 0.2, 0.0, chances)
        first, second = drawn(chances, 5, (i, 0)), drawn(worse, 5, (i, 1), "mine@2")
        blocked += judge_gate(first, second, POLICY).verdict is GateVerdict.BLOCK
    assert blocked >= 19
