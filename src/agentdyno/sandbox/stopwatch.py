"""The small process that starts and times commands. Standard library only, run as a script.

It is told once what there is to run, then which of these, many at a time: it performs them one after the other and
answers when ``BATCH_S`` have gone by, so that nobody works beside a short command and a long one is told at once.
A message is JSON with its length in front.

Only what starts a command and waits for its end is between the two looks at the clock. A command is started with
``posix_spawn``, which does not copy this process: it is called in the C library itself, as Python would put its words
and the environment together within the reading, and a command has its input and output from here, so that it need not
be given them. Each is started with an environment of another length: where the stack of a program begins can change
its speed, and a draw that differs from run to run is noise instead of bias.
"""

from __future__ import annotations

import ctypes
import errno
import gc
import json
import os
import resource
import select
import signal
import socket
import struct
import sys
import time
from typing import Any, NamedTuple

HEADER = struct.Struct("<I")
BATCH_S = 0.05
"""Results wait so long for those of the next commands."""
OFFSET = b"AGENTDYNO_ENVIRONMENT_OFFSET"
MOST_OFFSET = 4096
_PR_SET_PDEATHSIG = 1
_NOT_RUN = (0, 0, 0.0, 0.0, 0, 0)
CANNOT_START, TOO_LATE = 1000, 2000
"""Statuses that no exit has: ``CANNOT_START`` and the system's reason, or that the time was up."""
_FOUND: dict[str, str] = {}
_SETSIGDEF = 0x04
_OPAQUE_BYTES = 1024
"""More than any C library on Linux takes for a set of signals or the attributes of a start."""
_DEFAULT_SIGNALS = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGTERM)


def main(fd: int) -> None:
    """Serves the socket ``fd`` until its other end is closed."""
    os.set_inheritable(fd, False)
    end = socket.socket(fileno=fd)
    signal.signal(signal.SIGTERM, _leave)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    # What is at 0, 1 and 2 is the commands' from the first of them on.
    sys.stderr = open(os.dup(2), "w", encoding="utf-8")  # noqa: PTH123, SIM115  (as long as the process)
    gc.disable()
    start = _Start(dict(os.environb))
    jobs: list[dict[str, Any]] = []
    while (message := receive(end)) is not None:
        if "jobs" in message:
            try:
                jobs = [_opened(job) for job in message["jobs"]]
                _send(end, {})
            except OSError as error:
                _send(end, {"refused": f"{error.filename}: {error.strerror}"})
        elif "around" in message:
            job = {**jobs[message["around"]], "timeout_s": None}
            _send(end, {"done": [[*_run(job, _words(message["argv"]), start), 0]]})
        else:
            _send(end, {"done": _perform(message["do"], jobs, start)})


def _leave(_number: int, _frame: object) -> None:
    """With everything that was started here: a command knows nothing of whoever it is timed for."""
    os.killpg(0, signal.SIGKILL)


class _Start:
    """``posix_spawn`` of the C library, with all that it is given made before the clock is looked at."""

    def __init__(self, environ: dict[bytes, bytes]) -> None:
        library = ctypes.PyDLL(None)
        self._spawn, self._pid = library.posix_spawn, ctypes.c_int()
        self._place = ctypes.byref(self._pid)
        environ.pop(OFFSET, None)
        entries = [name + b"=" + value for name, value in environ.items()]
        self._environ = (ctypes.c_char_p * (len(entries) + 2))(*entries, OFFSET + b"=", None)
        self._offset = len(entries)
        self._attributes = ctypes.create_string_buffer(_OPAQUE_BYTES)
        signals = ctypes.create_string_buffer(_OPAQUE_BYTES)
        library.posix_spawnattr_init(self._attributes)
        library.sigemptyset(signals)
        for number in _DEFAULT_SIGNALS:
            library.sigaddset(signals, int(number))
        library.posix_spawnattr_setsigdefault(self._attributes, signals)
        library.posix_spawnattr_setflags(self._attributes, ctypes.c_short(_SETSIGDEF))

    def offset(self, size: int) -> None:
        """How much longer the environment of the next command is."""
        self._environ[self._offset] = OFFSET + b"=" + b"x" * size

    def __call__(self, program: bytes, argv: ctypes.Array[ctypes.c_char_p]) -> int:
        """The process id; raises ``OSError``."""
        problem = self._spawn(self._place, program, None, self._attributes, argv, self._environ)
        if problem:
            raise OSError(problem, os.strerror(problem))
        return self._pid.value


class _Words(NamedTuple):
    """A command as the C library takes it, which would read a word up to its zero byte: none can be started so."""

    program: bytes
    argv: Any
    problem: int


def _words(argv: list[str]) -> _Words:
    words = [os.fsencode(word) for word in argv]
    problem = errno.EINVAL if any(b"\0" in word for word in words) else 0
    return _Words(os.fsencode(_found(argv[0])), (ctypes.c_char_p * (len(words) + 1))(*words, None), problem)


def _opened(job: dict[str, Any]) -> dict[str, Any]:
    """The job with the descriptors of its files; output is written over at each run."""
    null = os.open(os.devnull, os.O_RDWR)
    source = null if job["input"] is None else os.open(job["input"], os.O_RDONLY)
    if isinstance(job["output"], int):
        out = err = job["output"]
        os.set_inheritable(out, False)
    else:
        out = null if job["output"] is None else os.open(job["output"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o666)
        err = null
    return {
        **job,
        "argv": _words(job["argv"]),
        "prepare": None if job["prepare"] is None else _words(job["prepare"]),
        "ends": (source, out, err),
        "rewound": [fd for fd in (source, out) if fd not in (null, job["output"])],
    }


def _perform(which: list[int], jobs: list[dict[str, Any]], start: _Start) -> list[list[Any]]:
    """One row for each that was run: ``started_ms wall_ns user_s system_s rss_bytes status prepared``.

    ``rss_bytes`` is 0 where it is not known.
    """
    rows: list[list[Any]] = []
    deadline = time.perf_counter() + BATCH_S
    for index in which:
        job = jobs[index]
        prepared = 0
        if job["prepare"] is not None:
            prepared = _run(job, job["prepare"], start)[-1]
        row = _NOT_RUN if prepared else _timed(job, start)
        rows.append([*row, prepared])
        if prepared or (rows[-1][5] and not job["ignore_failure"]) or time.perf_counter() >= deadline:
            break
    return rows


def _timed(job: dict[str, Any], start: _Start) -> tuple[Any, ...]:
    for fd in job["rewound"]:
        os.lseek(fd, 0, os.SEEK_SET)
    start.offset(int.from_bytes(os.urandom(2), "little") % MOST_OFFSET)
    return _run(job, job["argv"], start)


def _run(job: dict[str, Any], words: _Words, start: _Start) -> tuple[Any, ...]:
    timeout_s, program, argv = job["timeout_s"], words.program, words.argv
    for place, fd in enumerate(job["ends"]):
        os.dup2(fd, place)
    started_ms = time.time_ns() // 1_000_000
    if words.problem:
        return started_ms, 0, 0.0, 0.0, 0, CANNOT_START + words.problem
    begun = time.perf_counter_ns()
    try:
        pid = start(program, argv)
    except OSError as error:
        return started_ms, 0, 0.0, 0.0, 0, CANNOT_START + (error.errno or 0)
    late = timeout_s is not None and _is_late(pid, timeout_s)
    _, status, usage = os.wait4(pid, 0)
    wall_ns = time.perf_counter_ns() - begun
    code = TOO_LATE if late else os.waitstatus_to_exitcode(status)
    # Until it is another program, a command has our memory, and Linux counts that: what is not above it is not known.
    known = usage.ru_maxrss > resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return started_ms, wall_ns, usage.ru_utime, usage.ru_stime, usage.ru_maxrss * 1024 if known else 0, code


def _found(program: str) -> str:
    """Where the system would find a program, so that it need not look each time within the reading."""
    if os.sep in program or program in _FOUND:
        return _FOUND.get(program, program)
    for folder in os.get_exec_path():
        path = os.path.join(folder, program)  # noqa: PTH118  (pathlib is slow to load)
        if os.access(path, os.X_OK) and not os.path.isdir(path):  # noqa: PTH112
            _FOUND[program] = path
            return path
    return program


def _is_late(pid: int, timeout_s: float) -> bool:
    """Waits for its end, and kills what has not ended in time."""
    fd = os.pidfd_open(pid)
    try:
        poller = select.poll()
        poller.register(fd, select.POLLIN)
        if poller.poll(timeout_s * 1000):
            return False
        os.kill(pid, signal.SIGKILL)
        return True
    finally:
        os.close(fd)


def receive(end: socket.socket) -> dict[str, Any] | None:
    """The next message; ``None`` when the other end is closed."""
    header = _read(end, HEADER.size)
    body = None if header is None else _read(end, HEADER.unpack(header)[0])
    if body is None:
        return None
    message = json.loads(body.decode("utf-8", "surrogatepass"))
    assert isinstance(message, dict)
    return message


def _read(end: socket.socket, size: int) -> bytes | None:
    received = bytearray()
    while len(received) < size:
        chunk = end.recv(min(size - len(received), 1 << 20))
        if not chunk:
            return None
        received += chunk
    return bytes(received)


def _send(end: socket.socket, message: dict[str, Any]) -> None:
    payload = json.dumps(message).encode()
    end.sendall(HEADER.pack(len(payload)) + payload)


if __name__ == "__main__":
    main(int(sys.argv[1]))
