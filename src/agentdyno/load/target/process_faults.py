"""Faults of a target that lives in processes of this one: they are killed, or stopped for a while."""

from __future__ import annotations

import signal
import threading
from collections import Counter
from typing import TYPE_CHECKING

from agentdyno.load.target.started import StartedProcesses

if TYPE_CHECKING:
    import psutil

KILL, FREEZE = "kill", "freeze"
EVERY_S = {KILL: 0.5, FREEZE: 0.05}
"""How often what was started meanwhile is struck too."""


class ProcessFaults:
    """``kill``: the processes are killed when the fault begins, every half second, and once more when it ends: the
    time to recover counts from that. ``freeze``: they are stopped, and go on when it ends.
    """

    def __init__(self, processes: StartedProcesses) -> None:
        self._processes = processes
        self._fault = ""
        self._stopped: list[psutil.Process] = []
        self._ended: threading.Event | None = None
        self._thread: threading.Thread | None = None
        self.struck: Counter[str] = Counter()
        """How many processes each fault has struck."""

    def set_fault(self, name: str) -> None:
        """Begins a fault, or ends the one that is on (``""``)."""
        self._end()
        if name:
            self._fault, self._ended = name, threading.Event()
            self._strike()
            self._thread = threading.Thread(target=self._go_on, args=(self._ended,), daemon=True, name="dyno-faults")
            self._thread.start()

    def _end(self) -> None:
        if self._ended is None or self._thread is None:
            return
        self._ended.set()
        self._thread.join()
        if self._fault == KILL:
            self._strike()
        import psutil

        stopped, self._stopped = self._stopped, []
        for process in stopped:
            try:
                process.send_signal(signal.SIGCONT)
            except psutil.Error:
                continue
        self._fault, self._ended, self._thread = "", None, None

    def _go_on(self, ended: threading.Event) -> None:
        while not ended.wait(EVERY_S[self._fault]):
            self._strike()

    def _strike(self) -> None:
        import psutil

        for process in self._processes.all():
            try:
                if self._fault == KILL:
                    process.kill()
                elif process.status() != psutil.STATUS_STOPPED:
                    process.send_signal(signal.SIGSTOP)
                    self._stopped.append(process)
                else:
                    continue
            except psutil.Error:
                continue
            self.struck[self._fault] += 1
