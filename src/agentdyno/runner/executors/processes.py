"""Executing trials in worker processes that are kept alive across blocks."""

from __future__ import annotations

import contextlib
import selectors
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from agentdyno.model.codec import from_plain, to_plain
from agentdyno.model.identity import derive_seed
from agentdyno.model.metric import reported_name
from agentdyno.model.plan import Phase, Trial
from agentdyno.model.sample import Failure, FailureKind, Sample, Status
from agentdyno.runner.bench.arm import make_sample
from agentdyno.runner.bench.describe import start_worker
from agentdyno.runner.bench.job import ArmJob
from agentdyno.runner.executor import Facts, TrialStep
from agentdyno.sandbox import LimitedProcess
from agentdyno.sandbox.process import cause_of_death
from agentdyno.workers.clock_check import GAP_S, ClockCheck, Waiting
from agentdyno.workers.frames import Message
from agentdyno.workers.link import Link

GRACE_S = 2.0
"""How long an interrupted worker may take to tear down, and one that has torn down to end, before it is killed."""
TEARDOWN_S = 3600.0
"""How long teardown may take where trials have no time limit."""
MAX_LIVE = 40
"""Workers kept alive at most; beyond it the one idle for longest is torn down."""


@dataclass(slots=True, eq=False)
class _Worker:
    job: ArmJob
    process_index: int
    process: LimitedProcess
    link: Link
    waiting: Waiting
    trial: Trial | None = None
    prepared: bool = False
    stage: str = "load"
    started_at_ms: int = 0
    deadline: float | None = None
    warmup_s: list[float] = field(default_factory=list)
    gone: bool = False
    part: int = 0
    """How many samples its trial has, where it may give several."""
    asked_at: float | None = None
    """When its question was sent, where nobody else's answer could keep us from noticing its own."""
    clock: ClockCheck = field(default_factory=ClockCheck)


class ProcessExecutor:
    """Runs each arm in processes of its own; what kills a process costs the trial that was in it.

    ``facts`` and ``inner_loops`` tell what the workers reported, per arm. ``begun`` counts the samples that trials
    have from before a resume.
    """

    def __init__(self, jobs: Mapping[str, ArmJob], begun: Mapping[str, int] | None = None) -> None:
        self._jobs = dict(jobs)
        self._begun = dict(begun or {})
        self._idle: dict[str, list[_Worker]] = {}
        self._busy: list[_Worker] = []
        self._live: list[_Worker] = []
        self._selector = selectors.DefaultSelector()
        self._finished: list[TrialStep] = []
        self.inner_loops = {arm_id: job.inner_loops for arm_id, job in jobs.items()}
        self.facts = Facts()

    def open(self) -> None:
        """Nothing: a worker is started with the first trial that needs it."""

    def submit(self, trial: Trial) -> None:
        """Starts a trial; its sample comes out of ``wait``."""
        worker = self._worker_for(trial)
        worker.trial, worker.part = trial, self._begun.get(trial.key, 0)
        worker.started_at_ms = time.time_ns() // 1_000_000
        self._busy.append(worker)
        if worker.prepared:
            worker.process.drain()
            worker.process.take_tail()  # printed since the last trial, by nobody's trial
            self._send_trial(worker, trial)
        else:
            self._send(worker, {"op": "prepare", "job": to_plain(worker.job)})

    def wait(self) -> TrialStep:
        """Sleeps until a trial has ended, however it ended."""
        while not self._finished:
            deadline = min((w.deadline for w in self._busy if w.deadline is not None), default=None)
            timeout = None if deadline is None else max(0.0, deadline - time.monotonic())
            for key, _ in self._selector.select(timeout):
                worker, source = key.data
                if not worker.gone:
                    self._on_event(worker, source)
            now = time.monotonic()
            for worker in [w for w in self._busy if w.deadline is not None and w.deadline <= now]:
                self._on_timeout(worker)
        return self._finished.pop(0)

    def close(self) -> None:
        """Tears every arm down and ends every process."""
        busy = list(self._busy)
        try:
            for worker in busy:
                worker.process.interrupt()
            deadline = time.monotonic() + GRACE_S
            for worker in busy:
                worker.process.wait(deadline - time.monotonic())
                self._discard(worker)
            for worker in self._all_idle():
                self._retire(worker)
        finally:  # also when the user loses patience
            for worker in list(self._live):
                self._discard(worker)
            self._selector.close()

    def _worker_for(self, trial: Trial) -> _Worker:
        idle = self._idle.setdefault(trial.arm_id, [])
        for worker in [w for w in idle if w.process_index != trial.process]:
            self._retire(worker)
        while idle:
            worker = idle.pop()
            if worker.process.returncode is None:
                return worker
            self._retire(worker)
        self._make_room()
        job = self._jobs[trial.arm_id]
        job.make_artifacts_dir()
        seed = derive_seed(job.seed, "process", trial.process)
        process, link = start_worker(job.launch, seed=seed, limits=job.limits)
        told = replace(job, inner_loops=self.inner_loops[trial.arm_id])
        worker = _Worker(told, trial.process, process, link, Waiting(process.pid))
        self._live.append(worker)
        self._selector.register(link, selectors.EVENT_READ, (worker, "link"))
        self._selector.register(process.output_fd, selectors.EVENT_READ, (worker, "output"))
        self._selector.register(process.exit_fd, selectors.EVENT_READ, (worker, "exit"))
        return worker

    def _make_room(self) -> None:
        idle = self._all_idle()
        if len(idle) + len(self._busy) >= MAX_LIVE and idle:
            self._retire(min(idle, key=lambda worker: worker.started_at_ms))

    def _all_idle(self) -> list[_Worker]:
        return [worker for workers in self._idle.values() for worker in workers]

    def _send_trial(self, worker: _Worker, trial: Trial) -> None:
        self._send(worker, {"op": "trial", "trial": to_plain(trial), "begun": worker.part})

    def _send(self, worker: _Worker, message: dict[str, Any]) -> None:
        self._start_clock(worker)
        try:
            worker.link.send(message)
        except OSError:
            self._on_death(worker)
        except ValueError as error:
            self._fail(worker, Status.ERROR, FailureKind.SERIALISATION, f"cannot be told to its process: {error}")
            self._retire(worker)

    def _start_clock(self, worker: _Worker) -> None:
        timeout_s = worker.job.limits.timeout_s
        worker.waiting.begin()
        now = time.monotonic()
        worker.deadline = None if timeout_s is None else now + timeout_s
        worker.asked_at = now
        if len(self._busy) > 1:
            for other in self._busy:
                other.asked_at = None

    def _on_event(self, worker: _Worker, source: str) -> None:
        if source == "output":
            worker.process.drain()
            if not worker.process.output_open:
                self._selector.unregister(worker.process.output_fd)
            if worker.trial is not None and not worker.link.readable():  # its news may be that a new count begins
                self._printed_too_much(worker)
        elif worker.trial is None:  # an idle worker has nothing to say: it is gone
            self._retire(worker)
        elif source == "link" or worker.link.readable():  # what it said before it ended counts
            self._on_reply(worker)
        else:
            self._on_death(worker)

    def _on_reply(self, worker: _Worker) -> None:
        answered_after_s = None if worker.asked_at is None else time.monotonic() - worker.asked_at
        try:
            reply = worker.link.receive() or {}
            done = _content(reply) or dict(reply.get("step") or {})
            sample = from_plain(Sample, done["sample"]) if "sample" in done else None
            if sample is not None and answered_after_s is not None:
                inside_s, waited_s = done["spent_s"], 0.0
                if inside_s is not None and answered_after_s - inside_s > GAP_S:  # else there is nothing to excuse
                    waited_s = worker.waiting.seconds()
                    worker.waiting.look()  # its threads may be new ones
                sample = checked(sample, worker.clock, inside_s, answered_after_s, waited_s)
            failed = _failure_in(reply, worker.stage)
        except (TypeError, ValueError, KeyError):  # somebody else has written to its connection
            self._on_death(worker)
            return
        if done.get("prepared"):
            self._on_prepared(worker, done)
        elif "stage" in reply:
            self._on_stage(worker, str(reply["stage"]))
        elif sample is not None and worker.trial is not None and sample.key == worker.trial.key:
            self._on_sample(worker, sample, done["observed"], ended="step" not in reply)
        elif done.get("over") and worker.trial is not None:
            self._finished.append(TrialStep(None, trial=worker.trial))
            self._release(worker)
            self._idle[worker.job.arm_id].append(worker)
        elif failed is not None:
            self._finish(worker, *failed)
            self._retire(worker)
        else:
            self._on_death(worker)

    def _printed_too_much(self, worker: _Worker) -> bool:
        if not worker.process.printed_too_much:
            return False
        message = f"printed more than {worker.job.limits.output_bytes / 2**20:g} MB (output_limit_mb)"
        self._fail(worker, Status.LIMIT, FailureKind.OUTPUT, message)
        self._interrupt(worker)
        return True

    def _on_stage(self, worker: _Worker, stage: str) -> None:
        """Time and output are limited anew; what was printed so far may still explain what happens next."""
        worker.process.drain()
        worker.stage, worker.process.output_bytes = stage, 0
        self._start_clock(worker)

    def _on_prepared(self, worker: _Worker, reply: dict[str, Any]) -> None:
        arm_id = worker.job.arm_id
        worker.prepared, worker.stage = True, "execute"
        worker.warmup_s = reply["warmup_s"]
        self.inner_loops[arm_id] = reply["inner_loops"]
        self.facts.observed.setdefault(arm_id, {}).update(reply["observed"])
        if self.facts.overhead_s is None:
            self.facts.overhead_s = reply["overhead_s"]
        worker.process.drain()
        worker.process.take_tail()
        assert worker.trial is not None
        self._send_trial(worker, worker.trial)

    def _on_sample(self, worker: _Worker, sample: Sample, observed: dict[str, Any], *, ended: bool) -> None:
        self.facts.observed.setdefault(worker.job.arm_id, {}).update(observed)
        worker.process.drain()
        if self._printed_too_much(worker):
            return
        tail = worker.process.take_tail()
        if sample.failure is not None and tail:
            sample = replace(sample, failure=replace(sample.failure, output_tail=tail))
        if worker.warmup_s:
            sample = replace(sample, details={**sample.details, "warmup_s": worker.warmup_s})
            worker.warmup_s = []
        self._finished.append(TrialStep(sample, ended))
        if not ended:  # time and output are limited for each sample
            worker.part, worker.process.output_bytes = sample.part + 1, 0
            self._start_clock(worker)
            return
        self._release(worker)
        if sample.status is Status.LIMIT:  # a process that has run out of memory once is not to be relied on
            self._retire(worker)
        else:
            self._idle[worker.job.arm_id].append(worker)

    def _on_timeout(self, worker: _Worker) -> None:
        limit = worker.job.limits.timeout_s
        self._fail(worker, Status.TIMEOUT, FailureKind.TIMEOUT, f"took longer than {limit:g} s (timeout_s)")
        self._interrupt(worker)

    def _on_death(self, worker: _Worker) -> None:
        code = worker.process.wait(GRACE_S)
        worker.process.drain()
        kind, message = cause_of_death(code)
        self._fail(worker, Status.ERROR, kind, message)
        self._discard(worker)

    def _fail(self, worker: _Worker, status: Status, kind: FailureKind, message: str) -> None:
        self._finish(worker, status, Failure(kind, message, worker.stage))

    def _finish(self, worker: _Worker, status: Status, failure: Failure) -> None:
        trial = worker.trial
        assert trial is not None
        failure = replace(failure, output_tail=worker.process.take_tail())
        loops = 1 if trial.phase is Phase.INSTRUMENTED else self.inner_loops[trial.arm_id] or 1
        told = {"inner_loops": loops, "failure": failure, "part": worker.part}
        self._finished.append(TrialStep(make_sample(trial, status, worker.started_at_ms, **told)))
        self._release(worker)

    def _release(self, worker: _Worker) -> None:
        self._busy.remove(worker)
        worker.trial = None
        worker.deadline = None

    def _interrupt(self, worker: _Worker) -> None:
        """Stops what a worker does, lets it tear down within the grace period, then ends it."""
        worker.process.interrupt()
        worker.process.wait(GRACE_S)
        self._discard(worker)

    def _retire(self, worker: _Worker) -> None:
        """Tears an idle worker down; its teardown may take as long as a trial may."""
        timeout_s = worker.job.limits.timeout_s or TEARDOWN_S
        with contextlib.suppress(OSError):
            worker.link.send({"op": "close"})
            worker.process.wait(timeout_s, worker.link.fileno())
        code = worker.process.wait(GRACE_S)  # threads that it left behind may keep it from ending
        if not self._discard(worker):
            kind, message = cause_of_death(code)
            if code is None:
                kind, message = FailureKind.TIMEOUT, f"took longer than {timeout_s:g} s (timeout_s)"
            self.facts.teardown_failures.append((worker.job.arm_id, Failure(kind, message, "teardown")))

    def _discard(self, worker: _Worker) -> bool:
        """Ends a worker; whether it has said that it tore down (its failure to is noted)."""
        if worker.gone:
            return True
        worker.gone = True
        self._live.remove(worker)
        for source in (worker.link, worker.process.output_fd, worker.process.exit_fd):
            with contextlib.suppress(KeyError):
                self._selector.unregister(source)
        if worker in self._busy:
            self._busy.remove(worker)
        if worker in self._idle.get(worker.job.arm_id, []):
            self._idle[worker.job.arm_id].remove(worker)
        worker.process.close()
        worker.waiting.close()
        said = [done for message in worker.link.last_words() if (done := _content(message)).get("closed")]
        worker.link.close()
        for done in said:
            if done.get("failure"):
                self.facts.teardown_failures.append((worker.job.arm_id, from_plain(Failure, done["failure"])))
        return bool(said)


def checked(
    sample: Sample, clock: ClockCheck, inside_s: float | None, outside_s: float, waited_s: float = 0.0
) -> Sample:
    """The sample; with what its owner saw as its duration where the clock of its process cannot be right.

    ``inside_s`` is what the process says the trial took, with everything around the timed calls. That either of the
    two was ready and had no CPU for ``waited_s`` is no sign of a wrong clock.
    """
    told_s = sample.readings.get("duration_s")
    elapsed_s = None if inside_s is None else clock.elapsed_s(inside_s, outside_s, waited_s=waited_s)
    if told_s is None or elapsed_s is None:
        return sample
    truth = {"duration_s": elapsed_s / sample.inner_loops, reported_name("duration_s"): told_s}
    return replace(sample, readings={**sample.readings, **truth})


def _content(reply: Message) -> dict[str, Any]:
    """What a reply says about something that was done; empty for every other message."""
    content = reply.get("ok")
    return content if isinstance(content, dict) else {}


def _failure_in(reply: Message, stage: str) -> tuple[Status, Failure] | None:
    """What a worker says to have gone wrong, ``None`` where nothing has."""
    if "failed" in reply:
        return Status(reply["failed"]["status"]), from_plain(Failure, reply["failed"]["failure"])
    if "error" in reply:
        return Status.ERROR, Failure(FailureKind.SERIALISATION, reply["error"]["message"], stage)
    return None
