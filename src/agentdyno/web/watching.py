"""Following jobs: one place looks at the store for everybody who waits."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from anyio import to_thread

from agentdyno.errors import StoreError
from agentdyno.model.job import Job

Read = Callable[[Sequence[str]], list[Job]]


@dataclass(slots=True, eq=False)
class _Follower:
    known: Job
    news: asyncio.Queue[Job | None] = field(default_factory=lambda: asyncio.Queue(maxsize=1))

    def tell(self, job: Job | None) -> None:
        """Nothing that is known already; and only the newest state matters to who is slow."""
        if job == self.known:
            return
        self.known = job or self.known
        while not self.news.empty():
            self.news.get_nowait()
        self.news.put_nowait(job)


class JobWatch:
    """Reads all jobs that somebody follows every ``poll_s`` seconds, in one short call of a thread.

    Nobody who waits holds a thread or a connection to the database. Used by the event loop only, except ``stop``.
    """

    def __init__(self, read: Read, poll_s: float, on_outage: Callable[[], None]) -> None:
        self._read = read
        self._on_outage = on_outage
        self._poll_s = poll_s
        self._followers: set[_Follower] = set()
        self._task: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self.stopped = False

    def start(self) -> None:
        """Takes back a ``stop``."""
        self.stopped = False
        self._task = None

    def stop(self) -> None:
        """Ends every stream, now and later. From any thread, also from a signal handler."""
        self.stopped = True
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._tell_all)

    @property
    def followers(self) -> int:
        return len(self._followers)

    async def follow(self, job: Job, ping_s: float) -> AsyncGenerator[Job | None, None]:
        """``job``, then its new state at each change until it has ended; ``None`` after ``ping_s`` silent seconds.

        Ends early when the service stops.
        """
        yield job
        follower = _Follower(job)
        self._loop = asyncio.get_running_loop()
        self._followers.add(follower)
        try:
            while not job.status.ended and not self.stopped:
                self._keep_looking()
                try:
                    news = await asyncio.wait_for(follower.news.get(), ping_s)
                except TimeoutError:
                    yield None
                    continue
                if news is not None:
                    job = news
                    yield job
        finally:
            self._followers.discard(follower)

    def _keep_looking(self) -> None:
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._look())

    async def _look(self) -> None:
        while self._followers and not self.stopped:
            asked = sorted({follower.known.job_id for follower in self._followers})
            try:
                found = {job.job_id: job for job in await to_thread.run_sync(self._read, asked)}
            except StoreError:
                found = {}  # the store is down: whoever follows waits until it is back
                self._on_outage()
            for follower in self._followers:
                if follower.known.job_id in found:
                    follower.tell(found[follower.known.job_id])
            await asyncio.sleep(self._poll_s)

    def _tell_all(self) -> None:
        for follower in self._followers:
            follower.tell(None)


@contextmanager
def told_of_shutdown(tell: Callable[[], None]) -> Iterator[None]:
    """Calls ``tell`` when the server is asked to end: it waits for open streams before it tells the application."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    before = {number: handler for number, handler in before.items() if callable(handler)}

    def chained(number: int, frame: object) -> None:
        tell()
        handler = before[signal.Signals(number)]
        if callable(handler):
            handler(number, frame)  # type: ignore[arg-type]

    for number in before:
        signal.signal(number, chained)
    try:
        yield
    finally:
        for number, handler in before.items():
            if signal.getsignal(number) is chained:
                signal.signal(number, handler)
