"""A gate on the terminal, in a pull request and as test results."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest
from rich.cells import cell_len

from agentdyno.findings.gate.judge import CaseKnowledge, judge_gate
from agentdyno.findings.gate.judge_names import AskedCase, name_cases
from agentdyno.findings.gate.model import (
    BrokenCase,
    CaseStanding,
    GatedCase,
    GateReport,
    GateVerdict,
    PolicyRow,
    QuarantinedCase,
    Tries,
)
from agentdyno.findings.gate.tables import gate_tables
from agentdyno.findings.gate.tables_junit import gate_junit
from agentdyno.model.case import CaseKey
from agentdyno.model.form import RunWarning
from agentdyno.model.policy import CasePolicy, GatePolicy, Quarantine
from agentdyno.reports import render_console
from agentdyno.reports.gate_comment import MARKER, gate_comment

from ..findings.gate_records import case, record

HOSTILE = "<script>alert(1)</script>|`x`\n@someone \x1b[31m\x00 --> 漢字 " + "long" * 30


def blocked() -> GateReport:
    """Eighteen of forty facts broken, two of ten tool cases fixed, and half as slow again."""

    def of(broken: int, fixed: int, seconds: float, agent: str) -> object:
        used = {"duration_s": seconds, "total_tokens": 100.0, "cost_usd": 0.001}
        facts = [case(f"c{i:02}", 0 if i < broken else 5, used=used) for i in range(40)]
        tools = [
            case(f"t{i:02}", 0 if i >= 2 - fixed and i < 2 else 5, benchmark="tools", used=used) for i in range(10)
        ]
        return record([*facts, *tools], agent)

    baseline, candidate = of(0, 2, 1.0, "mine@1"), of(18, 0, 1.5, "mine@2")
    report = judge_gate(baseline, candidate, GatePolicy(against="main"))  # type: ignore[arg-type]
    first = replace(report.broken[0], want="Paris", got="Lyon", why="the capital was asked for")
    return replace(report, broken=(first, *report.broken[1:]))


REPORT = blocked()


def hostile() -> GateReport:
    broken = tuple(BrokenCase(CaseKey(HOSTILE, HOSTILE), 1.0, None, HOSTILE, HOSTILE, HOSTILE) for _ in range(3))
    return replace(
        REPORT,
        baseline=HOSTILE,
        candidate=HOSTILE,
        suite=HOSTILE,
        summary=HOSTILE,
        broken=broken,
        rows=tuple(replace(row, reason=HOSTILE) for row in REPORT.rows),
        benchmark_rows=tuple(replace(row, benchmark=HOSTILE) for row in REPORT.benchmark_rows),
        warnings=(RunWarning("x", HOSTILE, HOSTILE),),
        policy=GatePolicy(against=HOSTILE),
        policies=(PolicyRow(HOSTILE, HOSTILE, HOSTILE, GateVerdict.BLOCK, HOSTILE, (broken[0].key,)),),
        quarantined=(QuarantinedCase(broken[0].key, HOSTILE, "2026-12-31"),),
        cases=tuple(GatedCase(broken[0].key, Tries(5, 5), Tries(0, 5), item, HOSTILE) for item in CaseStanding),
    )


def test_eighty_columns_show_every_metric_with_its_verdict() -> None:
    text = render_console(gate_tables(REPORT), 80)
    lines = text.splitlines()
    assert lines[0].strip() == "18 broken cases: right in every try before, wrong in every one now"
    assert "BLOCK: mine@1 → mine@2" in [line.strip() for line in lines], "what it means for others comes after"
    accuracy = next(line for line in lines if line.startswith("accuracy"))
    assert " ".join(accuracy.split()) == "accuracy critical 0.960 0.640 -0.320 0.020 ✗ BLOCK"
    duration = next(line for line in lines if line.startswith("duration"))
    assert " ".join(duration.split()) == "duration supporting 1 s 1.50 s +50.0 % 10.0 % ! WARN"
    assert "shown only" in text
    assert "Paris" in text
    assert "the capital was asked for" in text
    assert "These rows explain; the suite as a whole decides." in text


@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.parametrize("report", [REPORT, hostile()], ids=["usual", "hostile"])
def test_no_line_is_wider_than_the_terminal(report: GateReport, width: int) -> None:
    text = render_console(gate_tables(report), width)
    assert max(cell_len(line) for line in text.splitlines()) <= width
    assert "\x1b" not in text


def test_a_long_list_of_broken_cases_is_cut_and_counted() -> None:
    tables = gate_tables(REPORT, most_broken=5)
    assert len(tables[0].rows) == 5
    assert tables[0].notes == ("13 more broken cases.", "2 cases that failed before pass now.")


def test_the_comment_leads_with_the_verdict_behind_its_marker() -> None:
    lines = gate_comment(REPORT).splitlines()
    assert lines[0] == MARKER
    assert lines[2] == "## ⛔ BLOCK: mine@\u200b2 is blocked on first suite"
    broke = "18 cases broke (right in every try before, wrong in every one now): c00, c01, c02, c03, c04 and 13 more"
    assert lines[4].startswith(f"{broke}; accuracy 0.960 → 0.640 is worse by 32.0 points (95 %: ")
    assert "| accuracy | critical | 0.960 | 0.640 | -0.320 | 0.020 | **✗ BLOCK** |" in lines
    title = "18 broken cases: right in every try before, wrong in every one now"
    assert f"<details><summary>{title}</summary>" in lines
    assert "| facts/c00 | 5/5 → 0/5 | Paris | Lyon (the capital was asked for) |" in lines
    assert lines[-2:] == ["dyno check --against main", "```"]


def test_the_comment_takes_a_command_and_several_gates() -> None:
    passed = replace(REPORT, verdict=GateVerdict.PASS, suite="second", broken=(), rows=REPORT.rows[1:2])
    text = gate_comment(REPORT, passed, command="dyno check a.yaml --against '```'")
    assert text.count(MARKER) == 1
    assert "## ✅ PASS: mine@\u200b2 may pass on second" in text
    assert "````\ndyno check a.yaml --against '```'\n````" in text


def test_nothing_hostile_acts_in_the_comment() -> None:
    text = gate_comment(hostile())
    before, _, after = text.partition("Reproduce it with")
    assert "<script" not in before
    assert "@someone" not in before
    assert before.count("-->") == 1
    assert "\x1b" not in text
    assert "\x00" not in text
    for line in before.splitlines():
        if line.startswith("| ") and "critical" in line:
            assert line.replace("\\|", "").count("|") == 8
    fence = after.strip().splitlines()[0]
    assert after.strip().splitlines()[-1] == fence
    assert len(after.strip().splitlines()) == 3


def test_a_comment_that_github_would_refuse_is_cut() -> None:
    many = gate_comment(*[replace(hostile(), broken=hostile().broken * 20)] * 12)
    assert len(many) <= 60_000
    assert many.startswith(MARKER)
    assert "The rest is in the report of the workflow." in many


def test_junit_has_one_test_per_rule_and_per_case_and_fails_what_blocks_or_broke() -> None:
    root = ElementTree.fromstring(gate_junit([REPORT]))
    (suite,) = root
    assert (suite.get("name"), suite.get("tests"), suite.get("failures")) == (
        "first suite: mine@1 → mine@2",
        "57",
        "19",
    )
    cases = {item.get("name"): item for item in suite.findall("testcase")}
    judged = ["accuracy", "error_rate", "unscored", "reliability", "duration_s", "cost_usd", "total_tokens"]
    assert list(cases)[:7] == judged
    assert list(cases)[7:] == [*(f"c{i:02}" for i in range(40)), *(f"t{i:02}" for i in range(10))]
    broke = cases["c00"].find("failure")
    assert broke is not None
    assert broke.get("message") == "right in 0 of 5 tries, before in 5 of 5 tries; want Paris, got Lyon"
    assert (cases["c18"].find("failure"), cases["c00"].get("classname")) == (None, "facts.mine@2")
    failure = cases["accuracy"].find("failure")
    assert failure is not None
    assert (failure.get("message") or "").startswith("accuracy: worse by 32.0 points, 2.0 points are allowed")
    assert "facts/c00: right 5/5 → 0/5; want Paris, got Lyon" in (failure.text or "")
    assert cases["duration_s"].find("failure") is None
    assert (cases["duration_s"].findtext("system-out") or "").startswith("! WARN: 1 s → 1.50 s, change +50.0 %")
    assert suite.find("properties/property[@name='verdict']").get("value") == "BLOCK"  # type: ignore[union-attr]


def gated() -> GateReport:
    """A case that must pass and does not, one in quarantine, one that failed before as well."""
    before = record([case("c0"), case("c1"), case("c2", 0)])
    after = record([case("c0", 4), case("c1", 0), case("c2", 0)], "mine@2")
    held = Quarantine("c1", "the oracle is being mended", "2026-12-31")
    policy = CasePolicy(must_pass=("c0",), quarantine=(held,))
    named = name_cases(policy, [AskedCase(item.key) for item in after.cases], "2026-06-15")
    return judge_gate(before, after, GatePolicy(cases=policy), known=CaseKnowledge(named))


def test_junit_tells_rules_about_cases_and_skips_quarantined_and_known_failures_with_their_reason() -> None:
    (suite,) = ElementTree.fromstring(gate_junit([gated()]))
    cases = {item.get("name"): item for item in suite.findall("testcase")}
    assert (suite.get("failures"), suite.get("skipped")) == ("2", "2")
    told = {name: item[0].get("message") for name, item in cases.items() if item[0].tag != "system-out"}
    assert told == {
        "must_pass": "must_pass: must pass and does not: c0 (c0: right in 4 of 5 tries)",
        "c0": "must_pass: right in 4 of 5 tries, before in 5 of 5 tries",
        "c1": "quarantined until 2026-12-31: the oracle is being mended; right in 0 of 5 tries",
        "c2": "fails as before: right in 0 of 5 tries, before in 0 of 5 tries",
    }


def test_the_rule_that_blocks_and_what_is_quarantined_are_in_the_comment_and_in_the_tables() -> None:
    comment = gate_comment(gated()).splitlines()
    row = "| must_pass | right in every try | 1 of 1 not | **✗ BLOCK** | must pass and does not: c0 "
    assert any(line.startswith(row) for line in comment)
    assert "| facts/c1 | 2026-12-31 | the oracle is being mended |" in comment
    text = render_console(gate_tables(gated()), 100)
    assert "1 quarantined case, not judged" in text
    assert "must_pass  right in every try  1 of 1 not  ✗ BLOCK" in text


def test_junit_of_hostile_text_is_well_formed() -> None:
    root = ElementTree.fromstring(gate_junit([hostile(), REPORT]))
    assert len(root) == 2
    assert gate_junit([]).endswith('<testsuites name="agentdyno gate" />\n')
