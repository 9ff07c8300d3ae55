"""Connections whose request does not come: given up after a while, so that nobody can hold them all.

The server beneath waits for ever for the head of a request. What comes after the head is ``limits``' to watch.
"""

from __future__ import annotations

import asyncio
import json

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

_BODY = json.dumps(
    {
        "type": "about:blank",
        "title": "Request Timeout",
        "status": 408,
        "detail": "the header of the request did not arrive in time",
    }
).encode()
_REPLY = (
    b"HTTP/1.1 408 Request Timeout\r\nContent-Type: application/problem+json\r\n"
    b"X-Content-Type-Options: nosniff\r\nConnection: close\r\n"
    b"Content-Length: %d\r\n\r\n%b" % (len(_BODY), _BODY)
)


class Impatient(H11Protocol):
    """HTTP/1.1 on one connection, where the head of a request has ``header_timeout_s`` seconds, from the opening of
    the connection or from the first byte of a later request, until its last byte."""

    header_timeout_s: float
    _deadline: asyncio.TimerHandle | None = None
    _begun = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as in uvicorn's own
        super().connection_made(transport)
        self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._begun = True
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE or self.transport.is_closing():
            self._stop_waiting()
        elif self._deadline is None:
            self._expect_head()

    def _expect_head(self) -> None:
        self._deadline = self.loop.call_later(self.header_timeout_s, self._give_up)

    def _stop_waiting(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        """Says so where a request had begun. A browser that connected in advance has asked nothing yet."""
        self._deadline = None
        if self.transport.is_closing():
            return
        if self._begun:
            self.transport.write(_REPLY)
        self.transport.close()


def impatient(header_timeout_s: float) -> type[Impatient]:
    """The class for ``uvicorn.Config(http=...)``."""
    return type("Impatient", (Impatient,), {"header_timeout_s": header_timeout_s})
