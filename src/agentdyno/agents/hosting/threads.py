"""Threads for functions that block. One that never returns is left behind and holds nobody up."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
from _thread import allocate_lock
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread


class _Outcome:
    """What a call came to, for a caller that waits for it by a lock: a loop takes four times as long to wake."""

    __slots__ = ("done", "error", "value")

    def __init__(self) -> None:
        self.done = allocate_lock()
        self.done.acquire()
        self.value: object = None
        self.error: BaseException | None = None


_Job = tuple[Callable[[], object], "asyncio.Future[object] | _Outcome", asyncio.AbstractEventLoop | None]


class BlockedTooLong(Exception):
    """A call did not return in time; its thread is left to it."""


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

    def run_blocking(self, call: Callable[[], object], limit_s: float) -> object:
        """The same for a caller that has nothing else to do; raises ``BlockedTooLong`` after ``limit_s`` seconds."""
        outcome = _Outcome()
        context = contextvars.copy_context()
        worker = self._idle.pop() if self._idle else _Worker(self._returned)
        worker.jobs.put((lambda: context.run(call), outcome, None))
        if not outcome.done.acquire(timeout=limit_s):
            raise BlockedTooLong
        self._returned(worker)
        if outcome.error is not None:
            raise outcome.error
        return outcome.value

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
            if isinstance(outcome, _Outcome) or loop is None:
                assert isinstance(outcome, _Outcome)
                outcome.value, outcome.error = value, error
                outcome.done.release()
                del job, call, outcome, value, error
                continue
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
