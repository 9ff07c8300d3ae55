"""A real language model on this machine: llama.cpp, served by a process of its own."""

from __future__ import annotations

import json
import os
import signal
import socket
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from time import monotonic, sleep
from types import TracebackType
from typing import Any

from agentdyno.errors import RunError
from agentdyno.extras import need_extra
from agentdyno.servers.child import ChildServer, Ready, run_child
from agentdyno.servers.model_wheel import find_model, install_model

__all__ = ["MODEL_NAME", "LocalModel", "find_model", "install_model"]

MODEL_NAME = "smollm2-135m-instruct"
HOST = "127.0.0.1"
MAGIC = b"GGUF"
"""What a model file begins with."""
START_S = 60.0
"""How long loading the weights may take."""


class LocalModel:
    """``with LocalModel() as model:`` serves the model at ``model.url`` (OpenAI protocol, ``…/v1``).

    ``model_path`` is a GGUF file, by default the installed SmolLM2; ``parallel`` requests are worked on at once,
    each with ``context`` tokens. ``threads`` defaults to one less than there are cores: llama.cpp's threads wait for
    each other in a busy loop, and a core that somebody else needs makes all of them slow (on two cores under load:
    5 tokens a second with two threads, 75 with one). ``cpus`` are the cores it may use, all without any. Port 0 takes
    any free one. The server ends with the block, or with the process that started it.
    """

    def __init__(
        self,
        model_path: Path | None = None,
        *,
        port: int = 0,
        parallel: int = 2,
        context: int = 4096,
        threads: int | None = None,
        cpus: tuple[int, ...] = (),
    ) -> None:
        self._path, self._asked_port = model_path, port
        self._cpus = cpus
        self._parallel, self._context, self._threads = parallel, context, threads
        self._child: ChildServer | None = None
        self._cpu_s = 0.0
        self.model = MODEL_NAME
        self.url = ""
        self.pid = 0

    def start(self) -> None:
        """Loads the model and serves it; raises ``RunError`` with the remedy when something is missing."""
        path = self._path or find_model()
        need_extra("local", "the local model")
        if path is None:
            raise RunError(
                "the local model's weights are not installed", remedy="Install them with: dyno model install"
            )
        if not path.is_file():
            raise RunError("there is no such model file", where=str(path), remedy="Give a GGUF file.")
        _check_magic(path)
        self.model = MODEL_NAME if self._path is None else path.stem.lower()
        settings = {
            "path": str(path),
            "name": self.model,
            "port": self._asked_port,
            "parallel": self._parallel,
            "context": self._context,
            "threads": self._threads or max(1, len(os.sched_getaffinity(0)) - 1),
            "cpus": [cpu for cpu in self._cpus if cpu in os.sched_getaffinity(0)],
        }
        self._child = ChildServer("agentdyno.servers.local_model", settings, what="llama.cpp", wait_s=START_S)
        self.pid = self._child.pid
        self.url = f"{self._child.ready['url']}/v1"
        try:
            self._wait_until_healthy()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Ends the server; ``cpu_s`` keeps its last value."""
        child, self._child = self._child, None
        if child is not None:
            self._cpu_s = _cpu_s(child.pid) or self._cpu_s
            child.stop()

    @property
    def alive(self) -> bool:
        """Whether its process runs."""
        return self._child is not None and self._child.alive

    def tail(self) -> str:
        """The end of what llama.cpp has printed."""
        return self._child.tail()[-1500:] if self._child is not None else ""

    def cpu_s(self) -> float:
        """Seconds of CPU time, user and system, of all threads of the server's process since it started."""
        if self._child is not None:
            found = _cpu_s(self._child.pid)
            if found is None:
                raise RunError("llama.cpp has ended", remedy=self.tail() or None)
            self._cpu_s = found
        return self._cpu_s

    def __enter__(self) -> LocalModel:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def _wait_until_healthy(self) -> None:
        assert self._child is not None
        deadline = monotonic() + START_S
        while self._child.alive and monotonic() < deadline:
            try:
                with urllib.request.urlopen(self.url.removesuffix("/v1") + "/health", timeout=5) as reply:
                    if json.load(reply).get("status") == "ok":
                        return
            except (urllib.error.URLError, OSError, ValueError):
                sleep(0.02)
        raise RunError("llama.cpp does not answer", remedy=self.tail() or None)


def _check_magic(path: Path) -> None:
    """Said here, because llama.cpp logs why it refuses a file from a thread that may end before it has written."""
    with path.open("rb") as file:
        begin = file.read(len(MAGIC))
    if begin != MAGIC:
        raise RunError(
            f"llama.cpp cannot load the model: the file begins with {begin!r}, not {MAGIC!r}",
            where=str(path),
            remedy="Give a GGUF file.",
        )


def _cpu_s(pid: int) -> float | None:
    """User and system time from /proc, ``None`` for a process that is gone or has ended."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return None
    state, *rest = text.rpartition(")")[2].split()
    if state in ("Z", "X"):
        return None
    return (int(rest[10]) + int(rest[11])) / os.sysconf("SC_CLK_TCK")


def _serve(settings: Mapping[str, Any], ready: Ready) -> None:
    """What the child process does: loads the model, says where it serves, and waits to be told to stop."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _leave)
    _check_port(settings["port"])
    if settings["cpus"]:
        os.sched_setaffinity(0, settings["cpus"])  # before the first thread is made, so that all inherit it
    import xllamacpp  # type: ignore[import-untyped, unused-ignore]

    params = xllamacpp.CommonParams()
    params.model.path = settings["path"]
    params.model_alias = {settings["name"]}
    params.hostnames = [HOST]
    params.port = settings["port"]
    params.n_parallel = settings["parallel"]
    params.n_ctx = settings["context"] * settings["parallel"]  # llama.cpp divides it among the slots
    params.fit_params = False  # the context asked for, not one that suits the free memory of the moment
    params.cache_ram_mib = 512  # agents take turns; without it each turn computes its examples anew
    params.use_jinja = True
    params.offline = True
    params.ui = False
    params.verbosity = 1
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = settings["threads"]
    try:
        server = xllamacpp.Server(params)
    except RuntimeError as error:
        raise RunError(f"llama.cpp cannot load the model: {error}", where=settings["path"]) from None
    ready({"url": server.listening_address})
    while True:
        signal.pause()


def _check_port(port: int) -> None:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            raise RunError(
                f"port {port} on {HOST} cannot be used: {error.strerror}",
                remedy="Give another port, or 0 for any free one.",
            ) from None


def _leave(number: int, frame: object) -> None:  # noqa: ARG001
    os._exit(0)  # llama.cpp's threads hold nothing that needs saving, and joining them can take seconds


def main(fd: int) -> None:
    """What the server's process does; ``fd`` is the socket to its owner."""
    run_child(fd, _serve)
