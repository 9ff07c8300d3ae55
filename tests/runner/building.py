"""Jobs, trials and samples as the tests of the runner need them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from agentdyno.model import Arm, Limits, Phase, Plan, Sample, Status, Trial
from agentdyno.runner.bench.job import ArmJob, CodeReference
from agentdyno.runner.executor import Executor

SUBJECTS = str(Path(__file__).parent / "subjects.py")
TIMEOUT_S = 4.0
"""Long enough for a worker to start beside other tests and busy processes."""


def job(name: str, arm_id: str = "arm", limits: Limits | None = None, **rest: Any) -> ArmJob:
    """A job for the experiment ``name`` of ``subjects.py``; what is no field of a job is a parameter."""
    fields = {key: rest.pop(key) for key in list(rest) if key in ArmJob.__slots__ and key != "params"}
    code = fields.pop("code", CodeReference(name, files=(SUBJECTS,)))
    return ArmJob("run", arm_id, code, rest, **{"seed": 0, "warmup": 0, "limits": limits or Limits(), **fields})


def trial(iteration: int = 0, arm_id: str = "arm", phase: Phase = Phase.MEASURED, **rest: Any) -> Trial:
    return Trial(arm_id, phase, iteration, **{"seed": 1000 + iteration, **rest})


def sample(
    iteration: int = 0, status: Status = Status.OK, duration_s: float | None = 1.0, arm_id: str = "arm", **rest: Any
) -> Sample:
    readings = {} if duration_s is None else {"duration_s": duration_s}
    return Sample(arm_id, rest.pop("phase", Phase.MEASURED), iteration, status, 0, readings, **rest)


def plan(*trials: Trial) -> Plan:
    arms = dict.fromkeys(trial.arm_id for trial in trials)
    return Plan(tuple(Arm(arm_id, arm_id, "experiment") for arm_id in arms), trials)


def run(executor: Executor, *trials: Trial) -> list[Sample]:
    """The samples of trials that are executed one after the other."""
    samples = []
    for item in trials:
        executor.submit(item)
        samples.append(next_sample(executor))
    return samples


def next_sample(executor: Executor) -> Sample:
    """What the executor gives next, which ends its trial."""
    step = executor.wait()
    assert step.sample is not None
    assert step.ended
    return step.sample


def outcome(executed: Sample) -> tuple[str, str, str]:
    """Status, kind of failure and stage."""
    failure = executed.failure
    return (executed.status, failure.kind, failure.where) if failure else (executed.status, "", "")


def is_running(pid: int) -> bool:
    """Whether a process exists and has not been ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def children() -> set[int]:
    """Child processes of this one, ended ones that nobody has waited for included."""
    return {int(pid) for task in Path("/proc/self/task").iterdir() for pid in _children(task)}


def _children(task: Path) -> Iterator[str]:
    try:
        yield from (task / "children").read_text().split()
    except (FileNotFoundError, ProcessLookupError):
        return


def descriptors() -> set[str]:
    """What this process has open, by what it points to, so that reused numbers do not matter."""
    found = set()
    for name in os.listdir("/proc/self/fd"):  # noqa: PTH208
        try:
            found.add(f"{name} {os.readlink(f'/proc/self/fd/{name}')}")  # noqa: PTH115
        except FileNotFoundError:  # the folder's own
            continue
    return found
