"""The kinds of runs that are installed, loaded when they are first used."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from functools import cache
from typing import Any, cast

from agentdyno.errors import RunError
from agentdyno.registry.installed import installed, load
from agentdyno.runs.kind import RunKind

EXPERIMENT, SUITE = "experiment", "suite"


@cache
def kind_named(name: str) -> RunKind[Any]:
    """The kind behind a name; ``RunError`` where none is installed under it."""
    known = installed("kinds")
    if name not in known:
        raise RunError(
            f"no kind of run is called {name!r} here",
            remedy=f"Known: {', '.join(known)}. Install the package that brings it.",
        )
    found: Any = load("kinds", name)
    return cast(RunKind[Any], found() if inspect.isclass(found) else found)


def kind_of(document: object) -> str:
    """The name of the kind that a file's document is of, told by its keys alone, so that no kind has to be loaded."""
    from agentdyno.specs import is_suite

    if is_suite(document):
        return SUITE
    others = [name for name in installed("kinds") if name not in (SUITE, EXPERIMENT)]
    keys = document if isinstance(document, Mapping) else ()
    return next((name for name in others if name in keys), EXPERIMENT)
