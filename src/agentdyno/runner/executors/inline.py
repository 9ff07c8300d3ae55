"""Executing trials in this very process: no protection, no messages; for debugging and for notebooks."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from types import FrameType
from typing import Any

from agentdyno.garbage import look_as_before
from agentdyno.model.plan import Trial
from agentdyno.model.sample import Status
from agentdyno.runner.bench.arm import Bench, make_sample
from agentdyno.runner.bench.failures import StageFailed, TrialTimeout, classify
from agentdyno.runner.bench.job import ArmJob
from agentdyno.runner.bench.readings import interpreter
from agentdyno.runner.bench.timing import harness_overhead_s
from agentdyno.runner.executor import Facts, TrialStep


class InlineExecutor:
    """Same contract as ``ProcessExecutor``. ``targets`` are experiments that exist only in this process."""

    def __init__(
        self,
        jobs: Mapping[str, ArmJob],
        targets: Mapping[str, Any] | None = None,
        begun: Mapping[str, int] | None = None,
    ) -> None:
        self._jobs = dict(jobs)
        self._begun = dict(begun or {})
        self._targets = dict(targets or {})
        self._benches: dict[str, tuple[Bench, int]] = {}
        self._steps: list[Iterator[TrialStep]] = []
        self.inner_loops = {arm_id: job.inner_loops for arm_id, job in jobs.items()}
        self.facts = Facts()

    def open(self) -> None:
        look_as_before()
        self.facts.overhead_s = harness_overhead_s()

    def submit(self, trial: Trial) -> None:
        """A trial of one sample is performed here; one that yields its samples goes on whenever one is waited for."""
        started_at_ms = time.time_ns() // 1_000_000
        job = self._jobs[trial.arm_id]
        try:
            with _alarm(job.limits.timeout_s) as restart:
                bench = self._bench_for(trial, restart)
                restart()
                if bench.yields:
                    self._steps.append(self._flowing(bench, trial))
                    return
                sample = bench.execute(trial)
        except StageFailed as failed:
            sample = make_sample(trial, failed.status, started_at_ms, failure=failed.failure)
        except TrialTimeout as error:
            status, failure = classify(error, "execute")
            sample = make_sample(trial, status, started_at_ms, failure=failure)
        else:
            self._observe(bench, trial)
            if bench.warmup_s:
                sample = replace(sample, details={**sample.details, "warmup_s": bench.warmup_s})
                bench.warmup_s = []
        if sample.status not in (Status.OK, Status.FAILED, Status.ERROR) or not self._ready(trial.arm_id):
            self._drop(trial.arm_id)
        self._steps.append(iter([TrialStep(sample)]))

    def wait(self) -> TrialStep:
        step = next(self._steps[0])
        if step.ended:
            self._steps.pop(0)
        return step

    def _flowing(self, bench: Bench, trial: Trial) -> Iterator[TrialStep]:
        samples = bench.steps(trial, self._begun.get(trial.key, 0))
        while True:
            with _alarm(self._jobs[trial.arm_id].limits.timeout_s):
                sample = next(samples, None)
            self._observe(bench, trial)
            if sample is None or sample.status is not Status.OK:
                yield TrialStep(sample, trial=trial)
                return
            yield TrialStep(sample, ended=False)

    def _observe(self, bench: Bench, trial: Trial) -> None:
        surroundings = {**interpreter(), "cpu": bench.cpu}
        self.facts.observed.setdefault(trial.arm_id, surroundings).update(bench.observed())

    def close(self) -> None:
        for arm_id in list(self._benches):
            self._drop(arm_id)

    def _bench_for(self, trial: Trial, restart: Callable[[], None]) -> Bench:
        bench, process = self._benches.get(trial.arm_id, (None, -1))
        if bench is not None and process == trial.process:
            return bench
        self._drop(trial.arm_id)
        job = replace(self._jobs[trial.arm_id], inner_loops=self.inner_loops[trial.arm_id])
        job.make_artifacts_dir()
        bench = Bench(job, self._targets.get(trial.arm_id))
        self._benches[trial.arm_id] = (bench, trial.process)
        bench.prepare(lambda _: restart())
        self.inner_loops[trial.arm_id] = bench.inner_loops
        return bench

    def _ready(self, arm_id: str) -> bool:
        bench, _ = self._benches.get(arm_id, (None, 0))
        return bench is not None and bench.ready

    def _drop(self, arm_id: str) -> None:
        bench, _ = self._benches.pop(arm_id, (None, 0))
        failure = bench.close() if bench is not None else None
        if failure is not None:
            self.facts.teardown_failures.append((arm_id, failure))


@contextmanager
def _alarm(timeout_s: float | None) -> Iterator[Callable[[], None]]:
    """Raises in this thread after ``timeout_s``; only the main thread can be interrupted so.

    Gives a function that starts the time anew. An alarm that was set before goes on afterwards.
    """
    if timeout_s is None or threading.current_thread() is not threading.main_thread():
        yield lambda: None
        return

    def ring(_signal: int, _frame: FrameType | None) -> None:
        raise TrialTimeout(f"took longer than {timeout_s:g} s (timeout_s)")

    before = signal.signal(signal.SIGALRM, ring)

    def restart() -> None:
        signal.setitimer(signal.ITIMER_REAL, timeout_s)

    left_s, interval_s = signal.setitimer(signal.ITIMER_REAL, timeout_s)
    started = time.monotonic()
    try:
        yield restart
    finally:
        try:
            signal.setitimer(signal.ITIMER_REAL, 0)
        finally:
            signal.signal(signal.SIGALRM, signal.SIG_DFL if before is None else before)
            if left_s:
                signal.setitimer(signal.ITIMER_REAL, max(left_s - (time.monotonic() - started), 1e-6), interval_s)
