"""Attacks byte by byte, on a service that listens on a real port."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from agentdyno.model.job import Job, Scope
from tests.workbench.answering import Answerer, run

from .listening import heard, listening, request
from .routes.asking import client_of, new_room
from .service import NOW, Bench


def test_a_body_that_drips_is_given_up_and_others_are_answered_meanwhile(tmp_path: Path) -> None:
    bench = Bench(tmp_path, body_timeout_s=0.5)
    secret = bench.key(Scope.RUN)
    head = request("POST", "/benchmarks/run", "Content-Type: application/json", "Content-Length: 1000", secret=secret)
    with listening(bench.app) as service:
        held = [service.connected() for _ in range(60)]
        connections = [one.__enter__() for one in held]
        for connection in connections:
            connection.sendall(head + b"{")
        assert service.say(request("GET", "/health"))[0] == 200
        assert service.say(request("GET", "/api/session", secret=secret))[0] == 200
        told = [heard(connection) for connection in connections]
        assert {status for status, _ in told} == {408}
        assert all(b"connection: close" in text.lower() for _, text in told)
        for one in held:
            one.__exit__(None, None, None)


def test_bytes_one_by_one_do_not_put_the_deadline_off(tmp_path: Path) -> None:
    bench = Bench(tmp_path, body_timeout_s=0.4)
    head = request(
        "POST",
        "/benchmarks/run",
        "Content-Type: application/json",
        "Content-Length: 1000",
        secret=bench.key(Scope.RUN),
    )
    with listening(bench.app) as service, service.connected() as connection:
        connection.sendall(head)
        sent = 0
        try:
            while sent < 999:
                connection.sendall(b" ")
                sent += 1
                time.sleep(0.02)
        except (BrokenPipeError, ConnectionResetError):
            pass
        assert sent < 999
        assert heard(connection)[0] in (0, 408), "the answer may be lost to what was still being sent"


@pytest.mark.parametrize(
    "earlier", [b"", b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"], ids=["first", "second"]
)
def test_a_header_that_drips_is_given_up_and_others_are_answered_meanwhile(tmp_path: Path, earlier: bytes) -> None:
    bench = Bench(tmp_path, header_timeout_s=1.5)
    with listening(bench.app) as service:
        held = [service.connected() for _ in range(20)]
        connections = [one.__enter__() for one in held]
        for connection in connections:
            connection.sendall(earlier)
            if earlier:
                assert b" 200 " in connection.recv(65536)
            connection.sendall(b"GET /health HTTP/1.1\r\n")
        assert service.say(request("GET", "/health"))[0] == 200
        sent = 0
        try:
            while sent < 999:
                for connection in connections:
                    connection.sendall(b"X-More: yes\r\n" if sent == 0 else b"x")
                sent += 1
                time.sleep(0.02)
        except (BrokenPipeError, ConnectionResetError):
            pass
        assert sent < 999, "bytes one by one have put the deadline off"
        for one in held:
            one.__exit__(None, None, None)
        assert service.say(request("GET", "/health"))[0] == 200


def test_a_header_that_stops_is_told_why_and_a_silent_connection_is_closed(tmp_path: Path) -> None:
    bench = Bench(tmp_path, header_timeout_s=0.2)
    with listening(bench.app) as service:
        status, told = service.say(b"GET /health HTTP/1.1\r\nHost: 127.0")
        assert (status, b"application/problem+json" in told, b"connection: close" in told.lower()) == (
            408,
            True,
            True,
        )
        assert json.loads(told.partition(b"\r\n\r\n")[2])["status"] == 408
        assert service.say() == (0, b"")


def test_an_answer_may_take_longer_than_the_header_and_the_connection_is_kept(tmp_path: Path) -> None:
    bench = Bench(tmp_path, header_timeout_s=0.2)
    with bench.store() as store:
        store.service.add_job(Job("job-1", "echo@1", "a", "sums", "s", NOW))
    head = request("GET", "/api/jobs/job-1/events")
    with listening(bench.app) as service, service.connected() as connection:
        connection.sendall(head)
        time.sleep(0.5)
        with bench.store() as store:
            store.service.cancel_job("job-1", NOW)
        status, told = heard(connection)
        assert (status, b"cancelled" in told) == (200, True)


@pytest.mark.parametrize("form", ["announced", "chunked", "announced too small"])
def test_too_large_a_body_is_refused_on_the_wire(tmp_path: Path, form: str) -> None:
    bench = Bench(tmp_path, max_body_bytes=10_000)
    secret = bench.key(Scope.RUN)
    how = {"announced": "Content-Length: 99999999999999999999", "chunked": "Transfer-Encoding: chunked"}
    head = request("POST", "/benchmarks/run", how.get(form, "Content-Length: 5"), secret=secret)
    chunk = b"1000\r\n" + b"x" * 0x1000 + b"\r\n"
    with listening(bench.app) as service:
        status, told = service.say(head, *([chunk] * 4 if form == "chunked" else [b"x" * 20_000]))
        assert status in ((413, 400) if form == "announced" else (413,) if form == "chunked" else (400, 422)), told
        assert service.say(request("GET", "/health"))[0] == 200


SMUGGLED = {
    "two lengths": ["Content-Length: 2", "Content-Length: 50"],
    "a length and chunks": ["Content-Length: 2", "Transfer-Encoding: chunked"],
    "a negative length": ["Content-Length: -1"],
    "no length": ["Content-Length: x"],
    "an unknown encoding": ["Transfer-Encoding: chunked, identity"],
    "a space before the colon": ["Content-Length : 2"],
    "a folded line": ["X-Folded: a\r\n b: c", "Content-Length: x"],
}


@pytest.mark.parametrize("headers", SMUGGLED.values(), ids=SMUGGLED.keys())
def test_no_second_request_hides_in_the_first(tmp_path: Path, headers: list[str]) -> None:
    bench = Bench(tmp_path)
    secret = bench.key(Scope.ADMIN)
    hidden = b"0\r\n\r\n" + request("POST", "/api/keys", "Content-Length: 0", secret=secret)
    with listening(bench.app) as service:
        _, told = service.say(request("POST", "/benchmarks/compare", *headers, secret=secret), hidden)
        assert told.count(b"HTTP/1.1 ") <= 1
        assert b" 5" not in told[8:11]
        assert service.say(request("GET", "/health"))[0] == 200


BROKEN = ["a\rSet-Cookie: x=1", "a\nSet-Cookie: x=1", "a\r\nSet-Cookie: x=1", "a\0b", "a b", "\u00e9", "a" * 201]


@pytest.mark.parametrize("key", BROKEN)
def test_no_header_breaks_out_into_another(tmp_path: Path, key: str) -> None:
    bench = Bench(tmp_path)
    secret = bench.key(Scope.RUN)
    body = b'{"agent_id":"nobody\\r\\nSet-Cookie: x=1","suite_id":"sums","async_execution":true}'
    given = [f"Idempotency-Key: {key}", f"Content-Length: {len(body)}", "Content-Type: application/json"]
    with listening(bench.app) as service:
        status, told = service.say(request("POST", "/benchmarks/run", *given, secret=secret), body)
        assert 400 <= status < 500, told
        assert b"set-cookie" not in told.partition(b"\r\n\r\n")[0].lower()


@pytest.mark.parametrize(
    "path",
    [
        "/api/runs/last%0d%0aSet-Cookie:%20x=1",
        "/api/runs/last/artifacts/a%0d%0aSet-Cookie:%20x=1",
        "/api/jobs/x%0d%0aSet-Cookie:%20x=1/cancel",
        "/%0d%0aSet-Cookie:%20x=1",
        "/benchmarks/agents/x%0aSet-Cookie:%20x=1/results",
        "/api/import?name=a%0d%0aSet-Cookie:%20x=1",
    ],
)
def test_no_path_breaks_out_into_a_header(tmp_path: Path, path: str) -> None:
    bench = Bench(tmp_path)
    method = "POST" if "cancel" in path or "import" in path else "GET"
    head = request(method, path, "Content-Length: 0", secret=bench.key(Scope.ADMIN))
    with listening(bench.app) as service:
        status, told = service.say(head)
        assert 400 <= status < 500, told
        assert b"set-cookie" not in told.partition(b"\r\n\r\n")[0].lower()


def test_a_name_pointed_at_this_machine_reads_nothing(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    with listening(bench.app) as service:
        for host in ("evil.example", f"127.0.0.1.evil.example:{service.port}", "localhost\tevil"):
            status, told = service.say(
                f"GET /api/session HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode()
            )
            assert status in (400, 421), told
        absolute = b"GET http://127.0.0.1/api/session HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
        assert service.say(absolute)[0] in (400, 404, 421)
        two = b"GET /api/session HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n"
        assert service.say(two)[0] in (400, 421)
        none = b"GET /api/session HTTP/1.0\r\n\r\n"
        assert service.say(none)[0] in (400, 421)


ESCAPES = [
    "../dyno.db",
    "..%2f..%2fdyno.db",
    "%2e%2e%2fdyno.db",
    "..%5cdyno.db",
    "%2fetc%2fpasswd",
    "a/../../dyno.db",
]


@pytest.mark.parametrize("path", ESCAPES)
def test_no_path_as_it_is_sent_leads_to_another_file(tmp_path: Path, path: str) -> None:
    """Clients tidy a path up before they send it; here nobody does."""
    room = new_room(tmp_path)
    run_id = run(room, Answerer("steady")).run_id
    app = client_of(room).app
    with listening(app) as service:
        for base in (f"/api/runs/{run_id}/artifacts/", "/assets/", "/docs/", "/"):
            status, told = service.say(request("GET", base + path))
            assert 400 <= status < 500, (base, told[:300])
            assert b"SQLite format" not in told
            assert b"root:" not in told
    room.store.close()
