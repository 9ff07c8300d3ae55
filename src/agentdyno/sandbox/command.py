"""Running commands from a small process of their own, without blocking the event loop."""

from __future__ import annotations

import asyncio
import json
import math
import os
import socket
import struct
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentdyno.sandbox.process import READ_BYTES, READS_AT_ONCE, TAIL_BYTES, LimitedProcess

_LAUNCHER = str(Path(__file__).with_name("launcher.py"))
_HEADER = struct.Struct("<I")


@dataclass(frozen=True, slots=True)
class Command:
    """What to run. ``memory_bytes`` limits the private memory of each process (RLIMIT_DATA), ``cpu_s`` the CPU
    seconds of each, rounded up to whole ones (RLIMIT_CPU); ``output_bytes`` is the cap on what it may print."""

    argv: tuple[str, ...]
    input: bytes = b""
    cwd: str = "."
    env: Mapping[str, str] = field(default_factory=dict)
    memory_bytes: int | None = None
    cpu_s: float | None = None
    output_bytes: int = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Completed:
    """How a command ended. ``status`` is its exit status, negative for a signal; ``duration_s`` is from its start to
    its end; ``cpu_s``, ``peak_rss_bytes``, ``read_bytes`` and ``write_bytes`` (what came from storage and reached
    it) are its own and those of the children it waited for. ``queued_s`` is how long its first thread was ready and
    others had the CPU, ``None`` where nobody counts that. ``flooded``: it was ended because it printed too much, and
    the rest is not known."""

    status: int
    stdout: bytes
    stderr_tail: str
    duration_s: float = 0.0
    cpu_s: float = 0.0
    peak_rss_bytes: int = 0
    flooded: bool = False
    queued_s: float | None = None
    read_bytes: int = 0
    write_bytes: int = 0


class CannotStart(Exception):
    """The system refused to start a command; ``errno`` says why, 0 when it is not the system's reason."""

    def __init__(self, message: str, errno: int = 0) -> None:
        super().__init__(message)
        self.errno = errno


class CommandLauncher:
    """Runs one command at a time. When a run is cancelled or prints too much, everything that it started is ended and
    the launcher is closed with it; ``is_open`` then turns false."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        try:
            self._process = LimitedProcess(
                [sys.executable, "-I", "-S", _LAUNCHER, str(theirs.fileno())], env={}, pass_fds=(theirs.fileno(),)
            )
        except BaseException:
            ours.close()
            raise
        finally:
            theirs.close()
        ours.setblocking(False)
        self._socket = ours
        self._closing: asyncio.Task[None] | None = None

    @property
    def is_open(self) -> bool:
        return self._closing is None and self._process.returncode is None

    async def run(self, command: Command) -> Completed:
        """Runs it to its end. What it leaves running is ended, too. Raises ``CannotStart``."""
        stdin_read, stdin_write = os.pipe()
        stdout_read, stdout_write = os.pipe()
        stderr_read, stderr_write = os.pipe()
        theirs = (stdin_read, stdout_write, stderr_write)
        feeding = _Feeding(stdin_write, command.input)
        reading = _Reading(stdout_read, stderr_read, command.output_bytes)
        try:
            try:
                await self._send(command, theirs)
            finally:
                for fd in theirs:
                    os.close(fd)
            feeding.begin()
            reading.begin()
            report = await self._report(reading)
            if report is not None:
                reading.finish()
            if report is None or reading.flooded:
                await self.close()
        except BaseException:
            await self.close()
            raise
        finally:
            feeding.close()
            reading.close()
        return _completed(report, reading)

    async def close(self) -> None:
        """Ends the launcher and everything it started. A caller that is cancelled meanwhile does not stop that."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._end())
        await asyncio.shield(self._closing)

    async def _end(self) -> None:
        self._socket.close()
        await asyncio.to_thread(self._process.close)

    async def _send(self, command: Command, descriptors: tuple[int, ...]) -> None:
        job = {
            "argv": command.argv,
            "cwd": command.cwd,
            "env": dict(command.env),
            "memory_bytes": command.memory_bytes,
            "cpu_s": None if command.cpu_s is None else max(1, math.ceil(command.cpu_s)),
        }
        payload = json.dumps(job, ensure_ascii=False).encode("utf-8", "surrogatepass")
        try:
            socket.send_fds(self._socket, [_HEADER.pack(len(payload))], descriptors)
            await asyncio.get_running_loop().sock_sendall(self._socket, payload)
        except OSError as error:
            raise CannotStart(f"the process that starts commands has ended ({error.strerror})") from None

    async def _report(self, reading: _Reading) -> dict[str, Any] | None:
        """What the launcher says when the command has ended; ``None`` when it printed too much before."""
        receiving = asyncio.ensure_future(self._receive())
        try:
            either: set[asyncio.Future[Any]] = {receiving, reading.flood}
            await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
            return receiving.result() if receiving.done() else None
        finally:
            receiving.cancel()

    async def _receive(self) -> dict[str, Any]:
        header = await self._read(_HEADER.size)
        message = json.loads(await self._read(_HEADER.unpack(header)[0]))
        assert isinstance(message, dict)
        return message

    async def _read(self, size: int) -> bytes:
        loop, received = asyncio.get_running_loop(), bytearray()
        while len(received) < size:
            chunk = await loop.sock_recv(self._socket, size - len(received))
            if not chunk:
                raise CannotStart("the process that starts commands has been killed")
            received += chunk
        return bytes(received)


class LauncherPool:
    """As many launchers as there are commands at the same time. Those that wait for a command are used again, those
    that have ended are replaced."""

    def __init__(self) -> None:
        self._idle: list[CommandLauncher] = []
        self._launchers: list[CommandLauncher] = []

    def prepare(self) -> None:
        """Starts one before the first command comes."""
        self._idle.append(self._take())

    async def run(self, command: Command) -> Completed:
        """Runs it to its end. Raises ``CannotStart``."""
        launcher = self._take()
        try:
            return await launcher.run(command)
        finally:
            if launcher.is_open:
                self._idle.append(launcher)
            else:
                await launcher.close()
                self._launchers.remove(launcher)

    async def close(self) -> None:
        for launcher in self._launchers:
            await launcher.close()
        self._idle.clear()
        self._launchers.clear()

    def _take(self) -> CommandLauncher:
        while self._idle:
            launcher = self._idle.pop()
            if launcher.is_open:
                return launcher
        launcher = CommandLauncher()
        self._launchers.append(launcher)
        return launcher


def _completed(report: dict[str, Any] | None, reading: _Reading) -> Completed:
    tail = bytes(reading.stderr_tail).decode("utf-8", "replace").strip()
    if report is None or reading.flooded:
        return Completed(-9, bytes(reading.stdout), tail, flooded=True)
    if "refused" in report:
        raise CannotStart(str(report["refused"]), int(report["errno"]))
    return Completed(
        report["status"],
        bytes(reading.stdout),
        tail,
        float(report["duration_s"]),
        float(report["cpu_s"]),
        int(report["peak_rss_bytes"]),
        queued_s=report["queued_s"],
        read_bytes=int(report["read_bytes"]),
        write_bytes=int(report["write_bytes"]),
    )


class _Feeding:
    """Writes the input as fast as the command reads it; a command need not read it."""

    def __init__(self, fd: int, data: bytes) -> None:
        os.set_blocking(fd, False)
        self._fd: int | None = fd
        self._data = memoryview(data)
        self._loop = asyncio.get_running_loop()
        self._watched = False

    def begin(self) -> None:
        self._write()
        if self._fd is not None:
            self._watched = True
            self._loop.add_writer(self._fd, self._write)

    def _write(self) -> None:
        assert self._fd is not None
        try:
            while self._data:
                self._data = self._data[os.write(self._fd, self._data[:READ_BYTES]) :]
        except BlockingIOError:
            return
        except OSError:  # nobody reads
            pass
        self.close()

    def close(self) -> None:
        if self._fd is not None:
            fd, self._fd = self._fd, None
            if self._watched:
                self._loop.remove_writer(fd)
            os.close(fd)


class _Reading:
    """Keeps the output and the end of the error output, both of which count towards the cap."""

    def __init__(self, stdout: int, stderr: int, limit_bytes: int) -> None:
        self.stdout = bytearray()
        self.stderr_tail = bytearray()
        self._loop = asyncio.get_running_loop()
        self.flood: asyncio.Future[None] = self._loop.create_future()
        self.flooded = False
        self._fds = {"stdout": stdout, "stderr": stderr}
        self._watched: set[str] = set()
        self._limit_bytes = limit_bytes
        self._count = 0

    def begin(self) -> None:
        for name, fd in self._fds.items():
            os.set_blocking(fd, False)
            self._loop.add_reader(fd, self._read, name)
            self._watched.add(name)

    def finish(self) -> None:
        """Reads what is still in the pipes, when nobody writes any more."""
        for name in list(self._watched):
            while name in self._watched and not self.flooded and self._read(name):
                pass

    def close(self) -> None:
        for name in list(self._watched):
            self._unwatch(name)
        for fd in self._fds.values():
            os.close(fd)
        self.flood.cancel()

    def _read(self, name: str) -> bool:
        """Reads up to a MiB; whether there may be more."""
        for _ in range(READS_AT_ONCE):
            try:
                chunk = os.read(self._fds[name], READ_BYTES)
            except BlockingIOError:
                return False
            if not chunk:
                self._unwatch(name)
                return False
            self._count += len(chunk)
            if self._count > self._limit_bytes:
                self._unwatch(name)
                self.flooded = True
                if not self.flood.done():
                    self.flood.set_result(None)
                return False
            if name == "stdout":
                self.stdout += chunk
            else:
                self.stderr_tail = (self.stderr_tail + chunk)[-TAIL_BYTES:]
        return True

    def _unwatch(self, name: str) -> None:
        if name in self._watched:
            self._watched.remove(name)
            self._loop.remove_reader(self._fds[name])
