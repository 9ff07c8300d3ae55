"""A value that is made anew now and then."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Fresh(Generic[T]):
    """What ``make`` gives, at most about ``seconds`` old. Safe to use from several threads.

    While one thread makes it anew the others get the value from before, if there is one. What ``make`` raises is
    passed on to who asked, and not kept.
    """

    def __init__(
        self, make: Callable[[], T], seconds: float, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._make = make
        self._seconds = seconds
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._kept: tuple[float, T] | None = None

    def get(self) -> T:
        kept = self._kept
        if kept is not None and self._monotonic() - kept[0] <= self._seconds:
            return kept[1]
        if not self._lock.acquire(blocking=kept is None):
            assert kept is not None
            return kept[1]
        try:
            if self._kept is kept:
                self._kept = (self._monotonic(), self._make())
            assert self._kept is not None
            return self._kept[1]
        finally:
            self._lock.release()
