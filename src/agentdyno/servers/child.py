"""A server in a process of its own: started with settings, asked where it listens, and gone when its owner is."""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from time import monotonic
from typing import Any

from agentdyno.errors import DynoError, RunError

TAIL_BYTES = 8 * 1024
"""What is kept of the end of a server's output."""
STOP_S = 5.0
"""How long a server may take to stop before it is killed."""

Ready = Callable[[Mapping[str, object]], None]


class ChildServer:
    """Starts ``python -m module``, hands it ``settings`` and waits until it says that it serves (``ready``).

    ``what`` names it in messages. Its output is drained and only the end of it kept.
    """

    def __init__(self, module: str, settings: Mapping[str, object], *, what: str, wait_s: float) -> None:
        self._what = what
        self._tail = b""
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # Ctrl-C is for the owner, who then stops the server
        )
        self.pid = self._process.pid
        self._drain = threading.Thread(target=self._drain_output, name=f"output of {what}", daemon=True)
        self._drain.start()
        try:
            self.ready = self._start({**settings, "owner_pid": os.getpid()}, wait_s)
        except BaseException:
            self.stop()
            raise

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def tail(self) -> str:
        """The end of what the server has printed."""
        return self._tail.decode("utf-8", "replace").strip()

    def stop(self) -> None:
        """Asks it to stop, kills it when it does not, and waits until it is gone."""
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
        self._process.wait()
        self._drain.join(STOP_S)
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()

    def _start(self, settings: Mapping[str, object], wait_s: float) -> dict[str, Any]:
        assert self._process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it died at once; the answer that does not come says so
            self._process.stdin.write(json.dumps(settings).encode())
            self._process.stdin.close()
        line = self._first_line(wait_s)
        if line is None:
            raise RunError(f"{self._what} did not start within {wait_s:g} s", remedy=self._last_words())
        if not line.endswith(b"\n"):
            code = self._process.wait()
            self._drain.join(STOP_S)
            raise RunError(f"{self._what} did not start (status {code})", remedy=self._last_words())
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            self._process.wait()
            self._drain.join(STOP_S)
            raise RunError(answer["error"], where=answer["where"], remedy=answer["remedy"] or self._last_words())
        return answer

    def _first_line(self, wait_s: float) -> bytes | None:
        assert self._process.stdout is not None
        fd, line, deadline = self._process.stdout.fileno(), b"", monotonic() + wait_s
        poller = select.poll()
        poller.register(fd, select.POLLIN)
        while not line.endswith(b"\n"):
            if not poller.poll(max(0.0, deadline - monotonic()) * 1000):
                return None
            chunk = os.read(fd, 4096)
            if not chunk:
                break
            line += chunk
        return line

    def _drain_output(self) -> None:
        assert self._process.stderr is not None
        fd = self._process.stderr.fileno()
        while chunk := os.read(fd, 65536):
            self._tail = (self._tail + chunk)[-TAIL_BYTES:]

    def _last_words(self) -> str | None:
        tail = self.tail()
        return f"Its last output: {tail[-1500:]}" if tail else None


def run_child(serve: Callable[[Mapping[str, Any], Ready], None]) -> None:
    """The other end: reads the settings, serves, and reports an error of ours instead of a traceback."""
    settings = json.loads(sys.stdin.buffer.read())
    answers = os.dup(1)
    os.dup2(2, 1)  # nothing but the answer may come out of what the owner reads
    die_with(settings["owner_pid"])

    def say(answer: Mapping[str, object]) -> None:
        os.write(answers, json.dumps(dict(answer)).encode() + b"\n")
        os.close(answers)

    try:
        serve(settings, say)
    except DynoError as error:
        say({"error": error.message, "where": error.where, "remedy": error.remedy})


def die_with(pid: int) -> None:
    """Ends this process as soon as process ``pid``, which started it, is gone; by whatever thread it was started."""
    try:
        owner = os.pidfd_open(pid)
    except ProcessLookupError:
        os._exit(1)
    except (AttributeError, OSError):  # no pidfd here: a signal does, unless the starting thread ends earlier
        with contextlib.suppress(OSError, ImportError, AttributeError):
            import ctypes

            ctypes.CDLL(None, use_errno=True).prctl(1, signal.SIGKILL)  # 1 is PR_SET_PDEATHSIG
        return
    if os.getppid() != pid:  # it was gone before, and the number may be somebody else's by now
        os._exit(1)

    def watch() -> None:
        poller = select.poll()
        poller.register(owner, select.POLLIN)
        poller.poll()
        os._exit(1)

    threading.Thread(target=watch, name="owner watch", daemon=True).start()
