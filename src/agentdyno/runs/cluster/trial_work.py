"""Trials of experiments on this machine, in worker processes of their own."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from agentdyno.model import Trial
from agentdyno.model.codec import to_plain
from agentdyno.runner.bench.affinity import choose_cpu
from agentdyno.runner.bench.job import ArmJob, CodeReference, InstrumentJob
from agentdyno.runner.executors.processes import ProcessExecutor
from agentdyno.runs.cluster.files import FilesHere
from agentdyno.runs.cluster.order import WorkOrder

LARGEST_FILE_BYTES = 16 * 1024 * 1024
"""Files that an arm leaves and that are larger stay where they are."""


class TrialWork:
    """Like trials of the driver's own machine, with code, interpreter and CPU of this one."""

    def __init__(self, order: WorkOrder, files: FilesHere) -> None:
        cpu = choose_cpu()
        self._jobs = {job.arm_id: _here(job, files, order.python, cpu) for job in order.jobs}
        self._executor = ProcessExecutor(self._jobs, order.begun)
        self._observed: dict[str, dict[str, object]] = {}
        self._sent: dict[str, float] = {}

    def open(self) -> None:
        self._executor.open()

    def start(self, trial: Trial) -> None:
        self._executor.submit(trial)

    def wait_item(self) -> dict[str, object]:
        step = self._executor.wait()
        told = step.sample or step.trial
        assert told is not None, "a step tells of a trial"
        item: dict[str, object] = {"key": told.key, "ended": step.ended}
        if step.sample is not None:
            duration_s = step.sample.readings.get("duration_s")
            took_s = None if duration_s is None else duration_s * step.sample.inner_loops
            item |= {"sample": to_plain(step.sample), "took_s": took_s}
        observed = dict(self._executor.facts.observed.get(told.arm_id, {}))
        if observed != self._observed.get(told.arm_id):
            self._observed[told.arm_id] = observed
            item["observed"] = to_plain(observed)
        if self._executor.facts.overhead_s is not None:
            item["overhead_s"] = self._executor.facts.overhead_s
        if files := self._left(told.arm_id):
            item["files"] = files
        return item

    def close(self) -> None:
        self._executor.close()

    def _left(self, arm_id: str) -> dict[str, str]:
        """Files that the arm has left since they were looked for last, in hexadecimal digits."""
        folder = Path(self._jobs[arm_id].artifacts_dir)
        found = {}
        for path in folder.rglob("*") if folder.is_dir() else ():
            if not path.is_file() or (stat := path.stat()).st_size > LARGEST_FILE_BYTES:
                continue
            if self._sent.get(str(path)) != stat.st_mtime:
                self._sent[str(path)] = stat.st_mtime
                found[path.relative_to(folder).as_posix()] = path.read_bytes().hex()
        return found


def _here(job: ArmJob, files: FilesHere, driver: str, cpu: int | None) -> ArmJob:
    launch = job.launch
    launch = replace(
        launch,
        python=sys.executable if launch.python == driver else launch.python,
        cwd=None if launch.cwd is None else files.folder(launch.cwd),
        sys_path=tuple(files.of(path) for path in launch.sys_path),
        code_root=None if launch.code_root is None else files.of(launch.code_root),
    )
    return replace(
        job,
        code=_code(job.code, files),
        instruments=tuple(InstrumentJob(i.name, _code(i.code, files), i.options) for i in job.instruments),
        artifacts_dir=str(files.root / "artifacts" / job.arm_id),
        cpu=None if job.cpu is None else cpu,
        launch=launch,
    )


def _code(code: CodeReference, files: FilesHere) -> CodeReference:
    return replace(
        code,
        files=tuple(files.of(path) for path in code.files),
        imports=tuple(files.of(path) if path.endswith(".py") else path for path in code.imports),
    )
