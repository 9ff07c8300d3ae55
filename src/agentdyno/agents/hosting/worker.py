"""The process in which a Python agent answers cases. Standard library only, unless the agent loads more.

Answers one message at a time: ``load``, ``run``, ``close``.
"""

from __future__ import annotations

import contextlib
import contextvars
import inspect
import resource
import sys
import time
from collections.abc import Awaitable
from typing import TYPE_CHECKING

from agentdyno.agents.hosting.answer import collected
from agentdyno.agents.hosting.calling import Callee, CaseTurns, callee_of
from agentdyno.agents.hosting.failures import case_failed, failure_to_plain
from agentdyno.agents.hosting.recorder import Recorder, recording
from agentdyno.contracts import CaseFailed
from agentdyno.errors import DynoError, PluginError
from agentdyno.model.case import Case
from agentdyno.model.codec import from_plain, to_plain
from agentdyno.registry.local import Target, load_target
from agentdyno.workers.frames import Message
from agentdyno.workers.reference import QUEUED, READING, References, run_queue_s
from agentdyno.workers.serve import OperationFailed, Say, serve

if TYPE_CHECKING:
    import asyncio


def main(fd: int) -> None:
    """Serves the agent's owner at the other end of socket ``fd`` until it closes."""
    work = _Work()
    operations = {"load": work.load, "run": work.run}
    serve(fd, operations, close=work.close, out_of_memory=work.out_of_memory)


class _Work:
    def __init__(self) -> None:
        self._callee: Callee | None = None
        self._runner: asyncio.Runner | None = None
        self._references = References(0.0)

    def load(self, message: Message, _say: Say) -> object:
        try:
            sys.path.insert(0, message["base_dir"])
            target = load_target("agents", from_plain(Target, message["target"]), message["also_known"])
            self._callee = callee_of(target, message["config"], message["name"])
            if self._callee.is_async:
                self._resolved(_nothing())  # so that the first case does not pay for the event loop
            self._hook("start")
            self._references = References(message.get("reference_s", 0.0))
            self._references.begin()
        except DynoError:
            raise
        except BaseException as error:  # noqa: BLE001  (whatever it is, its owner must know)
            raise PluginError(f"{type(error).__name__}: {error}", where=message["name"]) from None
        return {"ready": True}

    def run(self, message: Message, _say: Say) -> object:
        assert self._callee is not None
        case = from_plain(Case, message["case"])
        with recording() as recorder:
            meter = _Meter(self._references)
            try:
                conversation = CaseTurns(self._callee, case, recorder)
                while (call := conversation.next_call()) is not None:
                    conversation.take(self._resolved(call()))
                meter.stop(recorder)
                return to_plain(collected(recorder, conversation.output))
            except MemoryError:
                raise
            except BaseException as error:  # noqa: BLE001  (it belongs to the case)
                meter.stop(recorder)
                raise _failed(case_failed(error, collected(recorder, None))) from None

    def out_of_memory(self, _message: Message, _say: Say) -> object:
        raise _failed(case_failed(MemoryError()))

    def close(self) -> object:
        with contextlib.suppress(Exception):
            self._hook("close")
        if self._runner is not None:
            self._runner.close()
        return {"closed": True}

    def _resolved(self, value: object) -> object:
        """Waits for what an async function returned, always on the same event loop: clients are bound to theirs."""
        if not inspect.isawaitable(value):
            return value
        import asyncio  # slow to load, and not every agent is async

        if self._runner is None:
            self._runner = asyncio.Runner()
        return self._runner.run(_awaited(value), context=contextvars.copy_context())

    def _hook(self, name: str) -> None:
        callee = self._callee
        hook = getattr(callee.subject, name, None) if callee and callee.subject is not callee.function else None
        if callable(hook):
            self._resolved(hook())


async def _nothing() -> None:
    pass


async def _awaited(value: Awaitable[object]) -> object:
    return await value


class _Meter:
    """Time, CPU time with that of children that have ended, and the peak of this process's resident memory; beside
    them how long the references take now, and how long others kept this process waiting for a CPU."""

    def __init__(self, references: References) -> None:
        self._references = references
        with contextlib.suppress(OSError), open("/proc/self/clear_refs", "wb", buffering=0) as file:  # noqa: PTH123
            file.write(b"5")  # starts the peak anew
        self._queued_s = run_queue_s()
        self._cpu_s = _cpu_s()
        self._started = time.perf_counter()

    def stop(self, recorder: Recorder) -> None:
        duration_s, cpu_s = time.perf_counter() - self._started, _cpu_s() - self._cpu_s
        recorder.readings.setdefault("duration_s", duration_s)
        recorder.readings.setdefault("cpu_s", cpu_s)
        peak = _peak_rss_bytes()
        if peak is not None:
            recorder.readings.setdefault("peak_rss_bytes", float(peak))
        self._refer(recorder, duration_s)

    def _refer(self, recorder: Recorder, duration_s: float) -> None:
        """Reads the references where it is time to: the case is over, and the next has not begun."""
        queued_s = run_queue_s()
        for name in [name for name in recorder.readings if name.startswith(READING)]:
            del recorder.readings[name]  # nobody else has any to report
        if not self._references.wanted:
            return
        recorder.readings.update(self._references.now())
        if self._queued_s is not None and queued_s is not None:
            recorder.readings[QUEUED] = queued_s - self._queued_s
        self._references.worked(duration_s)


def _cpu_s() -> float:
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def _peak_rss_bytes() -> int | None:
    with contextlib.suppress(OSError), open("/proc/self/status", "rb") as file:  # noqa: PTH123
        for line in file:
            if line.startswith(b"VmHWM:"):
                return int(line.split()[1]) * 1024
    return None


def _failed(failure: CaseFailed) -> OperationFailed:
    return OperationFailed(failure_to_plain(failure))
