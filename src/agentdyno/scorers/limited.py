"""A command that is given little time, memory and room, and leaves nothing behind."""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Literal

from agentdyno.sandbox import LimitedProcess

REPORT = "report"
"""The file in its folder that a command may write its findings to."""
_REPORT_BYTES = 1024 * 1024
_LOOK_S = 0.2
"""How often the amount of output is looked at."""


@dataclass(frozen=True, slots=True)
class ProcessLimits:
    time_s: float
    memory_bytes: int
    output_bytes: int = 1024 * 1024


@dataclass(frozen=True, slots=True)
class EndedProcess:
    """``code`` is the exit status, negative for a signal, ``None`` where a limit ended it; ``tail`` its output."""

    code: int | None
    past: Literal["time", "output"] | None
    tail: str
    report: str


async def run_limited(command: Sequence[str], files: Mapping[str, str], limits: ProcessLimits) -> EndedProcess:
    """Runs a command in a new folder that holds ``files``, with a minimal environment.

    Cancelling ends the command and everything it started before the cancellation goes on. The folder and the limits
    keep accidents small; they are no wall against code that means harm.
    """
    loop = asyncio.get_running_loop()
    wake = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
    work = loop.run_in_executor(None, _run, list(command), dict(files), limits, wake)
    work.add_done_callback(lambda _: os.close(wake))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        if not work.done():
            os.eventfd_write(wake, 1)
            await asyncio.wait({work})
        raise


def _run(command: list[str], files: dict[str, str], limits: ProcessLimits, wake: int) -> EndedProcess:
    with tempfile.TemporaryDirectory(prefix="dyno-", ignore_cleanup_errors=True) as folder:
        for name, content in files.items():
            Path(folder, name).write_text(content, encoding="utf-8", errors="surrogatepass")
        environment = {"PATH": os.defpath, "LANG": "C.UTF-8", "HOME": folder, "TMPDIR": folder}
        process = LimitedProcess(command, cwd=folder, env=environment, memory_bytes=limits.memory_bytes)
        with closing(process):
            past = _watch(process, limits, wake)
            code = process.returncode
            process.drain()
            tail = process.take_tail() or ""
        return EndedProcess(None if past else code, past, tail, _read_report(folder))


def _watch(process: LimitedProcess, limits: ProcessLimits, wake: int) -> Literal["time", "output"] | None:
    """Waits for the end; which limit was passed, if one was."""
    deadline = monotonic() + limits.time_s
    while (left := deadline - monotonic()) > 0:
        code = process.wait(min(left, _LOOK_S), until_readable=wake)
        if process.output_bytes > limits.output_bytes:
            return "output"
        if code is not None:
            return None
        if _is_set(wake):
            return "time"
    return "time"


def _is_set(wake: int) -> bool:
    try:
        return os.eventfd_read(wake) > 0
    except BlockingIOError:
        return False


def _read_report(folder: str) -> str:
    """The report, unless it has been replaced by something else than a file."""
    try:
        fd = os.open(Path(folder, REPORT), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        return os.read(fd, _REPORT_BYTES).decode("utf-8", "replace")
    except OSError:
        return ""
    finally:
        os.close(fd)
