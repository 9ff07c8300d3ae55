"""The processes of a target that this process starts: an agent's, and not the bench's own."""

from __future__ import annotations

import contextlib
import math
import threading
from typing import TYPE_CHECKING

from agentdyno.errors import RunError
from agentdyno.load.target.memory import MemoryLimit

if TYPE_CHECKING:
    import psutil

_LAUNCHER = "launcher.py"
"""Starts the commands of an agent, and is no part of it."""
_NEWCOMERS_S = 0.05


class StartedProcesses:
    """Those that this process starts from now on, and what they start."""

    def __init__(self) -> None:
        import psutil

        self._own = psutil.Process()
        self._others = {process.pid for process in self._own.children(recursive=True)}

    def all(self, *, direct: bool = False) -> list[psutil.Process]:
        """Without launchers; ``direct``: only those that this process itself has started, launchers among them."""
        import psutil

        found, own = [], self._own.cmdline()
        for process in self._own.children(recursive=not direct):
            try:
                if process.pid in self._others or process.status() == psutil.STATUS_ZOMBIE:
                    continue
                line = process.cmdline()
                # One that is still a copy of this process is about to become another program, and its start is
                # waited for: stopped here, it would stop this one.
                if not line or line == own:
                    continue
                if direct or not any(part.endswith(_LAUNCHER) for part in line):
                    found.append(process)
            except psutil.Error:
                continue
        return found


class StartedMemory:
    """Limits the memory of all of them: each is left the same share of what it uses, and those that are started
    meanwhile the mean of that."""

    def __init__(self, processes: StartedProcesses) -> None:
        self._processes = processes
        self._limits: dict[int, MemoryLimit] = {}
        self._limited: set[int] = set()
        self._each: int | None = None
        self._lock, self._ended = threading.Lock(), threading.Event()
        self._thread: threading.Thread | None = None
        self.how = ""

    def in_use(self) -> int:
        """Resident bytes of all together."""
        with self._lock:
            return sum(limit.in_use() for limit in self._all().values())

    def set(self, limit_bytes: int | None) -> int | None:
        """Leaves them so many bytes together, or with ``None`` as many as they like. Returns what is in force;
        ``None`` for no limit: that was asked, or one of them cannot be limited."""
        with self._lock:
            limits = self._all()
            used = {pid: limit.in_use() for pid, limit in limits.items()}
            total = sum(used.values())
            if limit_bytes is None or not total:
                self._each = None
                self._limited.clear()
                for limit in limits.values():
                    limit.set(None)
                return None
            self._each = limit_bytes // len(limits)
            self._limited = set(limits)
            left = [limit.set(math.ceil(limit_bytes * used[pid] / total)) for pid, limit in limits.items()]
            self.how = next((limit.how for limit in limits.values() if limit.how), "")
        if None in left:
            return None
        if self._thread is None:
            self._thread = threading.Thread(target=self._watch, name="dyno-memory", daemon=True)
            self._thread.start()
        return sum(part for part in left if part is not None)

    def close(self) -> None:
        """Takes every limit back."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
        for limit in self._limits.values():
            limit.close()

    def _watch(self) -> None:
        while not self._ended.wait(_NEWCOMERS_S):
            with self._lock:
                for pid, limit in self._all().items():
                    # By what was limited, not by what was known: whoever asks what is in use gets to know them, too.
                    if pid not in self._limited and self._each is not None:
                        limit.set(self._each)
                        self._limited.add(pid)

    def _all(self) -> dict[int, MemoryLimit]:
        alive = {process.pid for process in self._processes.all(direct=True)}
        for pid in alive - self._limits.keys():
            with contextlib.suppress(RunError):
                self._limits[pid] = MemoryLimit(pid)
        return {pid: limit for pid, limit in self._limits.items() if pid in alive}
