"""The cases of one run, shared with other workers: its holder does some itself and leaves the rest in the store, in
batches that others lease."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from agentdyno.errors import DynoError, RunError, StoreError
from agentdyno.jobs.heartbeat import now_ms
from agentdyno.model import Environment, Trial
from agentdyno.model.codec import encode, to_plain
from agentdyno.model.job import Job, JobStatus
from agentdyno.runner.farm.driver import Joined, Lost, News, Told
from agentdyno.runs.cluster.order import WorkOrder
from agentdyno.runs.cluster.station import Station
from agentdyno.runs.environment import capture_environment
from agentdyno.store import Store

HERE = "here"
"""The station in the holder's own process."""
LOOK_S = 0.2
"""How often it is looked what others have done."""
COUNT_S = 1.0
"""How often it is looked who is there."""
AHEAD_S = 2.0
"""Seconds of work in a batch: long beside the way through the store."""
SEEN_MS = 30_000
"""How long a worker counts as there that has not been heard of."""
log = logging.getLogger("agentdyno.worker")


@dataclass(slots=True)
class _Batch:
    """Some cases that a station was sent, and since when it has been doing nothing else."""

    station: str
    waits_since: float


@dataclass(slots=True)
class WorkersFarm:
    """A ``Farm`` of the other workers that offer the job's agent and suite, and of this very process.

    Each of the others is a station, whose batches wait for one another. Which worker leases one is up to them: jobs
    have one agent, so a block of cases is one case.
    """

    url: str
    job: Job
    order: WorkOrder
    worker: str
    lease_ms: int
    environment: Environment | None = None
    _station: Station = field(default_factory=Station)
    _store: Store | None = None
    _batches: dict[str, _Batch] = field(default_factory=dict)
    """What is not heard of yet, by the batch's id."""
    _stations: list[str] = field(default_factory=list)
    _made: int = 0
    _looked_at: float = 0.0
    _counted_at: float = 0.0

    def open(self) -> list[Joined]:
        told = encode({"order": to_plain(self.order), "digests": {}}).encode()
        reply = json.loads(self._station.load(told, {}))
        if "error" in reply:
            error = reply["error"]
            raise RunError(str(error["message"]), where=error.get("where"), remedy=error.get("remedy"))
        self._store = Store.open(self.url, must_exist=True)
        self._store.service.drop_batches(self.job)
        self.environment = capture_environment()
        return [Joined(HERE, self.environment.host_id)]

    def send(self, station: str, trials: Sequence[Trial]) -> None:
        plain = [to_plain(trial) for trial in trials]
        if station == HERE:
            self._station.push(json.dumps(plain).encode())
            return
        assert self._store is not None, "open"
        self._made += 1
        batch_id = f"{self.job.job_id}.{self.job.attempt}.{self._made}"
        self._store.service.add_batch(self.job, batch_id, plain, now_ms())
        self._batches[batch_id] = _Batch(station, time.monotonic())

    def receive(self, timeout_s: float) -> list[News]:
        found: list[News] = []
        items = json.loads(self._station.pull(timeout_s))
        if items:
            broken = next((item["broken"] for item in items if "broken" in item), None)
            if broken is not None:
                raise RunError(f"the station of this worker broke: {broken}")
            found.append(Told(HERE, items))
        now = time.monotonic()
        try:
            if now - self._looked_at > LOOK_S:
                self._looked_at = now
                found += self._look(now)
            if now - self._counted_at > COUNT_S:
                self._counted_at = now
                found += self._count()
        except StoreError as error:  # what others have done is still there when it answers again
            log.warning("nothing is heard of other workers: %s", error)
        return found

    def close(self) -> None:
        self._station.close()
        store, self._store = self._store, None
        if store is not None:
            try:
                store.service.drop_batches(self.job, list(self._batches))
                store.close()
            except DynoError as error:
                log.warning("batches may be left: %s", error)

    def _look(self, now: float) -> list[News]:
        if not self._batches or self._store is None:
            return []
        rows = {row.job_id: row for row in self._store.service.batches(self.job)}
        told: list[News] = []
        lost: dict[str, str] = {}
        over: list[str] = []
        at_work = {batch.station for batch_id, batch in self._batches.items() if _held(rows.get(batch_id))}
        for batch_id, batch in self._batches.items():
            row = rows.get(batch_id)
            if row is not None and row.status is JobStatus.SUCCEEDED:
                items = row.progress.get("items")
                assert isinstance(items, list), "written with the end of the batch"
                told.append(Told(batch.station, items))
                over.append(batch_id)
                at_work.add(batch.station)
            elif row is None:
                lost[batch.station] = "its batch is gone"
            elif row.status.ended:
                lost[batch.station] = row.error or row.status.value
        for batch in self._batches.values():
            if batch.station in at_work:  # its other batches wait for their turn
                batch.waits_since = now
            elif (now - batch.waits_since) * 1000 > 2 * self.lease_ms:
                lost.setdefault(batch.station, "nobody takes its batch")
        over += [name for name, batch in self._batches.items() if batch.station in lost and name not in over]
        if over:  # only what is dropped is told: where the store does not answer, it is looked at again
            self._store.service.drop_batches(self.job, over)
        for batch_id in over:
            del self._batches[batch_id]
        for station in lost:
            self._stations.remove(station)
        return [*told, *(Lost(station, reason) for station, reason in lost.items())]

    def _count(self) -> list[News]:
        """As many stations as there are others that could do a batch; a station with a batch stays until its end."""
        assert self._store is not None, "open"
        now = now_ms()
        seen = self._store.service.seen_workers(since_ms=now - SEEN_MS, now_ms=now)
        others = [
            worker
            for worker in seen
            if worker.name != self.worker
            and self.job.agent_digest in worker.agents
            and self.job.suite_digest in worker.suites
        ]
        found: list[News] = []
        while len(self._stations) < len(others):
            self._made += 1
            self._stations.append(f"worker-{self._made}")
            found.append(Joined(self._stations[-1], "", AHEAD_S))
        at_work = {batch.station for batch in self._batches.values()}
        for station in [name for name in self._stations if name not in at_work][: -len(others) or None]:
            if len(self._stations) > len(others):
                self._stations.remove(station)
                found.append(Lost(station, "fewer workers are there"))
        return found


def _held(row: Job | None) -> bool:
    """Whether somebody does the batch."""
    return row is not None and row.status is JobStatus.RUNNING and (row.lease_until or 0) > now_ms()
