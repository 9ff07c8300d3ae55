"""Answers that were made already: the same question about the same state of things has the same answer."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import partial
from threading import Event, Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class _Making(Generic[T]):
    """An answer that somebody is making; ``made`` stays empty where that fails."""

    def __init__(self, stamp: Hashable) -> None:
        self.stamp = stamp
        self.made: list[T] = []
        self.ended = Event()


class Answers(Generic[T]):
    """The newest answer to each of the ``most`` questions that were asked last. Safe to use from several threads.

    A ``stamp`` says what an answer rests on: the generation of a store, the runs that were finished, a number of the
    clock. An answer is used as long as its question comes with the same stamp. A ``question`` is everything else that
    the answer depends on. Of those who ask the same at once one makes the answer and the others wait for it; with
    ``serve_old`` they get the one from before instead, where there is one. ``background`` has what it is given done
    by a thread of its own: an answer that is out of date is made anew there, see ``find``.
    """

    def __init__(
        self,
        most: int = 16,
        *,
        serve_old: bool = False,
        background: Callable[[Callable[[], object]], None] | None = None,
    ) -> None:
        if most < 1:
            raise ValueError(f"most must be at least 1, got {most}")
        self._most = most
        self._serve_old = serve_old
        self._background = background
        self._kept: OrderedDict[Hashable, tuple[Hashable, T]] = OrderedDict()
        self._making: dict[Hashable, _Making[T]] = {}
        self._lock = Lock()

    def get(self, stamp: Hashable, question: Hashable, make: Callable[[], T]) -> T:
        """The answer that is kept, or else the one that ``make`` gives. What it raises is passed on, and not kept.

        A stamp of ``None`` says that what the answer rests on may still change: it is made each time.
        """
        if stamp is None:
            return make()
        while True:
            with self._lock:
                kept = self._kept.get(question)
                making = self._making.get(question)
                if kept is not None and (kept[0] == stamp or (self._serve_old and making is not None)):
                    self._kept.move_to_end(question)
                    return kept[1]
                others = making is not None and making.stamp == stamp
                if making is None or not others:
                    making = self._making[question] = _Making(stamp)
            if not others:
                return self._make(question, making, make)
            making.ended.wait()
            if making.made:
                return making.made[0]

    def find(
        self, stamp: Hashable, question: Hashable, make: Callable[[], T], *, patience_s: float
    ) -> tuple[T, bool]:
        """``get``, and whether the answer is of this stamp. ``make`` is called in whichever thread makes it.

        One that is out of date is made anew in the background, and waited for ``patience_s`` seconds at most: whoever
        asks gets the one from before after that.
        """
        until = time.monotonic() + patience_s
        while True:
            with self._lock:
                kept = self._kept.get(question)
                if kept is None or kept[0] == stamp or self._background is None:
                    break
                self._kept.move_to_end(question)
                making = self._making.get(question)
                starts = making is None
                making = making or self._making.setdefault(question, _Making(stamp))
            if starts:
                self._background(partial(self._make, question, making, make))
            if not making.ended.wait(max(0.0, until - time.monotonic())):
                return kept[1], False
            if not making.made:
                break  # the caller is told why
        return self.get(stamp, question, make), True

    def _make(self, question: Hashable, making: _Making[T], make: Callable[[], T]) -> T:
        try:
            making.made.append(make())
        finally:
            with self._lock:
                # Not where somebody has asked about a later state since: that answer is the one to keep.
                if self._making.get(question) is making:
                    del self._making[question]
                    if making.made:
                        self._keep(question, making)
            making.ended.set()
        return making.made[0]

    def _keep(self, question: Hashable, making: _Making[T]) -> None:
        self._kept[question] = (making.stamp, making.made[0])
        self._kept.move_to_end(question)
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)

    @property
    def being_made(self) -> int:
        """How many answers are being made now, or wait for the thread in the background."""
        return len(self._making)

    def forget(self, question: Hashable) -> None:
        """The answer to this question is made anew when somebody asks next."""
        with self._lock:
            self._kept.pop(question, None)

    def __len__(self) -> int:
        return len(self._kept)
