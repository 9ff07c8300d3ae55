"""Where an endpoint is."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from urllib.parse import quote, urlsplit

from agentdyno.wire.errors import Unsendable

DEFAULT_PORTS = {"http": 80, "https": 443}
_SAFE = "/:@!$&'()*+,;=-._~%"


@dataclass(frozen=True, slots=True)
class Address:
    """A base URL taken apart: no brackets around ``host``, no slash at the end of ``path``, no ``?`` in ``query``."""

    scheme: str
    host: str
    port: int
    path: str = ""
    query: str = ""

    @classmethod
    def parse(cls, url: str) -> Address:
        """Refuses what is not http or https, and names and passwords inside the URL: they end up in logs."""
        shown = _without_secrets(url)
        if any(ord(character) <= 0x20 or ord(character) == 0x7F for character in url):
            raise Unsendable(f"{shown!r} is not a URL: it holds blanks or control characters")
        try:
            parts = urlsplit(url)
            port = parts.port
            host = parts.hostname or ""
        except ValueError as error:
            raise Unsendable(f"{shown!r} is not a URL: {error}") from None
        if parts.scheme not in DEFAULT_PORTS:
            raise Unsendable(
                f"{shown!r} is not a URL that can be called", remedy="It begins with http:// or https://."
            )
        if parts.username is not None or parts.password is not None:
            raise Unsendable(
                f"{shown!r} holds a user name or password", remedy="Give credentials by environment variable."
            )
        if not host or port == 0:
            raise Unsendable(f"{shown!r} names no host and port")
        return cls(
            parts.scheme,
            _ascii_host(host, shown),
            DEFAULT_PORTS[parts.scheme] if port is None else port,
            quote(parts.path.rstrip("/"), safe=_SAFE),
            quote(parts.query, safe=_SAFE + "?"),
        )

    @property
    def origin(self) -> tuple[str, str, int]:
        """What connections are shared by."""
        return (self.scheme, self.host, self.port)

    @property
    def netloc(self) -> str:
        """Host and port as in a ``Host`` header: brackets around IPv6, no default port."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == DEFAULT_PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def private(self) -> bool:
        """Whether this is the own machine or an own network: loopback, private addresses, names without a dot."""
        try:
            ip = ipaddress.ip_address(self.host.partition("%")[0])
        except ValueError:
            name = self.host.rstrip(".")
            return "." not in name or name.endswith((".localhost", ".local", ".internal", ".lan"))
        return ip.is_private or ip.is_loopback or ip.is_link_local

    def target(self, path: str) -> str:
        """The request target for a path below this base, with the base's query."""
        joined = f"{self.path}{quote(path, safe=_SAFE + '?')}" or "/"
        if not self.query:
            return joined
        return f"{joined}{'&' if '?' in joined else '?'}{self.query}"

    def endpoint(self, path: str = "") -> str:
        """For people: the URL without its query, which may hold a key."""
        return f"{self.scheme}://{self.netloc}{self.path}{path.partition('?')[0]}"


def _ascii_host(host: str, shown: str) -> str:
    try:
        return str(ipaddress.ip_address(host.partition("%")[0])) + "".join(host.partition("%")[1:])
    except ValueError:
        pass
    try:
        name = host.encode("ascii").decode() if host.isascii() else host.encode("idna").decode("ascii")
    except UnicodeError:
        raise Unsendable(f"{shown!r}: the host name is not valid") from None
    if not all(character.isalnum() or character in "-._" for character in name):
        raise Unsendable(f"{shown!r}: the host name is not valid")
    return name.lower()


def _without_secrets(url: str) -> str:
    head, _, _ = url.partition("?")
    scheme, separator, rest = head.partition("://")
    authority, slash, path = rest.partition("/")
    _, at, host = authority.rpartition("@")
    return f"{scheme}{separator}{'…@' if at else ''}{host}{slash}{path}"
