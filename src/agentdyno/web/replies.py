"""Answers as JSON: strict, without NaN, with tags by which a client knows that nothing has changed."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf
from weakref import WeakKeyDictionary

from fastapi import Request
from starlette.responses import Response

from agentdyno.errors import SpecError
from agentdyno.model.codec import encode
from agentdyno.store.answers import Answers
from agentdyno.web.problems import FieldProblem, RefusedRequest, near
from agentdyno.web.state import Services

JSON = "application/json"
DAY_MS = 86_400_000
NOT_MODIFIED: dict[int | str, dict[str, object]] = {304: {"description": "Nothing has changed."}}
MOST_KEPT = 256
LONGEST_KEPT = 256 * 1024
"""Bytes of an answer that is kept; longer ones are made anew, so that memory stays bounded."""


@dataclass(frozen=True, slots=True)
class Lasting:
    """An answer that holds up to the time ``until_ms`` (UTC milliseconds), unless executions change before.

    Bytes are JSON already.
    """

    value: object
    until_ms: float = inf


_kept: WeakKeyDictionary[Services, Answers[Lasting]] = WeakKeyDictionary()


def answer(value: object, *, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """A value of the model, field by field."""
    return Response(encode(value), status, dict(headers or {}), JSON)


class OldResponse(Response):
    """An answer from before the last change of an execution; the new one is being made."""


def kept_answer(
    services: Services, question: tuple[Hashable, ...], make: Callable[[], object], *, patience_s: float | None = None
) -> Response:
    """An answer that follows from the executions in the store alone: made once as long as these do not change.

    Where time alone changes it too, ``make`` gives a ``Lasting``. It is called in any thread, so it asks ``services``
    for its store. Whoever asks waits ``patience_s`` seconds for a new answer at most where there is an old one.
    Unless that is given it is as long as the settings say, and 0 while further answers are out of date.
    """
    cache = _kept.get(services)
    if cache is None:
        cache = _kept.setdefault(services, Answers(MOST_KEPT, background=services.in_background))
    patience = patience_s
    if patience is None:
        patience = 0.0 if cache.being_made > 1 else services.settings.patience_s
    long: list[bytes] = []

    def made() -> Lasting:
        answer = make()
        lasting = answer if isinstance(answer, Lasting) else Lasting(answer)
        body = lasting.value if isinstance(lasting.value, bytes) else encode(lasting.value).encode()
        if len(body) > LONGEST_KEPT:
            long.append(body)
            raise _TooLong
        return Lasting(body, lasting.until_ms)

    generation = services.store.boards.generation()
    try:
        found, current = cache.find(generation, question, made, patience_s=patience)
        if found.until_ms < services.now_ms():
            cache.forget(question)
            found, current = cache.get(generation, question, made), True
    except _TooLong:
        return Response(long[0], media_type=JSON)
    return (Response if current else OldResponse)(found.value, media_type=JSON)


class _TooLong(Exception):
    pass


def tag_of(*parts: object) -> str:
    """A weak tag: answers with the same one say the same, though they may have been made at another time."""
    return f'W/"{hashlib.sha256(encode(list(parts)).encode()).hexdigest()[:32]}"'


def tagged(request: Request, tag: str, make: Callable[[], object]) -> Response:
    """304 where the client has the answer of this tag, else the answer with its tag; ``make`` may give a response."""
    headers = {"ETag": tag, "Cache-Control": "private, no-cache"}
    given = [item.strip() for text in request.headers.getlist("if-none-match") for item in text.split(",")]
    if "*" in given or tag.removeprefix("W/") in {item.removeprefix("W/") for item in given}:
        return Response(status_code=304, headers=headers)
    made = make()
    response = made if isinstance(made, Response) else answer(made)
    # A tag is of the state of now, and so it may not stand on an answer from before.
    response.headers.update({"Cache-Control": "no-store"} if isinstance(response, OldResponse) else headers)
    return response


@contextmanager
def about(field: str) -> Iterator[None]:
    """Around the use of one value that the client gave: what is wrong with it is a 422 that names the field."""
    try:
        yield
    except SpecError as error:
        told = (FieldProblem(field, error.message),)
        raise RefusedRequest(422, error.message, error.remedy, near=near(error.remedy), errors=told) from error
