"""Less memory for a process of ours: a control group where there may be one, else resource limits, else ballast."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from agentdyno.errors import RunError
from agentdyno.load.target.ballast import Ballast

if TYPE_CHECKING:
    import psutil

CGROUPS = Path("/sys/fs/cgroup")
SPARED_BYTES = 512 * 1024 * 1024
"""Memory of the machine that ballast never takes."""


class Means(Protocol):
    """One way to limit memory. ``how`` says which one it is, to a user."""

    how: str

    def set(self, limit_bytes: int | None, in_use_bytes: int) -> int | None:
        """Returns what is in force, in bytes; raises ``OSError`` where it cannot be done."""

    def close(self) -> None: ...


class MemoryLimit:
    """Limits the memory of process ``pid`` and its children; it must be one that this process may limit, not itself.

    ``how`` says what is in force: a control group limits what becomes resident from then on; ``RLIMIT_DATA`` limits
    what is asked for, and is set so that as much can be had as is left until the limit; ``ballast`` takes memory from
    the whole machine, and is used only where ``ballast_bytes`` (the most that it may take) allows it.
    """

    def __init__(
        self, pid: int, *, ballast_bytes: int = 0, cgroups: Path = CGROUPS, proc: Path = Path("/proc")
    ) -> None:
        import psutil

        if pid == os.getpid():
            raise RunError("the memory of the measuring process itself is not limited")
        try:
            self._process = psutil.Process(pid)
        except psutil.Error:
            raise RunError(f"there is no process {pid} whose memory could be limited") from None
        self._ways: list[Means] = [GroupLimit(self._process, cgroups, proc), ResourceLimit(self._process)]
        if ballast_bytes:
            self._ways.append(BallastLimit(ballast_bytes))
        self.how = ""

    def in_use(self) -> int:
        """Resident bytes of the process and its children; 0 when it is gone."""
        return sum(_resident(process) for process in _tree(self._process))

    def set(self, limit_bytes: int | None) -> int | None:
        """Leaves it so many bytes, or with ``None`` as many as it likes. Returns what is in force, ``None`` for no
        limit: either that was asked, or nothing here can limit it."""
        in_use, self.how = self.in_use(), ""
        for means in list(self._ways):
            try:
                left = means.set(limit_bytes, in_use)
            except (OSError, RunError):
                means.close()
                self._ways.remove(means)
                continue
            if left is not None:
                self.how = means.how
                return left
        return None

    def close(self) -> None:
        """Takes every limit back."""
        with contextlib.suppress(OSError):
            self.set(None)
        for means in self._ways:
            means.close()


class GroupLimit:
    """A control group (version 2) beside or below the one that the process is in, where we may make one.

    What the process held before it came into the group stays on the account of its old one: the group's own limit is
    what is left beyond that, and less than that cannot be enforced."""

    def __init__(self, process: psutil.Process, root: Path, proc: Path) -> None:
        self._process, self._root, self._proc = process, root, proc
        self._home: Path | None = None
        self._folder: Path | None = None
        self._held_before = 0
        self.how = "control group: memory.max"

    def set(self, limit_bytes: int | None, in_use_bytes: int) -> int | None:
        if self._folder is None:
            if limit_bytes is None:
                return None
            self._folder, self._held_before = self._make(), in_use_bytes
        elsewhere = min(self._held_before, in_use_bytes)
        own = None if limit_bytes is None or limit_bytes <= elsewhere else limit_bytes - elsewhere
        (self._folder / "memory.max").write_text("max" if own is None else str(own))
        text = (self._folder / "memory.max").read_text().strip()
        return None if text == "max" else int(text) + elsewhere

    def close(self) -> None:
        folder, self._folder = self._folder, None
        if folder is None or self._home is None:
            return
        with contextlib.suppress(OSError):
            self._move_into(self._home)
        with contextlib.suppress(OSError):
            folder.rmdir()

    def _make(self) -> Path:
        lines = (self._proc / str(self._process.pid) / "cgroup").read_text().splitlines()
        path = next((line[3:] for line in lines if line.startswith("0::")), None)
        if path is None:
            raise FileNotFoundError("no control groups of version 2")
        self._home = self._root / path.lstrip("/")
        for parent in (self._home, self._home.parent):
            if "memory" not in _words(parent / "cgroup.subtree_control") or not os.access(parent, os.W_OK):
                continue
            folder = parent / f"dyno-{self._process.pid}"
            folder.mkdir(exist_ok=True)
            try:
                self._move_into(folder)
                with contextlib.suppress(OSError):  # no swap is counted here
                    (folder / "memory.swap.max").write_text("0")
            except OSError:
                self._folder = folder
                self.close()
                raise
            return folder
        raise PermissionError("no control group may be made here")

    def _move_into(self, folder: Path) -> None:
        for process in _tree(self._process):
            with contextlib.suppress(ProcessLookupError):
                (folder / "cgroup.procs").write_text(str(process.pid))


class ResourceLimit:
    """``RLIMIT_DATA`` of each process, set from outside. It counts what was asked for and not what is resident, so
    that the limit is what was asked for now and as much more as is left between use and limit. Less than is in use
    cannot be enforced: memory that is held stays."""

    def __init__(self, process: psutil.Process) -> None:
        self._process = process
        self._before: dict[int, tuple[psutil.Process, tuple[int, int]]] = {}
        self.how = "resource limit: RLIMIT_DATA"
        self._bites: bool | None = None

    def set(self, limit_bytes: int | None, in_use_bytes: int) -> int | None:
        import psutil

        number = getattr(psutil, "RLIMIT_DATA", None)
        if number is None:
            raise OSError("no limits of other processes here")
        if limit_bytes is None:
            self._undo(number)
            return None
        if limit_bytes < in_use_bytes:
            return None  # what is held already is not limited by it
        if self._bites is None:
            self._bites = resource_limit_bites()
        if not self._bites:
            raise OSError("a limit was set, and memory beyond it could be had all the same")
        done = False
        for process in _tree(self._process):
            try:
                soft, hard = process.rlimit(number)
                self._before.setdefault(process.pid, (process, (soft, hard)))
                wanted = max(0, process.memory_info().data + limit_bytes - in_use_bytes)
                process.rlimit(number, (wanted if hard < 0 else min(wanted, hard), hard))
                done = True
            except psutil.NoSuchProcess:
                continue
            except psutil.AccessDenied:
                raise PermissionError("its limits may not be set") from None
        return limit_bytes if done else None

    def close(self) -> None:
        import psutil

        if self._before:
            self._undo(psutil.RLIMIT_DATA)

    def _undo(self, number: int) -> None:
        import psutil

        before, self._before = self._before, {}
        for process, limits in before.values():
            with contextlib.suppress(psutil.Error, OSError):
                process.rlimit(number, limits)


_PROBE_BYTES = 64 * 1024 * 1024
_PROBE = """
import resource
held = int(open("/proc/self/statm").read().split()[5]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_DATA, (held + %d, resource.RLIM_INFINITY))
try:
    bytearray(%d)
except MemoryError:
    print("bites")
"""


@cache
def resource_limit_bites() -> bool:
    """Whether an allocation beyond ``RLIMIT_DATA`` fails here, tried in a process of its own."""
    code = _PROBE % (_PROBE_BYTES // 4, _PROBE_BYTES)
    try:
        done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, timeout=30, check=False)
    except (OSError, subprocess.SubprocessError):
        return False
    return done.stdout.strip() == b"bites"


class BallastLimit:
    """Takes so much of the machine's memory that the process finds no more than is left until its limit."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._ballast: Ballast | None = None
        self._held = 0
        self.how = "ballast"

    def set(self, limit_bytes: int | None, in_use_bytes: int) -> int | None:
        import psutil

        if limit_bytes is None:
            self.close()
            return None
        available = psutil.virtual_memory().available + self._held - SPARED_BYTES
        wanted = min(self._most_bytes, available - max(0, limit_bytes - in_use_bytes))
        if wanted <= 0:
            return None
        if self._ballast is None:
            self._ballast = Ballast()
        self._held = self._ballast.hold(wanted)
        return in_use_bytes + available - self._held

    def close(self) -> None:
        ballast, self._ballast, self._held = self._ballast, None, 0
        if ballast is not None:
            ballast.close()


def _tree(process: psutil.Process) -> Iterator[psutil.Process]:
    import psutil

    try:
        yield from [process, *process.children(recursive=True)]
    except psutil.Error:
        return


def _resident(process: psutil.Process) -> int:
    import psutil

    try:
        return process.memory_info().rss
    except psutil.Error:
        return 0


def _words(path: Path) -> list[str]:
    try:
        return path.read_text().split()
    except OSError:
        return []
