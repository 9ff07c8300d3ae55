"""Signing a browser in and out."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Request
from pydantic import BaseModel, ConfigDict, StrictBool, StringConstraints
from starlette.responses import Response

from agentdyno.model.job import AuditEntry, Scope
from agentdyno.web.auth import LINK, ServiceCaller, bearer_secret, require, require_own_page
from agentdyno.web.problems import RefusedRequest
from agentdyno.web.sessions import clear_cookie, cookie_secret, set_cookie
from agentdyno.web.state import Services, services

router = APIRouter(tags=["service"])
Given = Annotated[Services, Depends(services)]
Reader = Annotated[ServiceCaller, Depends(require(Scope.READ))]


class SignInBody(BaseModel):
    """``remember``: for 30 days, else until the browser is closed."""

    model_config = ConfigDict(extra="forbid")

    remember: StrictBool = False


class LinkBody(BaseModel):
    """What stands behind the # of the link that `dyno serve` prints."""

    model_config = ConfigDict(extra="forbid")

    token: Annotated[str, StringConstraints(min_length=1, max_length=200)]


@router.post("/api/session", status_code=204, response_class=Response)
def sign_in(request: Request, body: SignInBody, _: Reader) -> Response:
    """Keeps the key of this request in a cookie that no script can read."""
    secret = bearer_secret(request.scope["headers"])
    if not secret:
        raise RefusedRequest(422, "there is no key to keep", "Send it as `Authorization: Bearer KEY`.")
    return _signed_in(request, secret, remember=body.remember)


@router.delete("/api/session", status_code=204, response_class=Response)
def sign_out(request: Request, given: Given, _: Reader) -> Response:
    """Takes the cookie away; a session that a link began ends for good."""
    given.link.end(cookie_secret(request.scope["headers"]))
    return Response(status_code=204, headers={"Set-Cookie": clear_cookie()})


@router.post("/api/session/link", status_code=204, response_class=Response)
def follow_link(request: Request, body: LinkBody, given: Given) -> Response:
    """Signs in by the link that `dyno serve` prints: once, within an hour, to read and to run."""
    require_own_page("POST", request.scope["headers"])
    now = given.now_ms()
    secret = given.link.redeem(body.token, now)
    if secret is None:
        raise RefusedRequest(
            401,
            "this link was used before, is older than an hour, or is of a service that has ended",
            "Start `dyno serve` again for a new one, or sign in with a key.",
        )
    given.store.service.add_audit(AuditEntry(now, LINK, "session.link", LINK, {}))
    return _signed_in(request, secret, remember=False)


def _signed_in(request: Request, secret: str, *, remember: bool) -> Response:
    secure = request.url.scheme == "https" or request.headers.get("origin", "").startswith("https://")
    return Response(status_code=204, headers={"Set-Cookie": set_cookie(secret, remember=remember, secure=secure)})
