"""The worker: takes jobs whose agent and suite it has, runs them, goes on with those that another one left."""

from __future__ import annotations

import logging
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType

from agentdyno.errors import DynoError, LeaseLost, StoreError, Unknown
from agentdyno.jobs.alerts.outbox import note_alerts, send_due
from agentdyno.jobs.catalogue import Catalogue
from agentdyno.jobs.heartbeat import Heartbeat, StopReason, now_ms
from agentdyno.jobs.helping import Helper
from agentdyno.jobs.sharing import WorkersFarm
from agentdyno.jobs.submitting import RunOptions
from agentdyno.model import AgentUse, Progress, RunResult, RunStatus, Status
from agentdyno.model.form import INTERRUPTED
from agentdyno.model.job import BATCH, Job, JobStatus
from agentdyno.runs.cluster.order import WorkOrder
from agentdyno.runs.kind import Choices, Tools
from agentdyno.runs.kinds import SUITE, kind_named
from agentdyno.runs.pipeline import resume, start
from agentdyno.runs.recording import last_progress
from agentdyno.runs.suite.prepare import suite_request
from agentdyno.specs import LoadedSuite
from agentdyno.store import Store
from agentdyno.store.service.fenced import FencedStore, Superseded
from agentdyno.workbench.location import output_root

STUCK_S = 1.0
"""Seconds without a sample after which a call counts as a long one."""
log = logging.getLogger("agentdyno.worker")

LEASE_MS = 15_000
POLL_S = 0.5
REFRESH_S = 5.0
"""How old a catalogue may be when there is work: agents and suites may have been edited since."""
TELL_S = 10.0
"""Seconds after which an idle worker says again that it is there."""


def worker_name() -> str:
    """Tells workers apart, also two on one machine."""
    return f"{socket.gethostname()}-{os.getpid()}"


@dataclass(slots=True)
class Worker:
    """Works for one store with what is registered in one folder. A worker that dies loses nothing: its lease runs out
    after ``lease_ms``, and the next attempt goes on after the last stored sample.

    Where ``work`` runs in the main thread of a process, a run can be stopped in the middle of a call, else only
    between two of them.
    """

    store_url: str
    folder: Path
    name: str = field(default_factory=worker_name)
    lease_ms: int = LEASE_MS
    poll_s: float = POLL_S
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    on_job: Callable[[Job, str], None] = lambda _job, _what: None
    share: bool = False
    """Whether the cases of a run are shared with the other workers that do so."""
    _catalogue: Catalogue | None = None
    _loaded_at: float = 0.0
    _told: tuple[set[str], set[str]] | None = None
    _told_at: float = 0.0
    _store: Store | None = None
    _attempt: _Attempt | None = None
    _helper: Helper | None = None

    def work(self, stop: threading.Event, once: bool = False) -> int:
        """Runs jobs until ``stop`` is set, or with ``once`` until none is left for it; how many attempts it made.

        Where the store does not answer it tries again until ``stop``. Raises ``SpecError`` where dyno.yaml cannot be
        read at the start.
        """
        self._refresh(required=True)
        count = 0
        with self._interruptible():
            try:
                while not stop.is_set():
                    job = self._next()
                    if job is not None:
                        count += 1
                        if not self._run(job, stop):
                            stop.wait(self.poll_s)
                        self._send_alerts()
                    elif self._send_alerts():
                        continue
                    elif once:
                        break
                    else:
                        stop.wait(self.poll_s)
            finally:
                self._keep_helper(None)
                if self._store is not None:
                    with suppress(StoreError):
                        self._store.service.forget_worker(self.name)
                self._told = None
                self._let_go()
        return count

    def _next(self) -> Job | None:
        try:
            if self._store is None:
                self._store = Store.open(self.store_url)
            if self._store.service.queue_depth() and time.monotonic() - self._loaded_at > REFRESH_S:
                self._refresh()
            assert self._catalogue is not None, "loaded before the first job"
            self._tell(self._store, self._catalogue)
            return self._store.service.lease_job(
                self.name, self._catalogue.offers, now_ms=now_ms(), lease_ms=self.lease_ms, batches=self.share
            )
        except StoreError as error:
            log.warning("no job: %s", error)
            self._let_go()
            return None

    def _send_alerts(self) -> bool:
        """Tries one message that is due, between two jobs: nothing of it runs beside what is measured."""
        if self._store is None or self._catalogue is None or not self._catalogue.workspace.alerts:
            return False
        try:
            tried = send_due(self._store, self._catalogue.workspace, self.environ)
        except StoreError as error:
            log.warning("no alert is sent: %s", error)
            self._let_go()
            return False
        for item in tried:
            if item.error:
                log.warning("alert to %s: %s", item.channel, item.error)
        return bool(tried)

    def note_alerts(self, result: RunResult) -> None:
        """Queues messages about what the run shows. Never raises: the run is done whatever becomes of them, and the
        next one of the same agent tells what this one did not."""
        if self._store is None or self._catalogue is None:
            return
        try:
            note_alerts(self._store, self._catalogue.workspace, [result])
        except Exception:
            log.exception("alerts of run %s", result.run_id)

    def _tell(self, store: Store, catalogue: Catalogue) -> None:
        """Says what this worker offers, so that a job that nobody does can be told from one that waits its turn."""
        offered = ({item.digest for item in catalogue.agents.values()}, {x.digest for x in catalogue.suites.values()})
        if offered == self._told and time.monotonic() - self._told_at < TELL_S:
            return
        store.service.note_worker(self.name, *offered, now_ms())
        self._told, self._told_at = offered, time.monotonic()

    def _refresh(self, *, required: bool = False) -> None:
        try:
            self._catalogue = Catalogue.load(self.folder, self.environ)
        except DynoError as error:
            if required:
                raise
            log.warning("dyno.yaml is as it was before: %s", error)
        self._loaded_at = time.monotonic()

    def _run(self, job: Job, stop: threading.Event) -> bool:
        """Whether the attempt came to an end; else the job is another's, or the store does not answer."""
        assert self._catalogue is not None, "the job was leased with it"
        if job.created_by.startswith(BATCH):
            return self._help(job, self._catalogue, stop)
        self._keep_helper(None)
        self.on_job(job, "begins")
        attempt = self._attempt = _Attempt(self, self._catalogue, job, stop)
        try:
            attempt.make()
        finally:
            self._attempt = None
        self.on_job(job, attempt.outcome)
        return attempt.ended

    def _help(self, batch: Job, catalogue: Catalogue, stop: threading.Event) -> bool:
        """Does some cases of another's run; whether they were done."""
        heartbeat = Heartbeat(self.store_url, batch, self.lease_ms, stop, lambda: None)
        heartbeat.start()
        try:
            if self._helper is None or self._helper.owner != batch.created_by:
                self._keep_helper(None)
                self._keep_helper(Helper.for_batch(batch, catalogue, self.environ))
            assert self._helper is not None, "made just now"
            items = self._helper.perform(batch, lambda: heartbeat.why is not None)
            if items is not None:
                heartbeat.deliver({"items": items})
                return True
            self._keep_helper(None)  # it is still at it
            heartbeat.release()
        except (LeaseLost, Unknown):
            log.info("batch %s is nobody's any more", batch.job_id)
        except StoreError as error:
            log.warning("batch %s: %s", batch.job_id, error)
            heartbeat.hand_back()
        except DynoError as error:
            heartbeat.finish(JobStatus.FAILED, str(error), final=True)
        finally:
            heartbeat.close()
        return False

    def _keep_helper(self, helper: Helper | None) -> None:
        before, self._helper = self._helper, helper
        if before is not None:
            before.close()

    def _let_go(self) -> None:
        store, self._store = self._store, None
        if store is not None:
            with suppress(StoreError):
                store.close()

    @contextmanager
    def _interruptible(self) -> Iterator[None]:
        """Within it, a run that is to stop is interrupted as Ctrl-C does it."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return

        def interrupt(_number: int, _frame: FrameType | None) -> None:
            if self._attempt is not None:
                self._attempt.interrupt()

        before = signal.signal(signal.SIGUSR1, interrupt)
        try:
            yield
        finally:
            signal.signal(signal.SIGUSR1, before)


class _Attempt:
    """One lease of one job, from the run to what is written about it."""

    def __init__(self, worker: Worker, catalogue: Catalogue, job: Job, stop: threading.Event) -> None:
        self._worker = worker
        self._catalogue = catalogue
        self._job = job
        self._thread = threading.current_thread()
        self._heartbeat = Heartbeat(worker.store_url, job, worker.lease_ms, stop, self._wake)
        self._begun = False
        self.ended = False
        self._open_to_interrupts = False
        self._interrupting = threading.Lock()
        self._moved_at = time.monotonic()
        self.outcome = ""

    def make(self) -> None:
        """Runs the job and ends the attempt; never raises, except what the interpreter itself must hear of."""
        self._heartbeat.start()
        try:
            self._conclude()
        except (LeaseLost, Superseded):
            self.outcome = "is another worker's"
        except StoreError as error:
            log.warning("job %s: %s", self._job.job_id, error)
            self._heartbeat.hand_back()
            self.outcome = "goes back: the store does not answer"
        finally:
            self._heartbeat.close()
            self._open_to_interrupts = False
            with self._interrupting:  # a signal that came later would meet whoever handles it then, or nobody
                pass

    def _conclude(self) -> None:
        try:
            result = self._execute()
        except KeyboardInterrupt:
            result = None  # it came where nothing could be closed; what is stored is kept
        except (LeaseLost, Superseded, StoreError):
            raise
        except DynoError as error:  # somebody's mistake, and the same one at every attempt
            return self._finish(JobStatus.FAILED, str(error), final=True)
        except Exception as error:  # a worker outlives whatever one job does
            log.exception("job %s", self._job.job_id)
            return self._finish(JobStatus.FAILED, f"{type(error).__name__}: {error}")
        if result is not None and result.stopped_because != INTERRUPTED:
            failure = _failure(result)
            self._worker.note_alerts(result)  # before the job ends: who goes on after a kill does it again
            return self._finish(JobStatus.FAILED if failure else JobStatus.SUCCEEDED, failure, final=True)
        if self._heartbeat.why is StopReason.CANCELLED:
            return self._finish(JobStatus.CANCELLED)
        self.outcome = "goes back to the queue"
        if self._heartbeat.why is None:
            with suppress(StoreError):
                self._heartbeat.release()
            raise KeyboardInterrupt  # somebody else's, who wants to hear of it
        return self._heartbeat.release()

    def _finish(self, status: JobStatus, error: str = "", *, final: bool = False) -> None:
        self._heartbeat.finish(status, error, final=final)
        self.outcome = status.value
        self.ended = True

    def _execute(self) -> RunResult:
        job, worker = self._job, self._worker
        agent, suite = self._catalogue.agent_of(job.agent_digest), self._catalogue.suite_of(job.suite_digest)
        assert agent is not None, "only jobs that are offered are leased"
        assert suite is not None, "only jobs that are offered are leased"
        chosen = RunOptions.of(job.options)
        loaded, use = chosen.load(suite), agent.configured(job.configuration)
        root = _output_root(worker.store_url, worker.folder)
        tools = Tools(
            output_root=root,
            workspace=replace(self._catalogue.workspace, name=job.workspace),
            environ=worker.environ,
            on_progress=self._on_progress,
            choices=Choices(
                (use,),
                chosen.max_cost_usd,
                share=self._farm if worker.share else None,
                allow_changed_suite=chosen.allow_changed_suite,
            ),
        )
        with FencedStore.open_for(worker.store_url, job.job_id, job.attempt, self._heartbeat.name_run) as store:
            tools = replace(tools, store=store)
            if job.run_id and store.runs.has(job.run_id):
                header = store.runs.load(job.run_id, samples=False)
                if header.status is RunStatus.COMPLETE:
                    self._heartbeat.note(
                        last_progress(store.runs.load(job.run_id))
                    )  # who ran it may not have said it
                    return header
                tools = replace(tools, choices=replace(tools.choices, agents=()))
                return resume(job.run_id, tools, moved=lambda header: _here(header, loaded, use, root))
            kind = kind_named(SUITE)
            with kind.prepare(suite_request(loaded), tools) as prepared:
                return start(kind, prepared, tools)

    def _farm(self, order: WorkOrder) -> WorkersFarm:
        worker = self._worker
        return WorkersFarm(worker.store_url, self._job, order, worker.name, worker.lease_ms)

    def _on_progress(self, progress: Progress) -> None:
        """Between two samples, in the thread of the run. The first call comes before anything can be stopped."""
        self._heartbeat.note(progress)
        self._moved_at = time.monotonic()
        self._open_to_interrupts = progress.done < progress.planned
        if self._begun and self._open_to_interrupts:
            self.interrupt()
        self._begun = True

    def interrupt(self) -> None:
        """In the thread of the run: raises ``KeyboardInterrupt``, once, where there is a reason to stop."""
        if self._heartbeat.why is not None and self._open_to_interrupts:
            self._open_to_interrupts = False
            raise KeyboardInterrupt

    def _wake(self) -> None:
        """In the heartbeat's thread: sees to it that a long call is interrupted, where that is possible."""
        if self._thread is threading.main_thread():
            threading.Thread(target=self._interrupt_when_stuck, name="interrupt", daemon=True).start()

    def _interrupt_when_stuck(self) -> None:
        """A run that moves on hears of it between two samples. Only one that has not moved for a while is in a call;
        before, an interrupt might meet it in the middle of writing to the store."""
        while self._open_to_interrupts and self._thread.ident is not None:
            if time.monotonic() - self._moved_at > STUCK_S:
                with self._interrupting:
                    if self._open_to_interrupts:
                        signal.pthread_kill(self._thread.ident, signal.SIGUSR1)
                return
            time.sleep(STUCK_S / 4)


def _here(header: RunResult, loaded: LoadedSuite, use: AgentUse, root: Path) -> RunResult:
    """The header with the places of this machine: the attempt before may have been made on another."""
    output_dir = str(Path(loaded.settings.output_dir or root).expanduser().absolute())
    spec = replace(header.spec, output_dir=output_dir, base_dir=loaded.settings.base_dir)
    return replace(header, spec=spec, suite=replace(loaded.suite, agents=(use,)))


def _output_root(url: str, folder: Path) -> Path:
    return output_root(url) if url.startswith("sqlite") else folder.absolute() / ".dyno" / "runs"


def _failure(result: RunResult) -> str:
    """Why a run has no answer at all; empty where it has one."""
    if result.status is not RunStatus.FAILED:
        return ""
    for arm in result.arms:
        for sample in arm.samples:
            if sample.failure is not None and sample.status is not Status.CANCELLED:
                return f"no case was answered; the first failure: {sample.failure.message}"
    return f"no case was answered{': ' + result.stopped_because if result.stopped_because else ''}"
