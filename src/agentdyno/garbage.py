"""How often Python looks for garbage: seldom in our own commands, as it always does while code is measured."""

from __future__ import annotations

import gc

_before: list[tuple[int, int, int]] = []


def look_seldom(threshold: int) -> None:
    """For a command, which keeps most of what it makes until it ends: looking through it is in vain."""
    if not _before:
        _before.append(gc.get_threshold())
    gc.set_threshold(threshold, 20, 20)


def look_as_before() -> None:
    """For whoever measures code in this process: it is to find the collector as it would anywhere else."""
    if _before:
        gc.set_threshold(*_before.pop())


def look_at_new_things_alone() -> None:
    """For a service that is set up: what it has loaded stays until its end. To look through all of that takes tens of
    milliseconds, in which no request is answered."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)
