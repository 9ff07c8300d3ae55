"""Who answers what when: sweeps as arms, agents side by side, the same samples whatever the concurrency."""

from __future__ import annotations

from itertools import groupby

import pytest

from ..chat_server import Asked, Reply, serving
from ..command import Bench

SUITE = """
name: order
scorer: exact
epochs: 2
warmup: 0
dataset:
  cases: [{id: a, input: a, target: A}, {id: b, input: b, target: B}, {id: c, input: c, target: C}]
"""
WORKSPACE = """
agents:
  swept: {use: "openai:", config: {base_url: "%s"}, sweep: {model: [small, large], temperature: [0, 1]}}
"""
CODE = """
def log(who, case):
    with open("calls.log", "a") as file:
        file.write(f"{case.id} {who}\\n")
    return case.target

def one(case): return log("one", case)
def two(case): return log("two", case)
def three(case): return log("three", case)
"""


@pytest.fixture
def bench(loaded_bench: Bench) -> Bench:
    return loaded_bench


def test_a_sweep_makes_an_arm_of_each_combination(bench: Bench) -> None:
    def answer(asked: Asked) -> Reply:
        return Reply(asked.text.upper() if asked.body["model"] == "large" else "no", output_tokens=3)

    bench.write("suite.yaml", SUITE)
    with serving(answer) as server:
        bench.write("dyno.yaml", WORKSPACE % server.url)
        done = bench.dyno("run", "suite.yaml", "--agent", "swept", "--json", "--concurrency", "4")
    assert done.code == 0, done.err
    arms = done.json["arms"]
    assert {(arm["params"]["model"], arm["params"]["temperature"]): arm["statuses"] for arm in arms} == {
        ("small", 0): {"failed": 6},
        ("small", 1): {"failed": 6},
        ("large", 0): {"ok": 6},
        ("large", 1): {"ok": 6},
    }
    assert len({arm["name"] for arm in arms}) == len({arm["agent"] for arm in arms}) == 4
    asked = {(item.body["model"], item.body["temperature"]) for item in server.asked}
    assert asked == {("small", 0), ("small", 1), ("large", 0), ("large", 1)}
    assert {arm["observed"]["model"] for arm in arms} == {"small", "large"}


def test_every_case_is_put_to_all_agents_before_the_next_in_an_order_that_changes(bench: Bench) -> None:
    bench.write("agent.py", CODE)
    bench.write("suite.yaml", SUITE.replace("epochs: 2", "epochs: 4"))
    agents = [option for name in ("one", "two", "three") for option in ("--agent", f"agent.py@{name}")]
    first = bench.dyno("run", "suite.yaml", *agents, "--json")
    assert first.code == 0, first.err
    calls = [line.split() for line in (bench.folder / "calls.log").read_text().splitlines()]
    blocks = [calls[i : i + 3] for i in range(0, len(calls), 3)]
    assert len(blocks) == 12
    for block in blocks:
        assert len({case for case, _ in block}) == 1, "a case is finished by all before another begins"
        assert sorted(who for _, who in block) == ["one", "three", "two"]
    assert len({tuple(who for _, who in block) for block in blocks}) > 1, "nobody is always first"
    assert len(list(groupby(case for (case, _), *_ in blocks))) > 1

    again = bench.dyno("run", "suite.yaml", *agents, "--json", "--concurrency", "4")
    assert again.code == 0, again.err
    assert keys(again.json) == keys(first.json)
    assert len(keys(again.json)) == 36


def keys(result: dict[str, list[dict[str, list[dict[str, object]]]]]) -> list[tuple[object, ...]]:
    found = [
        (sample["arm_id"], sample["case_id"], sample["iteration"], sample["status"], sample["output"], sample["seed"])
        for arm in result["arms"]
        for sample in arm["samples"]
    ]
    return sorted(found, key=repr)
