"""Verdicts about runs that two machines have worked on: times are those of one of them, whoever asks."""

from __future__ import annotations

import json
import os

import pytest

from agentdyno.runs.cluster.ray_cluster import TOKEN

from ...command import Bench, Done
from .nodes import TwoNodes

AGENT = """
import time
from agentdyno.runs.host_state import host_id
from beside import SLOW_HOST

def answer(text):
    time.sleep({seconds} if host_id() == SLOW_HOST else 0.0)
    return text
"""
SLOW_S = 0.25
CASES = 24


@pytest.fixture(scope="module")
def bench(nodes: TwoNodes, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """Two versions of an agent, each run on both machines. It is slow on the machine whose times count, and quick on
    the other, which therefore does most of the cases: any mixture would show."""
    bench = Bench(tmp_path_factory.mktemp("hosts"))
    bench.environ |= {"RAY_ADDRESS": nodes.address, TOKEN: os.environ[TOKEN], "DYNO_STORE": "dyno.db"}
    rows = [{"id": f"c{number}", "input": f"{number}", "target": f"{number}"} for number in range(CASES)]
    suite = {"name": "shared", "dataset": {"cases": rows}, "scorer": "exact", "warmup": 0, "epochs": 1}
    bench.write("suite.yaml", json.dumps(suite))
    bench.write("beside.py", "SLOW_HOST = ''\n")
    bench.write("agent.py", AGENT.format(seconds=SLOW_S))
    first = ran(bench)
    host = json.loads(next(bench.folder.rglob("result.json")).read_text())["environment"]["host_id"]
    bench.write("beside.py", f"SLOW_HOST = {host!r}\n")
    for seconds in (SLOW_S, SLOW_S + 0.01):
        bench.write("agent.py", AGENT.format(seconds=seconds))
        done = ran(bench)
        assert done.code == first.code == 0, done.err
    return bench


def ran(bench: Bench) -> Done:
    return bench.dyno("run", "suite.yaml", "--agent", "agent.py@answer", "--executor", "ray")


def runs(bench: Bench) -> list[str]:
    """The ids, newest first."""
    found = sorted(bench.folder.rglob("result.json"), key=lambda path: path.parent.name, reverse=True)
    return [path.parent.name for path in found]


def test_both_machines_did_cases_and_one_is_timed(bench: Bench) -> None:
    for run_id in runs(bench)[:2]:
        result = json.loads(next(bench.folder.rglob(f"{run_id}/result.json")).read_text())
        (arm,) = result["arms"]
        timed = [sample for sample in arm["samples"] if "duration_s" in sample["readings"]]
        assert {sample["details"]["host_id"] for sample in timed} == {result["environment"]["host_id"]}
        assert 0 < len(timed) < CASES


def times(document: object) -> list[tuple[float, float]]:
    """(baseline, candidate) of every row about the time of a case, wherever it stands in an answer."""
    if isinstance(document, list):
        return [found for item in document for found in times(item)]
    if not isinstance(document, dict):
        return []
    here = document.get("quantity") == "duration_s" and document.get("baseline") is not None
    own = [(float(document["baseline"]), float(document["candidate"]))] if here else []
    return own + [found for item in document.values() for found in times(item)]


def test_compare_check_and_changes_show_times_of_the_timing_host_alone(bench: Bench) -> None:
    newest, before = runs(bench)[:2]
    version = bench.dyno("list", "runs", "--json").json[1]["subjects"][0]["label"]
    exported = bench.dyno("baseline", "export", "baseline.json", "--agent", version)
    assert exported.code == 0, exported.err
    gate = ("check", "suite.yaml", "--agent", "agent.py@answer", "--against", "baseline.json", "--json")
    for command in (("compare", before, newest, "--json"), gate, ("changes", "--json")):
        done = bench.dyno(*command)
        found = times(done.json)
        assert found, f"{command[0]} tells a time: {done.out[:500]} {done.err[:500]}"
        assert all(baseline >= SLOW_S and candidate >= SLOW_S for baseline, candidate in found), (command, found)
    assert len(runs(bench)) == 3, "the gate took what is in the store"
