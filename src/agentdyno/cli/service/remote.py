"""A service elsewhere: asking for runs, following jobs."""

from __future__ import annotations

import json
import os
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from agentdyno.errors import DynoError, RunError, SpecError

if TYPE_CHECKING:
    from agentdyno.model.job import Job

VARIABLE = "DYNO_KEY"
TIMEOUT_S = 30.0
POLL_S = 0.5
PATIENCE_S = 60.0
"""How long a service may be away while a job is followed: it may be restarting."""
_AWAY = frozenset({429, 502, 503, 504})


class ServiceAway(RunError):
    """The service cannot be reached, or asks to be left alone for a while."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """A key goes to the address that the user named and nowhere else."""

    def redirect_request(self, *_: Any) -> None:
        return None


@dataclass(slots=True)
class RemoteService:
    """One service and the key for it. Whatever goes wrong is a ``DynoError`` in the service's own words."""

    url: str
    key: str = ""
    wait: Callable[[float], None] = field(default=time.sleep)
    clock: Callable[[], float] = field(default=time.monotonic)
    _opener: urllib.request.OpenerDirector | None = None

    @classmethod
    def at(cls, url: str, key_file: Path | None) -> RemoteService:
        """The service at ``url``, with the key of ``key_file``, else that of the environment."""
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise SpecError(
                f"not the address of a service: {url}", where="--server", remedy="Say http://127.0.0.1:8321."
            )
        if parts.username or parts.password:
            raise SpecError(
                "the address holds a password", where="--server", remedy=f"Put the key into {VARIABLE} instead."
            )
        return cls(url.rstrip("/"), read_key(key_file))

    def submit(self, body: Mapping[str, object], idempotency_key: str) -> Job:
        """Asks for a run; may be repeated with the same key without a second run."""
        plain = self._patiently(
            lambda: self.ask(
                "POST", "/benchmarks/run", {**body, "async_execution": True}, {"Idempotency-Key": idempotency_key}
            )
        )
        return _job(plain["job"])

    def job(self, job_id: str) -> Job:
        return _job(self.ask("GET", f"/api/jobs/{quote(job_id, safe='')}"))

    def jobs(self, limit: int, status: str | None) -> list[Job]:
        chosen = f"&status={quote(status)}" if status else ""
        return [_job(row) for row in self.ask("GET", f"/api/jobs?limit={limit}{chosen}")["items"]]

    def cancel(self, job_id: str) -> Job:
        return _job(self.ask("POST", f"/api/jobs/{quote(job_id, safe='')}/cancel", {}))

    def follow(self, job_id: str) -> Iterator[Job]:
        """The job at each change until it has ended; a service that restarts is waited for."""
        before = None
        while True:
            now = self._patiently(lambda: self.job(job_id))
            if now != before:
                yield now
                before = now
            if now.status.ended:
                return
            self.wait(POLL_S)

    def _patiently(self, ask: Callable[[], Any]) -> Any:
        give_up = self.clock() + PATIENCE_S
        while True:
            try:
                return ask()
            except ServiceAway:
                if self.clock() > give_up:
                    raise
                self.wait(1.0)

    def ask(
        self,
        method: str,
        path: str,
        body: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        """What the service answers, as JSON."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data, method=method)
        request.add_header("Accept", "application/json")
        if data is not None:
            request.add_header("Content-Type", "application/json")
        if self.key:
            request.add_unredirected_header("Authorization", f"Bearer {self.key}")
        for name, value in (headers or {}).items():
            request.add_header(name, value)
        if self._opener is None:
            self._opener = _opener(self.url)
        try:
            with self._opener.open(request, timeout=TIMEOUT_S) as response:
                return json.loads(response.read())
        except urllib.error.HTTPError as error:
            with error:
                raise _explained(error, self) from None
        except (OSError, urllib.error.URLError) as error:
            reason = getattr(error, "reason", error)
            raise ServiceAway(
                f"no answer: {reason}", where=self.url, remedy="Is `dyno serve` running there?"
            ) from None
        except ValueError:
            raise RunError(
                "what answers there is not a service of dyno", where=self.url, remedy="Check the address."
            ) from None


def read_key(key_file: Path | None) -> str:
    """The key, or nothing where there is none."""
    if key_file is None:
        return os.environ.get(VARIABLE, "").strip()
    try:
        return key_file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(
            f"{key_file} cannot be read: {error}", where="--key-file", remedy="Write the key into it."
        ) from None


def _opener(url: str) -> urllib.request.OpenerDirector:
    """No proxy for this machine's own addresses."""
    local = (urlsplit(url).hostname or "") in ("localhost", "127.0.0.1", "::1")
    proxies = [urllib.request.ProxyHandler({})] if local else []
    return urllib.request.build_opener(_NoRedirects, *proxies)


def _explained(error: urllib.error.HTTPError, service: RemoteService) -> DynoError:
    try:
        problem = json.loads(error.read())
    except (ValueError, OSError):
        problem = {}
    problem = problem if isinstance(problem, dict) else {}
    detail = str(problem.get("detail") or error.reason or f"status {error.code}")
    remedy = problem.get("remedy")
    if error.code == 401:
        remedy = f"Put the key into {VARIABLE} or --key-file; `dyno keys create NAME --scope run` makes one there."
    kind: type[DynoError] = ServiceAway if error.code in _AWAY else SpecError if error.code < 500 else RunError
    return kind(detail, where=service.url, remedy=str(remedy) if remedy else None)


def _job(plain: object) -> Job:
    from agentdyno.model.codec import from_plain
    from agentdyno.model.job import Job

    return from_plain(Job, plain)
