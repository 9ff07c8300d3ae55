"""A proxy between agents and their models that keeps what passes by: counts, times, tokens, and no keys.

It listens on loopback in a process of its own. An agent that is given ``proxy.url("case/7", "openai", "/v1")`` for
its base URL reaches the target ``openai``; ``await proxy.collect("case/7")`` are its calls.
"""

from __future__ import annotations

import asyncio
import gc
import json
import secrets
import signal
import ssl
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

from agentdyno.errors import SpecError
from agentdyno.model.codec import from_plain, to_plain
from agentdyno.servers.child import ChildServer, Ready, run_child
from agentdyno.servers.proxy.model_call import CallReader, ModelCall
from agentdyno.servers.proxy.own_cost import OwnCost, echoing, measure_cost
from agentdyno.servers.proxy.recorded import RecordedExchange
from agentdyno.servers.proxy.relay import Relay, RelayTarget, RelayUpstream
from agentdyno.servers.proxy.sockets import HOST, bound_socket, client_tls, loop_factory
from agentdyno.wire.pool import CONNECT_TIMEOUT_S

BACKLOG = 4096
START_S = 30.0
COLLECT_S = 10.0
"""How long the proxy's process may take to tell what it has seen."""
LAST_BYTES_S = 1.0
"""How long calls that are under way when a case has ended may take to end, too."""
LOOK_AGAIN_S = 0.002
MOST_WAITING_BYTES = 64 * 1024 * 1024
"""Held of exchanges that nobody has read; beyond it the oldest are read at once."""
ECHO = "echo"
"""The target that the proxy itself is, to measure its own cost."""


class ProxyLost(Exception):
    """The proxy's process does not answer any more."""


class RecordingProxy:
    """The proxy in another process. ``targets`` are base addresses (``https://HOST``) by name; ``full`` keeps bodies.

    ``cost`` is what it adds to a request, as measured when it started; that is subtracted nowhere.
    Raises ``RunError`` where it cannot listen on ``port`` (0: any), ``SpecError`` for an address that is none.
    """

    def __init__(
        self,
        targets: Mapping[str, str],
        *,
        full: bool = False,
        port: int = 0,
        ca_file: str = "",
        measured: bool = True,
    ) -> None:
        for name, url in targets.items():
            parse_target(name, url)
        self._token = secrets.token_hex(16)
        settings = {"targets": dict(targets), "full": full, "port": port, "ca_file": ca_file, "token": self._token}
        self._child = ChildServer(
            "agentdyno.servers.proxy.recorder", settings, what="the recording proxy", wait_s=START_S
        )
        self.host, self.port = HOST, int(self._child.ready["port"])
        self._control_port = int(self._child.ready["control_port"])
        self.pid = self._child.pid
        self.cost: OwnCost | None = None
        if measured:
            direct = (HOST, int(self._child.ready["echo_port"]), "/v1")
            self.cost = measure_cost(direct, (HOST, self.port, f"/worker/own-cost/{ECHO}/v1"))

    @property
    def alive(self) -> bool:
        return self._child.alive

    @property
    def exit_status(self) -> int | None:
        """How its process ended, negative for a signal; ``None`` while it runs."""
        return self._child.exit_status

    def url(self, scope: str, target: str, path: str = "") -> str:
        """What an agent uses in place of the target's address; ``scope`` is ``case/ID`` or ``worker/ID``."""
        return f"http://{self.host}:{self.port}/{scope}/{target}{path}"

    async def collect(self, scope: str, forget: tuple[str, ...] = ()) -> tuple[ModelCall, ...]:
        """The calls of a scope that have not been collected before, in the order in which they began; those of the
        scopes in ``forget`` are dropped. Raises ``ProxyLost``."""
        order = json.dumps({"token": self._token, "collect": scope, "forget": forget}).encode() + b"\n"
        try:
            async with asyncio.timeout(COLLECT_S + LAST_BYTES_S):
                reader, writer = await asyncio.open_connection(HOST, self._control_port)
                try:
                    writer.write(order)
                    answer = json.loads(await reader.read(-1))
                finally:
                    writer.close()
            return tuple(from_plain(ModelCall, plain) for plain in answer["calls"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ProxyLost(str(error)) from None

    def stop(self) -> None:
        self._child.stop()


def parse_target(name: str, url: str) -> RelayTarget:
    """Where a target is; raises ``SpecError``."""
    parts = urlsplit(url)
    try:
        port = parts.port
    except ValueError:
        port = -1
    if parts.scheme not in ("http", "https") or not parts.hostname or port == -1:
        raise SpecError(f"{url!r} is no address of a model", where=name, remedy="Write http(s)://HOST[:PORT]/PATH.")
    secure = parts.scheme == "https"
    netloc = parts.netloc.rpartition("@")[2]
    return RelayTarget(parts.hostname, port or (443 if secure else 80), netloc, secure)


class _RecordingHub:
    """What runs in the proxy's process."""

    def __init__(self, settings: Mapping[str, Any], loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._targets = {name: parse_target(name, url) for name, url in settings["targets"].items()}
        self._token, self._ca_file = settings["token"], settings["ca_file"]
        self._reader = CallReader(secrets.token_bytes(16), settings["full"])
        self._tls: ssl.SSLContext | None = None
        self._relays: set[Relay] = set()
        self._under_way: dict[int, RecordedExchange] = {}
        self._waiting: list[RecordedExchange] = []
        self._waiting_bytes = 0
        self._calls: dict[str, list[ModelCall]] = {}
        self._connecting: set[asyncio.Task[None]] = set()
        self._socket = bound_socket(settings["port"])
        self.port = self._socket.getsockname()[1]

    async def listen(self) -> None:
        self._socket.setblocking(False)
        await self._loop.create_server(lambda: Relay(self), sock=self._socket, backlog=BACKLOG)

    def add_target(self, name: str, url: str) -> None:
        self._targets[name] = parse_target(name, url)

    def target(self, name: str) -> RelayTarget | None:
        return self._targets.get(name)

    def connect(self, upstream: RelayUpstream, target: RelayTarget) -> None:
        task = self._loop.create_task(self._connect(upstream, target))
        self._connecting.add(task)
        task.add_done_callback(self._connecting.discard)

    async def _connect(self, upstream: RelayUpstream, target: RelayTarget) -> None:
        if target.secure and self._tls is None:
            self._tls = client_tls(self._ca_file)
        try:
            async with asyncio.timeout(CONNECT_TIMEOUT_S):
                await self._loop.create_connection(
                    lambda: upstream, target.host, target.port, ssl=self._tls if target.secure else None
                )
        except TimeoutError:
            upstream.refused(f"{target.netloc}: no connection within {CONNECT_TIMEOUT_S:g} s")
        except ssl.SSLError as error:
            why = getattr(error, "verify_message", "") or error.reason or str(error)
            upstream.refused(f"{target.netloc}: no secure connection: {why}")
        except OSError as error:
            upstream.refused(f"{target.netloc}: {error.strerror or error}")

    def began(self, exchange: RecordedExchange) -> None:
        self._under_way[id(exchange)] = exchange

    def finished(self, exchange: RecordedExchange) -> None:
        self._under_way.pop(id(exchange), None)
        self._waiting.append(exchange)
        self._waiting_bytes += exchange.held_bytes
        while self._waiting_bytes > MOST_WAITING_BYTES and self._waiting:
            self._read(self._waiting.pop(0))

    def joined(self, relay: Relay) -> None:
        self._relays.add(relay)

    def left(self, relay: Relay) -> None:
        self._relays.discard(relay)

    async def obey(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One order of the process that started this one."""
        try:
            order = json.loads(await reader.readline())
            if secrets.compare_digest(str(order.get("token")), self._token):
                calls = await self._collect(str(order["collect"]))
                for scope in order["forget"]:
                    await self._collect(str(scope), wait_s=0.0)
                writer.write(json.dumps({"calls": [to_plain(call) for call in calls]}).encode())
                await writer.drain()
        except (ValueError, AttributeError, KeyError, OSError):
            pass  # not one of ours: it gets no answer
        finally:
            writer.close()

    async def _collect(self, scope: str, wait_s: float = LAST_BYTES_S) -> list[ModelCall]:
        await self._settled(scope, wait_s)
        own = [item for item in self._waiting if item.scope == scope]
        self._waiting = [item for item in self._waiting if item.scope != scope]
        for exchange in own:
            self._read(exchange)
            await asyncio.sleep(0)  # others' bytes go first
        return sorted(self._calls.pop(scope, []), key=lambda call: call.started_ns)

    async def _settled(self, scope: str, wait_s: float) -> None:
        """Waits for what the scope has under way; what does not end in time is told as it stands."""
        until = self._loop.time() + wait_s
        while True:
            for relay in list(self._relays):
                relay.settle(scope)
            left = [item for item in self._under_way.values() if item.scope == scope and item.api]
            if not left or self._loop.time() >= until:
                break
            await asyncio.sleep(LOOK_AGAIN_S)
        for relay in list(self._relays):
            relay.give_up(scope)

    def _read(self, exchange: RecordedExchange) -> None:
        self._waiting_bytes -= exchange.held_bytes
        self._calls.setdefault(exchange.scope, []).append(self._reader.read(exchange))


def _serve(settings: Mapping[str, Any], ready: Ready) -> None:
    """What the child process does: says where it listens and serves until it is told to stop."""

    async def serve() -> None:
        loop = asyncio.get_running_loop()
        stopped = asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stopped.set)
        hub = _RecordingHub(settings, loop)
        await hub.listen()
        control = await asyncio.start_server(hub.obey, HOST, 0)
        echo = await asyncio.start_server(echoing, HOST, 0)
        echo_port = echo.sockets[0].getsockname()[1]
        hub.add_target(ECHO, f"http://{HOST}:{echo_port}")
        control_port = control.sockets[0].getsockname()[1]
        ready({"port": hub.port, "control_port": control_port, "echo_port": echo_port})
        await stopped.wait()

    gc.freeze()
    factory: Callable[[], asyncio.AbstractEventLoop] = loop_factory()
    with asyncio.Runner(loop_factory=factory) as runner:
        runner.run(serve())


def main(fd: int) -> None:
    """What the proxy's process does; ``fd`` is the socket to its owner."""
    run_child(fd, _serve)
