"""The descriptors between the bench and a program: 3 and 4, and standard input and output beside them."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from agentdyno.sandbox.process import LimitedProcess

_ON_3_AND_4 = 'from=$1 to=$2; shift 2; exec "$@" 3<"/proc/self/fd/$from" 4>"/proc/self/fd/$to"'
"""Only a shell gives descriptors their numbers without running code of ours between fork and exec."""


@dataclass(frozen=True, slots=True)
class ProgramStart:
    """``output_bytes`` is what the program may print between two cases, ``memory_bytes`` its private memory."""

    argv: tuple[str, ...]
    cwd: str
    env: Mapping[str, str]
    memory_bytes: int | None = None
    output_bytes: int | None = None


@dataclass(frozen=True, slots=True)
class Channel:
    """Our ends of one way to the program and one back."""

    write_fd: int
    read_fd: int

    def close(self) -> None:
        os.close(self.write_fd)
        os.close(self.read_fd)


@dataclass(frozen=True, slots=True)
class Channels:
    """Which of the two a program uses it shows by answering there."""

    numbered: Channel
    standard: Channel


def start_program(start: ProgramStart) -> tuple[LimitedProcess, Channels]:
    """Starts it with descriptors 3 (what the bench says) and 4 (what it answers), and the same on 0 and 1.

    Raises ``OSError`` where it cannot be started.
    """
    pipes = [os.pipe() for _ in range(4)]
    (in_read, in_write), (out_read, out_write), (stdin_read, stdin_write), (stdout_read, stdout_write) = pipes
    ours = (in_write, out_read, stdin_write, stdout_read)
    try:
        process = LimitedProcess(
            ("/bin/sh", "-c", _ON_3_AND_4, "sh", str(in_read), str(out_write), *start.argv),
            cwd=start.cwd,
            env=start.env,
            pass_fds=(in_read, out_write),
            memory_bytes=start.memory_bytes,
            output_limit_bytes=start.output_bytes,
            stdin_fd=stdin_read,
            stdout_fd=stdout_write,
        )
    except BaseException:
        _close_all(ours)
        raise
    finally:
        _close_all((in_read, out_write, stdin_read, stdout_write))
    for fd in ours:
        os.set_blocking(fd, False)
    return process, Channels(Channel(in_write, out_read), Channel(stdin_write, stdout_read))


def _close_all(fds: Sequence[int]) -> None:
    for fd in fds:
        os.close(fd)
