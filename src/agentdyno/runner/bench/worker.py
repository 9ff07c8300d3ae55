"""The process that executes trials. Standard library only: it may run in a foreign interpreter.

Answers one message at a time: ``describe``, ``prepare``, ``trial``, ``close``. While it waits or works it is the
only one busy; the runner sleeps. SIGINT makes it tear down and leave.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import struct
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from agentdyno.errors import DynoError
from agentdyno.model.codec import from_plain, to_plain
from agentdyno.model.identity import digest
from agentdyno.model.parameter import ExperimentInfo, Parameter
from agentdyno.model.plan import Trial
from agentdyno.registry.adapt import adapt
from agentdyno.registry.describe import describe
from agentdyno.runner.bench.arm import Bench, load_code, make_sample
from agentdyno.runner.bench.failures import StageFailed, classify
from agentdyno.runner.bench.job import ArmJob, Code
from agentdyno.runner.bench.readings import interpreter
from agentdyno.runner.bench.timing import harness_overhead_s
from agentdyno.workers.link import Link


def main(fd: int, sys_path: list[str]) -> None:
    """Serves the runner at the other end of socket ``fd`` until it closes."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.set_inheritable(fd, False)
    end = socket.socket(fileno=fd)
    die_with_parent(end)
    sys.path[:] = [*sys_path, *(path for path in sys.path if path not in sys_path)]
    server = _Server(Link(end))
    try:
        while server.answer():
            pass
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        server.leave()
    except OSError:  # nobody listens any more
        server.close()
    except BaseException:
        server.leave()
        raise


class _Server:
    def __init__(self, link: Link) -> None:
        self._link = link
        self._pid = os.getpid()
        self._bench: Bench | None = None
        self._sent: dict[str, Any] = {}

    def answer(self) -> bool:
        """Answers one message; false when there are no more."""
        message = self._link.receive()
        if message is None:
            self.close()
            return False
        if message["op"] == "close":
            self.leave()
            return False
        handlers = {"describe": self._describe, "prepare": self._prepare, "trial": self._trial}
        with contextlib.suppress(MemoryError):
            self._say(handlers[message["op"]](message))
            return True
        self._say(self._out_of_memory(message))  # only here the frames are gone that held what was returned
        return True

    def close(self) -> dict[str, Any]:
        """Tears the arm down."""
        self._only_in_own_process()
        bench, self._bench = self._bench, None
        failure = bench.close() if bench is not None else None
        return {"closed": True, "failure": to_plain(failure)}

    def leave(self) -> None:
        """Tears the arm down and says so, if somebody listens."""
        reply = self.close()
        with contextlib.suppress(OSError):
            self._say(reply)

    def _say(self, reply: dict[str, Any]) -> None:
        self._only_in_own_process()
        _flush()
        self._link.send(reply)

    def _only_in_own_process(self) -> None:
        """A child that measured code forked and let go on must not answer or tear down in its parent's place."""
        if os.getpid() != self._pid:
            os._exit(0)

    def _out_of_memory(self, message: dict[str, Any]) -> dict[str, Any]:
        status, failure = classify(MemoryError(), "execute" if message["op"] == "trial" else "warmup")
        if message["op"] == "describe":
            return {"error": [failure.message, message["code"]["name"], None]}
        if message["op"] == "prepare":
            return {"status": status.value, "failure": to_plain(failure)}
        trial = from_plain(Trial, message["trial"])
        sample = make_sample(trial, status, time.time_ns() // 1_000_000, failure=failure)
        return {"sample": to_plain(sample), "observed": {}}

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
            bench.prepare(lambda stage: self._say({"stage": stage}))
        except StageFailed as failed:
            return {"status": failed.status.value, "failure": to_plain(failed.failure)}
        return {
            "prepared": True,
            "inner_loops": bench.inner_loops,
            "warmup_s": bench.warmup_s,
            "overhead_s": harness_overhead_s(),
            "observed": {**interpreter(), "cpu": bench.cpu, **self._code(), **self._observed()},
        }

    def _trial(self, message: dict[str, Any]) -> dict[str, Any]:
        assert self._bench is not None
        sample = self._bench.execute(from_plain(Trial, message["trial"]))
        return {"sample": to_plain(sample), "observed": self._observed()}

    def _code(self) -> dict[str, Any]:
        assert self._bench is not None
        root = self._bench.job.launch.code_root
        return {"loaded_code": code_fingerprint(root)} if root is not None else {}

    def _observed(self) -> dict[str, Any]:
        """What the experiment observed since the last message."""
        assert self._bench is not None
        observed = self._bench.observed()
        news = {key: value for key, value in observed.items() if self._sent.get(key, _NEVER) != value}
        self._sent.update(news)
        return news


_NEVER = object()


NOTHING_LOADED = "nothing"
"""The fingerprint of a process that loaded no file of the project."""


def code_fingerprint(root: str) -> str:
    """A digest of the files below ``root`` that this process has loaded, by relative path and content."""
    files = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
    found = []
    for file in sorted(file for file in files if isinstance(file, str)):
        relative = os.path.relpath(os.path.realpath(file), os.path.realpath(root))
        if relative.startswith((os.pardir, ".dyno", ".venv")) or "site-packages" in relative:
            continue
        try:
            found.append((relative, Path(file).read_bytes().hex()))
        except OSError:
            continue
    return digest(found) if found else NOTHING_LOADED


def _jsonable(info: ExperimentInfo) -> ExperimentInfo:
    """Defaults that have no JSON form are shown as text, and marked so that nobody passes the text on."""
    return replace(info, parameters=tuple(_with_plain_default(item) for item in info.parameters))


def _with_plain_default(item: Parameter) -> Parameter:
    try:
        return replace(item, default=to_plain(item.default))
    except TypeError:
        return replace(item, default=str(item.default), opaque=True)


def _flush() -> None:
    for name in ("stdout", "stderr"):
        with contextlib.suppress(Exception):  # measured code may have closed or replaced them
            getattr(sys, name).flush()


def die_with_parent(end: socket.socket) -> None:
    """A runner that is killed takes its workers along (Linux). ``end`` is the worker's end of their connection."""
    with contextlib.suppress(OSError, ImportError, AttributeError):
        import ctypes

        ctypes.CDLL(None, use_errno=True).prctl(1, signal.SIGKILL)  # 1 is PR_SET_PDEATHSIG
        runner = struct.unpack("3i", end.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
        if os.getppid() == 1 and runner != 1:  # it was killed before the line above
            os._exit(1)
