"""Browsers that stay signed in: a cookie that no script can read, and the link that ``dyno serve`` prints.

The cookie holds the key itself, so that a key that is revoked ends every session it began; or, of somebody who came
by the link, a secret that this process alone knows and forgets when it ends. A browser sends a cookie along with
requests that pages of other sites make, so it opens less than a key in ``Authorization``: what is no plain reading
needs a header that only a page of this service can set, and the address of this service as its ``Origin``.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from threading import Lock

COOKIE = "dyno_key"
MARK = "x-dyno-request"
"""The header that pages of the dashboard send. A page of another site cannot, without this service's leave."""
REMEMBERED_S = 30 * 86_400
LINK_VALID_MS = 3_600_000
_READING = frozenset({"GET", "HEAD"})
_LONGEST = 200

Headers = list[tuple[bytes, bytes]]


class SignInLink:
    """A link that signs one browser in, once, within an hour; and the sessions that it began."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._open: tuple[bytes, int] | None = None
        self._sessions: set[bytes] = set()

    def make(self, now_ms: int) -> str:
        """The token of a new link; one that was made before is no longer taken."""
        token = secrets.token_urlsafe(32)
        with self._lock:
            self._open = (_digest(token), now_ms + LINK_VALID_MS)
        return token

    def redeem(self, token: str, now_ms: int) -> str | None:
        """The secret of a new session; ``None`` for a token that is wrong, too old or was used before."""
        with self._lock:
            if self._open is None or not hmac.compare_digest(self._open[0], _digest(token)):
                return None
            valid, self._open = self._open[1] > now_ms, None
            if not valid:
                return None
            secret = f"link_{secrets.token_urlsafe(32)}"
            self._sessions.add(_digest(secret))
            return secret

    def knows(self, secret: str) -> bool:
        with self._lock:
            return _digest(secret) in self._sessions

    def end(self, secret: str) -> None:
        with self._lock:
            self._sessions.discard(_digest(secret))


def cookie_secret(headers: Headers) -> str:
    """The secret in the cookie of a request; "" where there is none, or more than one."""
    found = []
    for name, value in headers:
        if name == b"cookie":
            for part in value.decode("latin-1").split(";"):
                key, _, text = part.strip().partition("=")
                if key == COOKIE:
                    found.append(text)
    return found[0] if len(found) == 1 and 0 < len(found[0]) <= _LONGEST and found[0].isascii() else ""


def is_own_page(method: str, headers: Headers) -> bool:
    """False for what a page of another site may have sent along with the cookie."""
    if method in _READING:
        return True
    marked = any(name == MARK.encode() for name, _ in headers)
    origins = [value for name, value in headers if name == b"origin"]
    hosts = [value for name, value in headers if name == b"host"]
    same = len(origins) == 1 and len(hosts) == 1 and origins[0].partition(b"://")[2] == hosts[0] != b""
    return marked and same


def set_cookie(secret: str, *, remember: bool, secure: bool) -> str:
    """The header that signs a browser in: for 30 days, or until it is closed."""
    parts = [f"{COOKIE}={secret}", "Path=/", "HttpOnly", "SameSite=Strict"]
    if remember:
        parts.append(f"Max-Age={REMEMBERED_S}")
    return "; ".join([*parts, "Secure"] if secure else parts)


def clear_cookie() -> str:
    """The header that signs it out."""
    return f"{COOKIE}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0"


def _digest(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
