"""The service about itself: headers, figures, documents, cursors, stores."""

from __future__ import annotations

import contextlib
import json
import math
import re
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentdyno.errors import SpecError
from agentdyno.model.job import Job, Scope
from agentdyno.web.lookups import decode_cursor, encode_cursor
from agentdyno.web.metrics import Metrics
from agentdyno.web.problems import StrictJson
from agentdyno.web.state import Stores, StoreUnavailable

from .service import NOW, Bench


def test_every_answer_carries_the_headers_that_protect_a_browser(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    with bench.client() as client:
        for path in ("/", "/docs", "/api/session", "/api/none", "/none", "/health", "/api/keys", "/metrics"):
            headers = client.get(path).headers
            policy = headers["content-security-policy"]
            assert "default-src 'self'" in policy
            assert "frame-ancestors 'none'" in policy
            assert "unsafe" not in policy
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["referrer-policy"] == "no-referrer"
            assert "access-control-allow-origin" not in headers


def test_other_origins_are_answered_only_where_listed(tmp_path: Path) -> None:
    bench = Bench(tmp_path, cors=("https://dash.example",))
    bench.key(Scope.READ)
    asked = {"Access-Control-Request-Method": "GET", "Access-Control-Request-Headers": "authorization"}
    with bench.client() as client:
        allowed = client.options("/api/session", headers={"Origin": "https://dash.example", **asked})
        assert allowed.status_code == 200
        assert allowed.headers["access-control-allow-origin"] == "https://dash.example"
        assert "access-control-allow-credentials" not in allowed.headers
        refused = client.options("/api/session", headers={"Origin": "https://evil.example", **asked})
        assert "access-control-allow-origin" not in refused.headers
        problem = client.get("/api/session", headers={"Origin": "https://dash.example"})
        assert (problem.status_code, problem.headers["access-control-allow-origin"]) == (401, "https://dash.example")


def test_metrics_are_by_route_and_not_by_what_was_typed(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    with bench.store() as store:
        store.service.add_job(Job("job-1", "echo@1", "a", "sums", "s", NOW))
    with bench.client() as client:
        for path in ("/api/jobs/job-1", "/api/jobs/job-2", "/api/none%22%0A", "/some/page"):
            client.get(path)
        client.get("/api/session", headers={"Host": "evil.example"})
        text = client.get("/metrics").text
    assert 'route="refused",method="GET",status="421"} 1' in text
    assert 'agentdyno_http_requests_total{route="/api/jobs/{job_id}",method="GET",status="200"} 1' in text
    assert 'agentdyno_http_requests_total{route="/api/jobs/{job_id}",method="GET",status="404"} 1' in text
    assert 'route="unknown",method="GET",status="404"} 1' in text
    assert 'route="dashboard",method="GET",status="404"} 1' in text
    assert 'agentdyno_http_request_duration_seconds_bucket{route="/api/jobs/{job_id}",le="+Inf"} 2' in text
    assert 'agentdyno_jobs{status="queued"} 1' in text
    assert 'agentdyno_jobs{status="failed"} 0' in text
    assert "agentdyno_queue_depth 1\n" in text
    assert "agentdyno_store_generation 0\n" in text
    assert "agentdyno_build_info{version=" in text
    line = re.compile(r'(# (HELP|TYPE) \w+ .+|\w+(\{\w+="[^"\n]*"(,\w+="[^"\n]*")*\})? [0-9.e+-]+)')
    assert not [found for found in text.splitlines() if not line.fullmatch(found)]


def test_a_histogram_counts_upward() -> None:
    metrics = Metrics("1")
    for seconds in (0.005, 0.02, 3.0, 99.0):
        metrics.count("/x", "GET", 200, seconds)
    text = metrics.text({}, 0)
    found = [float(part) for part in re.findall(r'_bucket\{route="/x",le="[^"]+"\} (\S+)', text)]
    assert found == [1, 1, 2, 2, 2, 2, 2, 2, 2, 3, 3, 4]
    assert '_sum{route="/x"} 102.025' in text


def test_the_documents_ask_nobody_else_and_name_every_problem(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    with bench.client() as client:
        page = client.get("/docs").text
        document = client.get("/openapi.json").json()
    assert "<script" not in page
    assert "http://" not in page
    assert "https://" not in page
    assert re.findall(r'(?:src|href)="([^#"][^"]*)"', page) == ["/docs/style.css", "/openapi.json"]
    assert "/benchmarks/run" in page
    for path, operations in document["paths"].items():
        for operation in operations.values():
            for status in ("401", "403", "404", "409", "413", "422", "429", "500", "503"):
                content = operation["responses"][status]["content"]
                assert list(content) == ["application/problem+json"], path
            success = [status for status in operation["responses"] if status.startswith("2")]
            assert success, path
    assert "HTTPValidationError" not in document["components"]["schemas"]
    assert document["components"]["schemas"]["Job"]["properties"]["status"]["$ref"].endswith("/JobStatus")


def test_what_is_not_a_number_leaves_as_null() -> None:
    body = StrictJson({"a": math.nan, "b": [math.inf, 1.5], "c": "\ud800"}).body
    assert json.loads(bytes(body)) == {"a": None, "b": [None, 1.5], "c": "\ud800"}


@given(st.lists(st.one_of(st.integers(-(2**63) + 1, 2**63 - 1), st.text(max_size=20)), max_size=4))
def test_a_cursor_comes_back_as_it_was(parts: list[int | str]) -> None:
    text = encode_cursor(parts)
    assert re.fullmatch(r"[\w-]+", text, re.ASCII)
    assert decode_cursor(text, *map(type, parts)) == tuple(parts)


@given(st.text(max_size=60))
def test_any_other_text_is_no_cursor(text: str) -> None:
    found = None
    with contextlib.suppress(SpecError):
        found = decode_cursor(text, int, str)
    assert found is None or [type(part) for part in found] == [int, str]


@pytest.mark.parametrize("parts", [[True, "x"], [2**63, "x"], [1], ["x", 1], [1, "x", 2], [1.5, "x"]])
def test_a_cursor_of_other_kinds_is_refused(parts: list[int | str]) -> None:
    with pytest.raises(SpecError):
        decode_cursor(encode_cursor(parts), int, str)


def test_a_thread_keeps_its_store_and_takes_over_that_of_one_that_ended(tmp_path: Path) -> None:
    stores = Stores(f"sqlite:///{tmp_path}/dyno.db")
    mine = stores.here()
    assert stores.here() is mine
    found: list[object] = []

    def elsewhere() -> None:
        thread = threading.Thread(target=lambda: found.append(stores.here()))
        thread.start()
        thread.join()

    elsewhere()
    elsewhere()
    assert found[0] is found[1]
    assert found[0] is not mine
    stores.renew()
    assert stores.here() is not mine
    stores.close()
    with pytest.raises(StoreUnavailable):
        stores.here()
