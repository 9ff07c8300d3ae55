"""A proxy in front of any HTTP endpoint whose faults are switched on and off while it runs.

``with fault_proxy("http://127.0.0.1:8000/v1") as proxy:`` gives ``proxy.url`` to use in the target's place, and
``proxy.set_fault("reset")``. It runs in a process of its own.
"""

from __future__ import annotations

import asyncio
import gc
import json
import secrets
import signal
import socket
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any
from urllib.parse import urlsplit

from agentdyno.errors import RunError, SpecError
from agentdyno.servers.child import ChildServer, Ready, run_child
from agentdyno.servers.proxy.exchange import ProxyExchange, Upstream
from agentdyno.servers.proxy.fault import FAULTS, ProxyFault
from agentdyno.servers.proxy.sockets import HOST, bound_socket, client_tls, loop_factory
from agentdyno.servers.simulated.timetable import Timetable

__all__ = ["FAULTS", "FaultProxy", "ProxyFault", "fault_proxy"]

BACKLOG = 4096
CONTROL_S = 10.0
"""How long the proxy's process may take to obey."""
CONNECT_S = 10.0


class FaultProxy:
    """A fault proxy in another process."""

    def __init__(self, child: ChildServer, path: str, token: str) -> None:
        self._child, self._token = child, token
        self.host, self.port = HOST, int(child.ready["port"])
        self._control_port = int(child.ready["control_port"])
        self.url = f"http://{self.host}:{self.port}{path}"
        self.pid = child.pid

    def set_fault(
        self, name: str, *, delay_s: float = 0.2, status: int = 503, retry_after_s: float | None = None
    ) -> None:
        """Switches to the fault of this name in ``FAULTS``, ``""`` for none; it is in force when this returns.

        ``delay_s`` (seconds) is of ``latency``, ``status`` and ``retry_after_s`` (seconds) are of ``errors``.
        Raises ``SpecError`` for one that there is not, ``RunError`` where the proxy is gone.
        """
        fault = ProxyFault(name, delay_s=delay_s, status=status, retry_after_s=retry_after_s)
        self._control({"fault": asdict(fault)})

    def struck(self) -> dict[str, int]:
        """How many exchanges met each fault since the start. Connections that were refused are nowhere counted."""
        counts = self._control({})["struck"]
        return {str(name): int(count) for name, count in counts.items()}

    def _control(self, order: Mapping[str, object]) -> dict[str, Any]:
        try:
            with socket.create_connection((HOST, self._control_port), timeout=CONTROL_S) as link:
                link.sendall(json.dumps({"token": self._token, **order}).encode() + b"\n")
                with link.makefile("rb") as answers:
                    answer: dict[str, Any] = json.loads(answers.readline())
        except (OSError, ValueError) as error:
            raise RunError(f"the fault proxy does not obey: {error}", remedy=self._child.tail() or None) from None
        return answer


@contextmanager
def fault_proxy(target_url: str, *, port: int = 0, ca_file: str = "", insecure: bool = False) -> Iterator[FaultProxy]:
    """Runs a proxy in front of ``target_url`` in a process of its own, which ends with the block or with this one.

    Clients speak plain HTTP to it whatever the target speaks; ``ca_file`` and ``insecure`` say whom an ``https``
    target is trusted to be. Raises ``SpecError`` where the address is none.
    """
    parts = urlsplit(target_url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise SpecError(f"{target_url!r} is no address of an HTTP endpoint", remedy="Write http://HOST:PORT/PATH.")
    token = secrets.token_hex(16)
    settings = {"target": target_url, "port": port, "ca_file": ca_file, "insecure": insecure, "token": token}
    child = ChildServer("agentdyno.servers.proxy.server", settings, what="the fault proxy", wait_s=30.0)
    try:
        yield FaultProxy(child, parts.path, token)
    finally:
        child.stop()


class _Hub:
    """What runs in the proxy's process."""

    def __init__(self, settings: Mapping[str, Any], loop: asyncio.AbstractEventLoop) -> None:
        parts = urlsplit(settings["target"])
        self._loop, self._timetable = loop, Timetable(loop)
        self._target = (parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80))
        self._tls = client_tls(settings["ca_file"], settings["insecure"]) if parts.scheme == "https" else None
        self._token = settings["token"]
        self._links: set[ProxyExchange] = set()
        self._connecting: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None
        self._struck: Counter[str] = Counter()
        self._guard = bound_socket(settings["port"], shared=True)
        self.port = self._guard.getsockname()[1]
        self.fault = ProxyFault()
        self.host = f"{HOST}:{self.port}".encode()
        self.target_host = parts.netloc.rpartition("@")[2].encode()

    async def listen(self) -> None:
        own = bound_socket(self.port, shared=True)
        own.setblocking(False)
        self._server = await self._loop.create_server(lambda: ProxyExchange(self), sock=own, backlog=BACKLOG)

    async def refuse(self) -> None:
        """Nobody listens any more. The port stays ours: a socket that is bound and does not listen refuses."""
        server, self._server = self._server, None
        if server is not None:
            server.close()
        for link in list(self._links):
            link.reset()

    async def obey(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One order, from the process that started this one."""
        try:
            order = json.loads(await reader.readline())
            if secrets.compare_digest(str(order.get("token")), self._token):
                if "fault" in order:
                    await self._switch(ProxyFault(**order["fault"]))
                writer.write(json.dumps({"fault": self.fault.name, "struck": self._struck}).encode() + b"\n")
        except (ValueError, AttributeError):
            pass  # not one of ours: it gets no answer
        finally:
            writer.close()

    async def _switch(self, fault: ProxyFault) -> None:
        self.fault = fault
        if fault.name == "refuse":
            await self.refuse()
        elif self._server is None:
            await self.listen()

    def connect(self, upstream: Upstream) -> None:
        task = self._loop.create_task(self._connect(upstream))
        self._connecting.add(task)
        task.add_done_callback(self._connecting.discard)

    async def _connect(self, upstream: Upstream) -> None:
        host, port = self._target
        try:
            async with asyncio.timeout(CONNECT_S):
                await self._loop.create_connection(lambda: upstream, host, port, ssl=self._tls)
        except (OSError, TimeoutError):
            upstream.not_reached()

    def later(self, due_ns: int, link: ProxyExchange) -> None:
        self._timetable.add(due_ns, link)

    def struck(self, name: str) -> None:
        self._struck[name] += 1

    def joined(self, link: ProxyExchange) -> None:
        self._links.add(link)

    def left(self, link: ProxyExchange) -> None:
        self._links.discard(link)


def _serve(settings: Mapping[str, Any], ready: Ready) -> None:
    """What the child process does: says where it listens and serves until it is told to stop."""

    async def serve() -> None:
        loop = asyncio.get_running_loop()
        stopped = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stopped.set)
        hub = _Hub(settings, loop)
        await hub.listen()
        control = await asyncio.start_server(hub.obey, HOST, 0)
        ready({"port": hub.port, "control_port": control.sockets[0].getsockname()[1]})
        await stopped.wait()

    gc.freeze()
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(serve())


def main(fd: int) -> None:
    """What the server's process does; ``fd`` is the socket to its owner."""
    run_child(fd, _serve)
