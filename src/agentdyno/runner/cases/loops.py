"""Event loops to run agents and judges in: one in a thread of its own, one that the caller drives."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Callable, Coroutine
from typing import Any, Generic, Protocol, TypeVar

T = TypeVar("T")
CLOSE_S = 10.0
"""How long what runs in a loop may take to end."""


class Loop(Protocol):
    """Where coroutines run. ``call`` and ``start`` are for other threads than the loop's own."""

    loop: asyncio.AbstractEventLoop

    def call(self, coroutine: Coroutine[Any, Any, T], timeout_s: float | None = None) -> T:
        """The result of a coroutine, waited for by the caller."""

    def start(self, function: Callable[[], None]) -> None:
        """Calls a function in the loop, soon."""

    def close(self) -> None: ...


class LoopThread:
    """An event loop in a daemon thread."""

    def __init__(self, name: str) -> None:
        self.loop = new_loop()
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)
        self._thread.start()

    def _work(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()

    def call(self, coroutine: Coroutine[Any, Any, T], timeout_s: float | None = None) -> T:
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(timeout_s)

    def start(self, function: Callable[[], None]) -> None:
        self.loop.call_soon_threadsafe(function)

    def close(self) -> None:
        if self.loop.is_closed():
            return
        with contextlib.suppress(TimeoutError):
            self.call(_cancel_all(), CLOSE_S)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(CLOSE_S)
        if not self._thread.is_alive():
            self.loop.close()


class DrivenLoop:
    """An event loop that makes progress only while its owner waits for something in it: no thread, no hand-over.

    It is entered and left once per sample, which is what uvloop is slow at: it opens a pair of sockets each time.
    """

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()

    def call(self, coroutine: Coroutine[Any, Any, T], timeout_s: float | None = None) -> T:
        return self.loop.run_until_complete(asyncio.wait_for(coroutine, timeout_s))

    def start(self, function: Callable[[], None]) -> None:
        self.loop.call_soon(function)

    def close(self) -> None:
        if not self.loop.is_closed():
            self.call(_cancel_all())
            self.loop.close()


class Outbox(Generic[T]):
    """What is finished in a driven loop, for the one who drives it."""

    def __init__(self, driven: DrivenLoop) -> None:
        self._driven = driven
        self._items: deque[T] = deque()
        self._arrival: asyncio.Future[None] | None = None

    def put(self, item: T) -> None:
        self._items.append(item)
        if self._arrival is not None and not self._arrival.done():
            self._arrival.set_result(None)

    def get(self) -> T:
        while not self._items:
            self._arrival = self._driven.loop.create_future()
            self._driven.loop.run_until_complete(self._arrival)
        return self._items.popleft()

    def empty(self) -> bool:
        return not self._items


async def _cancel_all() -> None:
    others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)


def new_loop() -> asyncio.AbstractEventLoop:
    """uvloop's where it is installed."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop()
    loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
    return loop


def is_running_here() -> bool:
    """Whether this thread is inside a running event loop, in which no other can be driven."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
