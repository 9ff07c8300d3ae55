"""Who may ask what."""

from __future__ import annotations

import hmac
import re
from pathlib import Path

import pytest

from agentdyno.model.job import Scope
from agentdyno.web.auth import require

from .service import NOW, Bench, bearer, operations

OPEN = {"/health", "/ready", "/api/session/link"}
ADMIN = {
    ("DELETE", "/api/keys/{name}"),
    ("GET", "/api/keys"),
    ("POST", "/api/keys"),
    ("GET", "/api/audit"),
    ("PUT", "/api/baselines"),
    ("DELETE", "/api/baselines"),
    ("POST", "/api/import"),
    ("POST", "/import"),
}
READING = {("POST", "/benchmarks/compare"), ("POST", "/api/session"), ("DELETE", "/api/session")}


def concrete(path: str) -> str:
    return re.sub(r"\{[^}]+\}", "x", path)


def needed(method: str, path: str) -> Scope:
    if (method, path) in ADMIN:
        return Scope.ADMIN
    return Scope.READ if method == "GET" or (method, path) in READING else Scope.RUN


def test_once_a_key_exists_every_endpoint_but_health_asks_for_one_of_the_right_scope(tmp_path: Path) -> None:
    bench = Bench(tmp_path, rate_per_minute=0)
    secrets = {scope: bench.key(scope) for scope in Scope}
    revoked = bench.key(Scope.ADMIN, "gone")
    with bench.store() as store:
        store.service.revoke_key("gone", NOW)
    smaller = {Scope.READ: None, Scope.RUN: Scope.READ, Scope.ADMIN: Scope.RUN}
    checked = 0
    with bench.client() as client:
        for method, path in operations(bench.app):
            if path in OPEN:
                assert client.request(method, path).status_code == (422 if path.endswith("/link") else 200)
                continue
            url, scope = concrete(path), needed(method, path)

            def status(secret: str, method: str = method, url: str = url) -> int:
                return client.request(method, url, headers=bearer(secret) if secret else {}, json={}).status_code

            assert status("") == 401, (method, path)
            assert status("dyno_" + "x" * 40) == 401, (method, path)
            assert status(revoked) == 401, (method, path)
            too_small = smaller[scope]
            if too_small is not None:
                assert status(secrets[too_small]) == 403, (method, path)
            assert status(secrets[scope]) not in (401, 403, 500), (method, path)
            client.cookies.clear()  # one of them signs a browser in
            checked += 1
    assert checked > 10


def test_without_any_key_this_machine_may_read_and_do_nothing_else(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    with bench.client() as client:
        assert client.get("/api/session").json()["keyless"] is True
        refused = client.post("/benchmarks/run", json={"agent_id": "echo", "suite_id": "sums"})
        assert refused.status_code == 401
        assert refused.headers["www-authenticate"].startswith("Bearer")
        assert "dyno keys create" in refused.json()["remedy"]
        assert client.get("/api/keys").status_code == 401
        assert client.post("/api/jobs/x/cancel").status_code == 401


def test_the_first_key_closes_the_service_at_once_and_revoking_it_opens_nothing(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    with bench.client() as client:
        assert client.get("/api/session").status_code == 200
        secret = bench.key(Scope.READ)
        assert client.get("/api/session").status_code == 401
        assert client.get("/api/session", headers=bearer(secret)).json()["who"] == "read-key"
        with bench.store() as store:
            store.service.revoke_key("read-key", NOW)
        assert client.get("/api/session").status_code == 401
        assert client.get("/api/session", headers=bearer(secret)).status_code == 401


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.5", "::", "bench.example"])
def test_beyond_loopback_a_key_is_needed_even_where_none_exists(tmp_path: Path, host: str) -> None:
    with Bench(tmp_path, host=host).client() as client:
        assert client.get("/api/session").status_code == 401
        assert client.get("/health").status_code == 200
        assert client.get("/").status_code == 200


@pytest.mark.parametrize("host", ["localhost", "localhost:8321", "127.0.0.1", "127.0.0.1:80", "[::1]:8321", "[::1]"])
def test_a_local_name_is_answered_without_a_key(tmp_path: Path, host: str) -> None:
    with Bench(tmp_path).client() as client:
        assert client.get("/api/session", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost.evil.example:8321",
        "localhost:8321@evil.example",
        "evil.example#localhost",
        "[::1",
        "[::1]evil",
        "localhost:port",
        "",
        "10.0.0.1",
    ],
)
def test_another_name_for_this_machine_is_misdirected_without_a_key(tmp_path: Path, host: str) -> None:
    """A web page whose name was pointed at 127.0.0.1 must not read results."""
    bench = Bench(tmp_path)
    with bench.client() as client:
        refused = client.get("/api/session", headers={"Host": host})
        assert refused.status_code == 421
        assert refused.headers["content-type"] == "application/problem+json"
        secret = bench.key(Scope.READ)
        assert client.get("/api/session", headers={"Host": host, **bearer(secret)}).status_code == 200


@pytest.mark.parametrize("form", ["{}", "Basic {}", "Bearer", "Bearer ", "Bearer {}x", "Token {}", "Bearer é{}"])
def test_only_a_bearer_header_opens(tmp_path: Path, form: str) -> None:
    bench = Bench(tmp_path)
    secret = bench.key(Scope.ADMIN)
    with bench.client() as client:
        given = {b"Authorization": form.format(secret).encode()}
        assert client.get("/api/session", headers=given).status_code == 401
        assert client.get(f"/api/session?key={secret}&access_token={secret}").status_code == 401
        client.cookies.set("key", secret)
        assert client.get("/api/session").status_code == 401


def test_two_authorization_headers_open_nothing(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    given = [("Authorization", f"Bearer {bench.key(Scope.ADMIN)}"), ("Authorization", "Bearer other")]
    with bench.client() as client:
        assert client.get("/api/session", headers=given).status_code == 401


def test_secrets_are_compared_in_constant_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench(tmp_path)
    secret = bench.key(Scope.READ)
    compared: list[int] = []
    real = hmac.compare_digest

    def noted(first: bytes, second: bytes) -> bool:
        compared.append(len(second))
        return real(first, second)

    monkeypatch.setattr("hmac.compare_digest", noted)
    with bench.client() as client:
        assert client.get("/api/session", headers=bearer(secret)).status_code == 200
        assert client.get("/api/session", headers=bearer(secret[:-1] + "!")).status_code == 401
    assert compared == [32, 32], "digests, whole, whether right or wrong"


def test_a_dependency_without_a_caller_lets_nobody_in() -> None:
    import asyncio

    from fastapi import Request

    from agentdyno.web.problems import RefusedRequest

    with pytest.raises(RefusedRequest) as refused:
        asyncio.run(_call(require(Scope.READ)(Request({"type": "http", "headers": []}))))
    assert refused.value.status_code == 401


async def _call(awaitable: object) -> object:
    return await awaitable  # type: ignore[misc]


def test_guessing_keys_is_slowed_down(tmp_path: Path) -> None:
    bench = Bench(tmp_path, rate_per_minute=5)
    secret = bench.key(Scope.READ)
    with bench.client() as client:
        guesses = [client.get("/api/session", headers=bearer(f"dyno_guess{n}")) for n in range(7)]
        assert [guess.status_code for guess in guesses] == [401] * 5 + [429] * 2
        assert int(guesses[-1].headers["retry-after"]) >= 1
        assert client.get("/api/session", headers=bearer(secret)).status_code == 200, "others are not kept out"
