"""The process in which a Python agent answers cases. Standard library only, unless the agent loads more.

Answers one message at a time: ``load``, ``run``, ``close``.
"""

from __future__ import annotations

import contextlib
import contextvars
import inspect
import os
import resource
import signal
import socket
import struct
import sys
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from agentdyno.agents.hosting.answer import collected
from agentdyno.agents.hosting.calling import Callee, Conversation, callee_of
from agentdyno.agents.hosting.failures import case_failed, failure_to_plain
from agentdyno.agents.hosting.recorder import Recorder, recording
from agentdyno.errors import DynoError, PluginError
from agentdyno.model.case import Case
from agentdyno.model.codec import from_plain, to_plain
from agentdyno.registry.local import Target, load_target
from agentdyno.workers.frames import receive, send

if TYPE_CHECKING:
    import asyncio

_PR_SET_PDEATHSIG = 1


def main(fd: int) -> None:
    """Serves the agent's owner at the other end of socket ``fd`` until it closes."""
    os.set_inheritable(fd, False)
    end = socket.socket(fileno=fd)
    _die_with_owner(end)
    server = _Server(end)
    with contextlib.suppress(OSError):  # nobody listens any more
        while server.answer():
            pass


class _Server:
    def __init__(self, end: socket.socket) -> None:
        self._end = end
        self._pid = os.getpid()
        self._callee: Callee | None = None
        self._runner: asyncio.Runner | None = None

    def answer(self) -> bool:
        """Answers one message; false when there are no more."""
        message = receive(self._end)
        if message is None or message["op"] == "close":
            self._close()
            return False
        handlers: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {"load": self._load, "run": self._run}
        with contextlib.suppress(MemoryError):
            self._say(handlers[message["op"]](message))
            return True
        self._say(
            {"failed": failure_to_plain(case_failed(MemoryError()))}
        )  # the frames that held the memory are gone
        return True

    def _load(self, message: dict[str, Any]) -> dict[str, Any]:
        try:
            sys.path.insert(0, message["base_dir"])
            target = load_target("agents", from_plain(Target, message["target"]), message["also_known"])
            self._callee = callee_of(target, message["config"], message["name"])
            if self._callee.is_async:
                self._resolved(_nothing())  # so that the first case does not pay for the event loop
            self._hook("start")
        except DynoError as error:
            return {"error": [type(error).__name__, error.message, error.where, error.remedy]}
        except BaseException as error:  # noqa: BLE001  (whatever it is, its owner must know)
            return {"error": [PluginError.__name__, f"{type(error).__name__}: {error}", message["name"], None]}
        return {"ready": True}

    def _run(self, message: dict[str, Any]) -> dict[str, Any]:
        assert self._callee is not None
        case = from_plain(Case, message["case"])
        with recording() as recorder:
            meter = _Meter()
            try:
                conversation = Conversation(self._callee, case, recorder)
                while (call := conversation.next_call()) is not None:
                    conversation.take(self._resolved(call()))
                meter.stop(recorder)
                return {"response": to_plain(collected(recorder, conversation.output))}
            except MemoryError:
                raise
            except BaseException as error:  # noqa: BLE001  (it belongs to the case)
                self._only_in_own_process()
                meter.stop(recorder)
                return {"failed": failure_to_plain(case_failed(error, collected(recorder, None)))}

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

    def _close(self) -> None:
        self._only_in_own_process()
        with contextlib.suppress(Exception):
            self._hook("close")
        if self._runner is not None:
            self._runner.close()

    def _say(self, reply: dict[str, Any]) -> None:
        self._only_in_own_process()
        for name in ("stdout", "stderr"):
            with contextlib.suppress(Exception):  # the agent may have closed or replaced them
                getattr(sys, name).flush()
        send(self._end, reply)

    def _only_in_own_process(self) -> None:
        """A child that the agent forked and let go on must not answer in its parent's place."""
        if os.getpid() != self._pid:
            os._exit(0)


async def _nothing() -> None:
    pass


async def _awaited(value: Awaitable[object]) -> object:
    return await value


class _Meter:
    """Time, CPU time with that of children that have ended, and the peak of this process's resident memory."""

    def __init__(self) -> None:
        with contextlib.suppress(OSError), open("/proc/self/clear_refs", "wb", buffering=0) as file:  # noqa: PTH123
            file.write(b"5")  # starts the peak anew
        self._cpu_s = _cpu_s()
        self._started = time.perf_counter()

    def stop(self, recorder: Recorder) -> None:
        duration_s, cpu_s = time.perf_counter() - self._started, _cpu_s() - self._cpu_s
        recorder.readings.setdefault("duration_s", duration_s)
        recorder.readings.setdefault("cpu_s", cpu_s)
        peak = _peak_rss_bytes()
        if peak is not None:
            recorder.readings.setdefault("peak_rss_bytes", float(peak))


def _cpu_s() -> float:
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def _peak_rss_bytes() -> int | None:
    with contextlib.suppress(OSError), open("/proc/self/status", "rb") as file:  # noqa: PTH123
        for line in file:
            if line.startswith(b"VmHWM:"):
                return int(line.split()[1]) * 1024
    return None


def _die_with_owner(end: socket.socket) -> None:
    """An owner that is killed takes its workers along (Linux)."""
    with contextlib.suppress(OSError, ImportError, AttributeError):
        import ctypes

        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        owner = struct.unpack("3i", end.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
        if os.getppid() != owner:  # it was killed before the line above
            os._exit(1)
