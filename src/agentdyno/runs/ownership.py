"""Who executes a run: one process at a time, which signals end in good order."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import IO

from agentdyno.errors import RunError

OWNER = "owner.json"
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_IMPATIENT = 3
"""Signals of this kind after which a run ends at once, whatever that leaves."""


@contextlib.contextmanager
def owned(folder: Path, run_id: str, *, leased: bool) -> Iterator[None]:
    """This process executes the run while the block lasts. Raises ``RunError`` where another one does.

    The lock is the kernel's: it goes with its process, however that ends. Where the folder cannot be written there is
    no lock, and whoever needs the folder says so. ``leased``: a job's lease decides who may write, and the lock only
    tells others; a worker that takes over from one that stands still does not wait for it.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = (folder / OWNER).open("a+", encoding="utf-8")
    except OSError:
        yield
        return
    with contextlib.ExitStack() as stack:
        stack.enter_context(file)
        while True:
            try:
                # Of this process alone: a child that outlives it holds nothing.
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                if not leased:
                    raise _executed(file, run_id) from None
                yield
                return
            if _is_there(file, folder / OWNER):
                break
            # Who had the run took the file away in between: whoever comes next would lock another one.
            file = stack.enter_context((folder / OWNER).open("a+", encoding="utf-8"))
        with contextlib.suppress(OSError):
            file.truncate(0)
            json.dump({"pid": os.getpid(), "since": datetime.now(UTC).isoformat(timespec="seconds")}, file)
            file.flush()
        yield
        with contextlib.suppress(OSError):
            (folder / OWNER).unlink()


def _is_there(file: IO[str], path: Path) -> bool:
    """Whether an open file is the one that has the name."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except OSError:
        return False


def is_executed(folder: Path) -> bool:
    """Whether a process of this machine executes the run in this folder right now."""
    try:
        with (folder / OWNER).open(encoding="utf-8") as file:
            # For a moment, and shared: it is refused exactly where somebody else has the run.
            fcntl.lockf(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except FileNotFoundError:
        return False
    except OSError:
        return True
    return False


def _executed(file: IO[str], run_id: str) -> RunError:
    file.seek(0)
    try:
        told = json.loads(file.read())
        who, pid = f"process {told['pid']}, since {told['since']}", str(told["pid"])
    except (ValueError, KeyError, TypeError):
        who, pid = "another process", "PID"
    return RunError(
        f"run {run_id[:13]} is being executed right now, by {who}",
        remedy=f"Wait until it has ended, or end it first: `kill {pid}` closes it in good order.",
    )


@contextlib.contextmanager
def closed_by_signals() -> Iterator[None]:
    """SIGTERM and SIGHUP interrupt as Ctrl-C does; further ones do not disturb the closing, a third ends at once.

    Handlers that somebody has set stay, and so does what is ignored (as under ``nohup``).
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    seen = 0

    def interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
        nonlocal seen
        seen += 1
        if seen in (1, _IMPATIENT):
            raise KeyboardInterrupt

    before = {number: signal.getsignal(number) for number in _ENDING}
    taken = [number for number, handler in before.items() if handler in (signal.SIG_DFL, signal.default_int_handler)]
    for number in taken:
        signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number in taken:
            signal.signal(number, before[number])
