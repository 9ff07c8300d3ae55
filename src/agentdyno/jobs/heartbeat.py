"""The heartbeat of a job: keeps its lease while a worker runs it, and hears when it has to stop."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from enum import StrEnum

from agentdyno.errors import LeaseLost, StoreError, Unknown
from agentdyno.model import Progress
from agentdyno.model.job import Job, JobStatus
from agentdyno.store import Store

log = logging.getLogger("agentdyno.worker")

MOST_S = 2.0
"""Seconds between two beats at most, so that whoever watches a job sees it move."""
LOOK_S = 0.1
"""How often it is looked whether the worker is to stop."""


class StopReason(StrEnum):
    """Why a run is stopped before its end."""

    LOST = "another worker has the job"
    CANCELLED = "the job was cancelled"
    STOPPED = "the worker stops"


class Heartbeat:
    """Beats in a thread, with a connection of its own, every third of the lease.

    ``on_stop`` is called in that thread, again and again until ``close``, once there is a reason: the run that it is
    to stop may not be at a point where it can be.
    """

    def __init__(
        self, url: str, job: Job, lease_ms: int, worker_stops: threading.Event, on_stop: Callable[[], None]
    ) -> None:
        self._url = url
        self._job = job
        self._lease_ms = lease_ms
        self._worker_stops = worker_stops
        self._on_stop = on_stop
        self._every_s = min(lease_ms / 3000, MOST_S)
        self._progress: Mapping[str, object] | None = None
        self._silent = False
        self._store: Store | None = None
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._work, name="dyno-heartbeat", daemon=True)
        self.why: StopReason | None = None

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        self._closing.set()
        self._thread.join()
        self._let_go()

    def note(self, progress: Progress) -> None:
        """What the next beat says."""
        self._progress = {
            "done": progress.done,
            "planned": progress.planned,
            "errors": progress.errors,
            "elapsed_s": round(progress.elapsed_s, 3),
            "remaining_s": None if progress.remaining_s is None else round(progress.remaining_s, 3),
            "pass_rate": progress.pass_rate,
            "tokens": progress.tokens,
            "cost_usd": progress.cost_usd,
            "doing": progress.doing,
        }

    def name_run(self, run_id: str) -> None:
        """Writes the id of the run to the job, at once: the next attempt goes on with it. Raises ``StoreError``."""
        self._beat(run_id=run_id)

    def hand_back(self) -> None:
        """Lets the lease run out now, so that another attempt can begin. Never raises: it runs out by itself."""
        with suppress(StoreError):
            self._beat(lease_ms=0)

    def release(self) -> None:
        """Puts the job back into the queue, in good order. Raises as ``finish`` does."""
        self._last(lambda store: store.service.release_job(self._job.job_id, self._job.attempt, now_ms=now_ms()))

    def finish(self, status: JobStatus, error: str = "", *, final: bool = False) -> None:
        """Ends the attempt, the job with it where a failure is ``final``; tries for as long as a lease lasts where
        the store does not answer.

        Raises ``LeaseLost`` where the job is another's by now, and ``StoreError`` where the store stays silent: the
        next attempt then finds everything done.
        """
        mine = (self._job.job_id, self._job.attempt, status)
        self._last(lambda store: store.service.finish_job(*mine, now_ms=now_ms(), error=error, final=final))

    def deliver(self, content: Mapping[str, object]) -> None:
        """Ends a batch as succeeded, with what came of it. Raises as ``finish`` does."""
        mine = (self._job.job_id, self._job.attempt)

        def write(store: Store) -> object:
            service, now = store.service, now_ms()
            service.heartbeat_job(*mine, now_ms=now, lease_ms=self._lease_ms, progress=content)
            return service.finish_job(*mine, JobStatus.SUCCEEDED, now_ms=now)

        self._last(write)

    def _last(self, write: Callable[[Store], object]) -> None:
        with suppress(StoreError):
            self._beat()  # the last word on its progress
        self._silent = True
        give_up = time.monotonic() + self._lease_ms / 1000
        while True:
            try:
                with self._lock:
                    write(self._opened())
                return
            except (LeaseLost, Unknown):
                raise
            except StoreError:
                self._let_go()
                if time.monotonic() > give_up:
                    raise
                time.sleep(LOOK_S)

    def _work(self) -> None:
        beaten = time.monotonic()
        while not self._closing.wait(LOOK_S):
            silent = self._silent or self.why is StopReason.LOST
            if not silent and time.monotonic() - beaten >= self._every_s:
                beaten = time.monotonic()
                self._beat_or_note()
            if self.why is None and self._worker_stops.is_set():
                self.why = StopReason.STOPPED
            if self.why is not None:
                self._on_stop()

    def _beat_or_note(self) -> None:
        try:
            if self._beat() and self.why is None:
                self.why = StopReason.CANCELLED
        except (LeaseLost, Unknown) as error:
            log.warning("%s", error.message)
            self.why = StopReason.LOST
        except StoreError as error:
            log.warning("no heartbeat: %s", error.message)
            self._let_go()

    def _beat(self, *, run_id: str | None = None, lease_ms: int | None = None) -> bool:
        with self._lock:
            return self._opened().service.heartbeat_job(
                self._job.job_id,
                self._job.attempt,
                now_ms=now_ms(),
                lease_ms=self._lease_ms if lease_ms is None else lease_ms,
                progress=self._progress,
                run_id=run_id,
            )

    def _opened(self) -> Store:
        if self._store is None:
            self._store = Store.open(self._url, must_exist=True)
        return self._store

    def _let_go(self) -> None:
        """A connection that broke does not come back; the next beat makes another."""
        with self._lock:
            store, self._store = self._store, None
        if store is not None:
            with suppress(StoreError):
                store.close()


def now_ms() -> int:
    return time.time_ns() // 1_000_000
