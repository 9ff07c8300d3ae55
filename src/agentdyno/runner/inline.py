"""Executing trials in this very process: no protection, no messages; for debugging and for notebooks."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from types import FrameType
from typing import Any

from agentdyno.model.plan import Trial
from agentdyno.model.sample import Failure, Sample, Status
from agentdyno.runner.bench import Bench, StageFailed, TrialTimeout, classify, make_sample
from agentdyno.runner.job import ArmJob
from agentdyno.runner.timing import harness_overhead_s


class InlineExecutor:
    """Same contract as ``ProcessExecutor``. ``targets`` are experiments that exist only in this process."""

    def __init__(self, jobs: Mapping[str, ArmJob], targets: Mapping[str, Any] | None = None) -> None:
        self._jobs = dict(jobs)
        self._targets = dict(targets or {})
        self._benches: dict[str, tuple[Bench, int]] = {}
        self._finished: list[Sample] = []
        self.observed: dict[str, dict[str, Any]] = {}
        self.inner_loops = {arm_id: job.inner_loops for arm_id, job in jobs.items()}
        self.overhead_s: float | None = harness_overhead_s()
        self.teardown_failures: list[tuple[str, Failure]] = []

    def submit(self, trial: Trial) -> None:
        started_at_ms = time.time_ns() // 1_000_000
        job = self._jobs[trial.arm_id]
        try:
            with _alarm(job.limits.timeout_s):
                bench = self._bench_for(trial)
                sample = bench.execute(trial)
        except StageFailed as failed:
            sample = make_sample(trial, failed.status, started_at_ms, failure=failed.failure)
        except TrialTimeout as error:
            status, failure = classify(error, "execute")
            sample = make_sample(trial, status, started_at_ms, failure=failure)
        else:
            self.observed.setdefault(trial.arm_id, {}).update(bench.context.observed)
        if sample.status not in (Status.OK, Status.FAILED, Status.ERROR) or not self._ready(trial.arm_id):
            self._drop(trial.arm_id)
        self._finished.append(sample)

    def wait(self) -> Sample:
        return self._finished.pop(0)

    def close(self) -> None:
        for arm_id in list(self._benches):
            self._drop(arm_id)

    def _bench_for(self, trial: Trial) -> Bench:
        bench, process = self._benches.get(trial.arm_id, (None, -1))
        if bench is not None and process == trial.process:
            return bench
        self._drop(trial.arm_id)
        job = replace(self._jobs[trial.arm_id], inner_loops=self.inner_loops[trial.arm_id])
        bench = Bench(job, self._targets.get(trial.arm_id))
        self._benches[trial.arm_id] = (bench, trial.process)
        bench.prepare()
        self.inner_loops[trial.arm_id] = bench.inner_loops
        return bench

    def _ready(self, arm_id: str) -> bool:
        bench, _ = self._benches.get(arm_id, (None, 0))
        return bench is not None and bench.inner_loops is not None

    def _drop(self, arm_id: str) -> None:
        bench, _ = self._benches.pop(arm_id, (None, 0))
        failure = bench.close() if bench is not None else None
        if failure is not None:
            self.teardown_failures.append((arm_id, failure))


@contextmanager
def _alarm(timeout_s: float | None) -> Iterator[None]:
    """Raises in this thread after ``timeout_s``; only the main thread can be interrupted so."""
    if timeout_s is None or threading.current_thread() is not threading.main_thread():
        yield
        return

    def ring(_signal: int, _frame: FrameType | None) -> None:
        raise TrialTimeout(f"took longer than {timeout_s:g} s (timeout_s)")

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, timeout_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
