"""Secrets that are known by their looks or by the name they stand under: traces of production hold other people's."""

from __future__ import annotations

import re
from collections.abc import Mapping

HIDDEN = "[REDACTED]"
_LOOKS = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"(?:sk|rk|pk)-[A-Za-z0-9_\-]{16,}"
    r"|(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{10,}"
    r"|gh[pousr]_[A-Za-z0-9]{20,}"
    r"|github_pat_[A-Za-z0-9_]{20,}"
    r"|glpat-[A-Za-z0-9_\-]{16,}"
    r"|xox[abeprs]-[A-Za-z0-9\-]{10,}"
    r"|hf_[A-Za-z0-9]{20,}"
    r"|gsk_[A-Za-z0-9]{20,}"
    r"|npm_[A-Za-z0-9]{20,}"
    r"|SG\.[A-Za-z0-9_\-]{16,}\.[A-Za-z0-9_\-]{16,}"
    r"|(?:AKIA|ASIA)[0-9A-Z]{16}"
    r"|AIza[0-9A-Za-z_\-]{30,}"
    r"|ya29\.[A-Za-z0-9_\-]{20,}"
    r"|eyJ[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]{5,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r")",
    re.DOTALL,
)
_BEARER = re.compile(r"\b(Bearer|Basic)(\s+)(?=\S*[\d=])[\w.~+/=-]{12,}", re.IGNORECASE)
_URL_PASSWORD = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*://[^/\s:@]*:)[^/\s@]+(?=@)")
_NAME = (
    r"(?:[\w\-.]*(?:api|access|private|secret|auth|signing|encryption)[_\- ]?key|apikey|[\w\-]*passw(?:or)?d"
    r"|passphrase|[\w\-]*secret"
    r"|[\w\-]*(?:access|auth|refresh|session|bearer|api)[_\- ]?token|authorization|(?:set-)?cookie"
    r"|[\w\-]*credentials?)"
)
_SAID = re.compile(rf"""(["']?\b{_NAME}["']?\s*(?:[:=]|\bis\b)\s*["']?)([^\s"',;&}}]{{6,}})""", re.IGNORECASE)
_KEY = re.compile(rf"(?:^|.*[_\-.])?{_NAME}$|^token$", re.IGNORECASE)


def hide_secrets(value: object, name: str = "") -> object:
    """The value with whatever looks like a secret hidden, at any depth; ``name`` is the key that it stands under."""
    if isinstance(value, str):
        return HIDDEN if value and _KEY.match(name) else _hidden(value)
    if isinstance(value, Mapping):
        return {_hidden(str(key)): hide_secrets(item, str(key)) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [hide_secrets(item, name) for item in value]
    return value


def _hidden(text: str) -> str:
    text = _LOOKS.sub(HIDDEN, text)
    text = _BEARER.sub(rf"\1\2{HIDDEN}", text)
    text = _URL_PASSWORD.sub(rf"\1{HIDDEN}", text)
    return _SAID.sub(rf"\1{HIDDEN}", text)
