from __future__ import annotations

import csv
import json
from dataclasses import replace
from io import StringIO
from pathlib import Path
from xml.etree import ElementTree

import pytest

from agentdyno.findings.figures.suite_figures import close_suite
from agentdyno.findings.standing.judge import standing_of
from agentdyno.findings.standing.tables_labels import with_standings
from agentdyno.model import Case, Findings, RunResult, Status
from agentdyno.reports import CsvReporter, HtmlReporter, JunitReporter, MarkdownReporter
from agentdyno.reports.csv_files import agents_csv, samples_csv
from agentdyno.reports.html_page import render_html
from agentdyno.reports.json_files import render_json
from agentdyno.reports.junit import render_junit
from agentdyno.reports.markdown import render_markdown

from ..findings.suite_builders import arm, benchmark, sample, suite_of, suite_result
from ..given_results import SCRIPT, Factory
from .suites import comprehensive, report
from .test_html import Page

RUN = comprehensive()


def hostile() -> RunResult:
    cases = [Case(SCRIPT, SCRIPT, SCRIPT, {"note": SCRIPT}), Case("b", "q", f"=cmd|'{SCRIPT}'!A1")]
    own = benchmark(*cases, name="hostile")
    samples = [
        sample(SCRIPT, 0.0, output=f"=HYPERLINK() {SCRIPT}", details={"model": SCRIPT, "observed": {"x": SCRIPT}}),
        sample("b", Status.ERROR, output=None),
    ]
    return close_suite(
        suite_result(
            suite_of(own, name=f"suite {SCRIPT}"),
            arm(f"{SCRIPT}@1", "hostile", samples),
            arm(f"{SCRIPT}@2", "hostile", samples),
        )
    )


def rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(StringIO(text)))


def test_the_page_shows_agents_matrix_duel_and_failed_cases_offline() -> None:
    text = render_html(report(RUN))
    page = Page(text)
    assert not {"script", "link", "iframe", "object", "embed", "form", "base"} & set(page.tags)
    assert all(link.startswith("#") for link in page.links)
    assert page.handlers == []
    assert len(page.ids) == len(set(page.ids))
    assert "http://" not in text
    for words in ("Agents", "Accuracy by benchmark", "Time and money", "Fixed", "Failed cases", "Without an answer"):
        assert words in page.text
    assert "Scores of every agent with their 95 % interval." in page.text
    assert page.tags.count("svg") == 5
    assert "smollm2-tools@0.9 → smollm2-tools@1.1" in page.text


def test_what_cases_and_answers_say_is_never_markup() -> None:
    text = render_html(report(hostile()))
    assert "<script" not in text.lower()
    page = Page(text)
    assert "script" not in page.tags
    assert page.handlers == []
    assert SCRIPT in page.text


def test_markdown_shows_the_same_tables_and_escapes() -> None:
    text = render_markdown(report(RUN))
    assert "| agent | overall | accuracy | speed | efficiency | cost | reliability |" in text
    assert "#### Failed cases" in text
    assert "<script" not in render_markdown(report(hostile()))


def test_every_failed_case_can_be_opened_in_the_page_with_its_answer_and_steps() -> None:
    standing = standing_of(RUN)
    text = render_html(report(RUN))
    assert text.count('<details class="failure">') == standing.failed_total
    page = Page(text)
    assert f"{standing.failed_total - 5} more failed cases" in page.text
    assert "in the other" not in page.text
    assert "calculator" in page.text, "a step of an answer"
    assert "391 is not 390" in page.text, "the scorer's reason"


def test_the_page_begins_with_the_verdict_a_picture_of_the_agents_and_one_table() -> None:
    text = render_html(report(RUN))
    places = [
        text.index(word)
        for word in (
            "smollm2-tools@1.1 is first of 5 agents",
            "Accuracy in points of 100, with its 95 % interval.",
            "Cost per task.",
            "Time per task",
            "<h3>Agents</h3>",
            'class="differences"',
            "<h3>Failed cases</h3>",
            "<h3>Details</h3>",
            "<summary>Scores</summary>",
        )
    ]
    assert places == sorted(places)
    assert '<span class="aside">76–98</span>' in text
    assert 'class="bar"' in text


def test_csv_has_a_row_per_sample_with_scores_usage_and_answer() -> None:
    found = rows(samples_csv(report(RUN)))
    assert len(found) == 480
    one = next(row for row in found if row["case_id"] == "sum-05" and row["agent"] == "rules@1.0")
    assert one["benchmark"] == "arithmetic"
    assert one["target"] == "115"
    assert one["score.score"] in ("0.0", "1.0")
    assert one["cost_source"] == "priced"
    assert float(one["total_tokens"]) > 0
    assert one["model"] == "smollm2-135m"
    assert one["output"]


def test_csv_has_a_row_per_agent_with_intervals(tmp_path: Path) -> None:
    paths = CsvReporter().write(report(RUN), tmp_path)
    assert [path.name for path in paths] == ["summary.csv", "samples.csv", "agents.csv"]
    found = rows((tmp_path / "agents.csv").read_text())
    assert found[0]["agent"] == "smollm2-tools"
    assert found[0]["version"] == "1.1"
    assert float(found[0]["accuracy_low"]) <= float(found[0]["accuracy"]) <= float(found[0]["accuracy_high"])
    broken = next(row for row in found if row["agent"] == "smollm2")
    assert (broken["error"], broken["timeout"], broken["cost_usd"]) == ("1", "1", "")


def test_a_spreadsheet_runs_nothing_that_an_agent_answered() -> None:
    for text in (samples_csv(report(hostile())), agents_csv(report(hostile()))):
        for row in csv.reader(StringIO(text)):
            assert not any(cell.startswith(("=", "+", "@", "\t")) for cell in row)
    found = rows(samples_csv(report(hostile())))
    assert found[0]["output"].startswith("'=HYPERLINK()")
    assert found[1]["target"].startswith("'=cmd|")


def test_experiments_keep_their_columns(make: Factory) -> None:
    header = samples_csv(make.report(make.sweep())).splitlines()[0]
    assert "benchmark" not in header
    assert "target" not in header


def test_junit_has_a_test_case_per_agent_and_case() -> None:
    facts = benchmark(Case("a", "2+2", "4"), Case("b", "?", "yes"), Case("c", "?", "no"))
    samples = [
        sample("a", 0.0, 0, output="five"),
        sample("a", 0.0, 1, output="six"),
        sample("a", 1.0, 2, output="4"),
        sample("b", 1.0, 0),
        sample("b", 0.0, 1),
        sample("c", Status.ERROR),
    ]
    run = close_suite(suite_result(suite_of(facts), arm("x@1", "facts", samples)))
    suite = ElementTree.fromstring(render_junit(report(run)).encode())[0]
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("3", "1", "1")
    cases = {case.get("name"): case for case in suite.iter("testcase")}
    assert cases["a"].get("classname") == "facts.x@1"
    failure = cases["a"].find("failure")
    assert failure is not None
    assert failure.get("message") == "want 4, got five"
    assert failure.get("type") == "failed"
    assert "1 of 3 executions passed, score 0.333" in (failure.text or "")
    assert cases["b"].find("failure") is None
    error = cases["c"].find("error")
    assert error is not None
    assert error.get("message") == "want no, got error happened"
    assert error.get("type") == "error.exception"


def test_junit_says_which_tools_were_called_and_why_that_is_wrong() -> None:
    judged = {
        "scorer": "tool_calls",
        "weight": 1.0,
        "values": {"tool_calls": 0.0},
        "explanation": "search was not called",
        "details": {"calls": ["lookup(q=rain)"]},
    }
    answer = sample("a", 0.0, output={"text": "wet", "id": 7}, details={"scoring": [judged]})
    run = close_suite(suite_result(suite_of(benchmark(Case("a", "?", "dry"))), arm("x@1", "facts", [answer])))
    failure = ElementTree.fromstring(render_junit(report(run)).encode()).find(".//failure")
    assert failure is not None
    assert failure.get("message") == "want dry, got lookup(q=rain)"
    assert "why: search was not called" in (failure.text or "")


def test_junit_tells_what_became_of_a_workflow_and_what_its_check_found() -> None:
    own = benchmark(Case("pages", "count the pages"))
    output = {"outcome": "done", "reason": "", "steps": {"done": ["count"]}, "folder": "/somewhere", "commands": {}}
    found = {"scorer": "final_state", "explanation": "top.txt is missing"}
    taken = [sample("pages", 0.0, output=output, details={"scoring": [found]})]
    run = close_suite(suite_result(suite_of(own), arm("x@1", "facts", taken)))
    failure = ElementTree.fromstring(render_junit(report(run)).encode()).find(".//failure")
    assert failure is not None
    assert failure.get("message") == "top.txt is missing (got done: count)"
    assert "/somewhere" not in (failure.text or "")


def test_json_carries_the_standings() -> None:
    document = json.loads(render_json(with_standings(report(RUN))))
    agents = document["findings"]["standings"][0]["agents"]
    assert agents[0]["agent"] == "smollm2-tools@1.1"
    assert set(agents[0]["scores"]["accuracy"]) == {"value", "interval"}


@pytest.mark.parametrize("kind", [CsvReporter, HtmlReporter, JunitReporter, MarkdownReporter])
def test_no_format_fails_on_a_hostile_or_empty_suite(kind: type[HtmlReporter], tmp_path: Path) -> None:
    bare = suite_result(suite_of(benchmark("a")))
    unsampled = replace(RUN, arms=tuple(replace(item, samples=()) for item in RUN.arms))
    for run in (hostile(), bare, unsampled):
        assert kind().write(replace(report(run), findings=Findings()), tmp_path)
