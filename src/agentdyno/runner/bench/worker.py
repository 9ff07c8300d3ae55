"""The process that executes trials. Standard library only: it may run in a foreign interpreter.

Answers one message at a time: ``describe``, ``prepare``, ``trial``, ``close``. While it waits or works it is the
only one busy; the runner sleeps. SIGINT makes it tear down and leave.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from agentdyno.errors import PluginError
from agentdyno.model.codec import from_plain, to_plain
from agentdyno.model.identity import digest
from agentdyno.model.plan import Trial
from agentdyno.model.sample import Failure, Status
from agentdyno.runner.bench.arm import Bench, make_sample
from agentdyno.runner.bench.failures import StageFailed, classify
from agentdyno.runner.bench.job import ArmJob
from agentdyno.runner.bench.readings import interpreter
from agentdyno.runner.bench.timing import harness_overhead_s
from agentdyno.workers.frames import Message
from agentdyno.workers.serve import OperationFailed, Say, serve


def main(fd: int) -> None:
    """Serves the runner at the other end of socket ``fd`` until it closes."""
    work = _Work()
    operations = {"describe": work.describe, "prepare": work.prepare, "trial": work.trial}
    serve(fd, operations, close=work.close, out_of_memory=work.out_of_memory)


class _Work:
    def __init__(self) -> None:
        self._bench: Bench | None = None
        self._sent: dict[str, Any] = {}
        self._part = 0

    def describe(self, message: Message, _say: Say) -> object:
        from agentdyno.runner.bench.description import description  # a process that executes trials needs none of it

        return description(message)

    def prepare(self, message: Message, say: Say) -> object:
        self._bench = bench = Bench(from_plain(ArmJob, message["job"]))
        try:
            bench.prepare(lambda stage: say({"stage": stage}))
        except StageFailed as failed:
            raise _stage_failed(failed.status, failed.failure) from None
        return {
            "prepared": True,
            "inner_loops": bench.inner_loops,
            "warmup_s": bench.warmup_s,
            "overhead_s": harness_overhead_s(),
            "observed": {**interpreter(), "cpu": bench.cpu, **self._code(), **self._observed()},
        }

    def trial(self, message: Message, say: Say, clock: Callable[[], float] = time.perf_counter) -> dict[str, object]:
        """``spent_s`` is all of it, with what is not timed: its owner sees whether this process's clock is right."""
        assert self._bench is not None
        if self._bench.yields:
            return self._steps(self._bench, message, say)
        started = clock()
        sample = self._bench.execute(from_plain(Trial, message["trial"]))
        reply = {"sample": to_plain(sample), "observed": self._observed()}
        return {**reply, "spent_s": clock() - started}

    def _steps(self, bench: Bench, message: Message, say: Say) -> dict[str, object]:
        """Each sample is told as it comes; the reply is that the trial is over, or the sample that failed."""
        self._part = message.get("begun", 0)
        for sample in bench.steps(from_plain(Trial, message["trial"]), self._part):
            told = {"observed": self._observed(), "spent_s": None}
            if sample.status is not Status.OK:
                return {"sample": to_plain(sample), **told}
            say({"step": {"sample": to_plain(sample), **told}})
            self._part += 1
        return {"over": True}

    def out_of_memory(self, message: Message, _say: Say) -> object:
        """What is answered to a message that there was not enough memory for."""
        status, failure = classify(MemoryError(), "execute" if message["op"] == "trial" else "warmup")
        if message["op"] == "describe":
            raise PluginError(failure.message, where=message["code"]["name"])
        if message["op"] == "prepare":
            raise _stage_failed(status, failure)
        trial = from_plain(Trial, message["trial"])
        sample = make_sample(trial, status, time.time_ns() // 1_000_000, failure=failure, part=self._part)
        return {"sample": to_plain(sample), "observed": {}, "spent_s": None}

    def close(self) -> object:
        """Tears the arm down."""
        bench, self._bench = self._bench, None
        failure = bench.close() if bench is not None else None
        return {"closed": True, "failure": to_plain(failure)}

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


def _stage_failed(status: Status, failure: Failure) -> OperationFailed:
    return OperationFailed({"status": status.value, "failure": to_plain(failure)})
