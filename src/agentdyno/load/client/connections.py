"""The connections of one client: opened up to a number, and kept for the next request."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable

from agentdyno.load.client.hot import Known, LoadConnection, Owner
from agentdyno.load.client.stamped import StampedSockets, StampedTransport, connect_stamped
from agentdyno.load.plan.orders import ClientSettings
from agentdyno.model.load import Dialect

WARM_UP_S = 5.0
"""How long opening connections beforehand may take."""
AT_ONCE = 32
"""Connections that are opened beforehand at the same time."""


class Links:
    """All connections that are open, idle or not. ``opening`` counts those that are being set up for a request. With
    ``keep_spare`` another is opened when the last idle one is taken, so that who comes next need not wait for it;
    ``on_spare`` is called when it is there."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        settings: ClientSettings,
        owner: Owner,
        on_spare: Callable[[], None] = lambda: None,
    ) -> None:
        self._loop, self._settings, self._owner, self._on_spare = loop, settings, owner, on_spare
        self._tls = _tls_context(settings) if settings.tls else None
        self._stamped = StampedSockets(loop) if settings.kernel_stamps else None
        self._known: Known = {}
        self._links: set[LoadConnection] = set()
        self._idle: list[LoadConnection] = []
        self._spare: asyncio.Task[None] | None = None
        self.keep_spare = False
        self.opening = 0

    @property
    def room(self) -> bool:
        """Whether another connection may be opened."""
        coming = self.opening + (self._spare is not None)
        return len(self._links) + coming < self._settings.connections

    def take(self) -> LoadConnection | None:
        """An idle connection: the one that was used last."""
        while self._idle:
            link = self._idle.pop()
            if link.usable:
                if self.keep_spare and not self._idle and self._spare is None and self.room:
                    self._spare = self._loop.create_task(self._open_spare())
                return link
            self._links.discard(link)
        return None

    def give(self, link: LoadConnection) -> None:
        """An exchange has ended: keeps the connection if it can be used again."""
        if link.keep and link.usable:
            self._idle.append(link)
        else:
            self.discard(link)

    def discard(self, link: LoadConnection) -> None:
        self._links.discard(link)
        link.abort()

    def forget(self, link: LoadConnection) -> None:
        """It is gone."""
        self._links.discard(link)

    def busy(self) -> list[LoadConnection]:
        return [link for link in self._links if link.busy]

    def abort_all(self) -> None:
        for link in list(self._links):
            link.busy = False
            link.abort()
        self._links.clear()
        self._idle.clear()
        if self._spare is not None:
            self._spare.cancel()

    async def _open_spare(self) -> None:
        try:
            async with asyncio.timeout(self._settings.timeout_s):
                link = await self.connect()
        except (OSError, ssl.CertificateError):
            return  # whoever needs one finds out by himself
        finally:
            self._spare = None
        self._idle.append(link)
        self._on_spare()

    async def connect(self) -> LoadConnection:
        """Raises ``OSError`` or ``ssl.CertificateError``."""
        if self._stamped is None:
            _, link = await self._loop.create_connection(
                self._link,
                self._settings.hosts[0],
                self._settings.port,
                ssl=self._tls,
                server_hostname=self._settings.server_name if self._tls else None,
            )
        else:
            connected = await connect_stamped(self._loop, self._settings.hosts[0], self._settings.port)
            link = self._link()
            StampedTransport(self._stamped, connected, link)
        self._links.add(link)
        return link

    def _link(self) -> LoadConnection:
        settings = self._settings
        verify = settings.dialect is Dialect.HTTP and not settings.answers
        return LoadConnection(self._owner, settings.method, settings.max_bytes, self._known, verify=verify)

    async def warm_up(self, wanted: int) -> str:
        """Opens connections until so many are idle, or for some seconds; returns what is wrong where that fails."""
        self._links = {link for link in self._links if link.usable}
        try:
            async with asyncio.timeout(min(WARM_UP_S, self._settings.timeout_s)):
                while (missing := min(wanted, self._settings.connections) - len(self._links)) > 0:
                    await asyncio.gather(*(self.connect() for _ in range(min(missing, AT_ONCE))))
        except (OSError, ssl.CertificateError) as error:  # TimeoutError is an OSError
            return str(error) or type(error).__name__
        finally:
            self._idle = [link for link in self._links if link.usable and not link.busy]
        return ""


def _tls_context(settings: ClientSettings) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=settings.ca_file or None)
    if settings.insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context
