"""A subprocess in a process group of its own, with a memory limit and a cap on what it may print."""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal
import subprocess
from collections.abc import Mapping, Sequence
from time import monotonic

TAIL_BYTES = 8 * 1024
"""What is kept of the end of a process's output."""


class LimitedProcess:
    """Standard output and error go through one pipe that the owner drains; input is empty.

    ``output_fd`` is readable when there is output, ``exit_fd`` when the process has ended. ``memory_bytes`` limits
    the private memory of the process (RLIMIT_DATA): an allocation beyond it fails inside the process.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        pass_fds: Sequence[int] = (),
        memory_bytes: int | None = None,
    ) -> None:
        self.output_fd, write_fd = os.pipe()
        os.set_blocking(self.output_fd, False)
        try:
            self._popen = subprocess.Popen(
                list(command),
                cwd=cwd,
                env=None if env is None else dict(env),
                stdin=subprocess.DEVNULL,
                stdout=write_fd,
                stderr=write_fd,
                pass_fds=tuple(pass_fds),
                start_new_session=True,
            )
        except BaseException:
            os.close(self.output_fd)
            raise
        finally:
            os.close(write_fd)
        self.pid = self._popen.pid
        self.exit_fd = os.pidfd_open(self.pid)
        if memory_bytes is not None:
            with contextlib.suppress(ProcessLookupError):
                resource.prlimit(self.pid, resource.RLIMIT_DATA, (memory_bytes, memory_bytes))
        self.output_bytes = 0
        self.output_open = True
        self._tail = b""
        self._closed = False

    def drain(self) -> None:
        """Reads what has been printed so far, counting all of it and keeping the end.

        ``output_open`` turns false when nobody can print any more; ``output_fd`` is then readable for ever.
        """
        while not self._closed and self.output_open:
            try:
                chunk = os.read(self.output_fd, 1 << 16)
            except BlockingIOError:
                return
            if not chunk:
                self.output_open = False
                return
            self.output_bytes += len(chunk)
            self._tail = (self._tail + chunk)[-TAIL_BYTES:]

    def take_tail(self) -> str | None:
        """The end of what was printed since the last call, and starts counting anew."""
        text = self._tail.decode("utf-8", "replace").strip()
        self._tail, self.output_bytes = b"", 0
        return text or None

    @property
    def returncode(self) -> int | None:
        """Exit status, negative for a signal; ``None`` while it runs."""
        return self._popen.poll()

    def wait(self, timeout_s: float) -> int | None:
        """The exit status, or ``None`` when it has not ended in time. Output is drained meanwhile."""
        poller = select.poll()
        poller.register(self.exit_fd, select.POLLIN)
        poller.register(self.output_fd, select.POLLIN)
        deadline = monotonic() + timeout_s
        while (left := deadline - monotonic()) > 0:
            ready = dict(poller.poll(left * 1000))
            if self.output_fd in ready:
                self.drain()
                if ready[self.output_fd] & select.POLLHUP:
                    poller.unregister(self.output_fd)
            if self.exit_fd in ready:
                break
        return self._popen.poll()

    def interrupt(self) -> None:
        """Asks the process (not its children) to stop what it does, as Ctrl-C would."""
        with contextlib.suppress(ProcessLookupError):
            self._popen.send_signal(signal.SIGINT)

    def close(self) -> None:
        """Ends the process and everything it started, and frees its descriptors."""
        if self._closed:
            return
        self._closed = True
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)
        self._popen.wait()
        os.close(self.exit_fd)
        os.close(self.output_fd)
