"""Boards that were made already: the same question to an unchanged store has the same answer."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

T = TypeVar("T")


class _Making(Generic[T]):
    """An answer that somebody is at; ``made`` is empty until it is there, and stays so where making it failed."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.made: list[T] = []


class Answers(Generic[T]):
    """The last ``most`` answers of one generation of one store; those of an earlier generation are let go.

    A ``question`` is everything that the answer depends on besides the store's content, the end of the window
    included. Safe to use from several threads: of those that ask the same at once one makes the answer, and the
    others wait for it.
    """

    def __init__(self, most: int = 16) -> None:
        if most < 1:
            raise ValueError(f"most must be at least 1, got {most}")
        self._most = most
        self._generation: Hashable = None
        self._answers: OrderedDict[Hashable, T] = OrderedDict()
        self._making: dict[Hashable, _Making[T]] = {}
        self._lock = Lock()

    def get(self, generation: Hashable, question: Hashable, make: Callable[[], T]) -> T:
        """The answer that is kept, or else the one that ``make`` gives. What it raises is passed on, and not kept."""
        with self._lock:
            if generation != self._generation:
                self._answers.clear()
                self._generation = generation
            if question in self._answers:
                self._answers.move_to_end(question)
                return self._answers[question]
            making = self._making.setdefault((generation, question), _Making())
        with making.lock:
            if not making.made:
                try:
                    making.made.append(make())
                finally:
                    self._done(generation, question, making)
        return making.made[0]

    def _done(self, generation: Hashable, question: Hashable, making: _Making[T]) -> None:
        with self._lock:
            if self._making.get((generation, question)) is making:
                del self._making[generation, question]
            if making.made and generation == self._generation:
                self._answers[question] = making.made[0]
                while len(self._answers) > self._most:
                    self._answers.popitem(last=False)

    def forget(self, question: Hashable) -> None:
        """The answer to this question is made anew when somebody asks next."""
        with self._lock:
            self._answers.pop(question, None)

    def __len__(self) -> int:
        return len(self._answers)
