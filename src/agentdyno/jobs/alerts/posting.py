"""One POST to an address that somebody configured, which must not lead into our own network.

The name is resolved once, every address is looked at, and the connection goes to one of those: a name server that
answers otherwise a moment later changes nothing. Redirects are not followed and proxies of the environment not used.
"""

from __future__ import annotations

import http.client
import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from agentdyno.errors import DynoError, SpecError
from agentdyno.wire.address import Address
from agentdyno.wire.errors import ConnectError, NameNotFound

_SAFE = "/:@!$&'()*+,;=-._~%"
_KEPT = 500
"""Bytes of an answer that are read: it may say what was wrong."""
_NAT64 = ipaddress.ip_network("64:ff9b::/96")
_LOCAL_NAT64 = ipaddress.ip_network("64:ff9b:1::/48")
Resolve = Callable[[str, int], list[str]]


@dataclass(frozen=True, slots=True)
class PostAnswer:
    """``retry_after_s`` is what the receiver asked for, ``None`` where it asked for nothing."""

    status: int
    text: str = ""
    retry_after_s: float | None = None


@dataclass(frozen=True, slots=True)
class PostLimits:
    timeout_s: float
    allow_private: bool


def resolved(host: str, port: int) -> list[str]:
    """The addresses of a name, in the order of the resolver."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(item[4][0]) for item in found))


def is_public(address: str) -> bool:
    """Whether an IP address is of the public internet, also the one that it stands for (mapped, 6to4, NAT64)."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv6Address):
        inner = [ip.ipv4_mapped, ip.sixtofour, *(ip.teredo or ())]
        if ip in _NAT64:
            inner.append(ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF))
        if any(item is not None and not is_public(str(item)) for item in inner):
            return False
        if ip.ipv4_mapped is not None or ip in _NAT64:
            return True
        if ip.is_site_local or ip in _LOCAL_NAT64:
            return False
    return ip.is_global and not (ip.is_multicast or ip.is_reserved or ip.is_unspecified)


def post(
    url: str, body: bytes, headers: Mapping[str, str], limits: PostLimits, resolve: Resolve = resolved
) -> PostAnswer:
    """What the receiver answered, whatever its status. ``SpecError`` for an address that is not allowed, another
    ``DynoError`` where there was no answer. No message holds more of the URL than its host: it may be a secret."""
    give_up = time.monotonic() + limits.timeout_s
    try:
        address = Address.parse(url)
    except DynoError:
        raise SpecError("the address is not a URL without credentials that begins with https://") from None
    where = address.netloc
    try:
        found = resolve(address.host, address.port)
    except (OSError, UnicodeError):
        raise NameNotFound("the name has no address", where=where) from None
    _check(address, found, limits)
    try:
        with closing(_connected(address, found, give_up)) as connection:
            return _exchanged(connection, url, address, (body, headers), give_up)
    except (OSError, http.client.HTTPException) as error:
        late = time.monotonic() >= give_up
        why = f"no answer within {limits.timeout_s:g} s" if late else f"no answer: {_reason(error)}"
        raise ConnectError(why, where=where) from None


def _check(address: Address, found: list[str], limits: PostLimits) -> None:
    inside = [item for item in found if not is_public(item)]
    if inside and not limits.allow_private:
        raise SpecError(
            f"{inside[0]} is not an address of the public internet",
            where=address.netloc,
            remedy="Set `allow_private: true` at this place in dyno.yaml, if it is meant.",
        )
    if address.scheme == "http" and len(inside) < len(found):
        raise SpecError("http would send it in the clear", where=address.netloc, remedy="Use https://.")


def _connected(address: Address, found: list[str], give_up: float) -> socket.socket:
    """A connection to the first of these addresses that takes one, and no other."""
    failure: OSError = OSError("the name has no address")
    for item in found:
        try:
            plain = socket.create_connection((item, address.port), timeout=_left(give_up))
        except OSError as error:
            failure = error
            continue
        if address.scheme == "http":
            return plain
        try:
            plain.settimeout(_left(give_up))
            return ssl.create_default_context().wrap_socket(plain, server_hostname=address.host)
        except OSError:
            plain.close()
            raise
    raise failure


def _exchanged(
    connection: socket.socket, url: str, address: Address, sent: tuple[bytes, Mapping[str, str]], give_up: float
) -> PostAnswer:
    body, headers = sent
    client = http.client.HTTPConnection(address.host, address.port)
    client.sock = connection

    def cut() -> None:  # a receiver that sends a byte now and then would outlast any timeout of single reads
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(_left(give_up), cut)
    timer.daemon = True
    timer.start()
    try:
        client.putrequest("POST", _target(url), skip_host=True, skip_accept_encoding=True)
        for name, value in {"Host": address.netloc, **headers, "Content-Length": str(len(body))}.items():
            client.putheader(name, value)
        client.endheaders(body)
        answer = client.getresponse()
        text = answer.read(_KEPT).decode("utf-8", "replace")
        return PostAnswer(answer.status, text, _seconds(answer.getheader("Retry-After")))
    except ValueError:  # its message would show the header, which may be a token
        raise OSError("a header cannot be sent: a token with a line break or a character beyond Latin-1") from None
    finally:
        timer.cancel()


def _target(url: str) -> str:
    parts = urlsplit(url)
    path = quote(parts.path, safe=_SAFE) or "/"
    return f"{path}?{quote(parts.query, safe=_SAFE + '?')}" if parts.query else path


def _left(give_up: float) -> float:
    left = give_up - time.monotonic()
    if left <= 0:
        raise TimeoutError
    return left


def _seconds(text: str | None) -> float | None:
    return float(text) if text is not None and text.isascii() and text.isdigit() else None


def _reason(error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not valid ({error.verify_message})"
    return str(getattr(error, "strerror", None) or error or type(error).__name__)
