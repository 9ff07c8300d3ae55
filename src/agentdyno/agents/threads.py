"""Threads for functions that block. One that never returns is left behind and holds nobody up."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread

_Job = tuple[Callable[[], object], "asyncio.Future[object]", asyncio.AbstractEventLoop]


class DaemonThreads:
    """As many threads as there are calls at the same time, kept for later calls.

    The pool of the event loop has few threads, and a program cannot end while one of them is busy.
    """

    def __init__(self) -> None:
        self._idle: list[_Worker] = []
        self._closed = False

    async def run(self, call: Callable[[], object]) -> object:
        """What ``call`` returns, called on a thread with the current context. Cancelling leaves the thread to it."""
        loop = asyncio.get_running_loop()
        outcome: asyncio.Future[object] = loop.create_future()
        context = contextvars.copy_context()
        worker = self._idle.pop() if self._idle else _Worker(self._returned)
        worker.jobs.put((lambda: context.run(call), outcome, loop))
        return await outcome

    def close(self) -> None:
        """Ends the threads that are idle; the others end when they return."""
        self._closed = True
        while self._idle:
            self._idle.pop().jobs.put(None)

    def _returned(self, worker: _Worker) -> None:
        if self._closed:
            worker.jobs.put(None)
        else:
            self._idle.append(worker)


class _Worker:
    def __init__(self, returned: Callable[[_Worker], None]) -> None:
        self.jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._returned = returned
        Thread(target=self._work, name="agentdyno-agent", daemon=True).start()

    def _work(self) -> None:
        while (job := self.jobs.get()) is not None:
            call, outcome, loop = job
            value: object = None
            error: BaseException | None = None
            try:
                value = call()
            except BaseException as raised:  # noqa: BLE001  (it belongs to whoever waits)
                error = raised
            with contextlib.suppress(RuntimeError):  # the loop has been closed: nobody waits any more
                loop.call_soon_threadsafe(self._settle, outcome, value, error)
            del job, call, outcome, value, error

    def _settle(self, outcome: asyncio.Future[object], value: object, error: BaseException | None) -> None:
        self._returned(self)
        if outcome.cancelled():
            return
        if isinstance(error, StopIteration):  # a future cannot hold one
            wrapped = RuntimeError(f"the function raised StopIteration: {error}")
            wrapped.__cause__ = error
            error = wrapped
        if error is None:
            outcome.set_result(value)
        else:
            outcome.set_exception(error)
