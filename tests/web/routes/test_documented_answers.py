"""Real answers have the shape that the OpenAPI document promises."""

from __future__ import annotations

import json

import pytest

from .asking import Seeded, check_documented

ASKED: list[tuple[str, dict[str, str], dict[str, str]]] = [
    ("/benchmarks/leaderboard", {}, {}),
    ("/benchmarks/agents/{agent_id}/results", {"agent_id": "steady"}, {"timeframe": "all"}),
    ("/benchmarks/agents/{agent_id}/regressions", {"agent_id": "steady"}, {"suite_id": "room"}),
    ("/api/matrix", {}, {}),
    ("/api/coverage", {}, {}),
    ("/api/agents", {}, {}),
    ("/api/agents/{agent_id}", {"agent_id": "steady"}, {}),
    ("/api/suites", {}, {}),
    ("/api/suites/{suite_id}", {"suite_id": "pair"}, {}),
    ("/api/runs", {}, {}),
    ("/api/runs/{run_id}", {"run_id": "last~2"}, {}),
    ("/api/runs/{run_id}/samples", {"run_id": "last~2"}, {}),
    ("/api/runs/{run_id}/cases/{case_id}", {"run_id": "last~2", "case_id": "c00"}, {}),
    ("/api/runs/{run_id}/artifacts", {"run_id": "last"}, {}),
    ("/api/divergence", {}, {"first_run": "last~3", "second_run": "last~2", "case_id": "c00"}),
    ("/api/history", {}, {"subject": "steady"}),
    ("/api/metrics-known", {}, {}),
    ("/api/cost", {}, {"suite_id": "room"}),
    ("/api/reliability", {}, {"suite_id": "room"}),
    ("/api/spread", {}, {"suite_id": "room"}),
    ("/api/baselines", {}, {}),
    ("/api/changes", {}, {}),
    ("/api/alerts", {}, {}),
]


def refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is no JSON")


@pytest.mark.parametrize(("template", "path", "query"), ASKED, ids=[template for template, _, _ in ASKED])
def test_an_answer_is_what_the_document_says(
    seeded: Seeded, template: str, path: dict[str, str], query: dict[str, str]
) -> None:
    found = seeded.client.send("GET", template.format(**path), params=query)
    assert found.status_code == 200, found.text
    check_documented(seeded.client, "get", template, json.loads(found.text, parse_constant=refuse))


@pytest.mark.parametrize(
    "body",
    [
        {"agent_ids": ["steady@1.0", "weak"]},
        {"agent_ids": ["steady@1.0", "weak", "tracer@1.0"], "comparison_type": "matrix"},
    ],
)
def test_a_comparison_is_what_the_document_says(seeded: Seeded, body: dict[str, object]) -> None:
    found = seeded.client.send("POST", "/benchmarks/compare", json=body)
    check_documented(seeded.client, "post", "/benchmarks/compare", found.json())


def test_every_answer_in_json_is_described_by_a_schema_with_a_name(seeded: Seeded) -> None:
    document = seeded.client.app.openapi()
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            for status in [status for status in operation["responses"] if status.startswith("2")]:
                content = operation["responses"][status].get("content", {})
                assert content or status == "204", f"{method} {path}"
                if path != "/api/runs/{run_id}/report" and "application/json" in content:
                    assert "$ref" in content["application/json"]["schema"], f"{method} {path}"


def test_an_answer_has_every_field_and_a_body_may_leave_out_what_has_a_default(seeded: Seeded) -> None:
    schemas = seeded.client.app.openapi()["components"]["schemas"]
    assert schemas["Benchmark"]["required"] == list(schemas["Benchmark"]["properties"])
    assert "digest" not in str(schemas["Benchmark"]["properties"])
    assert schemas["Problem"]["required"] == list(schemas["Problem"]["properties"])
    assert schemas["RunBody"]["required"] == ["agent_id", "suite_id"]
    assert "required" not in schemas["AcknowledgeBody"]
