"""One agent's impossible value never stands between a run and its end."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from typing import Any

import pytest

from ..command import Bench

AGENTS = """
import math
from decimal import Decimal

from agentdyno import Response, Usage

def fine(text):
    return Response(text.upper(), usage=Usage(10, 2))

def huge(text):
    return Response(text.upper(), usage=Usage(10**30, 3))

def negative(text):
    return Response(text.upper(), usage=Usage(-5, 3))

def clock(text):
    return Response(text.upper(), usage=Usage(10, 2), readings={"clock": 1e308})

def wrong_type(text):
    return Response(text.upper(), usage=Usage("many", 3))

def no_number(text):
    return Response(text.upper(), cost=10**400, readings={"none": math.nan, "vast": 10**5000, "text": "12", "own": 3})

def decimal(text):
    return Response(text.upper(), cost=Decimal("0.25"), readings={"own": Decimal("3")})

def strange(text):
    return Response(text.upper(), model=object())
"""
SAYS = '{"output": "A", "usage": {"input_tokens": 1000000000000000000000000000000, "output_tokens": 3}}'
SUITE = """
name: incredible
scorer: exact
warmup: 0
epochs: 2
max_failure_rate: 1.0
dataset:
  cases: [{id: a, input: a, target: A}]
"""
NAMES = ("fine", "huge", "negative", "clock", "wrong_type", "no_number", "decimal", "strange")
ERRORS = ("wrong_type", "strange")


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    bench = Bench(tmp_path_factory.mktemp("incredible"))
    bench.write("agents.py", AGENTS)
    bench.write("says.json", SAYS)
    bench.write("suite.yaml", SUITE)
    return bench


@pytest.fixture(scope="module")
def result(bench: Bench) -> Any:
    agents = [option for name in NAMES for option in ("--agent", f"agents.py@{name}")]
    done = bench.dyno("run", "suite.yaml", *agents, "--agent", "cmd:cat says.json", "--json")
    assert done.code == 5, done.err  # two of them never answered
    assert "Traceback" not in done.err
    assert "RuntimeWarning" not in done.err
    return done.json


def test_the_run_closes_with_every_agent_judged(result: Any) -> None:
    assert result["status"] == "complete"
    found = {arm["name"].rpartition(" ")[2]: arm["statuses"] for arm in result["arms"]}
    assert found == {name: {"error" if name in ERRORS else "ok": 2} for name in (*NAMES, "cat")}


def test_the_warning_names_agent_case_and_value(result: Any) -> None:
    told = sorted(item["message"] for item in result["warnings"] if item["code"] == "not-credible")
    assert [line.partition("@")[0] for line in told] == ["cat", "clock", "huge", "negative", "no_number"]
    assert "gave usage.input_tokens = 1000000000000000000000000000000 (case a, 2 executions)" in told[2]
    assert "gave usage.input_tokens = -5 (case a, 2 executions)" in told[3]
    assert "gave clock = 1e+308 (case a, 2 executions): that cannot be, and counts as unknown" in told[1]
    assert "gave cost = no finite number (case a, 2 executions), none = no finite number" in told[4]


def test_what_is_not_credible_is_unknown_and_the_rest_stays(result: Any) -> None:
    readings = {arm["name"].rpartition(" ")[2]: arm["samples"][0]["readings"] for arm in result["arms"]}
    assert readings["fine"]["total_tokens"] == 12.0
    assert "total_tokens" not in readings["huge"]
    assert "total_tokens" not in readings["negative"]
    assert readings["clock"]["total_tokens"] == 12.0
    assert "clock" not in readings["clock"]
    assert {name for name in readings["no_number"] if name in ("none", "vast", "text", "own")} == {"own"}
    assert readings["decimal"]["own"] == 3.0
    assert readings["decimal"]["reported.cost_usd"] == 0.25


def test_an_answer_that_its_process_cannot_tell_is_an_error_and_no_empty_answer(result: Any) -> None:
    (arm,) = [arm for arm in result["arms"] if arm["name"].endswith("strange")]
    assert [(sample["status"], sample["output"]) for sample in arm["samples"]] == [("error", None)] * 2
    assert arm["samples"][0]["failure"]["message"]


def test_a_value_of_another_type_says_which(result: Any) -> None:
    (arm,) = [arm for arm in result["arms"] if arm["name"].endswith("wrong_type")]
    assert "usage.input_tokens" in arm["samples"][0]["failure"]["message"]


def test_a_run_that_such_a_sample_kept_open_is_closed_by_resume(bench: Bench, result: Any) -> None:
    """As it was stored before values were looked at: the sample is there, and closing had failed."""
    with closing(sqlite3.connect(bench.folder / ".dyno" / "dyno.db")) as store, store:
        for row, readings in store.execute("SELECT id, readings FROM samples").fetchall():
            plain = {**json.loads(readings or "{}"), "total_tokens": 1e30, "input_tokens": 1e30, "own": 1e308}
            store.execute("UPDATE samples SET readings = ? WHERE id = ?", (json.dumps(plain), row))
        store.execute("UPDATE runs SET status = 'running'")
    done = bench.dyno("resume", "--json")
    assert done.code == 5, done.err
    assert done.json["status"] == "complete"
    assert all("total_tokens" not in arm["totals"] for arm in done.json["arms"])
