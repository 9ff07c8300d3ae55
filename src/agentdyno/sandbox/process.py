"""A subprocess in a process group of its own, with a memory limit and a cap on what it may print."""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from time import monotonic, sleep

from agentdyno.model.sample import FailureKind

TAIL_BYTES = 8 * 1024
"""What is kept of the end of a process's output."""
READ_BYTES = 64 * 1024
READS_AT_ONCE = 16
"""Reads of one ``drain``: a process that prints without end must not keep its owner from anything else."""
SWEEPS = 10
"""How often what a process has started is looked for; it may go on starting more meanwhile."""
DRAINED_S = 0.5
"""How long the last output of a process that has been ended may take to arrive."""
LOOKS = 200
LOOK_AGAIN_S = 0.001
"""How often, and after how many seconds, a program that is just being started is looked at again."""
MARK = "AGENTDYNO_PROCESS"
"""An environment variable by which what a process has started is found, wherever it has gone."""


@contextlib.contextmanager
def gpu_use(pid: int) -> Iterator[Callable[[], dict[str, float]]]:
    """``GpuWatch.used_by`` of one watch for all; no readings on a machine without a GPU."""
    watch = None
    if _may_see_gpus():
        from agentdyno.sandbox.gpu import shared_watch

        watch = shared_watch()
    if watch is None:
        yield dict
        return
    with watch.used_by(pid) as readings:
        yield readings


@cache
def _may_see_gpus() -> bool:
    """Without NVIDIA's package nobody can say anything about GPUs."""
    return find_spec("pynvml") is not None


class LimitedProcess:
    """Standard output and error go through one pipe that the owner drains; input is empty. An owner that wants to
    talk by standard input and output gives its own descriptors for them (``stdin_fd``, ``stdout_fd``).

    ``output_fd`` is readable when there is output, ``exit_fd`` when the process has ended. ``memory_bytes`` limits
    the private memory of the process (RLIMIT_DATA): an allocation beyond it fails inside the process. Nothing is done
    about a process that prints more than ``output_limit_bytes`` but that ``printed_too_much`` says so.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        pass_fds: Sequence[int] = (),
        memory_bytes: int | None = None,
        output_limit_bytes: int | None = None,
        stdin_fd: int = subprocess.DEVNULL,
        stdout_fd: int | None = None,
    ) -> None:
        self._mark = os.urandom(8).hex()
        self.output_fd, write_fd = os.pipe()
        os.set_blocking(self.output_fd, False)
        try:
            self._popen = subprocess.Popen(
                list(command),
                cwd=cwd,
                env={**(os.environ if env is None else env), MARK: self._mark},
                stdin=stdin_fd,
                stdout=write_fd if stdout_fd is None else stdout_fd,
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
        try:
            self.exit_fd = os.pidfd_open(self.pid)
        except OSError:
            self._kill()
            os.close(self.output_fd)
            raise
        if memory_bytes is not None:
            with contextlib.suppress(ProcessLookupError):
                resource.prlimit(self.pid, resource.RLIMIT_DATA, (memory_bytes, memory_bytes))
        self.output_bytes = 0
        self.output_limit_bytes = output_limit_bytes
        self.output_open = True
        self._tail = b""
        self._closed = False
        self._draining = threading.Lock()
        self._drainer: threading.Thread | None = None

    def drain(self) -> None:
        """Reads what has been printed so far, but no more than a MiB, counting all of it and keeping the end.

        ``output_open`` turns false when nobody can print any more; ``output_fd`` is then readable for ever.
        """
        with self._draining:
            for _ in range(READS_AT_ONCE):
                if self._closed or not self.output_open:
                    return
                try:
                    chunk = os.read(self.output_fd, READ_BYTES)
                except BlockingIOError:
                    return
                if not chunk:
                    self.output_open = False
                    return
                self.note_output(chunk)

    def note_output(self, printed: bytes) -> None:
        """Counts something that was printed, and keeps its end; ``drain`` does it with all that it reads."""
        self.output_bytes += len(printed)
        self._tail = (self._tail + printed)[-TAIL_BYTES:]

    def drain_in_background(self) -> None:
        """Has a thread read what is printed, for an owner that does something else for long."""
        self._drainer = threading.Thread(target=self._drain_until_closed, name="output of a process", daemon=True)
        self._drainer.start()

    @property
    def printed_too_much(self) -> bool:
        """Whether it has printed more than it may since the last ``take_tail``, as far as that has been drained."""
        return self.output_limit_bytes is not None and self.output_bytes > self.output_limit_bytes

    def tail(self) -> str | None:
        """The end of what was printed since the last ``take_tail``, as far as that has been drained."""
        return self._tail.decode("utf-8", "replace").strip() or None

    def take_tail(self) -> str | None:
        """The end of what was printed since the last call, and starts counting anew."""
        text = self.tail()
        self._tail, self.output_bytes = b"", 0
        return text

    @property
    def returncode(self) -> int | None:
        """Exit status, negative for a signal; ``None`` while it runs."""
        return self._popen.poll()

    def wait(self, timeout_s: float, until_readable: int | None = None) -> int | None:
        """The exit status, or ``None`` when it has not ended in time. Output is drained meanwhile.

        Returns early when the descriptor ``until_readable`` has something to read.
        """
        ends = [self.exit_fd] if until_readable is None else [self.exit_fd, until_readable]
        poller = select.poll()
        for fd in (*ends, *([self.output_fd] if self.output_open else [])):
            poller.register(fd, select.POLLIN)
        deadline = monotonic() + timeout_s
        while (left := deadline - monotonic()) > 0:
            ready = {fd for fd, _ in poller.poll(left * 1000)}
            if self.output_fd in ready:
                self.drain()
                if not self.output_open:
                    poller.unregister(self.output_fd)
            if not ready.isdisjoint(ends):
                break
        return self._popen.poll()

    def interrupt(self) -> None:
        """Asks the process (not its children) to stop what it does, as Ctrl-C would."""
        with contextlib.suppress(ProcessLookupError):
            self._popen.send_signal(signal.SIGINT)

    def terminate(self) -> None:
        """Asks the process (not its children) to end."""
        with contextlib.suppress(ProcessLookupError):
            self._popen.terminate()

    def close(self) -> None:
        """Ends the process and everything it started, and frees its descriptors."""
        if self._closed:
            return
        try:
            self._kill()
            if self._drainer is not None:  # what it printed last
                self._drainer.join(DRAINED_S)
        finally:
            with self._draining:
                self._closed = True
            os.close(self.exit_fd)
            os.close(self.output_fd)

    def _drain_until_closed(self) -> None:
        poller = select.poll()
        poller.register(self.output_fd, select.POLLIN)
        while self.output_open and not self._closed:
            poller.poll()
            self.drain()

    def _kill(self) -> None:
        for sweep in range(SWEEPS):
            marked = self._marked()
            if sweep == 0:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.killpg(self.pid, signal.SIGKILL)
                self._popen.wait()
            elif not marked:
                return
            for fd in marked:
                _end(fd)

    def _marked(self) -> list[int]:
        """Descriptors of this process and of all that it has started."""
        needle = f"{MARK}={self._mark}".encode()
        found = []
        waiting = _processes()
        for _ in range(LOOKS):
            environments = {pid: environment_of(pid) for pid in waiting}
            for pid, environment in environments.items():
                if environment is not None and needle in environment:
                    with contextlib.suppress(OSError):
                        found.append(os.pidfd_open(pid))
            waiting = [pid for pid, environment in environments.items() if environment is None]
            if not waiting:
                break
            sleep(LOOK_AGAIN_S)
        return found


def _end(fd: int) -> None:
    """Kills the process of a descriptor and sees it end, unless the system itself holds it up."""
    poller = select.poll()
    poller.register(fd, select.POLLIN)
    try:
        signal.pidfd_send_signal(fd, signal.SIGKILL)
        poller.poll(1000)
    except (ProcessLookupError, PermissionError):
        pass
    finally:
        os.close(fd)


def _processes() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit() and _has_group(int(name))]  # noqa: PTH208
    except OSError:
        return []


def _has_group(pid: int) -> bool:
    """False for the kernel's own, of which there may be hundreds."""
    try:
        return os.getpgid(pid) != 0
    except OSError:
        return False


def environment_of(pid: int) -> bytes | None:
    """Empty for processes that are gone, already killed, or somebody else's.

    ``None`` while the program is still being loaded: whoever started it may have been told that it runs, but its
    environment is not there yet.
    """
    environment = _content(f"/proc/{pid}/environ")
    if environment is None or environment:
        return environment or b""
    if _is_being_loaded(pid):
        return None
    return _content(f"/proc/{pid}/environ") or b""  # it may have been loaded between the two looks


def _is_being_loaded(pid: int) -> bool:
    """A program whose environment is empty has a place for it all the same; one that has ended has no memory."""
    fields = (_content(f"/proc/{pid}/stat") or b"").rpartition(b")")[2].split()
    return len(fields) > 47 and fields[20] != b"0" and fields[47] == b"0"


def _content(path: str) -> bytes | None:
    try:
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123  (a third of pathlib's cost)
            return file.read()
    except OSError:
        return None


def cause_of_death(code: int | None) -> tuple[FailureKind, str]:
    """From an exit status, negative for a signal; ``None`` where the process only stopped talking."""
    if code is None:
        return FailureKind.EXIT, "broke off its connection and went on running"
    if code < 0:
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"signal {-code}"
        hint = "; the system may have run out of memory" if -code == signal.SIGKILL else ""
        return FailureKind.SIGNAL, f"killed by {name}{hint}"
    return FailureKind.EXIT, f"ended its process with status {code}"
