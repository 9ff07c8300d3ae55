"""A store whose disk is full after a while."""

from __future__ import annotations

from agentdyno.errors import StoreError
from agentdyno.model import Sample
from agentdyno.store import Store
from agentdyno.store.database.session import DatabaseSession
from agentdyno.store.runs.repository import RunRepository


class FailingRuns(RunRepository):
    """Runs of a store whose disk is full after a number of samples."""

    def __init__(self, session: DatabaseSession, samples: int) -> None:
        super().__init__(session)
        self._left = samples

    def append(self, run_id: str, sample: Sample, *, replace: bool = False, ended: bool = True) -> None:
        self._left -= 1
        if self._left < 0:
            raise StoreError("the disk is full", where="dyno.db", remedy="Make room.")
        super().append(run_id, sample, replace=replace, ended=ended)


def failing_after(samples: int, store: Store) -> Store:
    """The same store, until its disk is full."""
    failing = Store(store.session)
    failing.runs = FailingRuns(store.session, samples)
    return failing
