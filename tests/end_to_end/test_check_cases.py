"""Rules about cases as a pipeline uses them: exit codes, which rule blocked, and an agent with given luck."""

from __future__ import annotations

import json
from xml.etree import ElementTree

import pytest

from ..command import Bench

CASES = [
    {"id": f"case-{i}", "input": f"word {i}", "target": f"WORD {i}", "metadata": {"tags": ["core"] if i < 2 else []}}
    for i in range(8)
]
SUITE = json.dumps({"name": "luck", "scorer": "exact", "epochs": 5, "warmup": 0, "dataset": {"cases": CASES}})
AGENT = """
from collections import Counter
from pathlib import Path

BAD = {BAD}
TRIES = Path(__file__).with_name("tries.txt")  # luck goes on from run to run

def answer(text: str) -> str:
    with TRIES.open("a") as log:
        log.write(text + chr(10))
    number = Counter(TRIES.read_text().splitlines())[text]
    bad = BAD.get(int(text.split()[1]), ())
    return "no" if number in bad or 0 in bad else text.upper()
"""
WORKSPACE = """
agents: {lucky: {use: agent.py@answer, version: "VERSION"}}
suites: [suite.json]
"""
ALWAYS = (0,)


def write(bench: Bench, version: str, gate: str = "", bad: dict[int, tuple[int, ...]] | None = None) -> None:
    """The agent in a version that answers wrongly in these tries of these cases, and what the gate asks."""
    bench.write("agent.py", AGENT.replace("{BAD}", repr(bad or {})))
    bench.write("tries.txt", "")
    bench.write("dyno.yaml", WORKSPACE.replace("VERSION", version) + gate)


def calls(bench: Bench) -> int:
    return len((bench.folder / "tries.txt").read_text().splitlines())


@pytest.fixture
def project(loaded_bench: Bench) -> Bench:
    bench = loaded_bench
    bench.write("suite.json", SUITE)
    write(bench, "1")
    assert bench.dyno("run").code == 0
    assert bench.dyno("baseline", "set", "lucky@1").code == 0
    return bench


def blocking(report: dict[str, object]) -> list[str]:
    rows = report["policies"]
    assert isinstance(rows, list)
    return [row["rule"] for row in rows if row["verdict"] == "BLOCK"]


@pytest.mark.parametrize(
    ("gate", "bad", "rule"),
    [
        ("gate: {minimum: {accuracy: 0.9}}", {7: ALWAYS}, "minimum accuracy"),
        ("gate: {must_pass: [core]}", {1: (3,)}, "must_pass"),
        ("gate: {max_broken: 0}", {7: ALWAYS}, "max_broken"),
        ("gate: {require: {pass_rate: 0.8}}", {7: (1, 3, 6, 7, 8, 9, 10, 11, 12)}, "require pass_rate"),
        ("gate: {quarantine: [{case: case-7, reason: r, until: 2020-01-01}]}", {}, "quarantine"),
    ],
)
def test_each_rule_blocks_with_exit_1_and_every_output_names_it(
    project: Bench, gate: str, bad: dict[int, tuple[int, ...]], rule: str
) -> None:
    write(project, "2", gate, bad)
    done = project.dyno("check", "--junit", "j.xml", "--markdown", "c.md")
    assert done.code == 1, done.err
    assert f"{rule}: " in " ".join(done.out.split())
    assert rule in (project.folder / "c.md").read_text()
    junit = ElementTree.fromstring((project.folder / "j.xml").read_text())
    failed = [case.get("name") for case in junit.iter("testcase") if case.find("failure") is not None]
    assert rule in failed
    (report,) = project.dyno("check", "--json").json
    assert blocking(report) == [rule]


def test_by_default_the_same_change_is_not_blocked(project: Bench) -> None:
    write(project, "2", "", {7: ALWAYS})
    done = project.dyno("check")
    assert done.code == 0
    assert "1 case broke (right in every try before, wrong in every one now): case-7" in " ".join(done.out.split())


def test_cases_in_doubt_are_tried_again_and_the_runs_do_not_mix(project: Bench) -> None:
    write(project, "2", "gate: {require: {pass_rate: 0.8}}", {7: (2,)})
    done = project.dyno("check")
    assert done.code == 0, done.err
    assert "In doubt: case-7. It is tried again, at most 20 times." in done.err
    assert calls(project) == 40 + 11
    runs = project.dyno("list", "runs", "--json").json
    assert [("repeats" in row["tags"], row["samples"]) for row in runs[:2]] == [(True, 11), (False, 40)]
    again = project.dyno("check", "--json")
    assert (again.code, calls(project)) == (0, 40 + 11)
    assert again.json[0]["cases"][7]["after"] == {"passed": 15, "tries": 16}


def test_an_unknown_word_is_refused_before_any_call(project: Bench) -> None:
    for gate, told in (
        ("gate: {must_pass: [cor]}", "gate.must_pass[0]: no case and no tag is called 'cor'"),
        ("gate: {quarantine: [{case: csae-7, reason: r, until: 2999-01-01}]}", "called 'csae-7'"),
        ("gate: {minimum: {accurracy: 0.9}}", "no least value can be asked of 'accurracy'"),
    ):
        write(project, "2", gate)
        done = project.dyno("check")
        assert (done.code, calls(project)) == (2, 0)
        assert told in " ".join(done.err.split())
        assert "Did you mean" in done.err


def test_a_word_of_a_case_that_was_not_chosen_is_known(project: Bench) -> None:
    write(project, "2", "gate: {must_pass: [case-7]}")
    project.write("suite.json", json.dumps({**json.loads(SUITE), "quick": {"limit": 3}}))
    done = project.dyno("check", "--quick")
    assert done.code == 0, done.err
    assert "none of these cases is in this suite" in " ".join(done.out.split())


def test_a_quarantined_case_blocks_nothing_and_is_listed(project: Bench) -> None:
    gate = "gate: {max_broken: 0, quarantine: [{case: case-7, reason: the oracle is wrong, until: 2999-12-31}]}"
    write(project, "2", gate, {7: ALWAYS})
    done = project.dyno("check", "--junit", "j.xml")
    assert done.code == 0, done.err
    assert "1 quarantined case, not judged" in done.out
    junit = ElementTree.fromstring((project.folder / "j.xml").read_text())
    assert [item.get("message") for item in junit.iter("skipped")] == [
        "quarantined until 2999-12-31: the oracle is wrong; right in 0 of 5 tries"
    ]
