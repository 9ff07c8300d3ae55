"""The kinds of runs that a campaign disturbs: how each is started and gone on with, and the files that it needs.

Every kind has ``PLANNED`` executions of some 10 ms, each of which writes a point into a log of its own.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

from ..command import DYNO

PLANNED = 30
CALLS = "calls.log"
JUDGED = "judged.log"
NOTE = """
import os, time

def note(file):
    time.sleep(0.01)
    log = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(log, b".")
    os.close(log)
"""
SUBJECT = f"""{NOTE}
def answer(text):
    note("{CALLS}")
    return text

def work(size: int = 1):
    note("{CALLS}")
    return size

def plan(case):
    note("{CALLS}")
    return {{"steps": [
        {{"id": "sort", "command": "sort in.txt > sorted.txt", "needs": [], "outputs": ["sorted.txt"]}},
        {{"id": "copy", "command": "cp sorted.txt out.txt", "needs": ["sort"], "outputs": ["out.txt"]}}]}}
"""
TASKS = """
def make(folder, seed):
    (folder / "in.txt").write_text("b\\na\\n" * seed)

def check(state, seed):
    state.expect(state.lines("out.txt") == ["a"] * seed + ["b"] * seed, "out.txt is not sorted")
"""
JUDGE = f"""{NOTE}
from agentdyno import register_scorer

@register_scorer("noted")
def noted(output):
    note("{JUDGED}")
    return 1.0
"""
MARKED = """
import pytest

@pytest.mark.dyno(suite="suite.yaml", agent="subject.py@answer")
def test_suite():
    pass
"""
NAMES = [f"c{number}" for number in range(PLANNED // 2)]
CASES = ", ".join(f'{{id: {name}, input: "{name}", target: "{name}"}}' for name in NAMES)
WORKFLOW = "metadata: {workflow: {make: tasks.py@make, check: tasks.py@check, seed: 3}}"
TASK_CASES = ", ".join(f'{{id: {name}, input: "sort {name}", {WORKFLOW}}}' for name in NAMES)
SUITE = "name: {name}\nscorer: {scorer}\nwarmup: 0\nepochs: 2\ndataset:\n  cases: [{cases}]\n"
FILES = {
    "subject.py": SUBJECT,
    "tasks.py": TASKS,
    "judge.py": JUDGE,
    "test_marked.py": MARKED,
    "step.sh": f"sleep 0.01\nprintf . >> {CALLS}\n",
    "suite.yaml": SUITE.format(name="suite", scorer="exact", cases=CASES),
    "workflow.yaml": SUITE.format(name="workflow", scorer="final_state", cases=TASK_CASES),
    "sweep.yaml": "name: sweep\niterations: {measured: 10, warmup: 0}\ninner_loops: 1\n"
    "experiments: [{experiment: subject.py@work, params: {size: [1, 2, 3]}}]\n",
}


@dataclass(frozen=True)
class RunKind:
    """``first`` starts a run, ``again`` goes on with it; ``before`` makes one, undisturbed, that it needs.

    ``spare`` is how often the subject may be asked in vain for each fault; it says in ``log`` that it was asked.
    ``without`` are faults that are no fault for it. ``tells`` where exit code 1 says that something is worse.
    """

    first: tuple[str, ...]
    again: tuple[str, ...] = (DYNO, "resume")
    before: tuple[str, ...] = ()
    spare: int = 2
    log: str = CALLS
    without: frozenset[str] = frozenset()
    tells: bool = True

    @property
    def place(self) -> int:
        """Which run of the store it is."""
        return 1 if self.before else 0


_RUN_SUITE = ("run", "suite.yaml", "--agent", "subject.py@answer")
_PYTEST = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_marked.py")
RUN_KINDS = {
    "suite": RunKind((DYNO, *_RUN_SUITE)),
    "sweep": RunKind((DYNO, "run", "sweep.yaml")),
    "workflow": RunKind((DYNO, "run", "workflow.yaml", "--agent", "workflow:subject.py@plan")),
    # The process that times them answers twenty times a second, and what it has not told yet is timed again.
    "commands": RunKind((DYNO, "time", "-N", "-w", "0", "-r", "15", "sh step.sh one", "sh step.sh two"), spare=8),
    "judging": RunKind(
        (DYNO, "rescore", "last", "--scorer", "judge.py@noted"), before=_RUN_SUITE, spare=8, log=JUDGED
    ),
    # A session takes up a run of the last 24 hours: one whose clock was set by a day begins another.
    "pytest": RunKind(_PYTEST, _PYTEST, without=frozenset({"jump"}), tells=False),
}
