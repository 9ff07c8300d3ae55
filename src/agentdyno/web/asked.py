"""What a client asks for in one of two ways: in a JSON object, or in parameters as other platforms have them.

Both come to one value, and are checked by one definition. A request that changes something is as well protected in
either: who asks needs a key in the header ``Authorization``, which no page of another site can send.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Annotated, Any, NoReturn, TypeVar

from fastapi import Depends, Query, Request
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StringConstraints, TypeAdapter, ValidationError
from starlette.responses import Response

from agentdyno.model.job import Scope
from agentdyno.specs.forms import JobOptions, OptionsModel
from agentdyno.web.auth import ServiceCaller, require
from agentdyno.web.problems import FieldProblem, RefusedRequest
from agentdyno.web.schemas import CompareBody, ComparisonType

Name = Annotated[str, StringConstraints(min_length=1, max_length=500)]
Configuration = Annotated[
    dict[Name, bool | int | float | str | list[str] | None],
    Field(max_length=50, description="Settings that the agent declares, and sampling options of models."),
]
Text = Annotated[str | None, Query(max_length=500)]
Body = TypeVar("Body", bound=BaseModel)

if TYPE_CHECKING:  # a class that is made at run time is no type for a checker
    Options = OptionsModel
else:
    Options = JobOptions


class RunBody(BaseModel):
    """A registered agent and a registered suite, by name or UUID; nothing else can be run."""

    model_config = ConfigDict(extra="forbid")

    agent_id: Name
    suite_id: Name
    configuration: Configuration = {}
    async_execution: Annotated[StrictBool, Field(description="Answer at once with a job.")] = False
    options: Options = JobOptions()


BODIES: tuple[type[BaseModel], ...] = (RunBody, CompareBody)
"""The objects that are asked for here: the framework does not see them, so the document is told of them."""


def described(*bodies: Any) -> dict[str, Any]:  # forms of types; a JSON document
    """What the document says of a body that may be left out, or be one of these."""
    shapes = [
        {"$ref": f"#/components/schemas/{kind.__name__}"}
        if isinstance(kind, type) and issubclass(kind, BaseModel)
        else TypeAdapter(kind).json_schema()
        for kind in bodies
    ]
    return {"requestBody": {"required": False, "content": {"application/json": {"schema": {"anyOf": shapes}}}}}


async def run_asked(
    request: Request,
    _: Annotated[ServiceCaller, Depends(require(Scope.RUN))],
    agent_id: Annotated[Text, Query(description="Where the body does not name it.")] = None,
    suite_id: Text = None,
    async_execution: bool | None = None,
) -> RunBody:
    """A run, from an object or from parameters; in the latter case the body is the agent's configuration.

    Nothing of it is looked at before the caller's key is.
    """
    body = await _json(request)
    named = {"agent_id": agent_id, "suite_id": suite_id, "async_execution": async_execution}
    if agent_id is not None and isinstance(body, Mapping) and not body.keys() & RunBody.model_fields.keys():
        body = {"configuration": body}
    return _checked(RunBody, _together(body, named))


async def comparison_asked(
    request: Request,
    agent_ids: Annotated[list[str] | None, Query(max_length=20)] = None,
    suite_id: Text = None,
    comparison_type: ComparisonType | None = None,
) -> CompareBody:
    """A comparison, from an object, or from a list of agents and parameters."""
    body = await _json(request)
    if isinstance(body, list):
        body = {"agent_ids": body}
    named = {"agent_ids": agent_ids or None, "suite_id": suite_id, "comparison_type": comparison_type}
    return _checked(CompareBody, _together(body, named))


def _together(body: object, named: Mapping[str, object]) -> object:
    """The object with what parameters say; said twice, it has to be the same."""
    given = {name: value for name, value in named.items() if value is not None}
    if body is None:
        return given
    if not isinstance(body, Mapping):
        return body
    for name, value in given.items():
        if name in body and body[name] != value:
            message = f"{name} is in the body and in the address, and they differ"
            raise RefusedRequest(422, message, "Say it once.", errors=(FieldProblem(f"query.{name}", message),))
    return {**body, **given}


def _checked(kind: type[Body], value: object) -> Body:
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        told = [{**item, "loc": ("body", *item["loc"])} for item in error.errors(include_url=False)]
        raise RequestValidationError(told) from None


async def _json(request: Request) -> object:
    """The body, ``None`` where there is none. Another kind of body than JSON is refused, as forms are."""
    content = await request.body()
    if not content:
        return None
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json" and not (kind.startswith("application/") and kind.endswith("+json")):
        message = "the body is not said to be JSON"
        errors = (FieldProblem("body", message),)
        raise RefusedRequest(422, message, "Send `Content-Type: application/json`.", errors=errors)
    try:
        return strict_value(content)
    except json.JSONDecodeError as error:
        told = {
            "type": "json_invalid",
            "loc": ("body", error.pos),
            "msg": f"JSON decode error: {error.msg}",
            "input": {},
        }
        raise RequestValidationError([told]) from None
    except (UnicodeDecodeError, RecursionError, ValueError):
        raise RefusedRequest(400, "There was an error parsing the body") from None


def strict_value(content: bytes) -> object:
    """The value of a JSON text. Raises ``json.JSONDecodeError`` for NaN, Infinity and 1e999 too."""
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
