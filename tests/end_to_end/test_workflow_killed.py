"""A workflow that is killed at random moments is finished by the next starts, without doing twice what was recorded.

``make test`` kills 10 times, ``make soak`` 300 times.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SOAK = bool(os.environ.get("DYNO_SOAK"))
KILLS = 300 if SOAK else 10
STEPS = 6
PROGRAM = """
import sys
from pathlib import Path
from tests.agents.workflow.work import execute
from agentdyno.agents.workflow.plan import read_plan
import json

plan = read_plan(json.loads(Path(sys.argv[2]).read_text()))
print("begun", flush=True)
done = execute(plan, Path(sys.argv[1]))
print("succeeded" if done.succeeded else "failed", flush=True)
"""


def _plan() -> dict[str, object]:
    """A chain beside another one, each step of which makes several files of some size."""
    steps: list[dict[str, object]] = []
    for number in range(STEPS):
        before = "numbers.txt" if number < 2 else f"{number - 2}/a.txt"
        command = (
            f"mkdir -p {number} && for n in 1 2 3 4 5 6 7 8; do sort -R --random-source=numbers.txt "
            f"{before} > {number}/$n.txt; "
            f"done; (cat {before}; echo {number}) > {number}/a.txt"
        )
        needs = [] if number < 2 else [f"s{number - 2}"]
        steps.append({"id": f"s{number}", "command": command, "needs": needs, "outputs": [f"{number}/a.txt"]})
    return {"steps": steps}


def _rows(journal: Path) -> list[dict[str, Any]]:
    rows = []
    for line in journal.read_bytes().splitlines() if journal.exists() else []:
        try:
            rows.append(json.loads(line))
        except ValueError:
            break  # what a kill cut off
    return rows


def _start(folder: Path, plan: Path) -> subprocess.Popen[bytes]:
    root = Path(__file__).parents[2]
    env = {**os.environ, "PYTHONPATH": str(root)}
    command = [sys.executable, "-c", PROGRAM, str(folder), str(plan)]
    return subprocess.Popen(command, cwd=root, env=env, stdout=subprocess.PIPE)


def _killed(folder: Path, plan: Path, after_s: float) -> bool:
    """Starts and kills some time after it has begun; false where it was faster."""
    process = _start(folder, plan)
    assert process.stdout is not None
    with process, process.stdout as output:
        assert output.readline() == b"begun\n"
        try:
            process.wait(after_s)
        except subprocess.TimeoutExpired:
            process.kill()
            return True
        return False


def _check_records(folder: Path) -> None:
    """No step whose end was recorded began again, and each end has a beginning in the same start."""
    ended: set[str] = set()
    begun: set[str] = set()
    for row in _rows(folder / "journal.jsonl"):
        if "start" in row:
            begun = set()
        elif "begin" in row:
            assert row["begin"] not in ended, f"{row['begin']} ran again"
            begun.add(row["begin"])
        elif "end" in row:
            step = row["end"]["step"]
            assert step in begun, f"{step} ended without a beginning"
            ended.add(step)
        else:
            gone = {"forgotten", "cleared"} & row.keys()
            assert not gone, "nothing has changed that could make a step invalid"


def _check_files(folder: Path) -> None:
    for number in range(STEPS):
        wanted = ["3", "1", "2", "1", *(str(other) for other in range(number % 2, number + 1, 2))]
        assert (folder / "work" / f"{number}/a.txt").read_text().split() == wanted
        assert len(list((folder / "work" / str(number)).iterdir())) == 9
    assert not (folder / "stage").exists() or not list((folder / "stage").iterdir())


@pytest.mark.timeout(14_400 if SOAK else 300)
def test_a_workflow_that_is_killed_at_random_moments_is_finished(tmp_path: Path) -> None:
    rng = random.Random(2026)
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps(_plan()))
    kills = workflows = 0
    while kills < KILLS:
        folder = tmp_path / f"workflow{workflows}"
        workflows += 1
        while _killed(folder, plan, rng.uniform(0.0, 1.0)):
            kills += 1
            _check_records(folder)
            if kills >= KILLS:
                break
        last = _start(folder, plan)
        said, _ = last.communicate()
        assert said.split() == [b"begun", b"succeeded"]
        _check_records(folder)
        _check_files(folder)
