"""A gate on the terminal, in a pull request and as test results."""

from __future__ import annotations

from dataclasses import replace
from xml.etree import ElementTree

import pytest
from rich.cells import cell_len

from agentdyno.findings.gate.judge import judge_gate
from agentdyno.findings.gate.model import BrokenCase, GateReport, GateVerdict
from agentdyno.findings.gate.tables import gate_tables
from agentdyno.findings.gate.tables_junit import gate_junit
from agentdyno.model.case import CaseKey
from agentdyno.model.policy import GatePolicy
from agentdyno.model.result import RunWarning
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
    )


def test_eighty_columns_show_every_metric_with_its_verdict() -> None:
    text = render_console(gate_tables(REPORT), 80)
    lines = text.splitlines()
    assert lines[0].strip() == "BLOCK: mine@1 → mine@2"
    accuracy = next(line for line in lines if line.startswith("accuracy"))
    assert " ".join(accuracy.split()) == "accuracy critical 0.960 0.640 -0.320 0.020 ✗ BLOCK"
    duration = next(line for line in lines if line.startswith("duration"))
    assert " ".join(duration.split()) == "duration supporting 1 s 1.50 s +50.0 % 10.0 % ! WARN"
    assert "shown only" in text
    assert "18 broken cases, the worst first" in text
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
    assert len(tables[-1].rows) == 5
    assert tables[-1].notes == ("13 more broken cases.", "2 cases that failed before pass now.")


def test_the_comment_leads_with_the_verdict_behind_its_marker() -> None:
    lines = gate_comment(REPORT).splitlines()
    assert lines[0] == MARKER
    assert lines[2] == "## ⛔ BLOCK: mine@\u200b2 is blocked on first suite"
    assert lines[4].startswith("accuracy 0.960 → 0.640 is worse by 32.0 points")
    assert "| accuracy | critical | 0.960 | 0.640 | -0.320 | 0.020 | **✗ BLOCK** |" in lines
    assert "<details><summary>18 broken cases, the worst first</summary>" in lines
    assert "| facts/c00 | 1.00 → 0.00 | Paris | Lyon (the capital was asked for) |" in lines
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


def test_junit_has_one_case_per_rule_and_fails_only_what_blocks() -> None:
    root = ElementTree.fromstring(gate_junit([REPORT]))
    (suite,) = root
    assert (suite.get("name"), suite.get("tests"), suite.get("failures")) == (
        "first suite: mine@1 → mine@2",
        "7",
        "1",
    )
    cases = {item.get("name"): item for item in suite.findall("testcase")}
    judged = ["accuracy", "error_rate", "unscored", "reliability", "duration_s", "cost_usd", "total_tokens"]
    assert list(cases) == judged
    failure = cases["accuracy"].find("failure")
    assert failure is not None
    assert (failure.get("message") or "").startswith("accuracy: worse by 32.0 points, 2.0 points are allowed")
    assert "facts/c00: 1.00 → 0.00, want Paris, got Lyon" in (failure.text or "")
    assert cases["duration_s"].find("failure") is None
    assert (cases["duration_s"].findtext("system-out") or "").startswith("! WARN: 1 s → 1.50 s, change +50.0 %")
    assert suite.find("properties/property[@name='verdict']").get("value") == "BLOCK"  # type: ignore[union-attr]


def test_junit_of_hostile_text_is_well_formed() -> None:
    root = ElementTree.fromstring(gate_junit([hostile(), REPORT]))
    assert len(root) == 2
    assert gate_junit([]).endswith('<testsuites name="agentdyno gate" />\n')
