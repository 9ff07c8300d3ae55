"""The OpenAPI document: what FastAPI finds, with the problems that every operation may answer."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import TypeAdapter

from agentdyno.findings.standing.model import AgentStanding, ArmStanding, HeadToHead
from agentdyno.model import AgentUse, ArmResult, Entry, Environment, RunResult, Sample, Spec, Suite
from agentdyno.model.codec import left_out
from agentdyno.web.asked import BODIES
from agentdyno.web.problems import MEDIA_TYPE, Problem
from agentdyno.web.security import OPEN

PROBLEMS = {
    400: "The request cannot be read.",
    401: "A key is needed, or the one given is not known.",
    403: "The key's scope is too small.",
    404: "There is nothing of that name; `near` names the closest.",
    408: "The body took too long to arrive.",
    409: "It contradicts what is there already.",
    413: "The body is too large.",
    421: "Without a key the service answers to localhost only.",
    422: "A value is not valid; `errors` names the field.",
    429: "Too many requests.",
    500: "Something went wrong; `detail` has the id under which the log tells more.",
    503: "The store does not answer, or the queue is full.",
}
_FRAMEWORK = ("HTTPValidationError", "ValidationError")
_REFERENCE = re.compile(r"'#/components/schemas/([^']+)'")


def install_schema(app: FastAPI) -> None:
    """Makes ``app.openapi()`` give our document, built once."""

    def openapi() -> dict[str, Any]:  # a JSON document
        if not app.openapi_schema:
            app.openapi_schema = _document(app)
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def _document(app: FastAPI) -> dict[str, Any]:
    document = get_openapi(
        title=app.title, version=app.version, description=app.description, routes=app.routes, openapi_version="3.1.0"
    )
    schemas = document.setdefault("components", {}).setdefault("schemas", {})
    for name in _FRAMEWORK:
        schemas.pop(name, None)
    problem = TypeAdapter(Problem).json_schema(ref_template="#/components/schemas/{model}")
    schemas.update(problem.pop("$defs", {}))
    schemas["Problem"] = problem
    for body in BODIES:
        shape = body.model_json_schema(ref_template="#/components/schemas/{model}")
        schemas.update(shape.pop("$defs", {}))
        schemas[body.__name__] = shape
    document["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
    for path, operations in document["paths"].items():
        for operation in operations.values():
            if path not in OPEN:
                operation["security"] = [{"key": []}, {}]
            for status, meaning in PROBLEMS.items():
                content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
                operation["responses"][str(status)] = {"description": meaning, "content": content}
    _require_what_is_always_sent(document["paths"], schemas)
    return document


_SOMETIMES = {
    kind.__name__: dict(left_out(kind))
    for kind in (
        AgentStanding,
        AgentUse,
        ArmResult,
        ArmStanding,
        Entry,
        Environment,
        HeadToHead,
        RunResult,
        Sample,
        Spec,
        Suite,
    )
}
"""Fields that an answer has only where they differ from their default."""


def _require_what_is_always_sent(paths: Mapping[str, Any], schemas: dict[str, Any]) -> None:
    """An answer has every field, those with a default too; only who asks may leave some out.

    FastAPI goes by the defaults alone, and lists the private fields of a dataclass, which are never sent.
    """
    bodies = [operation.get("requestBody") for operations in paths.values() for operation in operations.values()]
    asked = _reached(bodies, schemas)
    for name, schema in schemas.items():
        if name not in asked and "properties" in schema:
            sent = {field: kind for field, kind in schema["properties"].items() if not field.startswith("_")}
            schema.update(
                properties=sent, required=[field for field in sent if field not in _SOMETIMES.get(name, ())]
            )


def _reached(part: object, schemas: Mapping[str, Any]) -> set[str]:
    """The names of the schemas that a part of the document refers to, directly or through others."""
    found: set[str] = set()
    new = set(_REFERENCE.findall(repr(part)))
    while new:
        found |= new
        new = {name for known in new for name in _REFERENCE.findall(repr(schemas[known]))} - found
    return found
