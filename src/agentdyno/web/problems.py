"""Errors as RFC 9457 problem details: every error of the service leaves in this form."""

from __future__ import annotations

import logging
import re
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus

from fastapi import FastAPI, HTTPException, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException as StarletteHTTPException
from starlette.responses import JSONResponse, Response

from agentdyno.errors import (
    Conflict,
    DynoError,
    ImportFailed,
    LeaseLost,
    NotComparable,
    ResultError,
    RunError,
    SpecError,
    StoreError,
    Unknown,
)
from agentdyno.jobs.submitting import QueueFull
from agentdyno.model.codec import encode
from agentdyno.web.state import Services, StoreUnavailable, services_of

MEDIA_TYPE = "application/problem+json"
RETRY_AFTER_S = 2
QUEUE_RETRY_AFTER_S = 30
_MOST_ERRORS = 20
_LONGEST = 500
_SUGGESTED = re.compile(r"Did you mean (.+)\?")
_IDS = (None, "", "agent_id", "suite_id")
_UNKNOWN = ("Did you mean", "Known:", "None are known")
_TITLES = {413: "Content Too Large", 421: "Misdirected Request", 422: "Unprocessable Content"}
"""As RFC 9110 has them, whichever names the running Python knows."""
_NOT_COMPARABLE = "Not Comparable"
_log = logging.getLogger("agentdyno.web")


@dataclass(frozen=True, slots=True)
class FieldProblem:
    """``field`` is the path of the value: ``body.agent_id``, ``query.limit``."""

    field: str
    message: str


@dataclass(frozen=True, slots=True)
class Problem:
    """RFC 9457, with what to do about it: ``remedy`` in words, ``near`` the nearest known names."""

    type: str
    title: str
    status: int
    detail: str
    instance: str
    remedy: str | None = None
    near: tuple[str, ...] = ()
    errors: tuple[FieldProblem, ...] = ()


class RefusedRequest(HTTPException):
    """An answer that is an error, from anywhere below a request.

    ``title`` names a kind of problem that clients tell from others of the same status.
    """

    def __init__(
        self,
        status: int,
        detail: str,
        remedy: str | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        near: Sequence[str] = (),
        errors: Sequence[FieldProblem] = (),
        title: str = "",
    ) -> None:
        super().__init__(status, detail, dict(headers or {}))
        self.remedy = remedy
        self.near = tuple(near)
        self.errors = tuple(errors)
        self.title = title


@contextmanager
def finding(field: str = "") -> Iterator[None]:
    """Around looking something up by what the client gave: what is not there is a 404 with the nearest names."""
    try:
        yield
    except (SpecError, StoreError) as error:
        if is_outage(error) or isinstance(error, (Conflict, LeaseLost)):
            raise
        raise missing(error, field) from error


def missing(error: DynoError, field: str = "") -> RefusedRequest:
    errors = (FieldProblem(field, error.message),) if field else ()
    return RefusedRequest(404, error.message, error.remedy, near=near(error.remedy), errors=errors)


def is_outage(error: BaseException) -> bool:
    """Whether the database failed, rather than having nothing of that name."""
    if isinstance(error, StoreUnavailable):
        return True
    if not isinstance(error, StoreError) or isinstance(error, (Unknown, Conflict, LeaseLost)):
        return False
    return error.__cause__ is not None and not _is_unfit_value(error.message)


def near(remedy: str | None) -> tuple[str, ...]:
    """The names that a remedy suggests."""
    found = _SUGGESTED.search(remedy or "")
    return tuple(found[1].split(" or ")) if found else ()


def refused(error: DynoError) -> RefusedRequest:
    """What an error of ours means to a client."""
    if is_outage(error):
        told = "The service tries again with the next request; so can you."
        return RefusedRequest(503, _plain(error), told, headers={"Retry-After": str(RETRY_AFTER_S)})
    if isinstance(error, StoreError) and _is_unfit_value(error.message):
        return RefusedRequest(422, error.message, error.remedy)
    if isinstance(error, NotComparable):
        return RefusedRequest(409, error.message, error.remedy, title=_NOT_COMPARABLE)
    if isinstance(error, (Conflict, LeaseLost)):
        return RefusedRequest(409, error.message, error.remedy)
    if isinstance(error, StoreError):
        return missing(error)
    if isinstance(error, QueueFull):
        return RefusedRequest(503, error.message, error.remedy, headers={"Retry-After": str(QUEUE_RETRY_AFTER_S)})
    if isinstance(error, SpecError) and _is_unknown(error):
        return missing(error, error.where or "")
    if isinstance(error, (SpecError, ImportFailed, ResultError)):
        errors = (FieldProblem(error.where, error.message),) if error.where else ()
        return RefusedRequest(422, error.message, error.remedy, near=near(error.remedy), errors=errors)
    if isinstance(error, RunError):
        return RefusedRequest(409, error.message, error.remedy)
    return RefusedRequest(422, error.message, error.remedy, near=near(error.remedy))


def problem_response(error: StarletteHTTPException, path: str) -> Response:
    """Any HTTP error as a problem about ``path``."""
    ours = error if isinstance(error, RefusedRequest) else None
    title = (ours and ours.title) or _TITLES.get(error.status_code) or HTTPStatus(error.status_code).phrase
    problem = Problem(
        type=f"urn:agentdyno:problem:{title.lower().replace(' ', '-')}",
        title=title,
        status=error.status_code,
        detail=str(error.detail)[:_LONGEST],
        instance=path,
        remedy=ours.remedy if ours else None,
        near=ours.near if ours else (),
        errors=ours.errors[:_MOST_ERRORS] if ours else (),
    )
    headers = {name: _header_value(value) for name, value in (error.headers or {}).items()}
    return Response(encode(problem), error.status_code, headers, MEDIA_TYPE)


def unexpected(error: BaseException, path: str, hidden: Sequence[str] = ()) -> Response:
    """A 500 that names nothing but an id, under which the log has the whole story, without the ``hidden`` texts."""
    import traceback

    from agentdyno.agents.redaction import Redactor

    incident = secrets.token_hex(6)
    story = "".join(traceback.format_exception(error))
    redactor = Redactor({f"KEY{number}": text for number, text in enumerate(hidden)})
    _log.error("unexpected error %s: %s", incident, redactor.text(story))
    detail = f"something went wrong here; the service's log has more under {incident}"
    return problem_response(RefusedRequest(500, detail), path)


def note_outage(given: Services, error: DynoError) -> None:
    """Where the database failed: the log says why, and connections are opened anew."""
    if is_outage(error):
        _log.warning("the store fails: %s", error)
        given.renew_stores()


def install(app: FastAPI, methods_of: Callable[[str], set[str]]) -> None:
    """Makes every error that a route raises a problem; ``methods_of`` gives the methods that a path answers to."""

    async def on_http(request: Request, error: Exception) -> Response:
        assert isinstance(error, StarletteHTTPException)
        if error.status_code == 404 and not isinstance(error, RefusedRequest) and error.detail == "Not Found":
            error = RefusedRequest(404, "there is nothing at this path", "GET /docs lists what there is.")
        elif error.status_code == 405:
            allowed = ", ".join(sorted(methods_of(request.url.path)))
            error = RefusedRequest(
                405, f"{request.method} is not for this path", f"Use {allowed}.", headers={"Allow": allowed}
            )
        return problem_response(error, request.url.path)

    async def on_ours(request: Request, error: Exception) -> Response:
        assert isinstance(error, DynoError)
        note_outage(services_of(request), error)
        return problem_response(refused(error), request.url.path)

    async def on_invalid(request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        errors = [FieldProblem(_field(item["loc"]), str(item["msg"])[:_LONGEST]) for item in error.errors()]
        first = errors[0] if errors else FieldProblem("", "the request is not valid")
        detail = f"{first.field}: {first.message}" if first.field else first.message
        return problem_response(RefusedRequest(422, detail, errors=errors), request.url.path)

    async def on_unfit_text(request: Request, _error: Exception) -> Response:
        return problem_response(RefusedRequest(422, "a text has characters that UTF-8 cannot hold"), request.url.path)

    app.add_exception_handler(UnicodeEncodeError, on_unfit_text)
    app.add_exception_handler(StarletteHTTPException, on_http)
    app.add_exception_handler(DynoError, on_ours)
    app.add_exception_handler(RequestValidationError, on_invalid)


def _is_unknown(error: SpecError) -> bool:
    """Whether a name is not known, rather than a value wrong: then the remedy suggests names."""
    return error.where in _IDS and (error.remedy or "").startswith(_UNKNOWN)


def _field(place: Sequence[object]) -> str:
    return ".".join(str(part) for part in place)[:_LONGEST]


def _is_unfit_value(message: str) -> bool:
    return message.startswith(("a value cannot be stored", "a value is too large"))


def _plain(error: DynoError) -> str:
    """An outage in words that name no path, host or user of the server."""
    return "the store does not answer at the moment" if error.where else error.message


def _header_value(value: str) -> str:
    """No line breaks and nothing beyond Latin-1: a header cannot be broken out of."""
    kept = "".join(letter for letter in value if letter.isprintable())
    return kept.encode("latin-1", "replace").decode("latin-1")


class StrictJson(JSONResponse):
    """Values of the vocabulary field by field."""

    def render(self, content: object) -> bytes:
        return encode(content).encode()
