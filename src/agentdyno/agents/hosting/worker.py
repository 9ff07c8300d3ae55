"""The process in which a Python agent answers cases. Standard library only, unless the agent loads more.

Answers one message at a time: ``ping``, ``load``, ``run``, ``close``.
"""

from __future__ import annotations

import contextlib
import contextvars
import inspect
import os
import resource
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING, BinaryIO

from agentdyno.agents.frameworks.detect import install_remedy
from agentdyno.agents.hosting.answer import collected
from agentdyno.agents.hosting.calling import Callee, CaseTurns, callee_of
from agentdyno.agents.hosting.failures import case_failed, failure_to_plain
from agentdyno.agents.hosting.recorder import recording
from agentdyno.contracts import CaseFailed
from agentdyno.errors import DynoError, PluginError
from agentdyno.model.case import Case
from agentdyno.model.codec import from_plain, to_plain
from agentdyno.registry.local import Target, load_target
from agentdyno.workers.frames import Message
from agentdyno.workers.reference import QUEUED, References
from agentdyno.workers.serve import OperationFailed, Say, serve

if TYPE_CHECKING:
    import asyncio


def main(fd: int) -> None:
    """Serves the agent's owner at the other end of socket ``fd`` until it closes."""
    work = _Work()
    operations = {"ping": work.ping, "load": work.load, "run": work.run}
    serve(fd, operations, close=work.close, out_of_memory=work.out_of_memory)


class _Work:
    def __init__(self) -> None:
        self._callee: Callee | None = None
        self._runner: asyncio.Runner | None = None
        self._metering = start_metering  # before the agent's code is there
        self._references = References(0.0)

    def ping(self, _message: Message, _say: Say) -> object:
        """Nothing: how long that takes is what every answer takes beside the agent's own work."""
        return {}

    def load(self, message: Message, _say: Say) -> object:
        try:
            sys.path.insert(0, message["base_dir"])
            target = load_target("agents", from_plain(Target, message["target"]), message["also_known"])
            self._callee = callee_of(target, message["config"], message["name"])
            if message["tell_interpreter"]:
                told = {"python": sys.version.split()[0], "implementation": sys.implementation.name}
                self._callee = replace(self._callee, observed={**self._callee.observed, **told})
            if self._callee.is_async:
                self._resolved(_nothing())  # so that the first case does not pay for the event loop
            self._hook("start")
            self._references = References(message.get("reference_s", 0.0))
            self._references.begin()
        except DynoError as error:
            missing = error.__cause__
            remedy = install_remedy(missing.name or "") if isinstance(missing, ModuleNotFoundError) else None
            raise PluginError(error.message, where=error.where, remedy=remedy) if remedy else error from None
        except BaseException as error:  # noqa: BLE001  (whatever it is, its owner must know)
            raise PluginError(f"{type(error).__name__}: {error}", where=message["name"]) from None
        return {"ready": True}

    def run(self, message: Message, _say: Say) -> object:
        assert self._callee is not None
        case = from_plain(Case, message["case"])
        os.environ.update(message.get("environ") or {})
        metering = self._metering
        with recording() as recorder:
            stop = metering(self._references)
            try:
                conversation = CaseTurns(self._callee, case, recorder)
                while (call := conversation.next_call()) is not None:
                    conversation.take(self._resolved(call()))
                recorder.measured.update(stop())
                return to_plain(collected(recorder, conversation.output))
            except MemoryError:
                raise
            except BaseException as error:  # noqa: BLE001  (it belongs to the case)
                recorder.measured.update(stop())
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


_BLOCK_BYTES = 512
"""What the kernel counts input and output of storage in, whatever the blocks of a disk are."""


def start_metering(
    references: References,
    clock: Callable[[], float] = time.perf_counter,
    usage: Callable[[int], resource.struct_rusage] = resource.getrusage,
    open_file: Callable[..., BinaryIO] = open,
) -> Callable[[], dict[str, float]]:
    """Starts measuring; what it returns stops that and tells the readings.

    Time, CPU time with that of children that have ended, and the peak of this process's resident memory; what reached
    storage or came from there, that of children included, where anything did; where ``references`` are wanted, how
    long they take now and how long others kept this process waiting for a CPU. The clocks are those from before the
    agent's code was loaded, which may put others into the modules they come from.
    """
    own, children = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN

    def used() -> tuple[float, int, int]:
        """CPU seconds, and blocks that were read from storage and written to it."""
        mine, theirs = usage(own), usage(children)
        cpu_s = mine.ru_utime + mine.ru_stime + theirs.ru_utime + theirs.ru_stime
        return cpu_s, mine.ru_inblock + theirs.ru_inblock, mine.ru_oublock + theirs.ru_oublock

    def stop() -> dict[str, float]:
        duration_s = clock() - started
        cpu_s, read, written = used()
        readings = {"duration_s": duration_s, "cpu_s": cpu_s - cpu_before_s}
        if read > read_before or written > written_before:
            readings["read_bytes"] = float(_BLOCK_BYTES * (read - read_before))
            readings["write_bytes"] = float(_BLOCK_BYTES * (written - written_before))
        queued_after_s = references.queued_s()
        with contextlib.suppress(OSError), open_file("/proc/self/status", "rb") as file:
            for line in file:
                if line.startswith(b"VmHWM:"):
                    readings["peak_rss_bytes"] = float(int(line.split()[1]) * 1024)
                    break
        if references.wanted:
            references.worked(readings["duration_s"])  # the case is over, and the next has not begun
            readings.update(references.now())
            if queued_before_s is not None and queued_after_s is not None:
                readings[QUEUED] = queued_after_s - queued_before_s
        return readings

    with contextlib.suppress(OSError), open_file("/proc/self/clear_refs", "wb", buffering=0) as file:
        file.write(b"5")  # starts the peak anew
    queued_before_s = references.queued_s()
    cpu_before_s, read_before, written_before = used()
    started = clock()
    return stop


def _failed(failure: CaseFailed) -> OperationFailed:
    return OperationFailed(failure_to_plain(failure))
