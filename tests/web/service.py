"""A service on a store of its own, and the callers of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.testclient import TestClient

from agentdyno.model.job import Scope
from agentdyno.store import Store
from agentdyno.web.app import create_app
from agentdyno.web.settings import ServiceSettings

from ..new_stores import open_new_store
from ..waiting import wait_until

NOW = 1_750_000_000_000
WORKSPACE = """
agents:
  echo: {use: "agent.py@answer", version: "1", config: {style: plain}}
  other: {use: "agent.py@answer", version: "2"}
suites: [sums.yaml]
"""
AGENT = "def answer(text, style='plain'):\n    return text\n"
SUITE = """
name: Sums
benchmarks:
  - name: small
    dataset: [{id: one, input: "1", target: "1"}, {id: two, input: "2", target: "2"}]
    scorer: exact
"""


class Bench:
    """A folder with a project in it. ``app`` is its service; times stand still at ``NOW``."""

    def __init__(self, folder: Path, **settings: Any) -> None:  # the fields of Settings
        self.folder = folder
        self.url = f"sqlite:///{folder}/dyno.db"
        (folder / "dyno.yaml").write_text(WORKSPACE)
        (folder / "agent.py").write_text(AGENT)
        (folder / "sums.yaml").write_text(SUITE)
        open_new_store(folder / "dyno.db").close()
        given = {"poll_s": 0.01, "patience_s": 60.0, "static": folder / "static", **settings}
        self.settings = ServiceSettings(self.url, folder, **given)
        self.app: FastAPI = create_app(self.settings, lambda: NOW)

    def store(self) -> Store:
        return Store.open(self.url)

    def key(self, scope: Scope, name: str = "") -> str:
        """The secret of a new key."""
        with self.store() as store:
            return store.service.add_key(name or f"{scope.value}-key", scope, NOW)[1]

    @contextmanager
    def client(self, secret: str = "", *, host: str = "127.0.0.1:8321") -> Iterator[TestClient]:
        headers = bearer(secret) if secret else {}
        with TestClient(
            self.app, base_url=f"http://{host}", headers=headers, raise_server_exceptions=False
        ) as client:
            yield client


def until(true: Callable[[], object]) -> None:
    """Waits for what another thread does."""
    wait_until(true, pause_s=0.002)


def bearer(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


def operations(app: FastAPI) -> list[tuple[str, str]]:
    """Every method and path of the API, those outside the document included."""
    found = {(method.upper(), path) for path, item in app.openapi()["paths"].items() for method in item}
    found |= {
        (method, route.path) for route in app.routes if isinstance(route, APIRoute) for method in route.methods or ()
    }
    found |= {("GET", path) for path in ("/docs", "/docs/style.css", "/openapi.json")}
    return sorted(found)
