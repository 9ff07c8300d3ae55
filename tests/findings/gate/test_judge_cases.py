"""Rules about what was seen of single cases: which one blocks, with which sentence, because of which case."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from agentdyno.findings.gate.judge import CaseKnowledge, judge_gate
from agentdyno.findings.gate.judge_names import AskedCase, NamedCases, asked_cases, name_cases
from agentdyno.findings.gate.model import CaseStanding, GateReport, GateVerdict, Tries
from agentdyno.model import Benchmark, Case, Suite
from agentdyno.model.case import CaseKey
from agentdyno.model.policy import CasePolicy, GatePolicy, Quarantine
from agentdyno.model.record import AgentRecord

from ..gate_records import case, record

TODAY = "2026-06-15"


def tried(*passed: int, tries: int = 5, agent: str = "mine@2") -> AgentRecord:
    """Cases c0, c1… that passed so many of their tries."""
    return record([case(f"c{i}", right, tries) for i, right in enumerate(passed)], agent)


def keys(*names: str) -> tuple[CaseKey, ...]:
    return tuple(CaseKey("facts", name) for name in names)


def gate(
    before: AgentRecord, after: AgentRecord, *, repeats: dict[str, Tries] | None = None, **asked: object
) -> GateReport:
    """The verdict under a policy about cases; words of it stand for cases by their ids."""
    policy = CasePolicy(**asked)  # type: ignore[arg-type]
    named = name_cases(policy, [AskedCase(item.key) for item in after.cases], TODAY)
    more = {CaseKey("facts", name): found for name, found in (repeats or {}).items()}
    return judge_gate(before, after, GatePolicy(cases=policy), known=CaseKnowledge(named, more))


def standings(report: GateReport) -> dict[str, str]:
    return {item.key.case_id: item.standing.value for item in report.cases}


def test_one_steady_break_is_named_first_even_where_accuracy_may_have_fallen_by_chance() -> None:
    report = gate(tried(*[5] * 60), tried(0, *[5] * 59))
    assert report.verdict is GateVerdict.PASS  # 1.7 points of 2
    assert report.summary.startswith(
        "1 case broke (right in every try before, wrong in every one now): c0; accuracy 1.000 → 0.983 is worse by 1.7"
    )
    assert standings(report)["c0"] == "broken"
    assert report.policies == ()


def test_a_policy_of_no_steady_break_blocks_on_the_first_one() -> None:
    report = gate(tried(*[5] * 60), tried(0, *[5] * 59), max_broken=0)
    assert report.verdict is GateVerdict.BLOCK
    assert [(row.rule, row.found, row.cases) for row in report.policies] == [("max_broken", "1", keys("c0"))]
    assert "; max_broken: at most 0 may break, and 1 did: c0; accuracy " in report.summary
    assert standings(report)["c0"] == "refused"


def test_as_many_steady_breaks_as_allowed_pass() -> None:
    report = gate(tried(*[5] * 60), tried(0, *[5] * 59), max_broken=1)
    assert (report.verdict, report.policies[0].verdict) == (GateVerdict.PASS, GateVerdict.PASS)


@pytest.mark.parametrize(("before", "after"), [(4, 0), (5, 1)])
def test_a_case_that_is_sometimes_right_is_no_steady_break(before: int, after: int) -> None:
    report = gate(tried(before, *[5] * 59, agent="mine@1"), tried(after, *[5] * 59), max_broken=0)
    assert report.policies[0].verdict is GateVerdict.PASS
    assert standings(report)["c0"] == "worse"


def test_two_tries_are_too_few_to_call_a_break_steady() -> None:
    report = gate(tried(*[2] * 60, tries=2), tried(0, *[2] * 59, tries=2), max_broken=0)
    assert report.verdict is GateVerdict.INCONCLUSIVE
    assert "in fewer than 3 tries a side: c0; `epochs: 3` or more" in report.policies[0].reason


def test_a_case_that_must_pass_has_to_be_right_in_every_try() -> None:
    report = gate(tried(5, 5, 5), tried(4, 5, 3), must_pass=("c0", "c1"))
    assert report.verdict is GateVerdict.BLOCK
    assert report.policies[0].cases == keys("c0")
    assert report.summary.startswith("must_pass: must pass and does not: c0 (c0: right in 4 of 5 tries)")
    assert standings(report) == {"c0": "refused", "c1": "passing", "c2": "passing"}


def test_a_case_that_must_pass_and_was_not_asked_leaves_it_open() -> None:
    named = NamedCases(must_pass=frozenset(keys("c9")))
    policy = GatePolicy(cases=CasePolicy(must_pass=("c9",)))
    report = judge_gate(tried(5, 5), tried(5, 5), policy, known=CaseKnowledge(named))
    assert (report.verdict, report.policies[0].reason) == (
        GateVerdict.INCONCLUSIVE,
        "must pass and was not asked: c9",
    )


def test_a_least_accuracy_is_asked_of_all_cases_of_the_candidate() -> None:
    report = gate(tried(5, 5), tried(5, 5, 0, 0), minimum={"accuracy": 0.6})
    assert report.verdict is GateVerdict.BLOCK
    assert report.policies[0].reason == "accuracy is 0.500, at least 0.6 is asked for"
    assert gate(tried(5, 5), tried(5, 5, 0, 0), minimum={"accuracy": 0.5}).policies[0].verdict is GateVerdict.PASS


def test_a_least_value_of_what_is_not_known_leaves_it_open() -> None:
    report = gate(tried(1, 1, tries=1), tried(1, 1, tries=1), minimum={"reliability": 0.9})
    assert report.policies[0].verdict is GateVerdict.INCONCLUSIVE
    assert report.policies[0].reason.startswith("reliability is not known: ")


def test_a_quarantined_case_blocks_nothing_and_is_listed() -> None:
    held = Quarantine("c0", "the oracle is being mended", TODAY)  # its last day
    report = gate(tried(5, 5, 5), tried(0, 5, 5), must_pass=("c0",), max_broken=0, quarantine=(held,))
    assert report.verdict is GateVerdict.PASS
    assert report.broken == ()
    assert [(item.key, item.until) for item in report.quarantined] == [(keys("c0")[0], TODAY)]
    assert report.cases[0].standing is CaseStanding.QUARANTINED
    assert report.cases[0].reason == f"quarantined until {TODAY}: the oracle is being mended; right in 0 of 5 tries"
    assert report.rows[0].row.cases == 2


def test_a_quarantine_that_is_over_blocks_and_its_case_counts_again() -> None:
    report = gate(tried(5, 5), tried(0, 5), quarantine=(Quarantine("c0", "flaky network", "2026-06-14"),))
    assert report.verdict is GateVerdict.BLOCK
    assert "quarantine: the quarantine of c0 ended on 2026-06-14 (flaky network): mend the case" in report.summary
    assert (report.quarantined, standings(report)["c0"]) == ((), "broken")


def test_a_case_in_doubt_needs_further_tries() -> None:
    report = gate(tried(5, 5), tried(4, 5), pass_rate=0.8)
    assert (report.verdict, report.open_cases) == (GateVerdict.INCONCLUSIVE, keys("c0"))
    assert report.policies[0].reason == "in doubt, and not tried often enough: c0"


def test_further_tries_settle_a_case_in_doubt() -> None:
    report = gate(tried(5, 5), tried(4, 5), pass_rate=0.8, repeats={"c0": Tries(14, 14)})
    assert (report.policies[0].verdict, report.open_cases) == (GateVerdict.PASS, ())
    assert "no case of 2 is right too seldom; one that is right in 50 % would be found" in report.policies[0].reason


def test_eight_wrong_answers_block_a_required_pass_rate() -> None:
    report = gate(tried(5, 5), tried(3, 5), pass_rate=0.8, repeats={"c0": Tries(2, 8)})
    assert report.verdict is GateVerdict.BLOCK
    assert report.policies[0].reason == (
        "right too seldom: c0 (c0: right in 5 of 13 tries; 8 wrong ones within 25 are too many)"
    )
    assert report.cases[0].after == Tries(5, 13)
    assert report.rows[0].row.candidate == pytest.approx(0.8)  # repeats count for the requirement alone


def test_a_case_that_failed_before_as_well_is_told_so() -> None:
    report = gate(tried(0, 5), tried(0, 5))
    assert standings(report) == {"c0": "failing", "c1": "passing"}
    assert report.cases[0].reason == "right in 0 of 5 tries, before in 0 of 5 tries"


def tagged(*tags: Sequence[str] | str) -> list[AskedCase]:
    cases = tuple(Case(f"q{i}", "?", metadata={"tags": own} if own else {}) for i, own in enumerate(tags))
    return asked_cases(Suite("one", (Benchmark("facts", cases),)))


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("q1", ["q1"]),
        ("facts/q1", ["q1"]),
        ("q*", ["q0", "q1", "q2"]),
        ("safety", ["q0", "q2"]),
        ("saf*", ["q0", "q2"]),
        ("facts/*", ["q0", "q1", "q2"]),
        ("q[01]", ["q0", "q1"]),
    ],
)
def test_a_word_of_a_policy_is_an_id_a_tag_or_a_pattern(word: str, found: list[str]) -> None:
    named = name_cases(CasePolicy(must_pass=(word,)), tagged("safety", (), ["slow", "safety"]), TODAY)
    assert sorted(key.case_id for key in named.must_pass) == found


def test_records_without_quarantined_cases_stay_as_they_are() -> None:
    found = tried(5, 5)
    assert NamedCases().without_quarantined(found) is found
    held = NamedCases(quarantined={keys("c0")[0]: Quarantine("c0", "r", TODAY)})
    assert held.without_quarantined(found) == replace(found, cases=found.cases[1:])


def test_a_least_accuracy_counts_cases_that_ended_in_an_error_as_wrong() -> None:
    """Two right answers and two crashes: the accuracy of what was answered is 1, that of what was asked 0.5."""
    fine = record([case(name) for name in "abcd"])
    dying = record([case("a"), case("b"), case("c", passed=0, errors=5), case("d", passed=0, errors=5)])
    (row,) = gate(fine, dying, minimum={"accuracy": 0.6}).policies
    assert row.verdict is GateVerdict.BLOCK
    told = "accuracy is 0.500, at least 0.6 is asked for; cases that ended in an error count as wrong: 2"
    assert row.reason == told
    (row,) = gate(fine, dying, minimum={"accuracy": 0.5}).policies
    assert row.verdict is GateVerdict.PASS
    nothing = record([case(name, passed=0, errors=5) for name in "abcd"])
    (row,) = gate(fine, nothing, minimum={"accuracy": 0.5}).policies
    assert (row.found, row.verdict) == ("0.000", GateVerdict.BLOCK)


def test_a_least_accuracy_is_the_mean_over_benchmarks_that_a_board_shows() -> None:
    """Ten right answers in one benchmark; one right answer and one crash in the other: (1 + 0.5) / 2."""
    many = [case(f"m{i}") for i in range(10)]
    few = [case("f0", benchmark="few"), case("f1", passed=0, errors=5, benchmark="few")]
    (row,) = gate(record([*many, *few]), record([*many, *few]), minimum={"accuracy": 0.8}).policies
    assert (row.found, row.verdict) == ("0.750", GateVerdict.BLOCK)
    told = "accuracy, the mean over 2 benchmarks, is 0.750, at least 0.8 is asked for; cases that ended in an error"
    assert row.reason.startswith(told)
    wrong = [*many, case("f0", benchmark="few"), case("f1", passed=0, benchmark="few")]
    (row,) = gate(record(wrong), record(wrong), minimum={"accuracy": 0.8}).policies
    assert row.found == "0.750"
