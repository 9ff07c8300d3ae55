"""The same two deterministic agents through every command that judges two: the numbers must be the same."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import pytest
from starlette.testclient import TestClient

from agentdyno.web.app import create_app
from agentdyno.web.settings import ServiceSettings

from ..command import Bench
from .test_check import AGENT, SUITE

WORKSPACE = "agents: {shouter: {use: agent.py@answer}}\nsuites: [suite.json]\n"
OWN_GATE = """gate:
  alpha: 0.04
  metrics:
    accuracy: {tier: critical, tolerance: 0.01}
    reliability: critical
    error_rate: supporting
    duration_s: off
"""
"""Reliability is critical here and the error rate is not: the family of accuracy is another than by default."""
FIGURES = ("baseline", "candidate", "change", "p_value", "adjusted_p", "family", "interval", "verdict", "more_cases")


@dataclass(frozen=True)
class Judged:
    """What every command says: rows of accuracy, the gate's row, and the reports around them."""

    rows: dict[str, dict[str, Any]]
    gate: dict[str, Any]
    head_to_head: dict[str, Any]
    regressions: dict[str, Any]
    shown: str


def accuracy(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return next(row for row in rows if row["metric"] == "accuracy" and not row["benchmark"])


def judged(bench: Bench, broken: int, gate_section: str = "") -> Judged:
    """``broken`` of 24 cases, which passed in all three tries before, fail in all of them now."""
    bench.write("agent.py", AGENT)
    bench.write("prompt.txt", "0")
    bench.write("suite.json", SUITE)
    bench.write("dyno.yaml", WORKSPACE + gate_section)
    bench.write(".gitignore", ".dyno/\n.cache/\n__pycache__/\n")
    bench.git("init", "-q", "-b", "main")
    bench.git("add", ".")
    bench.git("commit", "-qm", "first")
    bench.write("prompt.txt", str(broken))
    checked = bench.dyno("check", "--against", "main", "--json")
    assert checked.code in (0, 1), checked.err
    gate = next(row for row in checked.json[0]["rows"] if row["rule"]["metric"] == "accuracy")
    (change,) = bench.dyno("changes", "--json").json["changes"]["rows"]
    compared = bench.dyno("compare", "last", "--json").json
    by_name = bench.dyno("compare", change["baseline"], change["agent"], "--json").json
    with TestClient(
        create_app(ServiceSettings(f"sqlite:///{bench.folder}/.dyno/dyno.db", bench.folder)),
        base_url="http://127.0.0.1:8321",
    ) as client:
        body = {"agent_ids": [change["baseline"], change["agent"]], "suite_id": "shouting"}
        asked = client.post("/benchmarks/compare", json=body)
        assert asked.status_code == 200, asked.text
        changes = client.get("/api/changes")
        assert changes.status_code == 200, changes.text
        regressions = client.get(f"/benchmarks/agents/{change['agent']}/regressions")
        assert regressions.status_code == 200, regressions.text
        seen = client.get(f"/api/runs/{change['run_id']}")
        assert seen.status_code == 200, seen.text
    rows = {
        "check": gate["row"],
        "compare last": accuracy(compared["rows"]),
        "compare A B": accuracy(by_name["rows"]),
        "changes": change["accuracy"],
        "API": accuracy(asked.json()["duel"]["rows"]),
        "API's changes": changes.json()["rows"][0]["accuracy"],
    }
    told = bench.dyno("history", "shouter", "--regressions", "--json").json
    # The API has the names of the requirement beside ours.
    seen_there = [{key: row[key] for key in told["regressions"][0]} for row in regressions.json()["regressions"]]
    assert seen_there == told["regressions"]
    return Judged(
        rows,
        gate,
        seen.json()["standing"]["head_to_head"],
        told,
        bench.dyno("show", "last", "-v").out,
    )


def agree(found: Judged) -> dict[str, Any]:
    """Every command has the same row of accuracy, which is returned."""
    told = found.rows["compare last"]
    for command, row in found.rows.items():
        assert {name: row[name] for name in FIGURES} == {name: told[name] for name in FIGURES}, command
    flips = found.head_to_head
    same = ("p_value", "adjusted_p", "family", "interval", "verdict", "more_cases")
    assert {name: flips[name] for name in same} == {name: told[name] for name in same}
    assert (flips["baseline_mean"], flips["candidate_mean"]) == (told["baseline"], told["candidate"])
    assert found.gate["p_worse"] == pytest.approx(told["adjusted_p"] / 2)
    return told


def test_the_families_of_the_projects_gate_hold_in_every_command(loaded_bench: Bench) -> None:
    found = judged(loaded_bench, 7, OWN_GATE)
    told = agree(found)
    # Reliability falls with accuracy, and each is corrected for the other.
    assert told["family"] == 2
    assert told["p_value"] == pytest.approx(2 / 2**7)
    assert told["p_value"] < told["adjusted_p"] <= 2 * told["p_value"]
    regressions = [item for item in found.regressions["regressions"] if item["metric"] == "accuracy"]
    assert [item["p_value"] for item in regressions] == [told["adjusted_p"]]
    assert "after correction over 2 rows" in regressions[0]["explanation"]


@pytest.mark.parametrize(
    ("broken", "p_value", "verdict"), [(4, 2 / 2**4, "inconclusive"), (7, 2 / 2**7, "worse"), (8, 2 / 2**8, "worse")]
)
def test_every_command_says_the_same_of_the_same_two_agents(
    loaded_bench: Bench, broken: int, p_value: float, verdict: str
) -> None:
    found = judged(loaded_bench, broken)
    told = agree(found)
    assert told["p_value"] == pytest.approx(p_value)
    assert told["verdict"] == verdict
    assert (told["p_value"] < told["level"]) == (told["interval"][1] < 0)
    assert len(found.head_to_head["broken"]) == broken
    regressions = [item for item in found.regressions["regressions"] if item["metric"] == "accuracy"]
    assert [item["p_value"] for item in regressions] == ([told["adjusted_p"]] if verdict == "worse" else [])
    (seen,) = [item["message"] for item in found.regressions["warnings"] if item["code"] == "broken-cases"]
    assert seen.startswith(f"{broken} cases broke (right in every try before, wrong in every one now): ")
    shown = " ".join(found.shown.split())
    assert f"p = {p_value:.2g}, swap test exact" in shown
    assert f"(p = {p_value:.2g})" in found.gate["reason"]
    if verdict == "inconclusive":
        assert f"about {told['more_cases']} more cases would decide" in shown
        # The gate asks for 1 % where a verdict asks for 5 %: fewer cases would not decide there.
        in_gate = re.search(r"about (\d+) more cases would decide", found.gate["reason"])
        assert in_gate is not None
        assert int(in_gate[1]) > told["more_cases"]
    else:
        assert told["more_cases"] is None
