"""Parts of agentdyno that are installed when they are wanted: what each needs, and the command that brings it."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec

from agentdyno.errors import RunError

EXTRAS: Mapping[str, tuple[str, ...]] = {
    "hf": ("datasets",),
    "local": ("xllamacpp",),
    "plots": ("matplotlib",),
    "postgres": ("psycopg",),
    "prices": ("genai_prices",),
    "ray": ("ray",),
    "service": ("fastapi", "uvicorn", "python_multipart"),
}
"""The modules that an extra of the package brings, by its name."""


def has_extra(name: str) -> bool:
    return not _missing(name)


def install_extra(name: str) -> str:
    """What to type where it is missing."""
    return f"pip install 'agentdyno[{name}]'"


def where_missing(name: str, text: str) -> str:
    """``text`` with what to type, and nothing where the extra is there."""
    return "" if has_extra(name) else f"{text}: {install_extra(name)}"


def need_extra(name: str, what: str, *, where: str | None = None) -> None:
    """Raises ``RunError`` where the extra is missing; ``what`` is what cannot be done without it."""
    missing = _missing(name)
    if missing:
        message = f"{what} needs {' and '.join(missing)}, which {'is' if len(missing) == 1 else 'are'} not installed"
        raise RunError(message, where=where, remedy=f"Install it: {install_extra(name)}")


def _missing(name: str) -> list[str]:
    return [module.replace("_", "-") for module in EXTRAS[name] if find_spec(module) is None]
