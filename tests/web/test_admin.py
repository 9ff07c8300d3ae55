"""Keys and the audit log over HTTP."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentdyno.model.job import AuditEntry, Scope

from .service import NOW, Bench, bearer


def test_a_key_is_made_shown_once_used_and_revoked(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    with bench.client(bench.key(Scope.ADMIN, "root")) as client:
        made = client.post("/api/keys", json={"name": "ci", "scope": "run"})
        assert made.status_code == 201
        assert made.headers["cache-control"] == "no-store"
        key, secret = made.json()["key"], made.json()["secret"]
        assert secret.startswith(key["prefix"])
        assert (key["name"], key["scope"], key["created_at"], key["revoked_at"]) == ("ci", "run", NOW, None)
        listed = client.get("/api/keys")
        assert [item["name"] for item in listed.json()["items"]] == ["root", "ci"]
        assert secret not in listed.text
        session = client.get("/api/session", headers=bearer(secret)).json()
        assert (session["who"], session["scope"], session["keyless"]) == ("ci", "run", False)
        assert session["store"] is None, "where results lie is for administrators"
        assert client.get("/api/session").json()["store"] == bench.url
        assert client.post("/api/keys", json={"name": "ci", "scope": "run"}).status_code == 409
        assert client.delete("/api/keys/ci").json()["revoked_at"] == NOW
        assert client.get("/api/session", headers=bearer(secret)).status_code == 401
        assert client.delete("/api/keys/cj").status_code == 404
        audit = client.get("/api/audit").json()["items"]
        assert [(item["who"], item["action"], item["subject"]) for item in audit] == [
            ("root", "revoke key", "ci"),
            ("root", "create key", "ci"),
        ]
        assert secret not in client.get("/api/audit").text


@pytest.mark.parametrize("name", ["", "a b", "<script>", "x" * 101, "-a", "a\nb", "../a"])
def test_a_name_of_a_key_is_plain(tmp_path: Path, name: str) -> None:
    bench = Bench(tmp_path)
    with bench.client(bench.key(Scope.ADMIN)) as client:
        answer = client.post("/api/keys", json={"name": name, "scope": "read"})
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "body.name")


def test_the_audit_log_is_paged(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    with bench.store() as store:
        for number in range(5):
            store.service.add_audit(AuditEntry(NOW, "ci", "run", f"job {number}"))
    with bench.client(bench.key(Scope.ADMIN)) as client:
        seen: list[str] = []
        cursor: str | None = ""
        while cursor is not None:
            page = client.get("/api/audit", params={"limit": 2, "cursor": cursor}).json()
            seen += [item["subject"] for item in page["items"]]
            cursor = page["next"]
    assert seen == [f"job {number}" for number in (4, 3, 2, 1, 0)]
