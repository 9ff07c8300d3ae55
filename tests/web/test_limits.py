"""How much, how fast, how often."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.types import Message, Scope

from agentdyno.model.job import Scope as KeyScope
from agentdyno.web.limits import RequestRateLimit
from agentdyno.web.problems import RefusedRequest

from .service import Bench


def post(path: str, secret: str, headers: dict[str, str] | None = None) -> Scope:
    given = {"host": "127.0.0.1", "authorization": f"Bearer {secret}", "content-type": "application/json"}
    return {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(name.encode(), value.encode()) for name, value in {**given, **(headers or {})}.items()],
        "client": ("127.0.0.1", 5000),
        "server": ("127.0.0.1", 8321),
    }


async def ask(bench: Bench, scope: Scope, parts: Iterator[bytes]) -> tuple[int, dict[str, object], int]:
    """Status, body, and how many parts of the request's body were taken. Waits for ever once parts run out."""
    sent: list[Message] = []
    taken = 0

    async def receive() -> Message:
        nonlocal taken
        for part in parts:
            taken += 1
            return {"type": "http.request", "body": part, "more_body": True}
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: Message) -> None:
        sent.append(message)

    await bench.app(scope, receive, send)
    body = b"".join(message.get("body", b"") for message in sent)
    return sent[0]["status"], json.loads(body), taken


def test_an_announced_body_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    bench = Bench(tmp_path, max_body_bytes=1000)
    scope = post("/benchmarks/run", bench.key(KeyScope.RUN), {"content-length": "1001"})
    status, body, taken = asyncio.run(ask(bench, scope, iter([b"x"] * 9)))
    assert (status, body["title"], taken) == (413, "Content Too Large", 0)


def test_a_body_in_parts_is_cut_off_at_the_limit(tmp_path: Path) -> None:
    bench = Bench(tmp_path, max_body_bytes=1000)
    scope = post("/benchmarks/run", bench.key(KeyScope.RUN))
    status, _, taken = asyncio.run(ask(bench, scope, iter([b"x" * 300] * 100)))
    assert (status, taken) == (413, 4)


def test_a_body_that_does_not_arrive_in_time_is_given_up(tmp_path: Path) -> None:
    bench = Bench(tmp_path, body_timeout_s=0.05)
    scope = post("/benchmarks/run", bench.key(KeyScope.RUN))
    status, body, taken = asyncio.run(ask(bench, scope, iter([b"{"])))
    assert (status, body["status"]) == (408, 408)
    assert taken <= 1, "none where a busy machine took longer than this to look"


def test_a_body_of_exactly_the_limit_is_read(tmp_path: Path) -> None:
    bench = Bench(tmp_path, max_body_bytes=100)
    with bench.client(bench.key(KeyScope.RUN)) as client:
        for size, status in ((100, 422), (101, 413)):
            text = json.dumps({"agent_id": "x"}).ljust(size)
            answer = client.post("/benchmarks/run", content=text, headers={"Content-Type": "application/json"})
            assert answer.status_code == status


def test_without_a_key_a_body_is_not_even_looked_at(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.key(KeyScope.RUN)
    status, _, taken = asyncio.run(ask(bench, post("/benchmarks/run", "wrong"), iter([b"x"] * 9)))
    assert (status, taken) == (401, 0)


def test_a_bucket_holds_a_minute_and_fills_evenly() -> None:
    now = 0.0
    rate = RequestRateLimit(60, lambda: now)
    for _ in range(60):
        rate.take("ci")
    with pytest.raises(RefusedRequest) as refused:
        rate.take("ci")
    assert (refused.value.status_code, refused.value.headers) == (429, {"Retry-After": "1"})
    rate.take("another")
    now = 2.0
    rate.take("ci")
    rate.take("ci")
    with pytest.raises(RefusedRequest):
        rate.take("ci")


def test_a_rate_of_nothing_means_any_rate() -> None:
    rate = RequestRateLimit(0)
    for _ in range(10_000):
        rate.take("ci")


def test_buckets_of_many_callers_do_not_pile_up() -> None:
    rate = RequestRateLimit(1, lambda: 0.0)
    for number in range(5000):
        rate.take(str(number))
    assert len(rate._buckets) == 4096


def test_each_key_has_its_own_rate(tmp_path: Path) -> None:
    bench = Bench(tmp_path, rate_per_minute=3)
    first, second = bench.key(KeyScope.READ), bench.key(KeyScope.RUN)
    with bench.client() as client:
        statuses = [
            client.get("/api/jobs", headers={"Authorization": f"Bearer {first}"}).status_code for _ in range(4)
        ]
        assert statuses == [200, 200, 200, 429]
        assert client.get("/api/jobs", headers={"Authorization": f"Bearer {second}"}).status_code == 200
        assert client.get("/health").status_code == 200
