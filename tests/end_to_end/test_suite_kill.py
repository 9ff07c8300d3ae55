"""Killed at any moment, a suite loses no answer, asks no agent twice, and is finished by ``dyno resume``.

``make test`` kills a small suite three times, ``make soak`` one of 500 cases twenty times.
"""

from __future__ import annotations

import os
import random
import signal
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

from ..agents.place import Place
from ..command import Bench
from ..waiting import wait_until, wait_while_running

SOAK = bool(os.environ.get("DYNO_SOAK"))
KILLS = 20 if SOAK else 3
CASES = 500 if SOAK else 60
AGENTS = ("first", "second", "third")
CONCURRENCY = 4
GRACE = CONCURRENCY
"""How many more calls may begin while a kill is on its way."""
PLANNED = CASES * len(AGENTS)
CODE = """
import os, time

def note(what, agent, case):
    log = os.open("calls.log", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(log, f"{what} {agent} {case.id}\\n".encode())
    os.close(log)

def answer(agent, case):
    note("begin", agent, case)
    if os.path.exists("hold") and open("calls.log").read().count("begin") > int(open("hold").read()):
        time.sleep(600)  # the kill is late: wait for it
    time.sleep(0.01)  # long enough to be worth money
    note("end", agent, case)
    return {"output": case.target if agent != "third" else "no", "cost": 0.001}

def first(case): return answer("first", case)
def second(case): return answer("second", case)
def third(case): return answer("third", case)
"""
SUITE = f"""
name: killed
scorer: exact
dataset: cases.jsonl
agents: [agents.py@first, agents.py@second, agents.py@third]
epochs: 1
warmup: 0
concurrency: {CONCURRENCY}
"""

Row = tuple[object, ...]


def stored(folder: Path) -> list[Row]:
    """Every column of every sample, in one order."""
    with closing(sqlite3.connect(f"file:{folder / '.dyno' / 'dyno.db'}?mode=ro", uri=True)) as store:
        names = [row[1] for row in store.execute("PRAGMA table_info(samples)")]
        chosen = ", ".join(f"samples.{name}" for name in names if name not in ("id", "arm"))
        rows = store.execute(f"SELECT arms.agent, {chosen} FROM samples JOIN arms ON arms.id = samples.arm")
        return sorted(rows, key=repr)


def logged(folder: Path, what: str) -> list[str]:
    """Calls that the agents say they have begun, or ended, whether or not anybody recorded them."""
    log = folder / "calls.log"
    lines = log.read_text().splitlines() if log.exists() else []
    return [line.partition(" ")[2] for line in lines if line.startswith(what)]


def kill_after(bench: Bench, command: tuple[str, str], calls: int) -> None:
    """Kills a command when so many calls have begun. A few calls later the agents wait to be killed."""
    bench.write("hold", str(calls + GRACE))
    run = bench.start(*command)
    wait_while_running(run, lambda: len(logged(bench.folder, "begin")) >= calls, pause_s=0.001)
    run.send_signal(signal.SIGKILL)
    run.communicate()
    (bench.folder / "hold").unlink()


def test_a_suite_that_is_killed_again_and_again_asks_each_case_once_and_loses_no_answer(bench: Bench) -> None:
    bench.write("agents.py", CODE)
    bench.write("suite.yaml", SUITE)
    rows = "".join(f'{{"id": "c{i:03}", "input": "say {i}", "target": "{i}"}}\n' for i in range(CASES))
    bench.write("cases.jsonl", rows)
    bench.environ["AGENTDYNO_TEST"] = str(bench.folder)
    place = Place(bench.folder, bench.environ)
    rng = random.Random(7)
    moments = sorted(rng.sample(range(1, PLANNED - CONCURRENCY * KILLS), KILLS))
    before: list[Row] = []
    for number, moment in enumerate(moments):
        command = ("run", "suite.yaml") if number == 0 else ("resume", "last")
        kill_after(bench, command, max(moment, len(logged(bench.folder, "begin")) + 1))
        wait_until(lambda: not place.processes())  # what the killed command had started ends by itself
        now = stored(bench.folder)
        assert set(before) <= set(now), "a sample from before an earlier kill was changed or lost"
        unsaved = len(set(logged(bench.folder, "end"))) - len(now)
        assert unsaved <= CONCURRENCY, "answers were lost that had been there before the kill"
        before = now

    done = bench.dyno("resume", "last", "--json")
    assert done.code == 0, done.err
    assert done.json["status"] == "complete"
    after = stored(bench.folder)
    assert set(before) <= set(after), "a sample from before the last kill was changed or lost"
    result = done.json
    keys = Counter(
        (arm["agent"].partition("@")[0], sample["case_id"], sample["iteration"])
        for arm in result["arms"]
        for sample in arm["samples"]
    )
    assert keys == Counter((agent, f"c{i:03}", 0) for agent in AGENTS for i in range(CASES))
    assert len(after) == PLANNED
    assert {arm["agent"].partition("@")[0]: arm["statuses"] for arm in result["arms"]} == {
        "first": {"ok": CASES},
        "second": {"ok": CASES},
        "third": {"failed": CASES},
    }
    calls = Counter(logged(bench.folder, "begin"))
    assert calls.total() - PLANNED <= KILLS * CONCURRENCY, "more calls were paid for twice than were in flight"
    assert not place.processes()
