"""Boards that were read before, for as long as no execution changes."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar, cast

T = TypeVar("T")

MOST_ANSWERS = 4
"""Answers that are kept: a board with the window before it, and a matrix or two."""


class Remembered:
    """The last few answers, all of one generation of the executions."""

    def __init__(self) -> None:
        self._generation: int | None = None
        self._answers: dict[Hashable, list[object]] = {}

    def rows(self, generation: int, question: Hashable, read: Callable[[], list[T]]) -> list[T]:
        """The answer to ``question`` at this generation, as a list of the caller's own."""
        if generation != self._generation:
            self._answers.clear()
            self._generation = generation
        found = self._answers.pop(question, None)
        if found is None:
            found = cast("list[object]", read())
            if len(self._answers) >= MOST_ANSWERS:
                del self._answers[next(iter(self._answers))]
        self._answers[question] = found  # the one asked for last is dropped last
        return cast("list[T]", list(found))
