"""Workers as child processes: started, watched and ended by the process that serves.

A child is ``python -m agentdyno.jobs.processes``. The first line of its standard input are its settings, as
JSON: the URL of a store may hold a password, and arguments can be seen by everybody. It ends when its standard input
does, and so with its parent, however that ends; the jobs that it had go on elsewhere.
"""

from __future__ import annotations

import json
import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

log = logging.getLogger("agentdyno.worker")

END_S = 15.0
"""How long a worker may take to stop its run before it is killed; nothing is lost then either."""
AGAIN_S = 1.0
"""The least time between two starts of a worker."""


@dataclass(slots=True)
class WorkerPool:
    """``count`` workers for one store and folder, each replaced when it dies. A context manager."""

    store_url: str
    folder: Path
    count: int
    lease_ms: int
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)
    _children: dict[int, subprocess.Popen[bytes]] = field(default_factory=dict)
    _closing: threading.Event = field(default_factory=threading.Event)
    _keeper: threading.Thread | None = None

    def __enter__(self) -> WorkerPool:
        for number in range(self.count):
            self._start(number)
        if self.count:
            self._keeper = threading.Thread(target=self._keep, name="dyno-workers", daemon=True)
            self._keeper.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        if self._keeper is not None:
            self._keeper.join()
        for child in self._children.values():
            with suppress(OSError):
                child.terminate()
            _close_input(child)
        give_up = time.monotonic() + END_S
        for child in self._children.values():
            try:
                child.wait(max(0.1, give_up - time.monotonic()))
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()

    @property
    def pids(self) -> list[int]:
        return [child.pid for child in self._children.values()]

    def _start(self, number: int) -> None:
        child = subprocess.Popen(
            [sys.executable, "-m", __name__],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            cwd=self.folder,
            env=dict(self.environ),
            # Ctrl-C reaches the whole group of a terminal; the parent tells its children itself.
            start_new_session=True,
        )
        self._children[number] = child
        settings = json.dumps([self.store_url, str(self.folder), self.lease_ms]) + "\n"
        assert child.stdin is not None, "it was asked for"
        with suppress(OSError):  # one that is dead already is replaced like any other
            child.stdin.write(settings.encode())
            child.stdin.flush()

    def _keep(self) -> None:
        while not self._closing.wait(AGAIN_S):
            for number, child in list(self._children.items()):
                if child.poll() is not None:
                    log.warning("worker %d ended with %s and is started again", child.pid, child.returncode)
                    _close_input(child)
                    self._start(number)


def _close_input(child: subprocess.Popen[bytes]) -> None:
    if child.stdin is not None:
        with suppress(OSError):
            child.stdin.close()


def main() -> int:
    """The child."""
    from agentdyno.errors import DynoError
    from agentdyno.jobs.worker import Worker

    level = logging.getLevelName(os.environ.get("DYNO_LOG", "warning").upper())
    logging.basicConfig(level=level if isinstance(level, int) else logging.WARNING, stream=sys.stderr)
    stop = stop_on_signals()
    first = sys.stdin.buffer.readline()
    if not first:
        return 0  # the parent has gone already
    store_url, folder, lease_ms = json.loads(first)

    def watch() -> None:
        while sys.stdin.buffer.read(1024):
            pass
        stop.set()

    threading.Thread(target=watch, name="dyno-parent", daemon=True).start()
    try:
        Worker(store_url, Path(folder), lease_ms=lease_ms).work(stop)
    except DynoError as error:
        log.error("the worker cannot work: %s", error)
        return 2
    return 0


def stop_on_signals() -> threading.Event:
    """An event that SIGTERM and SIGINT set, instead of ending the process in the middle of something."""
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    return stop


if __name__ == "__main__":
    sys.exit(main())
