"""What can go wrong between us and an endpoint.

WireError
├── Unsendable            the address or the request cannot be sent at all (no host, user name in the URL)
├── ConnectError          no connection came about
│   ├── Refused           nothing listens there
│   ├── NameNotFound      the host name has no address
│   ├── ConnectTimeout    no connection within the time allowed
│   └── TlsFailed         the certificate or the handshake was not accepted
├── Reset                 the other side dropped the connection before its answer was complete
├── Truncated             the other side ended the answer in an orderly way, but before its end
├── ProtocolError         what came is not HTTP, SSE, JSON or the dialect that was expected
└── TooLarge              the answer is larger than allowed

Each says what happened and at which endpoint (scheme, host, port and path; never a query or a header).
"""

from __future__ import annotations

from agentdyno.errors import DynoError


class WireError(DynoError):
    """``endpoint`` is where. ``partial`` is what had arrived, where the head of an answer had: an ``Exchange``, which
    ``wire.exchange.partial_answer`` gives by its type; errors are below what they are about and do not name it."""

    partial: object = None

    @property
    def endpoint(self) -> str:
        return self.where or ""


class Unsendable(WireError):
    """The address or the request cannot be sent at all."""


class ConnectError(WireError):
    """No connection came about."""


class ConnectionRefused(ConnectError):
    """Nothing listens there."""


class NameNotFound(ConnectError):
    """The host name has no address."""


class ConnectTimeout(ConnectError):
    """No connection within the time allowed."""


class TlsFailed(ConnectError):
    """The certificate or the handshake was not accepted."""


class CertificateRefused(TlsFailed):
    """The certificate is not trusted, or is another host's."""


class Reset(WireError):
    """The other side dropped the connection; ``answered`` where bytes of an answer had arrived."""

    answered: bool = False


class Truncated(WireError):
    """The answer ended before its end."""


class ProtocolError(WireError):
    """What came is not what was expected."""


class TooLarge(WireError):
    """The answer is larger than allowed."""
