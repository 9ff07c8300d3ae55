"""What local code has registered in this process."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from agentdyno.errors import PluginError

KINDS = ("experiments", "instruments", "reporters", "agents", "scorers", "datasets", "importers", "kinds")
GROUPS = (*KINDS, "workloads")
"""Groups of entry points: one for each kind of object, and one for folders with specs and suites."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Registered:
    """``origin`` is ``file.py:line`` or ``package.module``, for a person to find it."""

    kind: str
    name: str
    target: Any
    origin: str


_registered: dict[tuple[str, str], Registered] = {}


def register(kind: str, name: str, target: Any) -> None:
    """Adds ``target`` under ``name``; another object under the same name is refused, naming both origins.

    Executing the same file a second time replaces what it registered the first time.
    """
    _check_name(kind, name)
    origin = origin_of(target)
    before = _registered.get((kind, name))
    if before is not None and _place(before.target) != _place(target):
        raise PluginError(
            f"two {kind} are called {name!r}: {before.origin} and {origin}",
            remedy="Rename one of them.",
        )
    _registered[kind, name] = Registered(kind, name, target, origin)


def _check_name(kind: str, name: object) -> None:
    if isinstance(name, str) and name.strip():
        return
    decorator = f"@register_{kind[:-1]}"
    raise PluginError(
        f"{name!r} cannot name one of the {kind}", remedy=f'Give a name that is not empty: {decorator}("name").'
    )


def registered(kind: str) -> dict[str, Registered]:
    """What has been registered in this process, by name."""
    return {name: item for (item_kind, name), item in _registered.items() if item_kind == kind}


def register_experiment(name: str) -> Callable[[T], T]:
    """Class or function decorator: makes an experiment known by ``name``."""
    return _decorator("experiments", name)


def register_instrument(name: str, *, perturbs: bool | None = None) -> Callable[[T], T]:
    """Class or context-manager function decorator. Undeclared instruments count as perturbing."""

    _check_name("instruments", name)

    def decorate(target: T) -> T:
        if perturbs is not None:
            target.perturbs = perturbs  # type: ignore[attr-defined]
        register("instruments", name, target)
        return target

    return decorate


def register_reporter(name: str) -> Callable[[T], T]:
    """Class decorator: an object with ``write(report, output_dir) -> paths``."""
    return _decorator("reporters", name)


def register_agent(name: str) -> Callable[[T], T]:
    """Function or class decorator: makes an agent known by ``name``."""
    return _decorator("agents", name)


def register_scorer(name: str) -> Callable[[T], T]:
    """Function or class decorator: makes a scorer known by ``name``."""
    return _decorator("scorers", name)


def register_dataset(name: str) -> Callable[[T], T]:
    """Function decorator: a generator of cases, known by ``name``."""
    return _decorator("datasets", name)


def register_importer(name: str) -> Callable[[T], T]:
    """Class decorator: an ``Importer`` for the files of another tool, known by ``name``."""
    return _decorator("importers", name)


def _decorator(kind: str, name: str) -> Callable[[T], T]:
    _check_name(kind, name)

    def decorate(target: T) -> T:
        register(kind, name, target)
        return target

    return decorate


def origin_of(target: Any) -> str:
    """Where an object was written: ``file.py:line`` when its source is known, else its module."""
    subject = _subject(target)
    try:
        return f"{inspect.getsourcefile(subject)}:{inspect.getsourcelines(subject)[1]}"
    except (TypeError, OSError):
        return str(getattr(subject, "__module__", type(subject).__module__))


def _place(target: Any) -> tuple[str, str]:
    subject = _subject(target)
    try:
        file = inspect.getsourcefile(subject) or ""
    except (TypeError, OSError):
        file = ""
    return file, str(getattr(subject, "__qualname__", repr(subject)))


def _subject(target: Any) -> Any:
    """What was written by somebody: the wrapped function or class, or the class of an instance."""
    subject = inspect.unwrap(target) if callable(target) else target
    return subject if hasattr(subject, "__qualname__") else type(subject)
