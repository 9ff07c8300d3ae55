"""Starting a worker: our own package by path, everything else from the interpreter's own environment."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import agentdyno
from agentdyno.errors import DynoError, PluginError, RunError
from agentdyno.model.codec import from_plain, to_plain
from agentdyno.model.parameter import ExperimentInfo
from agentdyno.registry.installed import installed
from agentdyno.runner.bench.job import Code, InstrumentJob, Launch
from agentdyno.sandbox import LimitedProcess
from agentdyno.workers.link import Link

# Only our package comes from here: a foreign environment keeps its own versions of everything else.
_BOOTSTRAP = """
import sys
if sys.version_info < (3, 11):
    sys.exit("agentdyno-python-too-old")
sys.path[:] = [p for p in sys.path if p]  # first: the current folder may hold a json.py
from importlib.util import module_from_spec, spec_from_file_location
package, fd, paths = sys.argv[1], int(sys.argv[2]), __import__("json").loads(sys.argv[3])
sys.argv = [""]
spec = spec_from_file_location("agentdyno", package + "/__init__.py", submodule_search_locations=[package])
sys.modules["agentdyno"] = module = module_from_spec(spec)
spec.loader.exec_module(module)
from agentdyno.runner.bench.worker import main
main(fd, paths)
"""


STALL_S = 60.0
"""A message whose other end does not go on for so long is given up."""


def spawn(launch: Launch, *, seed: int, memory_bytes: int | None = None) -> tuple[LimitedProcess, Link]:
    """A worker that waits for its first message. ``seed`` fixes its PYTHONHASHSEED."""
    ours, theirs = socket.socketpair()
    ours.settimeout(STALL_S)
    package = str(Path(agentdyno.__file__).parent)
    command = [launch.python, "-c", _BOOTSTRAP, package, str(theirs.fileno()), json.dumps(launch.sys_path)]
    try:
        process = LimitedProcess(
            command,
            cwd=launch.cwd,
            env=worker_environment(os.environ, seed),
            pass_fds=(theirs.fileno(),),
            memory_bytes=memory_bytes,
        )
    except OSError as error:
        ours.close()
        if error.filename is not None and error.filename == launch.cwd:
            raise RunError(f"cannot start a worker in {launch.cwd}: {error.strerror}") from None
        raise RunError(
            f"cannot start {launch.python}: {error.strerror}", remedy="Check the interpreter's path."
        ) from None
    finally:
        theirs.close()
    return process, Link(ours)


def worker_environment(environ: Mapping[str, str], seed: int) -> dict[str, str]:
    """This process's environment with a fixed hash seed and without what would redirect imports."""
    kept = {key: value for key, value in environ.items() if key not in ("PYTHONSTARTUP", "PYTHONINSPECT")}
    return {**kept, "PYTHONHASHSEED": str(seed % 4294967296)}


def ask(launch: Launch, message: Mapping[str, Any], timeout_s: float = 120.0) -> dict[str, Any]:
    """One question to a fresh worker."""
    process, link = spawn(launch, seed=0)
    try:
        link.send(dict(message))
        link.close_sending()
        process.wait(timeout_s, link.fileno())
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


def describe_experiment(name: str, code: Code, launch: Launch) -> ExperimentInfo:
    """Loads the experiment in a process of its own and says what it takes; ``name`` is what it will be called."""
    reply = ask(launch, {"name": name, **_question("experiments", code)})
    if "error" in reply:
        raise _as_error(reply["error"])
    return from_plain(ExperimentInfo, reply["info"])


def instrument_perturbs(instrument: InstrumentJob, launch: Launch) -> bool:
    """Builds the instrument with its options in a process of its own and says whether it perturbs."""
    question = _question("instruments", instrument.code)
    reply = ask(launch, {**question, "name": instrument.name, "options": to_plain(instrument.options)})
    if "error" in reply:
        raise _as_error(reply["error"])
    return bool(reply["perturbs"])


def _question(kind: str, code: Code) -> dict[str, Any]:
    return {"op": "describe", "kind": kind, "code": to_plain(code), "also_known": sorted(installed(kind))}


def _as_error(parts: list[str | None]) -> DynoError:
    message, where, remedy = parts
    return PluginError(message or "cannot be loaded", where=where, remedy=remedy)


def _died(launch: Launch, tail: str | None, code: int | None) -> RunError:
    if tail and "agentdyno-python-too-old" in tail:
        return RunError(f"{launch.python} is older than Python 3.11", remedy="Give a newer interpreter.")
    how = "did not answer" if code is None else f"ended with status {code}"
    return RunError(
        f"the worker process {how} while loading ({launch.label})",
        remedy=f"Its last output: {tail}" if tail else "Run the file with that interpreter to see why.",
    )
