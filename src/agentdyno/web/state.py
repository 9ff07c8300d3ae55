"""What every route works with: stores to ask, boards that are kept, the catalogue, the clock."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TYPE_CHECKING, cast

from fastapi import Request

from agentdyno.errors import DynoError, StoreError, Unknown
from agentdyno.findings.board.ask import Boards
from agentdyno.findings.board.model import Leaderboard, Matrix
from agentdyno.model.job import Job
from agentdyno.store import Store
from agentdyno.store.answers import Answers
from agentdyno.web.sessions import SignInLink
from agentdyno.web.settings import ServiceSettings

if TYPE_CHECKING:
    from agentdyno.jobs.catalogue import Catalogue
    from agentdyno.model.workspace import Workspace

FRESH_S = 10.0
"""How long a catalogue and a workspace are used before ``dyno.yaml`` is read again."""


LONGEST_REST_S = 0.1


class StoreUnavailable(StoreError):
    """The store cannot be opened, or stopped answering."""


class Stores:
    """One open ``Store`` per thread that asks, so that requests do not wait for each other.

    A thread takes over the store of one that has ended; there are never more stores than threads at one time. After
    ``renew`` each is opened anew when it is next asked for: a connection that broke does not come back by itself.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._lock = threading.Lock()
        self._held: dict[threading.Thread, tuple[int, Store]] = {}
        self._epoch = 0
        self._closed = False

    def here(self) -> Store:
        """The store of this thread. Raises ``StoreUnavailable`` where it cannot be opened."""
        mine = threading.current_thread()
        with self._lock:
            if self._closed:
                raise StoreUnavailable("the service is shutting down")
            epoch, store = self._held.pop(mine, (0, None))
            if store is None:
                epoch, store = self._left_behind()
            if store is not None and epoch == self._epoch:
                self._held[mine] = (epoch, store)
                return store
            epoch = self._epoch
        if store is not None:
            _let_go(store)
        try:
            opened = Store.open(self._url)
        except StoreError as error:
            raise StoreUnavailable(error.message, where=error.where, remedy=error.remedy) from error
        with self._lock:
            self._held[mine] = (epoch, opened)
        return opened

    def open(self) -> None:
        """Takes back a ``close``; stores are opened when they are first asked for."""
        with self._lock:
            self._closed = False

    def renew(self) -> None:
        with self._lock:
            self._epoch += 1

    def close(self) -> None:
        with self._lock:
            self._closed = True
            held, self._held = list(self._held.values()), {}
        for _, store in held:
            _let_go(store)

    def _left_behind(self) -> tuple[int, Store | None]:
        for thread in self._held:
            if not thread.is_alive():
                return self._held.pop(thread)
        return 0, None


class Services:
    """Given to every route by ``services``. Everything may be used from any thread."""

    def __init__(self, settings: ServiceSettings, clock: Callable[[], int] | None = None) -> None:
        """``clock`` gives UTC milliseconds."""
        self.settings = settings
        self._clock = clock or _wall_clock
        self._stores = Stores(settings.store_url)
        self.link = SignInLink()
        self._leaderboards: Answers[Leaderboard] = Answers(64)
        self._matrices: Answers[Matrix] = Answers(64)
        self._catalogues: Answers[Catalogue] = Answers(serve_old=True)
        self._workspaces: Answers[Workspace] = Answers(serve_old=True)
        self._background: ThreadPoolExecutor | None = None

    def now_ms(self) -> int:
        """UTC milliseconds."""
        return self._clock()

    @property
    def store(self) -> Store:
        """An open store of this thread's own; do not close it."""
        return self._stores.here()

    @property
    def boards(self) -> Boards:
        """Boards of this thread's store; what was made is shared between all threads."""
        return Boards(
            self.store,
            weights=self.workspace.weights,
            now_ms=self.now_ms(),
            leaderboards=self._leaderboards,
            matrices=self._matrices,
        )

    @property
    def catalogue(self) -> Catalogue:
        """The registered agents and suites, at most ``FRESH_S`` seconds old. Raises ``SpecError``."""
        return self._catalogues.get(_reading_time(), "catalogue", self._load_catalogue)

    @property
    def workspace(self) -> Workspace:
        """What ``dyno.yaml`` says, at most ``FRESH_S`` seconds old. Raises ``SpecError``."""
        return self._workspaces.get(_reading_time(), "workspace", self._load_workspace)

    def jobs(self, job_ids: Sequence[str]) -> list[Job]:
        """The jobs of these ids, as far as they are there. Raises ``StoreError`` where the store is down."""
        from agentdyno.jobs.submitting import explained

        store, found = self.store, []
        for job_id in job_ids:
            with suppress(Unknown):
                found.append(store.service.job(job_id))
        return explained(store, found, self.now_ms())

    def in_background(self, work: Callable[[], object]) -> None:
        """Has it done by a thread of its own, one after the other; what fails there is for who asks next to meet.

        The thread rests after each for as long as that took, so that requests have half of the time at least.
        """
        if self._background is not None:
            self._background.submit(_at_half_speed, work)
        else:
            work()

    def renew_stores(self) -> None:
        """Opens connections anew: to be called when the database failed."""
        self._stores.renew()

    def open(self) -> None:
        """Takes back a ``close``."""
        self._stores.open()
        self._background = ThreadPoolExecutor(1, "answers")

    def close(self) -> None:
        """Lets go of every store; whoever asks afterwards is told that the service shuts down."""
        background, self._background = self._background, None
        if background is not None:
            background.shutdown(wait=True, cancel_futures=True)
        self._stores.close()

    def _load_catalogue(self) -> Catalogue:
        from agentdyno.jobs.catalogue import Catalogue

        return Catalogue.load(self.settings.folder, os.environ)

    def _load_workspace(self) -> Workspace:
        from agentdyno.specs import load_workspace

        return load_workspace(self.settings.folder)


def services_of(request: Request) -> Services:
    """Those of the application that was asked."""
    return cast(Services, request.app.state.services)


async def services(request: Request) -> Services:
    """For ``Depends(services)``. Not a plain function: each of those waits for a thread of its own."""
    return services_of(request)


def _reading_time() -> int:
    """A number of the clock: as long as it stays the same, what was read from files is used again."""
    return int(time.monotonic() // FRESH_S)


def _wall_clock() -> int:
    return time.time_ns() // 1_000_000


def _at_half_speed(work: Callable[[], object]) -> None:
    began = time.thread_time()
    try:
        work()
    finally:
        time.sleep(min(time.thread_time() - began, LONGEST_REST_S))


def _let_go(store: Store) -> None:
    with suppress(DynoError):
        store.close()
