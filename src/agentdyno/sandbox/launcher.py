"""The small process from which commands are started. Standard library only, run as a script.

Linux charges a command with the memory of the process that started it, so that one started from a large program
seems large itself. From here the floor is about 10 MB. Each message is JSON with its length in front and carries the
descriptors of the command's input, output and error output; the answer tells how it ended and what it used.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import socket
import struct
import sys
import time
from typing import Any

HEADER = struct.Struct("<I")
MARK = "AGENTDYNO_PROCESS"
"""As in ``sandbox.process``: commands carry the mark of this process."""
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_BLOCK_BYTES = 512  # what the kernel counts storage in, whatever the blocks of a disk are
_SWEEPS = 1000


def main(fd: int) -> None:
    """Starts one command after the other until the other end of socket ``fd`` is closed."""
    os.set_inheritable(fd, False)
    end = socket.socket(fileno=fd)
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(_PR_SET_CHILD_SUBREAPER, 1)
    signal.signal(signal.SIGTERM, _leave)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    owner = struct.unpack("3i", end.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0]
    while os.getppid() == owner and (received := _receive(end)) is not None:
        job, descriptors = received
        payload = json.dumps(_perform(job, descriptors, libc)).encode()
        end.sendall(HEADER.pack(len(payload)) + payload)
    _end_children()


def _leave(number: int, _frame: object) -> None:
    _end_children()
    os._exit(128 + number)


def _receive(end: socket.socket) -> tuple[dict[str, Any], list[int]] | None:
    header, descriptors, _, _ = socket.recv_fds(end, HEADER.size, 3)
    if len(header) < HEADER.size:
        return None
    for fd in descriptors:
        os.set_inheritable(fd, False)
    size, received = HEADER.unpack(header)[0], bytearray()
    while len(received) < size:
        chunk = end.recv(min(size - len(received), 1 << 20))
        if not chunk:
            return None
        received += chunk
    return json.loads(received.decode("utf-8", "surrogatepass")), descriptors


def _perform(job: dict[str, Any], descriptors: list[int], libc: Any) -> dict[str, Any]:
    error_read, error_write = os.pipe()
    started = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        _become(job, descriptors, error_write, libc)
    os.close(error_write)
    for fd in descriptors:
        os.close(fd)
    with os.fdopen(error_read, "rb") as errors:
        refused = errors.read()
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    duration_s = time.perf_counter() - started
    queued_s = _queued_s(pid)
    _, status, usage = os.wait4(pid, 0)
    if refused:
        number, _, text = refused.decode("utf-8", "replace").partition(" ")
        return {"refused": text, "errno": int(number)}
    cpu_s = usage.ru_utime + usage.ru_stime + _end_children()
    return {
        "status": os.waitstatus_to_exitcode(status),
        "duration_s": duration_s,
        "cpu_s": cpu_s,
        "peak_rss_bytes": usage.ru_maxrss * 1024,
        "read_bytes": _BLOCK_BYTES * usage.ru_inblock,
        "write_bytes": _BLOCK_BYTES * usage.ru_oublock,
        "queued_s": queued_s,
    }


def _queued_s(pid: int) -> float | None:
    """Seconds in which an ended child that is still there was ready to run and others had the CPU."""
    try:
        with open(f"/proc/{pid}/schedstat") as file:  # noqa: PTH123  (pathlib is slow to load)
            return int(file.read().split()[1]) / 1e9
    except (OSError, ValueError, IndexError):
        return None


def _become(job: dict[str, Any], descriptors: list[int], error_write: int, libc: Any) -> None:
    """Turns the child into the command; never returns."""
    try:
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        for name in ("SIGPIPE", "SIGXFSZ", "SIGTERM"):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
        for target, fd in enumerate(descriptors):
            os.dup2(fd, target)
        os.chdir(job["cwd"])
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if job["cpu_s"] is not None:
            resource.setrlimit(resource.RLIMIT_CPU, (job["cpu_s"], job["cpu_s"] + 1))
        if job["memory_bytes"] is not None:
            resource.setrlimit(resource.RLIMIT_DATA, (job["memory_bytes"], job["memory_bytes"]))
        os.execvpe(job["argv"][0], job["argv"], {**job["env"], MARK: os.environ.get(MARK, "")})
    except BaseException as error:  # noqa: BLE001  (nobody above would see it)
        number = error.errno if isinstance(error, OSError) else 0
        text = error.strerror if isinstance(error, OSError) else f"{type(error).__name__}: {error}"
        os.write(error_write, f"{number or 0} {text}".encode("utf-8", "replace")[:4000])
    finally:
        os._exit(127)


def _end_children() -> float:
    """Ends what commands have left running, orphans included; returns the CPU seconds that these had used."""
    cpu_s = 0.0
    for _ in range(_SWEEPS):
        try:
            pid, _, usage = os.wait4(-1, os.WNOHANG)
            if pid == 0:
                for child in _children():
                    os.kill(child, signal.SIGKILL)
                _, _, usage = os.wait4(-1, 0)
        except ChildProcessError:
            break
        except ProcessLookupError:
            continue
        cpu_s += usage.ru_utime + usage.ru_stime
    return cpu_s


def _children() -> list[int]:
    try:
        with open(f"/proc/self/task/{os.getpid()}/children") as file:  # noqa: PTH123  (pathlib is slow to load)
            return [int(pid) for pid in file.read().split()]
    except OSError:
        return []


if __name__ == "__main__":
    main(int(sys.argv[1]))
