"""JSON as the standard has it: Python's reader takes NaN, Infinity and 1e999 too, which no store can hold."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Coroutine
from typing import Any, NoReturn

from fastapi import Request
from fastapi.routing import APIRoute
from starlette.responses import Response


def strict_value(content: bytes) -> object:
    """The value of a JSON text. Raises ``json.JSONDecodeError`` for numbers that are not finite, too."""
    return json.loads(content, parse_constant=_refuse, parse_float=_finite)


class StrictBodyRoute(APIRoute):
    """For routes whose body the framework reads: numbers that are not finite are refused as bad syntax is."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def strict(request: Request) -> Response:
            return await handle(_StrictRequest(request.scope, request.receive))

        return strict


class _StrictRequest(Request):
    async def json(self) -> Any:  # what the framework expects
        return strict_value(await self.body())


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        _refuse(text)
    return value


def _refuse(text: str) -> NoReturn:
    raise json.JSONDecodeError(f"{text[:20]} is no number of JSON", text, 0)
