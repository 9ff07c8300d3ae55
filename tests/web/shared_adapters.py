"""What checks bodies and answers is made once for all applications of a process.

FastAPI makes it anew for every application, of the same types each time, and that is most of what an application's
first requests cost.
"""

from __future__ import annotations

from typing import Any

from fastapi._compat import v2
from pydantic import TypeAdapter


def share_type_adapters() -> None:
    known: dict[str, tuple[object, TypeAdapter[Any]]] = {}

    def shared(type_: Any, *, config: Any = None) -> TypeAdapter[Any]:
        told = f"{_parts(type_)} {config!r}"
        if told not in known:
            known[told] = type_, TypeAdapter(type_, config=config)
        return known[told][1]

    names = vars(v2)
    assert names["TypeAdapter"] is TypeAdapter, "FastAPI makes them somewhere else"
    names["TypeAdapter"] = shared


def _parts(annotated: Any) -> str:
    """Types by identity, what is said of them by content. ``known`` keeps the types alive: no id is used twice."""
    origin = annotated.__origin__
    return f"{id(origin) if isinstance(origin, type) else origin!r} {annotated.__metadata__!r}"
