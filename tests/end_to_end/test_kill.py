"""Killed at any moment, a run loses nothing and is finished by ``dyno resume``.

``make test`` kills a run at a few random moments, ``make soak`` at fifty.
"""

from __future__ import annotations

import os
import random
import signal
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ..command import Bench
from ..waiting import wait_while_running

MOMENTS = 50 if os.environ.get("DYNO_SOAK") else 5
PLANNED = 200
GRACE = 5
"""How many more samples may be finished while a kill is on its way."""
WORK = """
import os, time
from agentdyno import Experiment

class Work(Experiment):
    def __init__(self, size: int = 300):
        super().__init__({"size": size})

    def execute_once(self, context):
        total = sum(i * i for i in range(self.params["size"] * 10))
        if context.phase == "measured":
            if os.path.exists("hold") and os.path.exists("finished.log"):
                if len(open("finished.log").readlines()) > int(open("hold").read()):
                    time.sleep(600)  # the kill is late: wait for it
            done = os.open("finished.log", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
            os.write(done, f"{context.arm_id}/{context.iteration}\\n".encode())
            os.close(done)
        return {"total": total}
"""
SPEC = """
experiment: work.py@Work
sweep: {size: [100, 200]}
iterations: {warmup: 1, measured: 100}
inner_loops: 1
"""


def stored(folder: Path) -> list[tuple[str, int, float]]:
    """Arm, iteration and duration of every sample in the store; nothing while there is no store."""
    file = folder / ".dyno" / "dyno.db"
    if not file.is_file():
        return []
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as store:
        try:
            rows = store.execute(
                "SELECT arms.arm_id, samples.iteration, samples.duration_s FROM samples "
                "JOIN arms ON arms.id = samples.arm WHERE samples.phase = 'measured' AND samples.status = 'ok'"
            )
            return sorted(rows)
        except sqlite3.OperationalError:  # the schema is being made at this very moment
            return []


def finished(folder: Path) -> list[str]:
    """What the experiment itself says it has finished, whether or not anybody recorded it."""
    log = folder / "finished.log"
    return log.read_text().split() if log.exists() else []


def kill_after(bench: Bench, command: tuple[str, str], samples: int) -> None:
    """Kills a command when so many samples are finished. A few samples later the experiment waits to be killed."""
    bench.write("hold", str(samples + GRACE))
    run = bench.start(*command)
    wait_while_running(run, lambda: len(finished(bench.folder)) >= samples, pause_s=0.001)
    run.send_signal(signal.SIGKILL)
    run.communicate()
    (bench.folder / "hold").unlink()


@pytest.mark.parametrize("moment", range(MOMENTS))
def test_a_run_that_is_killed_is_finished_by_resume_and_no_sample_is_lost_or_doubled(
    bench: Bench, moment: int
) -> None:
    bench.write("work.py", WORK)
    bench.write("spec.yaml", SPEC)
    rng = random.Random(moment)
    kill_after(bench, ("run", "spec.yaml"), rng.randrange(PLANNED - 20))
    before = stored(bench.folder)
    assert len(finished(bench.folder)) - len(before) <= 1, "more than the sample in flight was lost"

    if not bench.dyno("list", "runs", "--json").json:
        return  # killed before the run had begun: there is nothing to resume, and nothing was lost
    if rng.random() < 0.5:  # half of them are killed a second time
        kill_after(bench, ("resume", "last"), len(finished(bench.folder)) + rng.randrange(5))
    done = bench.dyno("resume", "last", "--json")
    assert done.code == 0, done.err
    assert done.json["status"] == "complete"
    after = stored(bench.folder)
    keys = [(arm, iteration) for arm, iteration, _ in after]
    assert len(keys) == len(set(keys)) == PLANNED
    assert set(before) <= set(after), "a sample from before the kill was changed or lost"
    for arm in done.json["arms"]:
        assert sorted(sample["iteration"] for sample in arm["samples"]) == list(range(100))
