"""Starting a worker process and the connection to it."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass

from agentdyno.errors import RunError
from agentdyno.sandbox.process import LimitedProcess
from agentdyno.workers.bootstrap import command

_HASH_SEEDS = 2**32
_REDIRECTING = ("PYTHONSTARTUP", "PYTHONINSPECT")
"""Variables that would make an interpreter do something else before or after its work."""


@dataclass(frozen=True, slots=True)
class WorkerStart:
    """``module`` is a module of ours whose ``main(fd)`` serves the socket ``fd``; ``python`` may be the interpreter
    of another environment, from which everything but our package comes. ``sys_path`` goes in front of its path.

    ``environ`` is this process's environment unless another is given. ``hash_seed`` fixes the order of sets; without
    one that is up to ``environ``. The process may use ``memory_bytes`` and print ``output_bytes`` between two
    answers; whoever reads its output ends one that prints more.
    """

    module: str
    python: str = sys.executable
    cwd: str | None = None
    sys_path: tuple[str, ...] = ()
    environ: Mapping[str, str] | None = None
    hash_seed: int | None = None
    memory_bytes: int | None = None
    output_bytes: int | None = None


def spawn(start: WorkerStart) -> tuple[LimitedProcess, socket.socket]:
    """A worker that waits for its first message, and our end of the connection to it.

    Raises ``RunError`` where the interpreter or the folder is not there.
    """
    ours, theirs = socket.socketpair()
    try:
        process = LimitedProcess(
            command(start.python, start.module, theirs.fileno(), start.sys_path),
            cwd=start.cwd,
            env=worker_environment(os.environ if start.environ is None else start.environ, start.hash_seed),
            pass_fds=(theirs.fileno(),),
            memory_bytes=start.memory_bytes,
            output_limit_bytes=start.output_bytes,
        )
    except OSError as error:
        ours.close()
        raise _cannot_start(start, error) from None
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()
    return process, ours


def worker_environment(environ: Mapping[str, str], hash_seed: int | None) -> dict[str, str]:
    """``environ`` with a fixed hash seed, if there is one, and without what would redirect the interpreter.

    A hash seed that the user has fixed stays: who sets it wants to have a result again.
    """
    kept = {name: value for name, value in environ.items() if name not in _REDIRECTING}
    if hash_seed is None or kept.get("PYTHONHASHSEED", "random") not in ("", "random"):
        return kept
    return {**kept, "PYTHONHASHSEED": str(hash_seed % _HASH_SEEDS)}


def _cannot_start(start: WorkerStart, error: OSError) -> RunError:
    if error.filename is not None and error.filename == start.cwd:
        return RunError(f"cannot start a worker in {start.cwd}: {error.strerror}")
    return RunError(f"cannot start {start.python}: {error.strerror}", remedy="Check the interpreter's path.")
