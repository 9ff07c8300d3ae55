"""Suites from the command line: what is said before and after, what options change, what the commands list."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from ...command import Bench

AGENT = """
def answer(text: str) -> str:
    return text.upper()

def lazy(text: str) -> str:
    return "no"
"""
SUITE = """
# Letters, and how they are shouted
name: letters
scorer: exact
epochs: 3
agents: [{name: careful, use: ../agent.py@answer}]
benchmarks:
  - name: first
    constraints: {time_limit_ms: 60000}
    dataset: {cases: [{id: a, input: a, target: A}, {id: b, input: b, target: B}]}
  - name: second
    dataset: {cases: [{id: c, input: c, target: C}, {id: d, input: d, target: Q}]}
quick: {limit: 2, epochs: 1}
"""
COUNTING = """
def answer(text):
    with open("calls", "a") as log:
        log.write("x")
    return text.upper()
"""
WORKSPACE = """
workspace: letters
agents:
  shouter: {use: agent.py@answer, description: Shouts}
  lazy: agent.py@lazy
suites: ["suites/*.yaml"]
run: {agents: [shouter, lazy]}
"""


@pytest.fixture
def bench(bench: Bench) -> Bench:
    bench.write("agent.py", AGENT)
    bench.write("suites/letters.yaml", SUITE)
    bench.write("dyno.yaml", WORKSPACE)
    return bench


def test_a_run_says_what_it_spends_and_which_cases_failed_with_the_command_that_shows_them(bench: Bench) -> None:
    done = bench.dyno("run", "--agent", "shouter", "--agent", "lazy")
    assert done.code == 0, done.err
    assert "letters: 2 agents × 4 cases, 36 calls (24 executions + 12 warm-ups), no charge; " in done.err
    assert "complete" in done.out
    assert "Failed cases" in done.out
    row = next(line for line in done.out.splitlines() if line.startswith("d ") and "shouter" in line)
    assert "failed 3 of 3" in row
    assert re.search(r"One of them whole: `dyno show [0-9a-f-]+ --case \w+`", done.out)
    (run,) = bench.dyno("list", "runs", "--json").json
    assert (run["name"], run["status"]) == ("letters", "complete")


def test_options_change_epochs_cases_benchmarks_and_limits(bench: Bench) -> None:
    options = (
        "--epochs",
        "2",
        "--warmup",
        "0",
        "--benchmark",
        "first",
        "--case",
        "a",
        "--timeout",
        "7",
        "--tag",
        "t",
    )
    done = bench.dyno("run", "suites/letters.yaml", *options, "--notes", "n", "--seed", "5", "--json")
    assert done.code == 0, done.err
    result = done.json
    assert [arm["name"] for arm in result["arms"]] == ["first · careful"]
    assert result["arms"][0]["statuses"] == {"ok": 2}
    assert result["suite"]["benchmarks"][0]["constraints"]["time_limit_s"] == 7
    assert (result["tags"], result["notes"], result["seed"]) == (["t"], "n", 5)
    assert result["suite"]["epochs"] == 2


def test_a_quick_run_makes_the_changes_of_the_suite(bench: Bench) -> None:
    done = bench.dyno("run", "suites/letters.yaml", "--quick", "--json")
    assert {arm["name"]: arm["statuses"] for arm in done.json["arms"]} == {
        "first · careful": {"ok": 1},
        "second · careful": {"ok": 1},
    }


def test_an_agent_of_the_suite_is_called_by_its_name_there_and_a_file_from_the_current_folder(bench: Bench) -> None:
    agents = ("--agent", "careful", "--agent", "agent.py@lazy", "--agent", "shouter")
    done = bench.dyno("run", "suites/letters.yaml", *agents, "--quick", "--json", "--benchmark", "first")
    assert done.code == 0, done.err
    named = {arm["name"]: arm["statuses"] for arm in done.json["arms"]}
    assert named == {"first · careful": {"ok": 2}, "first · lazy": {"failed": 2}, "first · shouter": {"ok": 2}}


def test_what_is_there_is_listed_without_being_imported(bench: Bench) -> None:
    bench.write("agent.py", "raise SystemExit('imported')")
    agents = {item["name"]: item for item in bench.dyno("list", "agents", "--json").json}
    assert agents["shouter"]["description"] == "Shouts"
    assert agents["lazy"]["origin"] == "dyno.yaml"
    assert {"rules", "smollm2"} <= agents.keys()
    suites = {item["name"] for item in bench.dyno("list", "suites", "--json").json}
    assert {"suites/letters.yaml", "workload:comprehensive/comprehensive"} <= suites
    scorers = {item["name"]: item for item in bench.dyno("list", "scorers", "--json").json}
    assert {"exact", "includes", "regex", "numeric", "multiple_choice", "model_graded", "code"} <= scorers.keys()
    assert "ignore_case" in {parameter["name"] for parameter in scorers["exact"]["parameters"]}
    assert "shouter" in bench.dyno("list", "agents").out


def test_answers_are_reused_on_request_and_are_no_measurement(bench: Bench) -> None:
    bench.write("agent.py", COUNTING)
    options = ("--agent", "agent.py@answer", "--quick", "--warmup", "0", "--cache", "--json")
    first = bench.dyno("run", "suites/letters.yaml", *options)
    bench.write("suites/letters.yaml", SUITE.replace("scorer: exact", "scorer: {name: exact, ignore_case: true}"))
    second = bench.dyno("run", "suites/letters.yaml", *options)
    assert second.code == 0, second.err
    assert (bench.folder / "calls").read_text() == "xx", "another scorer asks no agent again"
    measured, reused = ([s for arm in done.json["arms"] for s in arm["samples"]] for done in (first, second))
    assert all(sample["readings"]["duration_s"] > 0 for sample in measured)
    assert [sample["readings"] for sample in reused] == [{}, {}]
    assert all(sample["details"]["cached"] for sample in reused)
    assert [sample["output"] for sample in reused] == ["A", "C"]


def test_an_accuracy_below_what_is_asked_for_exits_1_when_all_is_stored_and_shown(bench: Bench) -> None:
    done = bench.dyno("run", "--agent", "shouter", "--agent", "lazy", "--fail-under", "0.75")
    assert done.code == 1
    assert "Failed cases" in done.out
    assert "The accuracy of lazy@" in done.err
    assert "is 0.000, at least 0.75 is asked for (fail_under)." in done.err
    assert "The accuracy of shouter@" not in done.err, "0.75 is not below 0.75"
    assert bench.dyno("show", "last").code == 0
    assert bench.dyno("run", "--agent", "shouter", "--fail-under", "0.75").code == 0


def test_the_suite_file_may_ask_for_an_accuracy_and_the_command_line_goes_first(bench: Bench) -> None:
    bench.write("suites/letters.yaml", SUITE + "fail_under: 0.9\n")
    assert bench.dyno("run", "--agent", "shouter").code == 1
    assert bench.dyno("run", "--agent", "shouter", "--fail-under", "0.5").code == 0
    bench.write("suites/letters.yaml", SUITE + "fail_under: 90\n")
    refused = bench.dyno("run", "--agent", "shouter")
    assert refused.code == 2
    assert "fail_under: expected at most 1, got an integer 90" in refused.err


def test_an_accuracy_means_nothing_for_an_experiment_and_is_a_share(bench: Bench) -> None:
    wrong = bench.dyno("run", "--agent", "shouter", "--fail-under", "90")
    assert wrong.code == 2
    assert "90.0 is not in the range 0<x<=1" in wrong.err
    bench.write("bench.py", "def nothing():\n    return 1\n")
    foreign = bench.dyno("run", "bench.py@nothing", "--fail-under", "0.9")
    assert (foreign.code, "--fail-under means nothing for an experiment" in foreign.err) == (2, True)


def test_junit_of_a_run_has_a_test_per_case_and_one_for_what_is_asked_of_the_whole(bench: Bench) -> None:
    held = "\ngate: {quarantine: [{case: d, reason: the target is wrong, until: 2999-12-31}]}\n"
    bench.write("dyno.yaml", WORKSPACE + held)
    done = bench.dyno("run", "--agent", "shouter", "--agent", "lazy", "--fail-under", "0.7", "--format", "junit")
    assert done.code == 1
    (suite,) = ElementTree.fromstring(next(bench.folder.rglob("junit.xml")).read_text())
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("10", "4", "2")
    told = {
        (case.get("name") or "").partition("@")[0]: case.find("failure") is not None
        for case in suite.findall("testcase")
        if (case.get("classname") or "").startswith("run.")
    }
    assert told == {"fail_under: shouter": False, "fail_under: lazy": True}
    skipped = [found.get("message") for found in suite.iter("skipped")]
    assert skipped == ["quarantined until 2999-12-31: the target is wrong; 0 of 3 executions passed, score 0.000"] * 2
