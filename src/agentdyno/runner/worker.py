"""The process that executes trials. Standard library only: it may run in a foreign interpreter.

Answers one message at a time: ``describe``, ``prepare``, ``trial``, ``close``. While it waits or works it is the
only one busy; the runner sleeps. SIGINT makes it tear down and leave.
"""

from __future__ import annotations

import contextlib
import os
import platform
import signal
import socket
import sys
from dataclasses import replace
from typing import Any

from agentdyno.errors import DynoError
from agentdyno.model.codec import from_plain, to_plain
from agentdyno.model.parameter import ExperimentInfo, Parameter
from agentdyno.model.plan import Trial
from agentdyno.registry.adapt import adapt
from agentdyno.registry.describe import describe
from agentdyno.runner.bench import Bench, StageFailed, load_code
from agentdyno.runner.job import ArmJob, Code
from agentdyno.runner.link import Link
from agentdyno.runner.timing import harness_overhead_s


def main(fd: int, sys_path: list[str]) -> None:
    """Serves the runner at the other end of socket ``fd`` until it closes."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    die_with_parent()
    sys.path[:0] = [path for path in sys_path if path not in sys.path]
    link = Link(socket.socket(fileno=fd))
    server = _Server(link)
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        try:
            while server.answer():
                pass
        except KeyboardInterrupt:
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            link.send(server.close())
    _flush()


class _Server:
    def __init__(self, link: Link) -> None:
        self._link = link
        self._bench: Bench | None = None
        self._sent: dict[str, Any] = {}

    def answer(self) -> bool:
        """Answers one message; false when there are no more."""
        message = self._link.receive()
        if message is None or message["op"] == "close":
            reply = self.close()
            if message is not None:
                _flush()
                self._link.send(reply)
            return False
        handlers = {"describe": self._describe, "prepare": self._prepare, "trial": self._trial}
        reply = handlers[message["op"]](message)
        _flush()
        self._link.send(reply)
        return True

    def close(self) -> dict[str, Any]:
        """Tears the arm down."""
        bench, self._bench = self._bench, None
        failure = bench.close() if bench is not None else None
        return {"closed": True, "failure": to_plain(failure)}

    def _describe(self, message: dict[str, Any]) -> dict[str, Any]:
        try:
            code = from_plain(Code, message["code"])
            target = load_code(message["kind"], code, message["also_known"])
            if message["kind"] == "experiments":
                return {"info": to_plain(_jsonable(describe(message["name"], target)))}
            return {"perturbs": adapt(target, message["name"], message["options"]).perturbs}
        except DynoError as error:
            return {"error": [error.message, error.where, error.remedy]}
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt):
                raise
            return {"error": [f"{type(error).__name__}: {error}", message["code"]["name"], None]}

    def _prepare(self, message: dict[str, Any]) -> dict[str, Any]:
        self._bench = bench = Bench(from_plain(ArmJob, message["job"]))
        try:
            bench.prepare()
        except StageFailed as failed:
            return {"status": failed.status.value, "failure": to_plain(failed.failure)}
        return {
            "prepared": True,
            "inner_loops": bench.inner_loops,
            "warmup_s": bench.warmup_s,
            "overhead_s": harness_overhead_s(),
            "observed": {**_interpreter(), "cpu": bench.cpu, **self._observed()},
        }

    def _trial(self, message: dict[str, Any]) -> dict[str, Any]:
        assert self._bench is not None
        sample = self._bench.execute(from_plain(Trial, message["trial"]))
        return {"sample": to_plain(sample), "observed": self._observed()}

    def _observed(self) -> dict[str, Any]:
        """What the experiment observed since the last message."""
        assert self._bench is not None
        observed = {str(key): _plain_or_text(value) for key, value in self._bench.context.observed.items()}
        news = {key: value for key, value in observed.items() if self._sent.get(key, _NEVER) != value}
        self._sent.update(news)
        return news


_NEVER = object()


def _interpreter() -> dict[str, Any]:
    return {"python": platform.python_version(), "implementation": platform.python_implementation()}


def _plain_or_text(value: Any) -> Any:
    try:
        return to_plain(value)
    except TypeError:
        return str(value)


def _jsonable(info: ExperimentInfo) -> ExperimentInfo:
    """Defaults that have no JSON form are shown as text, and marked so that nobody passes the text on."""
    return replace(info, parameters=tuple(_with_plain_default(item) for item in info.parameters))


def _with_plain_default(item: Parameter) -> Parameter:
    try:
        return replace(item, default=to_plain(item.default))
    except TypeError:
        return replace(item, default=str(item.default), opaque=True)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()


def die_with_parent() -> None:
    """A runner that is killed takes its workers along (Linux)."""
    with contextlib.suppress(OSError, ImportError, AttributeError):
        import ctypes

        ctypes.CDLL(None, use_errno=True).prctl(1, signal.SIGKILL)  # 1 is PR_SET_PDEATHSIG
        if os.getppid() == 1:
            os._exit(1)
