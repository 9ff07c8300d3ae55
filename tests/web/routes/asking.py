"""A service on a store of real runs, asked without a network."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from fastapi import FastAPI
from jsonschema import Draft202012Validator

from agentdyno.model import Case, Event, Response
from agentdyno.model.job import Scope
from agentdyno.store import Store
from agentdyno.web.app import create_app
from agentdyno.web.settings import ServiceSettings
from tests.suites import Room
from tests.workbench.answering import Answerer, cases, put, run, two_benchmarks

Json = dict[str, Any]  # whatever the service answers
SCRIPT = "<script>alert(1)</script>"
FORMULA = '=HYPERLINK("http://evil","x")'


@dataclass
class Told:
    """Answers what it is told, by the id of the case."""

    name: str
    version: str = "1.0"
    answers: dict[str, object] = field(default_factory=dict)

    def run(self, case: Case) -> object:
        return self.answers.get(case.id, case.target)


@dataclass
class Client:
    """Asks one service; a ``key`` is sent with every request."""

    app: FastAPI
    key: str = ""

    def send(self, method: str, path: str, **options: object) -> httpx.Response:
        async def once() -> httpx.Response:
            transport = httpx.ASGITransport(app=self.app)
            headers = {"Authorization": f"Bearer {self.key}"} if self.key else {}
            async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1", headers=headers) as client:
                return await client.request(method, path, **options)  # type: ignore[arg-type]

        return asyncio.run(once())

    def get(self, path: str, /, headers: dict[str, str] | None = None, **query: Any) -> httpx.Response:
        return self.send("GET", path, params=query, headers=headers)

    def ok(self, path: str, **query: Any) -> Json:
        found = self.get(path, **query)
        assert found.status_code == 200, found.text
        plain: Json = found.json()
        return plain

    def problem(self, path: str, status: int, /, **query: Any) -> Json:
        return refused(self.get(path, **query), status)

    def walk(self, path: str, **query: Any) -> Iterator[list[Json]]:
        """Every page of a list."""
        cursor: object = None
        while True:
            page = self.ok(path, **query, **({} if cursor is None else {"cursor": cursor}))
            yield page["items"]
            cursor = page["next"]
            if cursor is None:
                return


def check_documented(client: Client, method: str, template: str, answer: Json) -> None:
    """The answer of an operation has the shape that the OpenAPI document promises."""
    document = client.app.openapi()
    schema = document["paths"][template][method]["responses"]["200"]["content"]["application/json"]["schema"]
    Draft202012Validator({**schema, "components": document["components"]}).validate(answer)


def refused(response: httpx.Response, status: int) -> Json:
    """The problem in an answer that has to have this status."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    plain: Json = response.json()
    assert plain["status"] == status
    return plain


def fields(problem: Json) -> list[str]:
    return [item["field"] for item in problem["errors"]]


def client_of(room: Room, scope: Scope | None = None) -> Client:
    """A client of a new service on this room's store; with a ``scope``, one that has a key."""
    key = room.store.service.add_key(f"key {scope}", scope, 1)[1] if scope is not None else ""
    return Client(create_app(ServiceSettings(str(room.folder / "dyno.db"), room.folder, rate_per_minute=0)), key)


def new_room(folder: Path) -> Room:
    return Room(folder, Store.open(folder / "dyno.db"))


@dataclass
class Seeded:
    """A store that tests read and do not change, its runs oldest first."""

    room: Room
    client: Client
    first: str
    second: str
    pair: str
    odd: str


def seed(room: Room) -> Seeded:
    """``steady`` gets all of 6 cases right at 1.0, and 2 wrong at 2.0, with an error at c05; ``weak`` 3 wrong."""
    calls = [
        Event("message", 0.0, "user", "word 0"),
        Event("tool_call", 0.1, "look", {"word": 0}),
        Event("message", 0.2, "assistant", "WORD 0"),
    ]
    other = [*calls[:1], Event("tool_call", 0.1, "guess", {"word": 0}), Event("message", 0.3, "assistant", "no")]
    first = run(
        room,
        Answerer("steady"),
        Answerer("weak", wrong=["c00", "c01", "c02"]),
        Told("tracer", "1.0", {"c00": Response("WORD 0", events=tuple(calls))}),
        count=6,
        epochs=2,
    )
    second = run(
        room,
        Answerer("steady", "2.0", wrong=["c00", "c01"], fails=["c05"]),
        Told("tracer", "2.0", {"c00": Response("no", events=tuple(other))}),
        count=6,
        epochs=2,
    )
    pair = put(room, two_benchmarks(room), Answerer("steady", "2.0"))
    long: dict[str, object] = {
        "c00": Response("WORD 0", simulated=True),
        "c01": "x" * 3_000,
        "c02": "y" * 300_000,
        "c03": {"answer": [SCRIPT]},
    }
    odd = put(room, room.suite(name="odd", dataset={"cases": cases(4)}), Told(SCRIPT, "1", long), Told(FORMULA, "1"))
    ids = [result.run_id for result in (first, second, pair, odd)]
    return Seeded(room, client_of(room), *ids)
