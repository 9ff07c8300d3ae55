"""Requests that somebody asks for by himself, and who is told of their end."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable

from agentdyno.load.client.backlog import Item

Ended = Callable[[Item | None], None]
"""Is told of a request's end: with ``None`` where it was never sent."""
_MOST = (1 << 31) - 1


class AskedRequests:
    """Known by their numbers until they end. Who is told of an end reads the answer and makes the next request, which
    takes much longer than sending one: each has a turn of the event loop by itself, and what is due goes out between
    them."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._open: dict[int, tuple[bytes, Ended]] = {}
        self._ended: deque[tuple[Ended, Item]] = deque()
        self._count = 0

    def __bool__(self) -> bool:
        return bool(self._open)

    def add(self, data: bytes, ended: Ended) -> int:
        """The number of a request."""
        self._count = (self._count + 1) & _MOST
        self._open[self._count] = (data, ended)
        return self._count

    def data(self, number: int) -> bytes:
        return self._open[number][0]

    def take_end(self, item: Item) -> bool:
        """Whether it was one of these."""
        asked = self._open.pop(item[3], None)
        if asked is None:
            return False
        self._ended.append((asked[1], item))
        if len(self._ended) == 1:
            self._loop.call_soon(self._tell)
        return True

    def drop(self, number: int) -> None:
        """It will not be sent."""
        asked = self._open.pop(number, None)
        if asked is not None:
            asked[1](None)

    def drop_all(self) -> None:
        for number in tuple(self._open):
            self.drop(number)

    def _tell(self) -> None:
        ended, item = self._ended.popleft()
        if self._ended:
            self._loop.call_soon(self._tell)
        ended(item)
