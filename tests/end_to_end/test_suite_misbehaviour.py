"""An agent that misbehaves costs its own cases and nothing else."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from ..chat_server import Asked, Reply, serving
from ..command import Bench

HOSTED = """
import os, subprocess, sys, time

def fine(text):
    return text.upper()

def loops(text):
    while True:
        pass

def forks(text):
    subprocess.Popen(["sleep", "600"])
    subprocess.Popen(["setsid", "sleep", "600"])
    time.sleep(600)

def leaves_children(text):
    subprocess.Popen(["sleep", "600"])
    return text.upper()

def floods(text):
    while True:
        sys.stdout.write("x" * (1 << 20))

def invalid_utf8(text):
    sys.stdout.buffer.write(b"\\xff\\xfe\\n")
    return "\\ud800 " + text.upper()

def huge(text):
    return "x" * (100 << 20)

def dies(text):
    os.kill(os.getpid(), 9)
"""
WORKSPACE = """
agents:
  fine: agent.py@fine
  loops: agent.py@loops
  forks: agent.py@forks
  leaves-children: agent.py@leaves_children
  floods: agent.py@floods
  invalid-utf8: agent.py@invalid_utf8
  huge: agent.py@huge
  dies: agent.py@dies
  cmd-loops: {use: "cmd:sh -c 'while :; do :; done'"}
  cmd-forks: {use: "cmd:sh -c 'sleep 600 & setsid sleep 600 & sleep 600'"}
  cmd-floods: {use: "cmd:yes"}
  cmd-invalid-utf8: {use: "cmd:printf '\\\\377A'"}
  cmd-huge: {use: "cmd:head -c 104857600 /dev/zero"}
  cmd-leaves-children: {use: "cmd:sh -c 'sleep 600 > /dev/null 2>&1 & echo A'"}
  waited-for: {use: "openai:small", config: {base_url: "%s"}}
"""
# The start of a process counts in the limit of time, and takes a second or more on a busy machine.
SUITE = """
name: misbehave
scorer: exact
warmup: 0
epochs: 1
retries: 0
max_failure_rate: 1.0
case_constraints: {time_limit_ms: 4000}
dataset:
  cases: [{id: a, input: a, target: A}, {id: b, input: b, target: B}]
"""
EXPECTED = {
    "fine": ("ok", None),
    "loops": ("timeout", "timeout"),
    "forks": ("timeout", "timeout"),
    "leaves-children": ("ok", None),
    "floods": ("limit", "output"),
    "invalid-utf8": ("failed", None),
    "huge": ("limit", "output"),
    "dies": ("error", "signal"),
    "cmd-loops": ("timeout", "timeout"),
    "cmd-forks": ("timeout", "timeout"),
    "cmd-floods": ("limit", "output"),
    "cmd-invalid-utf8": ("failed", None),
    "cmd-huge": ("limit", "output"),
    "waited-for": ("ok", None),
}


def busy_at_first(asked: Asked) -> Reply:
    """Twenty refusals, as of a minute that is over soon."""
    return Reply("slow down", 429, {"Retry-After": "0.02"}) if asked.number <= 20 else Reply(asked.text.upper())


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("misbehave"))


@pytest.fixture(scope="module")
def result(bench: Bench) -> Any:
    bench.write("agent.py", HOSTED)
    bench.write("suite.yaml", SUITE)
    agents = [option for name in (*EXPECTED, "cmd-leaves-children") for option in ("--agent", name)]
    with serving(busy_at_first) as server:
        bench.write("dyno.yaml", WORKSPACE % server.url)
        done = bench.dyno("run", "suite.yaml", "--yes", "--json", "--concurrency", "2", *agents)
    assert done.code == 5, done.err
    return done.json


def processes_in(folder: Path) -> list[int]:
    """Processes that work in a folder: agents, and what they have started."""
    found = []
    for name in os.listdir("/proc"):  # noqa: PTH208
        try:
            if name.isdigit() and Path(f"/proc/{name}/cwd").readlink().is_relative_to(folder):
                found.append(int(name))
        except OSError:
            pass  # gone, or not ours
    return found


def arm_of(result: Any, name: str) -> Any:
    (arm,) = [arm for arm in result["arms"] if arm["name"] == f"misbehave · {name}"]
    return arm


@pytest.mark.parametrize("name", EXPECTED)
def test_each_way_to_misbehave_has_its_own_status_and_every_case_one_sample(result: Any, name: str) -> None:
    samples = arm_of(result, name)["samples"]
    status, kind = EXPECTED[name]
    assert sorted(sample["case_id"] for sample in samples) == ["a", "b"]
    assert [(sample["status"], (sample["failure"] or {}).get("kind")) for sample in samples] == [(status, kind)] * 2


def test_the_healthy_agent_is_complete_and_right(result: Any) -> None:
    arm = arm_of(result, "fine")
    assert arm["statuses"] == {"ok": 2}
    assert {sample["output"] for sample in arm["samples"]} == {"A", "B"}
    assert result["status"] == "complete"


def test_a_command_that_leaves_children_behind_answers_and_they_are_ended(result: Any) -> None:
    samples = arm_of(result, "cmd-leaves-children")["samples"]
    assert {sample["output"] for sample in samples} == {"A"}


def test_a_rate_limit_is_waited_out_and_the_attempts_are_recorded(result: Any) -> None:
    samples = arm_of(result, "waited-for")["samples"]
    assert sum(sample["attempts"] for sample in samples) == 22
    assert {item["kind"] for sample in samples for item in sample["details"].get("attempts", ())} == {"rate_limited"}


def test_what_is_not_utf8_is_kept_as_far_as_it_is_text(result: Any) -> None:
    outputs = {sample["output"] for sample in arm_of(result, "cmd-invalid-utf8")["samples"]}
    assert outputs == {"\ufffdA"}


def test_no_process_is_left(result: Any, bench: Bench) -> None:
    assert result["status"] == "complete"
    assert processes_in(bench.folder) == []
