"""Asking a worker process what an experiment or an instrument is: its code is never loaded here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agentdyno.errors import PluginError, RunError
from agentdyno.model.codec import from_plain, to_plain
from agentdyno.model.parameter import ExperimentInfo
from agentdyno.model.spec import Limits
from agentdyno.registry.installed import installed
from agentdyno.runner.bench.job import CodeReference, InstrumentJob, Launch
from agentdyno.sandbox import LimitedProcess
from agentdyno.workers.bootstrap import TOO_OLD
from agentdyno.workers.frames import Message
from agentdyno.workers.link import Link
from agentdyno.workers.spawn import WorkerStart, spawn

STALL_S = 60.0
"""A message whose other end does not go on for so long is given up."""


def start_worker(launch: Launch, *, seed: int, limits: Limits | None = None) -> tuple[LimitedProcess, Link]:
    """A worker that waits for its first message. ``seed`` fixes its PYTHONHASHSEED, unless the user has."""
    start = WorkerStart(
        "agentdyno.runner.bench.worker",
        launch.python,
        launch.cwd,
        launch.sys_path,
        hash_seed=seed,
        memory_bytes=limits.memory_bytes if limits is not None else None,
        output_bytes=limits.output_bytes if limits is not None else None,
    )
    process, end = spawn(start)
    end.settimeout(STALL_S)
    return process, Link(end)


def ask(launch: Launch, message: Mapping[str, Any], patience_s: float = 120.0) -> Message:
    """One question to a fresh worker."""
    process, link = start_worker(launch, seed=0)
    try:
        link.send(dict(message))
        link.close_sending()
        process.wait(patience_s, link.fileno())
        reply = link.receive() if link.readable() else None
    except (OSError, ValueError):
        reply = None
    finally:
        code = process.wait(1.0)
        process.drain()
        tail = process.take_tail()
        process.close()
        link.close()
    if reply is None:
        raise _died(launch, tail, code)
    return reply


def describe_experiment(name: str, code: CodeReference, launch: Launch) -> ExperimentInfo:
    """Loads the experiment in a process of its own and says what it takes; ``name`` is what it will be called."""
    return from_plain(ExperimentInfo, _answer(ask(launch, {"name": name, **_question("experiments", code)})))


def instrument_perturbs(instrument: InstrumentJob, launch: Launch) -> bool:
    """Builds the instrument with its options in a process of its own and says whether it perturbs."""
    question = _question("instruments", instrument.code)
    return bool(_answer(ask(launch, {**question, "name": instrument.name, "options": to_plain(instrument.options)})))


def _question(kind: str, code: CodeReference) -> dict[str, Any]:
    return {"op": "describe", "kind": kind, "code": to_plain(code), "also_known": sorted(installed(kind))}


def _answer(reply: Message) -> Any:
    if "error" in reply:
        error = reply["error"]
        raise PluginError(error["message"] or "cannot be loaded", where=error["where"], remedy=error["remedy"])
    return reply["ok"]


def _died(launch: Launch, tail: str | None, code: int | None) -> RunError:
    if tail and TOO_OLD in tail:
        return RunError(f"{launch.python} is older than Python 3.11", remedy="Give a newer interpreter.")
    how = "did not answer" if code is None else f"ended with status {code}"
    return RunError(
        f"the worker process {how} while loading ({launch.label})",
        remedy=f"Its last output: {tail}" if tail else "Run the file with that interpreter to see why.",
    )
