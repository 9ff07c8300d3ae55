"""The store as the worker on a job sees it: it works only while the worker holds the job's lease.

A worker that was paused for longer than its lease does not know that another has taken over. So the lease is checked
inside each of its transactions, where it cannot change before the commit: SQLite lets nobody else write then, and
PostgreSQL keeps the job's row as it is. It is checked in each of its snapshots as well: what is read there is
about to be written into a file of the run.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

from sqlalchemy import select

from agentdyno.model.job import JobStatus
from agentdyno.store.database.backend import Backend, backend_for
from agentdyno.store.database.session import DatabaseSession
from agentdyno.store.service.schema import jobs
from agentdyno.store.store import BUSY_TIMEOUT_S, Store


class Superseded(Exception):
    """The lease has gone: nothing was written, and nothing more may be.

    No ``StoreError``: those are about a store that does not work, after which samples are kept in a file to be stored
    later. These samples are somebody else's to make.
    """


class FencedStore(Store):
    """A store for one attempt at a job."""

    leased = True

    @classmethod
    def open_for(
        cls, url: str | Path, job_id: str, attempt: int, on_run: Callable[[str], None] = lambda _: None
    ) -> FencedStore:
        """The store at ``url``, which has to be one that works: the job came from there.

        ``on_run`` is told the id of a run before the run is begun.
        """
        return cls(FencedSession(backend_for(url), BUSY_TIMEOUT_S, job_id, attempt), on_run)


class FencedSession(DatabaseSession):
    """Writes and reads only for the attempt that holds the lease; raises ``Superseded`` else."""

    def __init__(self, backend: Backend, busy_timeout_s: float, job_id: str, attempt: int) -> None:
        super().__init__(backend, busy_timeout_s)
        held = (jobs.c.job_id == job_id, jobs.c.attempt == attempt, jobs.c.status == JobStatus.RUNNING.value)
        self._held = select(jobs.c.id).where(*held)

    def begin(self) -> None:
        if self.in_transaction():
            return
        super().begin()
        if self.execute(self._held.with_for_update(read=True)).scalar() is None:
            self.connection.exec_driver_sql("ROLLBACK")
            self._group_open = False
            raise _superseded()

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        with super().snapshot():
            if self.execute(self._held).scalar() is None:
                raise _superseded()
            yield


def _superseded() -> Superseded:
    return Superseded("the lease of the job has gone to another worker, or the job has ended")
