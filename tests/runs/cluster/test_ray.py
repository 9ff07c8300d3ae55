"""Runs on a real cluster of two nodes: what is asked for is recorded once, whatever happens to the nodes."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import threading
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import psutil
import pytest

from agentdyno import load_run
from agentdyno.model import Progress, RunResult, RunStatus
from agentdyno.runs.kind import Choices, Source, Tools
from agentdyno.runs.kinds import EXPERIMENT, SUITE, kind_named
from agentdyno.runs.pipeline import start
from agentdyno.store import Store

from ...command import Bench
from ...waiting import wait_until
from .nodes import TwoNodes

SOAK = bool(os.environ.get("DYNO_SOAK"))
KILLS = int(os.environ.get("DYNO_KILLS") or (200 if SOAK else 10))
AGENTS = """
import os, time
from beside import mark

def slow(case):
    time.sleep(0.02)
    return mark(case.target)

def wrong(case):
    time.sleep(0.02)
    return "no"
"""
TWO = ("agents.py@slow", "agents.py@wrong")


@pytest.fixture
def here(tmp_path: Path, nodes: TwoNodes, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two agents and a module that they import, and the address of the cluster."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("RAY_ADDRESS", nodes.address)
    (tmp_path / "agents.py").write_text(AGENTS)
    (tmp_path / "beside.py").write_text("def mark(text):\n    return text\n")
    return tmp_path


def suite(cases: int, epochs: int = 1, **more: object) -> dict[str, object]:
    rows = [{"id": f"c{number}", "input": f"{number}", "target": f"{number}"} for number in range(cases)]
    settings = {"epochs": epochs, "warmup": 0, "concurrency": 2, "executor": "ray"}
    return {"name": "shared", "dataset": {"cases": rows}, "scorer": "exact", **settings, **more}


def stored(folder: Path) -> list[tuple[str, str, int]]:
    """(agent, case, epoch) of every sample in the store."""
    with closing(sqlite3.connect(folder / "dyno.db")) as store:
        rows = store.execute(
            "SELECT arms.agent, samples.case_id, samples.iteration FROM samples JOIN arms ON arms.id = samples.arm"
        )
        return [(str(agent).partition("@")[0], case, epoch) for agent, case, epoch in rows]


def planned(cases: int, epochs: int = 1) -> Counter[tuple[str, str, int]]:
    names = ("slow", "wrong")
    return Counter((name, f"c{case}", epoch) for name in names for case in range(cases) for epoch in range(epochs))


class Saboteur:
    """Kills a node and starts another whenever a run has come so far, and waits until the new one has joined."""

    def __init__(self, nodes: TwoNodes, moments: list[int]) -> None:
        self.nodes, self.moments, self.told = nodes, moments, list[str]()
        self._joined = threading.Semaphore(0)

    def say(self, line: str) -> None:
        self.told.append(line)
        if line.endswith("joins"):
            self._joined.release()

    def __call__(self, progress: Progress) -> None:
        if self.moments and progress.done >= self.moments[0]:
            self.moments.pop(0)
            self.nodes.kill()
            self.nodes.add()
            assert self._joined.acquire(timeout=120)


def run_suite(folder: Path, document: dict[str, object], **tools: Any) -> RunResult:
    kind = kind_named(SUITE)
    with Store.open(folder / "dyno.db") as store:
        given = Tools(store, folder / "runs", choices=Choices(agents=TWO), **tools)
        with kind.prepare(kind.read(Source(document=document), {}), given) as prepared:
            result = start(kind, prepared, given)
        return store.runs.load(result.run_id)


@pytest.mark.timeout(7200 if SOAK else 900)
def test_every_case_is_recorded_once_while_nodes_are_killed_and_others_join(here: Path, nodes: TwoNodes) -> None:
    luck, cases = random.Random(7), 20 * KILLS + 20
    moments = [number * 40 + luck.randrange(1, 30) for number in range(KILLS)]
    saboteur = Saboteur(nodes, list(moments))
    result = run_suite(here, suite(cases), say=saboteur.say, on_progress=saboteur)
    assert not saboteur.moments, "killed as often as it was meant to be"
    assert Counter(stored(here)) == planned(cases)
    assert result.status is RunStatus.COMPLETE
    assert sum("is lost" in line for line in saboteur.told) == KILLS
    samples = [sample for arm in result.arms for sample in arm.samples]
    hosts = {str(sample.details["host_id"]) for sample in samples}
    assert len(hosts) > 2, "nodes that joined late were used"
    assert all(sample.scores["score"] == (arm.agent or "").startswith("slow")
               for arm in result.arms for sample in arm.samples)  # fmt: skip
    timed = {sample.details["host_id"] for sample in samples if "duration_s" in sample.readings}
    assert timed == {result.environment.host_id}, "the times of one host count"
    assert {arm.observed["host_id"] for arm in result.arms} == timed


EXPERIMENTS = """
from beside import mark

def first(n: int = 10):
    return {"total": len(mark("x" * n))}

def second(n: int = 10):
    return {"total": len(mark("y" * n))}
"""


def test_arms_of_one_comparison_are_measured_by_one_machine_and_comparisons_by_several(here: Path) -> None:
    (here / "work.py").write_text(EXPERIMENTS)
    rows = [{"experiment": f"work.py@{name}", "sweep": {"n": [10, 20]}} for name in ("first", "second")]
    document = {"name": "two", "experiments": rows, "iterations": 4, "executor": "ray"}
    kind = kind_named(EXPERIMENT)
    with Store.open(here / "dyno.db") as store:
        tools = Tools(store, here / "runs")
        with kind.prepare(kind.read(Source(document=document), {}), tools) as prepared:
            result = start(kind, prepared, tools)
    hosts = {arm.experiment: {str(s.details["host_id"]) for s in arm.samples} for arm in result.arms}
    by_arm = [({str(s.details["host_id"]) for s in arm.samples}, arm) for arm in result.arms]
    assert all(found == hosts[arm.experiment] and len(found) == 1 for found, arm in by_arm)
    assert hosts["first"] != hosts["second"], "both machines were used"
    assert all(len(arm.samples) == 4 and arm.metrics["duration_s"].n == 4 for arm in result.arms)
    assert all(arm.observed["host_id"] in hosts[arm.experiment] for arm in result.arms)


HOLDING = """

def wait(folder):
    with open(f"{folder}/calls.log", "a") as log:
        log.write(f"{os.getpid():9}\\n")
    while os.path.exists(f"{folder}/hold") and os.path.getsize(f"{folder}/calls.log") > 400:
        time.sleep(0.05)  # whoever ends the run is late: wait for it
"""


def begun(here: Path, nodes: TwoNodes) -> tuple[Bench, subprocess.Popen[str]]:
    """A run of 120 calls with some in the store. It stands still after the fortieth as long as there is ``hold``."""
    (here / "suite.yaml").write_text(json.dumps(suite(60)))
    (here / "hold").write_text("")
    (here / "agents.py").write_text(AGENTS.replace("time.sleep(0.02)", f"wait({str(here)!r})") + HOLDING)
    Store.open(here / "dyno.db").close()
    bench = Bench(here)
    bench.environ |= {"RAY_ADDRESS": nodes.address}
    given = ("--agent", TWO[0], "--agent", TWO[1], "--store", "dyno.db")
    driver = bench.start("run", "suite.yaml", *given)
    try:
        wait_until(lambda: len(stored(here)) >= 10)
    except BaseException:
        driver.kill()
        driver.communicate()
        raise
    return bench, driver


def finish(bench: Bench, here: Path) -> None:
    """Resumes the run: what is in the store is part of the plan and not all of it before, and all of it after."""
    (here / "hold").unlink()
    before = Counter(stored(here))
    assert 10 <= before.total() < 120
    done = bench.dyno("resume", "last", "--store", "dyno.db")
    assert done.code == 0, done.err
    assert Counter(stored(here)) == planned(60)


def test_a_run_whose_driver_was_killed_is_finished_by_resume(here: Path, nodes: TwoNodes) -> None:
    bench, driver = begun(here, nodes)
    driver.kill()
    driver.communicate()
    finish(bench, here)


def test_ctrl_c_ends_what_runs_on_all_nodes_and_resume_does_the_rest(here: Path, nodes: TwoNodes) -> None:
    bench, driver = begun(here, nodes)
    driver.send_signal(signal.SIGINT)
    _, said = driver.communicate()
    assert driver.returncode == 130, said
    assert "Traceback" not in said
    assert "Stopped early: interrupted. Go on with: dyno resume" in said
    agents = {int(line) for line in (here / "calls.log").read_text().splitlines()}
    assert len(agents) >= 2
    wait_until(lambda: not any(is_running(pid) for pid in agents))
    kept = load_run("last", store=str(here / "dyno.db"))
    assert (kept.status, kept.stopped_because) == (RunStatus.PARTIAL, "interrupted")
    assert sum(len(arm.samples) for arm in kept.arms) == len(stored(here))
    finish(bench, here)


def is_running(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False
