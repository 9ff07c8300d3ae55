"""Secrets where only the names of environment variables belong. What is found is never quoted."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from agentdyno.specs.files.problems import FileProblem, dotted

_LOOKS_SECRET = re.compile(
    r"(?<![A-Za-z0-9])(?:"
    r"(?:sk|rk|pk)-[A-Za-z0-9_\-]{16,}"
    r"|(?:sk|rk)_live_[A-Za-z0-9]{10,}"
    r"|gh[pousr]_[A-Za-z0-9]{20,}"
    r"|github_pat_[A-Za-z0-9_]{20,}"
    r"|glpat-[A-Za-z0-9_\-]{16,}"
    r"|xox[abeprs]-[A-Za-z0-9\-]{10,}"
    r"|hf_[A-Za-z0-9]{20,}"
    r"|gsk_[A-Za-z0-9]{20,}"
    r"|AKIA[0-9A-Z]{16}"
    r"|AIza[0-9A-Za-z_\-]{30,}"
    r"|eyJ[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]{10,}\.[A-Za-z0-9_\-]{5,}"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY"
    r")"
)
_URL_PASSWORD = re.compile(r"^[A-Za-z][A-Za-z0-9+.\-]*://[^/\s:@]*:[^/\s@]+@")
_URL_KEY = re.compile(r"^https?://\S*[?&](?:[\w\-]*key|[\w\-]*token|secret|password)=[^&\s$]{6,}", re.IGNORECASE)
_SECRET_KEY = re.compile(
    r"(?:^|[_\-.])(?:(?:api|access|private|secret|auth)[_\-]?key|apikey|password|passwd|secret|authorization)$",
    re.IGNORECASE,
)
_TOKEN_KEY = re.compile(r"(?:^|[_\-.])token$", re.IGNORECASE)
_OPAQUE = re.compile(r"(?:Bearer )?[\w\-.~+/=]{6,}")
_VARIABLE = re.compile(r"(?:Bearer )?(?:\$\{?[A-Za-z_]\w*\}?|env:[A-Za-z_]\w*|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)")


def secret_problems(value: object, key: str) -> Iterator[FileProblem]:
    """One problem for each text below ``key`` that looks like a secret or has a name such as ``api_key``."""
    yield from _walk(value, key, "")


def _walk(value: object, key: str, name: str) -> Iterator[FileProblem]:
    if isinstance(value, Mapping):
        for inner, item in value.items():
            text = str(inner)
            yield from _walk(item, f"{key}.{dotted((text,))}" if key else dotted((text,)), text)
    elif isinstance(value, (list, tuple)):
        for i, item in enumerate(value):
            yield from _walk(item, f"{key}[{i}]", name)
    elif isinstance(value, str) and _is_secret(name, value):
        yield FileProblem(
            key,
            "expected no secret in a file, got what looks like one",
            f"Put it into an environment variable and name that: `env: [{_suggested(name)}]`.",
        )


def _is_secret(name: str, value: str) -> bool:
    if _LOOKS_SECRET.search(value) or _URL_PASSWORD.match(value) or _URL_KEY.match(value):
        return True
    if not value.strip() or _VARIABLE.fullmatch(value.strip()):
        return False
    if _SECRET_KEY.search(name):
        return True
    return bool(_TOKEN_KEY.search(name) and _OPAQUE.fullmatch(value))  # not a model's end-of-text token


def _suggested(name: str) -> str:
    words = re.findall(r"[A-Za-z0-9]+", name)
    return "_".join(words).upper() if words and _SECRET_KEY.search(name) and len(words) > 2 else "MY_API_KEY"
