"""What is measured: nothing, about a microsecond, and about a millisecond of ordinary Python."""

from __future__ import annotations

from collections.abc import Callable

_NUMBERS = tuple(range(200))


def nothing() -> None:
    return None


def microsecond() -> None:
    sum(_NUMBERS)


def busy(rounds: int = 160) -> None:
    """The same work in every round, so that 168 rounds are 5 % more than 160."""
    for _ in range(rounds):
        words = {f"w{i}": i for i in range(40)}
        sum(value for value in words.values() if value % 3)


SUBJECTS: dict[str, Callable[[], None]] = {"nothing": nothing, "microsecond": microsecond}
