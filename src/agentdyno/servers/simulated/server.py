"""A simulated model server: exact times, faults on purpose, and a log of what it really sent when.

``SimulatedServer`` runs inside an event loop; ``simulated_server`` in a process of its own, so that the client that
is measured does not share an interpreter with it.
"""

from __future__ import annotations

import asyncio
import errno
import gc
import http.client
import json
import resource
import signal
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

from agentdyno.errors import RunError, SpecError
from agentdyno.servers.child import ChildServer, Ready, run_child
from agentdyno.servers.simulated.behaviour import Behaviour
from agentdyno.servers.simulated.connection import ServerConnection
from agentdyno.servers.simulated.router import RequestRouter
from agentdyno.servers.simulated.send_log import SendLog, ServedRequest, ServerStats
from agentdyno.servers.simulated.timetable import Timetable

__all__ = [
    "Behaviour",
    "RunningServer",
    "ServedRequest",
    "ServerStats",
    "SimulatedServer",
    "serve_until_stopped",
    "simulated_server",
]

BACKLOG = 4096


class SimulatedServer:
    """``async with SimulatedServer(Behaviour(ttft_s=0.2)) as server:`` serves at ``server.url`` until the end.

    The OpenAI protocol is below ``openai_url``, Ollama's below ``url``. Port 0 takes any free one. ``certificate`` is
    a PEM file with the key in it: it then speaks TLS.
    """

    def __init__(
        self,
        behaviour: Behaviour | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        *,
        certificate: Path | None = None,
    ) -> None:
        self.behaviour = behaviour or Behaviour()
        self.host, self.port = host, port
        self._tls = None if certificate is None else _server_tls(certificate)
        self._log = SendLog()
        self._server: asyncio.Server | None = None
        self._timetable: Timetable | None = None
        self._router: RequestRouter | None = None

    async def start(self) -> None:
        """Listens; raises ``RunError`` when the port cannot be had."""
        loop = asyncio.get_running_loop()
        timetable = Timetable(loop)
        router = RequestRouter(self.behaviour, self._log, timetable)
        try:
            self._server = await loop.create_server(
                lambda: ServerConnection(router),
                self.host,
                self.port,
                ssl=self._tls,
                backlog=BACKLOG,
                reuse_address=True,
            )
        except OSError as error:
            timetable.close()
            raise _cannot_listen(self.host, self.port, error) from None
        self._timetable, self._router = timetable, router
        self.port = self._server.sockets[0].getsockname()[1]

    async def stop(self) -> None:
        """Cuts every connection and stops listening."""
        server, self._server = self._server, None
        if server is None or self._router is None or self._timetable is None:
            return
        server.close()
        await self._router.leave()
        self._timetable.close()
        await server.wait_closed()

    @property
    def url(self) -> str:
        return f"{'http' if self._tls is None else 'https'}://{self.host}:{self.port}"

    @property
    def openai_url(self) -> str:
        return f"{self.url}/v1"

    def log(self) -> tuple[ServedRequest, ...]:
        """Every request since the start or the last reset, in the order of arrival."""
        return self._log.served()

    def log_lines(self) -> Iterator[bytes]:
        """The log as lines of JSON."""
        return self._log.lines()

    def stats(self) -> ServerStats:
        return self._log.stats() if self._router is None else self._router.stats()

    def reset(self) -> None:
        """Empties the log and the statistics, and forgets which requests came before."""
        self._log.reset()
        if self._router is not None:
            self._router.forget()

    async def __aenter__(self) -> SimulatedServer:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()


class RunningServer:
    """A simulated server in another process."""

    def __init__(self, child: ChildServer, certificate: Path | None = None) -> None:
        self._child, self._certificate = child, certificate
        self.host, self.port = str(child.ready["host"]), int(child.ready["port"])
        self.url = str(child.ready["url"])
        self.openai_url = f"{self.url}/v1"
        self.pid = child.pid

    def log(self) -> tuple[ServedRequest, ...]:
        """Every request since the start or the last reset, in the order of arrival."""
        lines = self._ask("GET", "/dyno/log").splitlines()
        return tuple(ServedRequest.from_plain(json.loads(line)) for line in lines)

    def stats(self) -> ServerStats:
        plain = json.loads(self._ask("GET", "/dyno/stats"))
        return ServerStats(**{name: value for name, value in plain.items() if name != "simulated"})

    def reset(self) -> None:
        """Empties the log and the statistics, and forgets which requests came before."""
        self._ask("DELETE", "/dyno/log")

    def _ask(self, method: str, path: str) -> bytes:
        link = http.client.HTTPConnection(self.host, self.port, timeout=60)
        if self._certificate is not None:
            trusting = ssl.create_default_context(cafile=self._certificate)
            link = http.client.HTTPSConnection(self.host, self.port, timeout=60, context=trusting)
        try:
            link.request(method, path)
            return link.getresponse().read()
        except OSError as error:
            raise RunError(
                f"the simulated server does not answer: {error}", remedy=self._child.tail() or None
            ) from None
        finally:
            link.close()


@contextmanager
def simulated_server(
    behaviour: Behaviour | None = None,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    certificate: Path | None = None,
) -> Iterator[RunningServer]:
    """Runs a simulated server in a process of its own, which ends with the block or with this process."""
    settings: dict[str, object] = {"behaviour": (behaviour or Behaviour()).as_plain(), "host": host, "port": port}
    if certificate is not None:
        settings["certificate"] = str(certificate.absolute())
    child = ChildServer("agentdyno.servers.simulated.server", settings, what="the simulated server", wait_s=30.0)
    try:
        yield RunningServer(child, certificate)
    finally:
        child.stop()


def _server_tls(certificate: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(certificate)
    except (OSError, ssl.SSLError) as error:
        raise SpecError(
            f"the certificate cannot be used: {error.strerror or error}",
            where=str(certificate),
            remedy="Give a PEM file with a certificate and its key, without a password.",
        ) from None
    return context


def _cannot_listen(host: str, port: int, error: OSError) -> RunError:
    if error.errno == errno.EADDRINUSE:
        return RunError(f"port {port} on {host} is in use", remedy="Give another port, or 0 for any free one.")
    return RunError(f"cannot listen on {host}:{port}: {error.strerror or error}")


def serve_until_stopped(server: SimulatedServer, started: Callable[[], None]) -> None:
    """Runs the server in an event loop of its own until SIGINT or SIGTERM; ``started`` is called when it listens."""

    async def serve() -> None:
        stopped = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stopped.set)
        async with server:
            started()
            await stopped.wait()

    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # a stream is a descriptor
    gc.freeze()
    gc.set_threshold(100_000, 50, 100)  # a collection in the middle of a burst would make tokens late
    with asyncio.Runner(loop_factory=_loop_factory()) as runner:
        runner.run(serve())


def _serve(settings: Mapping[str, Any], ready: Ready) -> None:
    """What the child process does: says where it listens and serves until it is told to stop."""
    certificate = Path(settings["certificate"]) if "certificate" in settings else None
    behaviour = Behaviour.from_plain(settings["behaviour"])
    server = SimulatedServer(behaviour, settings["host"], settings["port"], certificate=certificate)
    serve_until_stopped(server, lambda: ready({"host": server.host, "port": server.port, "url": server.url}))


def _loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    """uvloop's where it is installed."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop
    return uvloop.new_event_loop


def main(fd: int) -> None:
    """What the server's process does; ``fd`` is the socket to its owner."""
    run_child(fd, _serve)
