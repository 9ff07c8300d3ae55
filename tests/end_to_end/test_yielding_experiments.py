"""An experiment that yields its samples: killed in the middle of a trial, resumed from its own checkpoint, shown."""

from __future__ import annotations

import signal

from ..command import Bench
from ..waiting import wait_while_running

COUNTING = """
import time
from pathlib import Path
from agentdyno import Experiment

class Counting(Experiment):
    def __init__(self, by: int = 1) -> None:
        super().__init__({"by": by})

    def execute_once(self, context):
        kept = Path(context.artifacts_dir) / f"count-{context.iteration}"
        total = int(kept.read_text()) if context.part else 0
        with Path("calls.log").open("a") as log:
            log.write(f"{self.params['by']} {context.iteration} {context.part}\\n")
        for number in range(context.part, 4):
            while number == 2 and not Path("go_on").exists():
                time.sleep(0.01)
            total += self.params["by"]
            kept.write_text(str(total))
            yield {"total": total}
"""
SPEC = "name: counting\nexperiment: counting.py@Counting\nparams: {by: [1, 10]}\niterations: 1\norder: sequential\n"


def test_killed_in_the_middle_of_a_trial_it_goes_on_from_its_checkpoint(bench: Bench) -> None:
    bench.write("counting.py", COUNTING)
    bench.write("spec.yaml", SPEC)
    run = bench.start("run", "spec.yaml")
    wait_while_running(run, lambda: any(row["samples"] >= 2 for row in bench.dyno("list", "runs", "--json").json))
    run.send_signal(signal.SIGKILL)
    run.communicate()

    bench.write("go_on", "")
    done = bench.dyno("resume", "last", "--json")
    assert done.code == 0, done.err
    totals = [[s["readings"]["result.total"] for s in arm["samples"]] for arm in done.json["arms"]]
    assert totals == [[1, 2, 3, 4], [10, 20, 30, 40]]
    assert [s.get("part", 0) for s in done.json["arms"][0]["samples"]] == [0, 1, 2, 3]
    assert (bench.folder / "calls.log").read_text().splitlines() == ["1 0 0", "1 0 2", "10 0 0"]
    assert done.json["status"] == "complete"
    assert bench.dyno("show", "last").code == 0
    assert "is complete" in bench.dyno("resume", "last").err
