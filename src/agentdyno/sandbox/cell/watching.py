"""The command of a cell: started without rights, watched, and ended with everything that it started."""

from __future__ import annotations

import contextlib
import os
import resource
import select
import signal
import struct
import time
from typing import Any

from agentdyno.sandbox.cell.files import WORK
from agentdyno.sandbox.cell.kernel import CAPBSET_DROP, LIBC, NO_NEW_PRIVS, call

_WATCH_S = 0.02
_TAIL = 8 * 1024


def run(job: dict[str, Any], user: int | None) -> dict[str, Any]:
    reading, writing = os.pipe()
    started = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        _become(job, user, writing)
    os.close(writing)
    watch = _Watch(job, reading, started)
    status = watch.until_ended(pid)
    duration_s = time.perf_counter() - started
    _end_all()
    watch.drain(last=True)
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "status": status,
        "ended_by": watch.ended_by,
        "duration_s": duration_s,
        "cpu_s": used.ru_utime + used.ru_stime,
        "peak_rss_bytes": max(watch.peak_bytes, used.ru_maxrss * 1024),
        "output": bytes(watch.tail).decode("utf-8", "replace"),
        "output_bytes": watch.count,
        "full": watch.too_many_files or _is_full(job),
    }


class _Watch:
    """What goes on while the command runs: its output, its time, the memory of all its processes."""

    def __init__(self, job: dict[str, Any], reading: int, started: float) -> None:
        self._job, self._fd, self._deadline = job, reading, started + job["time_limit_s"]
        os.set_blocking(reading, False)
        self._poller = select.poll()
        self._poller.register(reading, select.POLLIN)
        self.tail = bytearray()
        self.count = self.peak_bytes = 0
        self.ended_by: str | None = None
        self.too_many_files = False

    def until_ended(self, pid: int) -> int:
        exit_fd = os.pidfd_open(pid)
        self._poller.register(exit_fd, select.POLLIN)
        while True:
            ready = {fd for fd, _ in self._poller.poll(_WATCH_S * 1000)}
            self.drain()
            self._measure()
            if exit_fd in ready:
                break
            if self.ended_by is None and time.perf_counter() > self._deadline:
                self.ended_by = "time"
            self.too_many_files = self.too_many_files or _has_too_many_files(self._job)
            if self.ended_by is not None or self.too_many_files:
                os.kill(pid, signal.SIGKILL)
                _end_all(but=pid)
        self._poller.unregister(exit_fd)
        os.close(exit_fd)
        _, status = os.waitpid(pid, 0)
        return os.waitstatus_to_exitcode(status)

    def drain(self, last: bool = False) -> None:
        for _ in range(1 if not last else 64):
            try:
                chunk = os.read(self._fd, 65_536)
            except OSError:
                return None
            if not chunk:
                return self._closed()
            self.count += len(chunk)
            self.tail = (self.tail + chunk)[-_TAIL:]
            if self.count > self._job["output_bytes"] and self.ended_by is None:
                self.ended_by = "output"
        return None

    def _closed(self) -> None:
        try:
            self._poller.unregister(self._fd)
        except KeyError:
            return

    def _measure(self) -> None:
        total = 0
        for name in os.listdir("/proc"):
            if name.isdigit() and name != "1":
                try:
                    with open(f"/proc/{name}/statm") as file:
                        total += int(file.read().split()[1])
                except (OSError, ValueError, IndexError):
                    continue
        self.peak_bytes = max(self.peak_bytes, total * resource.getpagesize())


def _become(job: dict[str, Any], user: int | None, writing: int) -> None:
    """Turns the child into the command; never returns."""
    try:
        os.setsid()
        nothing = os.open("/dev/null", os.O_RDONLY)
        for target, fd in ((0, nothing), (1, writing), (2, writing)):
            os.dup2(fd, target)
        os.closerange(3, 256)
        limits = (
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_CPU, job["cpu_s"]),
            (resource.RLIMIT_DATA, job["memory_bytes"]),
            (resource.RLIMIT_FSIZE, job["work_bytes"]),
            (resource.RLIMIT_NOFILE, 256),
            (resource.RLIMIT_NPROC, job["processes"]),
        )
        for kind, most in limits:
            resource.setrlimit(kind, (most, most))
        if user is not None:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
        _drop_capabilities()
        os.chdir(WORK)
        os.execve(job["shell"], [job["shell"], "-c", job["command"]], job["env"])
    except BaseException as error:  # noqa: BLE001  (nobody above would see it)
        os.write(2, f"the command cannot be started: {error}\n".encode("utf-8", "replace"))
    finally:
        os._exit(126)


def _drop_capabilities() -> None:
    for number in range(64):
        LIBC.prctl(CAPBSET_DROP, number, 0, 0, 0)
    call(LIBC.prctl(NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    header = struct.pack("=Ii", 0x20080522, 0)
    call(LIBC.capset(header, bytes(24)), "capabilities cannot be given up")


def _end_all(but: int = 0) -> None:
    """Kills every process of this process space except the first, and waits for them."""
    if os.getpid() != 1:  # never outside a process space of its own
        return
    with contextlib.suppress(ProcessLookupError):
        os.kill(-1, signal.SIGKILL)
    while not but:
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _has_too_many_files(job: dict[str, Any]) -> bool:
    """Bubblewrap sets no limit on the number of files, so they are counted."""
    rooms = [os.statvfs(folder) for folder in (WORK, "/tmp", "/dev/shm")]
    return any(room.f_files - room.f_ffree > job["files"] for room in rooms)


def _is_full(job: dict[str, Any]) -> bool:
    if _has_too_many_files(job):
        return True
    for folder in (WORK, "/tmp"):
        room = os.statvfs(folder)
        if room.f_bavail * room.f_frsize < 16_384 or (room.f_files and room.f_ffree < 2):
            return True
    return False
