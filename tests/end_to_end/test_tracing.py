"""Runs with ``--otel``: a pass of its own, whose spans become trajectories."""

from __future__ import annotations

import json

import pytest

from ..command import Bench, Done

AGENT = '''
"""Exports spans as OTLP/JSON where it is told to, and notes how each call found the world."""

import json
import os
import sys
import time
import urllib.request


def export(spans):
    url = os.environ["OTEL_EXPORTER_OTLP_ENDPOINT"] + "/v1/traces"
    told = os.environ.get("OTEL_RESOURCE_ATTRIBUTES", "")
    pairs = [item.partition("=") for item in told.split(",") if item] if __name__ == "__main__" else []
    resource = [{"key": key, "value": {"stringValue": value}} for key, _, value in pairs]
    document = {"resourceSpans": [{"resource": {"attributes": resource}, "scopeSpans": [{"spans": spans}]}]}
    request = urllib.request.Request(url, json.dumps(document).encode(), {"Content-Type": "application/json"})
    urllib.request.urlopen(request, timeout=30).read()


def span(number, parent, start, end, **attributes):
    listed = [{"key": key.replace("__", "."), "value": value} for key, value in attributes.items()]
    ids = {"traceId": "ab" * 16, "spanId": f"{number:016x}", "parentSpanId": f"{parent:016x}" if parent else ""}
    times = {"startTimeUnixNano": str(start), "endTimeUnixNano": str(end)}
    return {**ids, **times, "name": f"s{number}", "attributes": listed}


def answer(text):
    traced = "OTEL_EXPORTER_OTLP_ENDPOINT" in os.environ
    with open("calls.txt", "a") as file:
        file.write(f"begin {traced} {os.environ.get('TRACEPARENT', '')}\\n")
    now = time.time_ns()
    if traced and text != "quiet":
        chat = {"gen_ai__operation__name": {"stringValue": "chat"}, "gen_ai__usage__input_tokens": {"intValue": "7"}}
        export([span(1, 0, now, now + 3_000_000), span(2, 1, now, now + 2_000_000, **chat)])
        if __name__ != "__main__":
            export([span(9, 0, 1_000, 2_000)])  # of no case: long before, and what a process exports names none
    with open("calls.txt", "a") as file:
        file.write(f"end {traced}\\n")
    return text


def silent(text):
    return text


if __name__ == "__main__":
    print(answer(sys.stdin.read().strip()))
'''
PROGRAM = """
import json, os, sys
import agent

for line in sys.stdin:
    told = json.loads(line)
    if "hello" in told:
        print(json.dumps({"ok": {"protocol": 1}}), flush=True)
    elif "run" in told:
        os.environ.update(told["run"].get("environ", {}))
        print(json.dumps({"id": told["id"], "ok": {"output": agent.answer(told["run"]["input"])}}), flush=True)
    else:
        break
"""
SUITE = """
suite_id: tiny
epochs: 2
warmup: 1
benchmarks:
  - benchmark_id: echo
    scoring_rubric: exact
    dataset:
      cases: [{id: one, input: x, target: x}, {id: two, input: y, target: y}, {id: "od,d=1", input: z, target: z}]
"""


@pytest.fixture
def bench(loaded_bench: Bench) -> Bench:
    made = loaded_bench
    made.write("agent.py", AGENT)
    made.write("program.py", PROGRAM)
    made.write("suite.yaml", SUITE)
    return made


def result_of(done: Done) -> dict[str, object]:
    assert done.code == 0, done.err
    found = done.json
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize("agent", ["agent.py@answer", "cmd:python3 agent.py", "stdio:python3 program.py"])
def test_tracing_is_never_on_while_anything_is_timed(bench: Bench, agent: str) -> None:
    result_of(bench.dyno("run", "suite.yaml", "--agent", agent, "--otel", "--concurrency", "4", "--json"))
    lines = (bench.folder / "calls.txt").read_text().splitlines()
    timed = [place for place, line in enumerate(lines) if line.split()[1] == "False"]
    traced = [place for place, line in enumerate(lines) if line.split()[1] == "True"]
    assert len(timed) == 2 * (6 + 1)
    assert len(traced) == 2 * 3
    assert max(timed) < min(traced)
    assert [lines[place].split()[0] for place in traced] == ["begin", "end"] * 3
    parents = {lines[place].split()[2] for place in traced[::2]}
    assert len(parents) == 3
    assert all(parent.startswith("00-") and parent.endswith("-01") for parent in parents)


@pytest.mark.parametrize("agent", ["agent.py@answer", "cmd:python3 agent.py"])
def test_spans_become_the_trajectory_of_their_case_and_the_profile(bench: Bench, agent: str) -> None:
    result = result_of(bench.dyno("run", "suite.yaml", "--agent", agent, "--otel", "--json"))
    arms = result["arms"]
    assert isinstance(arms, list)
    samples = arms[0]["samples"]
    traced = [sample for sample in samples if sample["phase"] == "instrumented"]
    assert {sample["case_id"]: len(sample["details"]["events"]) for sample in traced} == {
        "one": 2,
        "two": 2,
        "od,d=1": 2,
    }
    assert all("events" not in sample["details"] for sample in samples if sample["phase"] == "measured")
    assert {sample["instrument"] for sample in traced} == {"otel"}
    event = traced[0]["details"]["events"][1]
    assert (event["kind"], event["details"]["usage"]) == ("model_call", {"input_tokens": 7})
    (profile,) = bench.dyno("profile", "last", "--json").json["profiles"]
    assert (profile["traced"], profile["executions"]) == (True, 3)
    assert profile["profile_data"]["token_analysis"]["input_tokens"] == 21
    warnings = result["warnings"]
    assert isinstance(warnings, list)
    told = {item["code"]: item["message"] for item in warnings if item["code"].startswith("otel")}
    kept = list((bench.folder / ".dyno" / "runs").glob("*/artifacts/otel-unassigned.json"))
    if agent.startswith("cmd"):
        assert (told, kept) == ({}, [])
    else:
        assert told == {"otel-unassigned": "3 spans belong to no case"}
        assert len(json.loads(kept[0].read_text())["resourceSpans"]) == 3


def test_an_agent_that_exports_nothing_is_said_once_with_the_likely_cause(bench: Bench) -> None:
    done = bench.dyno("run", "suite.yaml", "--agent", "agent.py@silent", "--otel")
    assert done.code == 0
    assert done.err.count("exported no span in 3 cases. The likely cause") == 1
    assert "exported no span in 3 cases with tracing" in " ".join(done.out.split())


def test_the_file_may_say_it_and_a_plain_run_has_no_such_pass(bench: Bench) -> None:
    bench.write("traced.yaml", SUITE + "otel: true\n")
    done = bench.dyno("run", "traced.yaml", "--agent", "agent.py@answer", "--epochs", "1", "--json")
    arms = result_of(done)["arms"]
    assert isinstance(arms, list)
    assert sorted(sample["phase"] for sample in arms[0]["samples"]) == ["instrumented"] * 3 + ["measured"] * 3
    (bench.folder / "calls.txt").unlink()
    result_of(bench.dyno("run", "suite.yaml", "--agent", "agent.py@answer", "--epochs", "1", "--json"))
    assert "True" not in (bench.folder / "calls.txt").read_text()


def test_agents_that_cannot_be_traced_are_refused(bench: Bench) -> None:
    done = bench.dyno("run", "suite.yaml", "--agent", "http://127.0.0.1:9/answer", "--otel")
    assert done.code == 2
    assert "none of the agents can be traced" in done.err
