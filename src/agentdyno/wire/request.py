"""A request as bytes."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from agentdyno.wire.address import Address
from agentdyno.wire.errors import Unsendable

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_VALUE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_OURS = frozenset({"host", "content-length", "transfer-encoding", "connection", "accept-encoding"})


@dataclass(frozen=True, slots=True)
class Request:
    """One request to ``address`` + ``path``. Framing headers are added when it is encoded and cannot be set."""

    address: Address
    path: str = ""
    method: str = "POST"
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""

    @property
    def endpoint(self) -> str:
        return self.address.endpoint(self.path)

    def encode(self) -> bytes:
        """Head and body in one piece, so that a small request leaves in one packet."""
        if not _TOKEN.fullmatch(self.method):
            raise Unsendable(f"{self.method!r} is not an HTTP method", where=self.endpoint)
        lines = [f"{self.method} {self.address.target(self.path)} HTTP/1.1", f"Host: {self.address.netloc}"]
        names = {name.lower() for name, _ in self.headers}
        if "user-agent" not in names:
            lines.append("User-Agent: agentdyno")
        # Compressed bytes have no arrival time of their own for the text inside them.
        lines.append("Accept-Encoding: identity")
        for name, value in self.headers:
            if name.lower() in _OURS:
                continue
            # A key read from a file often ends in a newline.
            value = value.strip()
            if not _TOKEN.fullmatch(name) or not _VALUE.fullmatch(value):
                raise Unsendable(f"the header {name!r} holds characters that HTTP cannot send", where=self.endpoint)
            lines.append(f"{name}: {value}")
        if self.body or self.method not in ("GET", "HEAD"):
            lines.append(f"Content-Length: {len(self.body)}")
        return "\r\n".join([*lines, "", ""]).encode("latin-1") + self.body


def json_request(
    address: Address,
    path: str,
    value: object,
    *,
    method: str = "POST",
    headers: tuple[tuple[str, str], ...] = (),
) -> Request:
    """A request whose body is ``value`` as JSON. ``Accept`` and ``Content-Type`` may be overridden."""
    try:
        body = json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
    except (TypeError, ValueError, RecursionError) as error:
        raise Unsendable(f"the request has no JSON form: {error}", where=address.endpoint(path)) from None
    names = {name.lower() for name, _ in headers}
    typed = tuple(
        (name, text)
        for name, text in (("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream"))
        if name.lower() not in names
    )
    return Request(address, path, method, (*typed, *headers), body)
