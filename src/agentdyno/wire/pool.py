"""Connections that are kept for the next request, per event loop and per origin."""

from __future__ import annotations

import asyncio
import errno
import ipaddress
import socket
import ssl
import threading
from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass, field
from time import perf_counter_ns
from typing import TypeAlias
from weakref import WeakKeyDictionary

from agentdyno.wire.address import Address
from agentdyno.wire.connection import ClientConnection
from agentdyno.wire.errors import (
    CertificateRefused,
    ConnectError,
    ConnectionRefused,
    ConnectTimeout,
    NameNotFound,
    TlsFailed,
)

CONNECT_TIMEOUT_S = 10.0
MAX_IDLE_S = 30.0
"""Servers drop idle connections after 5 to 75 s; one dropped at the wrong moment costs a second try."""

Origin: TypeAlias = tuple[str, str, int]


@dataclass(slots=True)
class _Idle:
    """What one event loop keeps: connections with the time since when they are idle, in ns."""

    connections: dict[Origin, list[tuple[int, ClientConnection]]] = field(default_factory=dict)
    ender: AsyncGenerator[None, None] | None = None

    def drop_all(self) -> None:
        for kept in self.connections.values():
            for _, connection in kept:
                connection.abort()
        self.connections.clear()


class Pool:
    """May be shared by event loops that run one after the other or in several threads.

    What an event loop has left idle is closed when that loop ends, or by ``close()`` in it.
    """

    def __init__(
        self, *, ssl_context: ssl.SSLContext | None = None, clock: Callable[[], int] = perf_counter_ns
    ) -> None:
        self._ssl_context = ssl_context
        self._clock = clock
        self._lock = threading.Lock()
        self._loops: WeakKeyDictionary[asyncio.AbstractEventLoop, _Idle] = WeakKeyDictionary()

    async def take(self, address: Address, timeout_s: float = CONNECT_TIMEOUT_S) -> tuple[ClientConnection, bool]:
        """A connection, and whether it has been used before."""
        kept = (await self._idle()).connections.get(address.origin, [])
        while kept:
            since, connection = kept.pop()
            if connection.usable and self._clock() - since < MAX_IDLE_S * 1e9:
                return connection, True
            connection.abort()
        return await self.connect(address, timeout_s), False

    def give(self, address: Address, connection: ClientConnection) -> None:
        """Keeps a connection whose last exchange is complete."""
        with self._lock:
            idle = self._loops.get(asyncio.get_running_loop())
        if idle is not None and connection.usable:
            idle.connections.setdefault(address.origin, []).append((self._clock(), connection))
        else:
            connection.abort()

    async def connect(self, address: Address, timeout_s: float = CONNECT_TIMEOUT_S) -> ClientConnection:
        """A fresh connection: the addresses of the host are tried in turn, ``timeout_s`` for all of them."""
        where = address.endpoint()
        try:
            async with asyncio.timeout(timeout_s):
                return await self._connect(address, where)
        except TimeoutError:
            raise ConnectTimeout(f"no connection within {timeout_s:g} s", where=where) from None

    async def close(self) -> None:
        """Closes what the running event loop has idle; the pool may be used again."""
        with self._lock:
            idle = self._loops.pop(asyncio.get_running_loop(), None)
        if idle is not None and idle.ender is not None:
            await idle.ender.aclose()

    async def _idle(self) -> _Idle:
        loop = asyncio.get_running_loop()
        with self._lock:
            idle = self._loops.get(loop)
            if idle is None:
                idle = self._loops[loop] = _Idle()
        if idle.ender is None:
            # A loop that ends closes its asynchronous generators: the one moment at which sockets that were
            # left idle can still be closed in an orderly way.
            idle.ender = _close_at_end(idle)
            await anext(idle.ender)
        return idle

    async def _connect(self, address: Address, where: str) -> ClientConnection:
        loop = asyncio.get_running_loop()
        context = self._context() if address.scheme == "https" else None
        failures: list[Exception] = []
        for host in await _resolve(address, where):
            try:
                _, connection = await loop.create_connection(
                    lambda: ClientConnection(self._clock),
                    host,
                    address.port,
                    ssl=context,
                    server_hostname=address.host.partition("%")[0] if context else None,
                )
            except (OSError, ssl.CertificateError) as error:
                failures.append(error)
            else:
                return connection
        raise _explain(failures[0], where)

    def _context(self) -> ssl.SSLContext:
        with self._lock:
            if self._ssl_context is None:
                self._ssl_context = ssl.create_default_context()
            return self._ssl_context


async def _close_at_end(idle: _Idle) -> AsyncGenerator[None, None]:
    try:
        yield
    finally:
        idle.drop_all()
        # Sockets are closed in the next turn of the loop.
        await asyncio.sleep(0)


async def _resolve(address: Address, where: str) -> list[str]:
    try:
        ipaddress.ip_address(address.host.partition("%")[0])
    except ValueError:
        pass
    else:
        return [address.host]
    try:
        found = await asyncio.get_running_loop().getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)
    except (socket.gaierror, UnicodeError):
        raise NameNotFound(f"there is no host {address.host}", where=where) from None
    return list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))


def _explain(error: Exception, where: str) -> ConnectError:
    if isinstance(error, ConnectionRefusedError):
        return ConnectionRefused("nothing listens there (connection refused)", where=where)
    if isinstance(error, ssl.SSLCertVerificationError):
        return CertificateRefused(f"the certificate is not trusted: {error.verify_message}", where=where)
    if isinstance(error, ssl.SSLError):
        return TlsFailed(f"the TLS handshake failed: {error.reason or error}", where=where)
    if isinstance(error, ConnectionResetError):
        return ConnectError("the connection was closed while it was being set up", where=where)
    if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
        return ConnectError(
            "no more sockets can be opened", where=where, remedy="Raise the limit of open files (ulimit -n)."
        )
    return ConnectError(f"no connection: {error}", where=where)
