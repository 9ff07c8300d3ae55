"""Browsers that stay signed in, and what their cookie does not open."""

from __future__ import annotations

from http.cookies import SimpleCookie
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from agentdyno.model.job import Scope
from agentdyno.web.sessions import COOKIE, LINK_VALID_MS, SignInLink, cookie_secret

from .service import NOW, Bench, bearer

OWN = {"Origin": "http://127.0.0.1:8321", "X-Dyno-Request": "dashboard"}
RUN = {"agent_id": "echo", "suite_id": "sums", "async_execution": True}


def signed_in(client: TestClient, key: str, *, remember: bool = True) -> SimpleCookie:
    answer = client.post("/api/session", json={"remember": remember}, headers=bearer(key))
    assert answer.status_code == 204, answer.text
    return SimpleCookie(answer.headers["set-cookie"])


def test_a_key_is_remembered_in_a_cookie_that_no_script_reads_and_no_other_site_sends(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    key = bench.key(Scope.RUN, "desk")
    with bench.client() as client:
        assert client.get("/api/session").status_code == 401
        morsel = signed_in(client, key)[COOKIE]
        assert (morsel["httponly"], morsel["samesite"], morsel["path"]) == (True, "Strict", "/")
        assert int(morsel["max-age"]) > 86_400
        assert client.get("/api/session").json()["who"] == "desk"
        assert signed_in(client, key, remember=False)[COOKIE]["max-age"] == ""
        out = client.delete("/api/session", headers=OWN)
        assert out.status_code == 204
        assert client.get("/api/session").status_code == 401


def test_a_key_that_is_revoked_ends_its_sessions(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    key = bench.key(Scope.READ, "desk")
    with bench.client() as client:
        signed_in(client, key)
        with bench.store() as store:
            store.service.revoke_key("desk", NOW)
        assert client.get("/api/session").status_code == 401


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Origin": "http://127.0.0.1:8321"},
        {"X-Dyno-Request": "dashboard"},
        {"Origin": "http://evil.example", "X-Dyno-Request": "dashboard"},
        {"Origin": "null", "X-Dyno-Request": "dashboard"},
        {"Origin": "http://127.0.0.1:8321.evil.example", "X-Dyno-Request": "dashboard"},
        {"Origin": "http://127.0.0.1:81", "X-Dyno-Request": "dashboard"},
    ],
)
def test_a_cookie_changes_nothing_without_the_same_origin_and_our_header(
    tmp_path: Path, headers: dict[str, str]
) -> None:
    bench = Bench(tmp_path)
    key = bench.key(Scope.ADMIN)
    with bench.client() as client:
        signed_in(client, key)
        for method, path in (
            ("POST", "/benchmarks/run"),
            ("POST", "/benchmarks/run?agent_id=echo&suite_id=sums&async_execution=true"),
            ("POST", "/api/keys"),
            ("DELETE", "/api/session"),
        ):
            answer = client.request(method, path, json=RUN if "?" not in path else None, headers=headers)
            assert answer.status_code == 403, (method, path, answer.text)
        assert client.get("/api/jobs").json()["items"] == []
        own = client.post("/benchmarks/run?agent_id=echo&suite_id=sums&async_execution=true", headers=OWN)
        assert own.status_code == 202


def test_the_link_signs_in_once_to_read_and_run(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    bench.key(Scope.READ)
    token = bench.app.state.services.link.make(NOW)
    with bench.client() as client:
        foreign = client.post("/api/session/link", json={"token": token}, headers={"Origin": "http://evil.example"})
        assert foreign.status_code == 403
        assert client.post("/api/session/link", json={"token": "guess"}, headers=OWN).status_code == 401
        assert client.post("/api/session/link", json={"token": token}, headers=OWN).status_code == 204
        who = client.get("/api/session").json()
        assert (who["who"], who["scope"], who["keyless"]) == ("sign-in link", "run", False)
        assert client.post("/benchmarks/run", json=RUN, headers=OWN).status_code == 202
        assert client.get("/api/keys").status_code == 403
        again = client.post("/api/session/link", json={"token": token}, headers=OWN)
        assert (again.status_code, "used before" in again.json()["detail"]) == (401, True)
        client.delete("/api/session", headers=OWN)
        assert client.get("/api/session").status_code == 401


def test_a_link_is_of_no_use_after_an_hour_and_a_new_one_replaces_it() -> None:
    link = SignInLink()
    old = link.make(0)
    assert link.redeem(old, LINK_VALID_MS) is None
    first, second = link.make(0), link.make(0)
    assert link.redeem(first, 1) is None
    assert link.redeem(second, 1) is not None


def test_a_cookie_that_is_there_twice_or_odd_is_as_none() -> None:
    name = COOKIE.encode()
    assert cookie_secret([(b"cookie", name + b"=a; other=b")]) == "a"
    assert cookie_secret([(b"cookie", name + b"=a; " + name + b"=b")]) == ""
    assert cookie_secret([(b"cookie", name + b"=\xff")]) == ""
    assert cookie_secret([(b"cookie", name + b"=" + b"x" * 500)]) == ""


def test_the_documentation_opens_for_who_is_signed_in_and_leads_others_there(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    key = bench.key(Scope.READ)
    with bench.client() as client:
        visit = client.get("/docs", headers={"Accept": "text/html"}, follow_redirects=False)
        assert (visit.status_code, visit.headers["location"]) == (303, "/key?then=/docs")
        assert client.get("/docs", headers={"Accept": "application/json"}).status_code == 401
        signed_in(client, key)
        assert "<h1>" in client.get("/docs", headers={"Accept": "text/html"}).text


def test_beside_keys_reading_needs_one_unless_the_service_was_told_otherwise(tmp_path: Path) -> None:
    for beside, status in ((False, 401), (True, 200)):
        folder = tmp_path / str(beside)
        folder.mkdir()
        bench = Bench(folder, keyless_beside_keys=beside)
        bench.key(Scope.RUN)
        with bench.client() as client:
            assert client.get("/api/runs").status_code == status
            assert client.post("/benchmarks/run", json=RUN).status_code == 401
