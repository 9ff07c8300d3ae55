"""Keeping secrets out of what is stored, logged and shown."""

from __future__ import annotations

import json
import re
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterable, Iterator, Mapping
from urllib.parse import quote, quote_plus

from agentdyno.model.suite import AgentUse

SHORTEST = 6
"""Characters of a value that counts as a secret; shorter ones would be found everywhere."""
HIDDEN = "[REDACTED]"
_SHORTEST_FORM = 8
_BEARER = re.compile(r"\b(Bearer|Basic)(\s+)(?=\S*[\d=])[\w.~+/=-]{12,}", re.IGNORECASE)
_HEADERS = frozenset({"authorization", "proxy-authorization", "x-api-key", "api-key", "api_key", "apikey"})
_LOOKS_SECRET = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)(_|$)", re.IGNORECASE)
_ENV_VALUE = re.compile(r"\benv:([A-Za-z_]\w*)")


class Redactor:
    """Replaces the values of secrets by their names in brackets.

    ``secrets`` are values by name (of the environment variable). Also found are their base64, URL-encoded and
    JSON-escaped forms; what follows ``Bearer`` or ``Basic``, and values of headers that carry keys, are hidden
    whether known or not.
    """

    def __init__(self, secrets: Mapping[str, str]) -> None:
        self._names: dict[str, str] = {}
        for name, value in secrets.items():
            if len(value.strip()) >= SHORTEST:
                for form in _forms(value.strip()):
                    self._names.setdefault(form, f"[{name}]")
        longest_first = sorted(self._names, key=len, reverse=True)
        self._pattern = re.compile("|".join(map(re.escape, longest_first))) if longest_first else None

    def text(self, value: str) -> str:
        if self._pattern is not None:
            value = self._pattern.sub(lambda match: self._names[match[0]], value)
        return _BEARER.sub(rf"\1\2{HIDDEN}", value) if "earer" in value or "asic" in value else value

    def value(self, value: object) -> object:
        """A nested value of dicts, lists and texts, keys included; other values are returned as they are."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return {self._key(key): self._item(key, item) for key, item in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.value(item) for item in value]
        return value

    def _key(self, key: object) -> object:
        return self.text(key) if isinstance(key, str) else key

    def _item(self, key: object, item: object) -> object:
        if not isinstance(item, str) or not isinstance(key, str) or key.lower() not in _HEADERS:
            return self.value(item)
        told = self.text(item)
        # A variable's name in place of its value says where the secret is, and is none.
        return told if told != item or _ENV_VALUE.search(item) else HIDDEN


def secret_names(uses: Iterable[AgentUse], environ: Mapping[str, str]) -> tuple[str, ...]:
    """Names of variables whose values must not be shown, of those that ``environ`` has.

    They are named by an agent (``env``, ``api_key_env``, ``env:NAME`` in its configuration), or look like it.
    """
    named: dict[str, None] = {}
    for use in uses:
        named.update(dict.fromkeys(use.env))
        named.update(dict.fromkeys(_named_in(use.config)))
    named.update(dict.fromkeys(name for name in environ if _LOOKS_SECRET.search(name)))
    return tuple(name for name in named if name in environ)


def redactor_for(uses: Iterable[AgentUse], environ: Mapping[str, str]) -> Redactor:
    """A redactor of everything that ``secret_names`` names."""
    return Redactor({name: environ[name] for name in secret_names(uses, environ)})


def _named_in(value: object, key: str = "") -> Iterator[str]:
    if isinstance(value, str):
        if key.endswith("_env"):
            yield value
        yield from _ENV_VALUE.findall(value)
    elif isinstance(value, Mapping):
        for name, item in value.items():
            yield from _named_in(item, str(name))
    elif isinstance(value, (list, tuple)):
        for item in value:
            yield from _named_in(item, key)


def _forms(secret: str) -> Iterator[str]:
    yield secret
    for spelled in (quote(secret, safe=""), quote(secret), quote_plus(secret)):
        yield spelled
        yield re.sub(r"%[0-9A-F]{2}", lambda match: match[0].lower(), spelled)
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]
    raw = secret.encode("utf-8", "surrogatepass")
    for encode in (b64encode, urlsafe_b64encode):
        for offset in range(3):  # where in a group of three bytes the secret begins, as in "user:secret"
            form = _steady(encode(b"\0" * offset + raw).decode(), offset, len(raw))
            if len(form) >= _SHORTEST_FORM:
                yield form


def _steady(encoded: str, offset: int, size: int) -> str:
    """The characters of a base64 text that do not depend on what stands before and after the secret."""
    first = 0 if offset == 0 else offset + 1
    bits = (offset + size) * 8
    return encoded[first : bits // 6]
