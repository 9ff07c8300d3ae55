"""An agent whose process dies on some cases: what it did not answer has no score, and passes nothing."""

from __future__ import annotations

import json

import pytest

from ..command import Bench

CASES = "".join(json.dumps({"id": f"c{i:02}", "input": f"q{i}", "target": f"a{i}"}) + "\n" for i in range(30))
AGENT = """
import os

DIES = 0

def answer(case):
    if int(case.id[1:]) < DIES:
        os._exit(3)
    return case.target
"""
SUITE = """
name: support
dataset: cases.jsonl
epochs: 1
warmup: 0
scorer: exact
agents: [agent.py@answer]
"""
GATE = "gate: {minimum: {accuracy: 0.9}, metrics: {duration_s: off}}\n"


@pytest.fixture
def project(loaded_bench: Bench) -> Bench:
    bench = loaded_bench
    bench.write("cases.jsonl", CASES)
    bench.write("agent.py", AGENT)
    bench.write("suite.yaml", SUITE)
    bench.write("dyno.yaml", GATE)
    bench.write(".gitignore", ".dyno/\n.cache/\n__pycache__/\n")
    bench.git("init", "-q", "-b", "main")
    bench.git("add", ".")
    bench.git("commit", "-qm", "first")
    bench.write("agent.py", AGENT.replace("DIES = 0", "DIES = 10"))
    return bench


def words(text: str) -> str:
    return " ".join(text.split())


def test_fail_under_counts_cases_on_which_the_agent_died_as_wrong(project: Bench) -> None:
    done = project.dyno("run", "suite.yaml", "--fail-under", "0.9")
    assert done.code == 1
    assert "accuracy 100 (84–100) of 100 in the 20 of 30 cases that it answered." in words(done.out)
    told = "is 0.667 where the 10 of 30 cases that ended in an error count as wrong, at least 0.9 is asked for"
    assert told in words(done.err)
    assert project.dyno("run", "suite.yaml", "--fail-under", "0.6").code == 0


def test_every_command_calls_an_agent_that_dies_worse_by_its_error_rate(project: Bench) -> None:
    checked = project.dyno("check", "suite.yaml", "--against", "main")
    assert checked.code == 1
    told = words(checked.out)
    assert "accuracy is 0.667, at least 0.9 is asked for; cases that ended in an error count as wrong: 10" in told
    assert "error_rate 0.000 → 0.333 is worse by 33.3 points" in told

    shown = words(project.dyno("show", "last").out)
    assert "0 → 33 % of executions ended in an error; accuracy 100 → 100 on 20 of 30 cases." in shown
    duel = project.dyno("compare", "last", "--json").json
    (errors,) = [row for row in duel["rows"] if row["metric"] == "error_rate"]
    assert (errors["baseline"], errors["candidate"], errors["verdict"]) == (0.0, pytest.approx(1 / 3), "worse")
    assert duel["winner"] == duel["baseline"]
    assert "is worse in error rate +33.3 points" in duel["why"]

    (change,) = project.dyno("changes", "--json").json["changes"]["rows"]
    assert change["error_rate"]["p_value"] == errors["p_value"]
    # Memory per success rose with the share of successes alone: that is one finding and not two.
    found = project.dyno("history", "answer", "--regressions", "--json").json["regressions"]
    assert [item["metric"] for item in found] == ["error_rate"]
