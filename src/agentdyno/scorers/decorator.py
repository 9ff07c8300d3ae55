"""``@scorer``: a function of one's own as a judge."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

from agentdyno.errors import PluginError
from agentdyno.registry import register_scorer

F = TypeVar("F", bound=Callable[..., Any])


@overload
def scorer(function: F, /) -> F: ...


@overload
def scorer(name: str | None = None, /) -> Callable[[F], F]: ...


def scorer(function: F | str | None = None, /) -> F | Callable[[F], F]:
    """Makes a function or class known as a scorer by its own name, or with ``@scorer("name")`` by that one.

    The function receives by name any of ``output``, ``target``, ``input``, ``case`` and ``response``; further
    parameters are its options. It returns a number in 0..1, a bool, a dict of them, a ``Score`` or ``None``.
    """
    if function is None or isinstance(function, str):
        given = function

        def decorate(target: F) -> F:
            return register_scorer(_name_of(target) if given is None else given)(target)

        return decorate
    return register_scorer(_name_of(function))(function)


def _name_of(target: object) -> str:
    name = getattr(target, "__name__", None)
    if not isinstance(name, str):
        raise PluginError(f"{target!r} has no name of its own", remedy='Give it one: @scorer("name").')
    return name
