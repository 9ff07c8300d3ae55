"""What works on another machine for a run: it takes trials, and tells what came of them. One a process.

It knows nothing of how it is reached: a cluster's worker holds one and passes messages on, all of them JSON as bytes.
A reply is ``{"ok": ...}`` or ``{"error": {type, message, where, remedy}}``.
"""

from __future__ import annotations

import json
import os
import platform
import queue
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from agentdyno.errors import DynoError
from agentdyno.model import Trial
from agentdyno.model.codec import encode, from_plain
from agentdyno.runs.cluster.files import FilesHere, ShippedFiles
from agentdyno.runs.cluster.order import WorkOrder
from agentdyno.version import __version__

AT_ONCE = 2_000
"""Items that are told in one message at most."""


class StationWork(Protocol):
    """What a station does with trials: ``start`` and ``wait_item`` are called in one thread, and never at once."""

    def open(self) -> None: ...

    def start(self, trial: Trial) -> None: ...

    def wait_item(self) -> dict[str, object]: ...

    def close(self) -> None: ...


class Station:
    """``load`` once, then ``push`` and ``pull`` from two threads, as often as there is something."""

    def __init__(self) -> None:
        self._waiting: queue.SimpleQueue[Trial | None] = queue.SimpleQueue()
        self._told: queue.SimpleQueue[dict[str, object]] = queue.SimpleQueue()
        self._work: StationWork | None = None
        self._files: FilesHere | None = None
        self._slots = 1
        self._ready: queue.SimpleQueue[BaseException | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def hello(self) -> bytes:
        """Who this is: what has to be the same as the driver's, and the machine."""
        from agentdyno.runs.environment import capture_environment

        return _reply(lambda: {**versions(), "environment": capture_environment(), "pid": os.getpid()})

    def load(self, order: bytes, contents: Mapping[str, bytes]) -> bytes:
        """Unpacks the files, makes what has to be made, and starts it."""

        def loading() -> dict[str, object]:
            told = json.loads(order)
            wanted = from_plain(WorkOrder, told["order"])
            self._files = FilesHere(ShippedFiles(contents, told["digests"]))
            self._work, self._slots = work_of(wanted, self._files), wanted.concurrency
            # Processes die with the thread that started them: it has to be one that stays.
            self._thread = threading.Thread(target=self._serve, name="dyno-station", daemon=True)
            self._thread.start()
            problem = self._ready.get()
            if problem is not None:
                raise problem
            return {}

        return _reply(loading)

    def push(self, trials: bytes) -> None:
        for plain in json.loads(trials):
            self._waiting.put(from_plain(Trial, plain))

    def pull(self, timeout_s: float) -> bytes:
        """What has come of trials since the last time; waits for something at most ``timeout_s`` seconds."""
        items: list[dict[str, object]] = []
        try:
            items.append(self._told.get(timeout=timeout_s))
            while len(items) < AT_ONCE:
                items.append(self._told.get_nowait())
        except queue.Empty:
            pass
        return encode(items).encode("utf-8", "surrogatepass")

    def close(self) -> None:
        """Ends what is being done, as far as it lets itself be ended within a moment."""
        self._waiting.put(None)
        if self._thread is not None:
            self._thread.join(5.0)
        if self._files is not None:
            self._files.close()

    # In the station's thread.

    def _serve(self) -> None:
        work = self._work
        assert work is not None, "loaded before"
        try:
            work.open()
        except BaseException as error:  # noqa: BLE001  (whoever loads has to hear of it)
            self._ready.put(error)
            return
        self._ready.put(None)
        try:
            self._perform(work)
        except BaseException as error:  # noqa: BLE001  (a defect of ours must not leave the driver waiting)
            self._told.put({"key": "", "broken": f"{type(error).__name__}: {error}"})
        finally:
            work.close()

    def _perform(self, work: StationWork) -> None:
        doing = 0
        while True:
            while doing < self._slots:
                try:
                    trial = self._waiting.get(block=doing == 0)
                except queue.Empty:
                    break
                if trial is None:
                    return
                work.start(trial)
                doing += 1
            item = work.wait_item()
            doing -= bool(item.get("ended", True))
            self._told.put(item)


def work_of(order: WorkOrder, files: FilesHere) -> StationWork:
    if order.jobs:
        from agentdyno.runs.cluster.trial_work import TrialWork

        return TrialWork(order, files)
    from agentdyno.runs.cluster.case_work import CaseWork

    return CaseWork(order, files)


def versions() -> dict[str, str]:
    """What a station has to have in common with its driver."""
    return {"agentdyno": __version__, "python": ".".join(platform.python_version_tuple()[:2])}


def _reply(act: Callable[[], Mapping[str, object]]) -> bytes:
    try:
        reply: dict[str, Any] = {"ok": act()}
    except DynoError as error:
        told = {"message": error.message, "where": error.where, "remedy": error.remedy}
        reply = {"error": {"type": type(error).__name__, **told}}
    except Exception as error:  # noqa: BLE001  (told to the driver, who knows what to do)
        where = f"{platform.node()} (pid {os.getpid()}, {sys.executable})"
        reply = {"error": {"type": "RunError", "message": f"{type(error).__name__}: {error}", "where": where}}
    return encode(reply).encode("utf-8", "surrogatepass")
