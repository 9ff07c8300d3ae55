"""The built dashboard as a browser gets it."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentdyno.model.job import Scope

from .service import Bench

HTML = {"Accept": "text/html,application/xhtml+xml"}
SCRIPT = "console.log(1);\n" * 200


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    static = tmp_path / "static"
    (static / "assets").mkdir(parents=True)
    (static / "index.html").write_text("<!doctype html><title>dyno</title>")
    (static / "assets" / "index-BX12ab34.js").write_text(SCRIPT)
    (static / "icon.svg").write_text("<svg/>")
    (tmp_path / "secret.txt").write_text("secret")
    (static / "link.txt").symlink_to(tmp_path / "secret.txt")
    return Bench(tmp_path)


def test_hashed_files_are_kept_for_ever_and_the_page_is_asked_for_again(bench: Bench) -> None:
    with bench.client() as client:
        page = client.get("/")
        assert (page.text, page.headers["cache-control"]) == ("<!doctype html><title>dyno</title>", "no-cache")
        assert page.headers["content-type"].startswith("text/html")
        script = client.get("/assets/index-BX12ab34.js")
        assert script.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert script.headers["content-type"].startswith("text/javascript")
        assert (script.headers["content-encoding"], script.text) == ("gzip", SCRIPT)
        assert client.get("/assets/index-BX12ab34.js", headers={"Accept-Encoding": ""}).text == SCRIPT
        assert client.get("/icon.svg").headers["cache-control"] == "no-cache"


def test_what_the_browser_has_is_not_sent_again(bench: Bench) -> None:
    with bench.client() as client:
        for path in ("/", "/assets/index-BX12ab34.js"):
            tag = client.get(path).headers["etag"]
            again = client.get(path, headers={"If-None-Match": tag})
            assert (again.status_code, again.content) == (304, b"")
            assert client.get(path, headers={"If-None-Match": '"other"'}).status_code == 200


def test_a_place_within_the_dashboard_is_its_page_and_a_missing_file_is_missing(bench: Bench) -> None:
    with bench.client() as client:
        assert client.get("/runs/0197", headers=HTML).text.startswith("<!doctype html>")
        assert client.get("/runs/0197").status_code == 404
        assert client.get("/assets/old-00000000.js").status_code == 404
        for path in ("/api/none", "/benchmarks/none", "/docs/none"):
            assert client.get(path, headers=HTML).status_code == 404


def test_files_need_no_key(bench: Bench) -> None:
    bench.key(Scope.READ)
    with bench.client() as client:
        assert client.get("/").status_code == 200
        assert client.get("/assets/index-BX12ab34.js").status_code == 200
        assert client.head("/").status_code == 200
        assert client.head("/").content == b""


@pytest.mark.parametrize(
    "path",
    [
        "/../secret.txt",
        "/..%2fsecret.txt",
        "/%2e%2e/secret.txt",
        "/assets/../../secret.txt",
        "/link.txt",
        "//etc/passwd",
    ],
)
def test_no_path_leads_out_of_the_folder(bench: Bench, path: str) -> None:
    with bench.client() as client:
        answer = client.get(path)
        assert answer.status_code == 404
        assert "secret" not in answer.text.replace(path, "").replace("secret.txt", "")


def test_an_installation_without_a_dashboard_says_so(tmp_path: Path) -> None:
    with Bench(tmp_path).client() as client:
        assert "/docs" in client.get("/", headers=HTML).text
