"""What proxies listen on and connect with."""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
from collections.abc import Callable

from agentdyno.errors import RunError, SpecError

HOST = "127.0.0.1"
_CAUSES = {
    errno.EADDRINUSE: "Another program listens there. End it, or leave the port to the system.",
    errno.EADDRNOTAVAIL: "This machine has no loopback address: in a container, its network may be switched off.",
    errno.EACCES: "The system does not let this user listen there: take a port above 1023, or allow it.",
    errno.EPERM: "The system does not let this process open sockets: a sandbox may forbid it.",
    errno.EMFILE: "No more sockets can be opened: raise the limit of open files (ulimit -n).",
}


def bound_socket(port: int, *, shared: bool = False) -> socket.socket:
    """A socket of this machine alone, bound to ``port`` (0: any) and not listening yet. ``shared``: others of this
    process may be bound to the same port. Raises ``RunError`` with the likely cause."""
    own = socket.socket()
    try:
        own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared:
            own.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        own.bind((HOST, port))
    except OSError as error:
        own.close()
        why = error.strerror or str(error)
        raise RunError(f"cannot listen on {HOST}:{port}: {why}", remedy=_CAUSES.get(error.errno or 0)) from None
    return own


def client_tls(ca_file: str = "", insecure: bool = False) -> ssl.SSLContext:
    """Whom a target is trusted to be: the system's certificates, those of ``certifi`` where that is installed, or
    ``ca_file`` alone."""
    try:
        context = ssl.create_default_context(cafile=ca_file or None)
    except (OSError, ssl.SSLError) as error:
        raise SpecError(f"the certificates cannot be read: {error.strerror or error}", where=ca_file) from None
    if not ca_file:
        _trust_certifi(context)
    if insecure:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    return context


def _trust_certifi(context: ssl.SSLContext) -> None:
    """Clients bring it along: what they trust must be trusted here, too."""
    try:
        import certifi
    except ImportError:
        return
    context.load_verify_locations(cafile=certifi.where())


def loop_factory() -> Callable[[], asyncio.AbstractEventLoop]:
    """uvloop's where it is installed."""
    try:
        import uvloop
    except ImportError:
        return asyncio.new_event_loop
    return uvloop.new_event_loop
