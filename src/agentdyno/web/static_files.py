"""The built dashboard."""

from __future__ import annotations

import gzip
import hashlib
import mimetypes
import re
import threading
from dataclasses import dataclass
from pathlib import Path

from starlette.datastructures import Headers
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from agentdyno.web.metrics import DASHBOARD
from agentdyno.web.problems import RefusedRequest, problem_response
from agentdyno.web.security import is_api

BUILT = Path(__file__).parent / "static"
INDEX = "index.html"
_HASHED = re.compile(r"^assets/.+-[\w-]{8,}\.\w+$")
_FOREVER = "public, max-age=31536000, immutable"
_PACKED = re.compile(r"^(text/|application/(javascript|json|manifest\+json)|image/svg)")
_SMALLEST_PACKED = 1024
_MISSING = (
    "<!doctype html><html lang=en><title>agentdyno</title><h1>agentdyno</h1>"
    "<p>The dashboard is not part of this installation. The API is there: <a href=/docs>/docs</a>.</p></html>"
)


@dataclass(frozen=True, slots=True)
class Page:
    content: bytes
    packed: bytes | None
    media_type: str
    etag: str
    caching: str


class Dashboard:
    """Answers what is not the API's. Only files that were found in the folder have an answer, so no path leads out.

    Names with a hash in them may be kept for ever; everything else is asked for again each time (``ETag``). A path
    that is no file is a place within the dashboard, where the client takes HTML.
    """

    def __init__(self, app: ASGIApp, folder: Path | None = None) -> None:
        self.app = app
        self._folder = folder or BUILT
        self._lock = threading.Lock()
        self._pages: dict[str, Page] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or is_api(scope["path"]):
            await self.app(scope, receive, send)
            return
        scope["dyno.route"] = DASHBOARD
        try:
            response = self._answer(scope)
        except RefusedRequest as error:
            response = problem_response(error, scope["path"])
        await response(scope, receive, send)

    def _answer(self, scope: Scope) -> Response:
        if scope["method"] not in ("GET", "HEAD"):
            raise RefusedRequest(405, "this can only be read", headers={"Allow": "GET, HEAD"})
        headers = Headers(scope=scope)
        name = scope["path"].lstrip("/") or INDEX
        pages = self._found()
        page = pages.get(name)
        if page is None:
            if name != INDEX and "text/html" not in headers.get("accept", ""):
                raise RefusedRequest(404, "there is nothing at this path", "GET /docs lists what there is.")
            page = pages.get(INDEX) or _page(INDEX, _MISSING.encode())
        return _response(page, headers)

    def _found(self) -> dict[str, Page]:
        with self._lock:
            if not self._pages:
                self._pages = _pages(self._folder)
            return self._pages


def _pages(folder: Path) -> dict[str, Page]:
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink()]
    return {name: _page(name, path.read_bytes()) for path in files for name in (path.relative_to(folder).as_posix(),)}


def _page(name: str, content: bytes) -> Page:
    kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
    if name.endswith((".js", ".mjs")):
        kind = "text/javascript"
    packed = None
    if _PACKED.match(kind) and len(content) >= _SMALLEST_PACKED:
        packed = gzip.compress(content, 6, mtime=0)
    digest = hashlib.sha256(content).hexdigest()[:24]
    return Page(content, packed, kind, f'"{digest}"', _FOREVER if _HASHED.match(name) else "no-cache")


def _response(page: Page, headers: Headers) -> Response:
    told = {"ETag": page.etag, "Cache-Control": page.caching, "Vary": "Accept-Encoding"}
    asked = [tag.strip().removeprefix("W/") for tag in headers.get("if-none-match", "").split(",")]
    if page.etag in asked or "*" in asked:
        return Response(status_code=304, headers=told)
    content = page.content
    if page.packed is not None and "gzip" in headers.get("accept-encoding", ""):
        content = page.packed
        told |= {"Content-Encoding": "gzip", "ETag": f"W/{page.etag}"}
    return Response(content, 200, told, page.media_type)
