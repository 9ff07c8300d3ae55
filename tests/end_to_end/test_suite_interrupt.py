"""Ctrl-C during a suite: what was answered is kept, and resume does the rest."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

from ..command import Bench
from ..waiting import wait_while_running
from .test_suite_misbehaviour import processes_in

CODE = """
import pathlib, time

def quick(case):
    with open("calls.log", "a") as log:
        log.write(case.id + "\\n")
    return case.target

def slow(case):
    if not pathlib.Path("go").exists() and case.id == "c09":
        pathlib.Path("waiting").touch()
        time.sleep(600)
    return quick(case)
"""
SUITE = """
name: interrupted
scorer: exact
dataset: cases.jsonl
agents: [agent.py@quick, agent.py@slow]
epochs: 1
warmup: 0
concurrency: 2
"""


def interrupt_when(path: Path, run: subprocess.Popen[str]) -> None:
    """Ctrl-C as soon as there is such a file."""
    wait_while_running(run, path.exists)
    run.send_signal(signal.SIGINT)


def test_an_interrupted_suite_keeps_its_answers_and_resume_completes_it(bench: Bench) -> None:
    bench.write("agent.py", CODE)
    bench.write("suite.yaml", SUITE)
    rows = "".join(f'{{"id": "c{i:02}", "input": "{i}", "target": "{i}"}}\n' for i in range(20))
    bench.write("cases.jsonl", rows)
    run = bench.start("run", "suite.yaml")
    interrupt_when(bench.folder / "waiting", run)
    _, said = run.communicate()
    assert run.returncode == 130, said
    assert "Traceback" not in said
    assert "Stopped early: interrupted. Go on with: dyno resume" in said
    assert processes_in(bench.folder) == []

    kept = bench.dyno("show", "last", "--json").json
    answered = [sample for arm in kept["arms"] for sample in arm["samples"] if sample["status"] == "ok"]
    calls = (bench.folder / "calls.log").read_text().split()
    assert kept["status"] == ("partial" if answered else "failed")
    assert len(calls) - 1 <= len(answered) <= len(calls)

    (bench.folder / "go").touch()
    done = bench.dyno("resume", "last", "--json")
    assert done.code == 0, done.err
    assert [arm["statuses"] for arm in done.json["arms"]] == [{"ok": 20}, {"ok": 20}]
    assert len((bench.folder / "calls.log").read_text().split()) - 40 <= 1


def test_an_agent_that_has_changed_since_is_not_mixed_with_what_it_was(bench: Bench) -> None:
    bench.write("agent.py", CODE)
    bench.write("suite.yaml", SUITE)
    bench.write(
        "cases.jsonl", '{"id": "c09", "input": "9", "target": "9"}\n{"id": "c10", "input": "1", "target": "1"}\n'
    )
    run = bench.start("run", "suite.yaml")
    interrupt_when(bench.folder / "waiting", run)
    run.communicate()
    bench.write("agent.py", CODE + "\n# mended\n")
    done = bench.dyno("resume", "last")
    assert done.code == 2
    assert "agents have changed since: quick@" in done.err
    assert "Start a new run" in done.err
