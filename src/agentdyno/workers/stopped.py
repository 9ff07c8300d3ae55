"""Which processes that work for the bench a signal has stopped, while the bench itself goes on. Linux only.

A subject that is stopped is slow, and is not excused: its times count. But whoever reads them is told.
Standard library only.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

STOPPED = "T"
"""As /proc tells the state of a process that SIGSTOP has stopped; a debugger's are ``t``."""


def stopped_descendants(pid: int) -> list[int]:
    """Processes below this one that stand still because of a signal; none where the system does not tell."""
    return [child for child in descendants(pid) if _state(child) == STOPPED]


def descendants(pid: int) -> Iterator[int]:
    """Processes that this one has started, with theirs."""
    for child in _children(pid):
        yield child
        yield from descendants(child)


def _children(pid: int) -> list[int]:
    found: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208  (pathlib is slower, and this is asked often)
            found += map(int, Path(f"/proc/{pid}/task/{thread}/children").read_bytes().split())
    except OSError:  # it has ended, or the system keeps no such list
        pass
    return found


def _state(pid: int) -> str:
    try:
        told = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return ""
    return told.rpartition(")")[2].split()[0]  # the name before it may hold anything
