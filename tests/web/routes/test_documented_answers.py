"""Real answers have the shape that the OpenAPI document promises."""

from __future__ import annotations

import json

import pytest
from jsonschema import Draft202012Validator

from .asking import Json, Seeded

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


def check(document: Json, method: str, template: str, answer: Json) -> None:
    schema = document["paths"][template][method]["responses"]["200"]["content"]["application/json"]["schema"]
    Draft202012Validator({**schema, "components": document["components"]}).validate(answer)


def refuse(constant: str) -> None:
    raise AssertionError(f"{constant} is no JSON")


@pytest.mark.parametrize(("template", "path", "query"), ASKED, ids=[template for template, _, _ in ASKED])
def test_an_answer_is_what_the_document_says(
    seeded: Seeded, template: str, path: dict[str, str], query: dict[str, str]
) -> None:
    document = seeded.client.app.openapi()
    found = seeded.client.send("GET", template.format(**path), params=query)
    assert found.status_code == 200, found.text
    check(document, "get", template, json.loads(found.text, parse_constant=refuse))


@pytest.mark.parametrize(
    "body",
    [
        {"agent_ids": ["steady@1.0", "weak"]},
        {"agent_ids": ["steady@1.0", "weak", "tracer@1.0"], "comparison_type": "matrix"},
    ],
)
def test_a_comparison_is_what_the_document_says(seeded: Seeded, body: dict[str, object]) -> None:
    found = seeded.client.send("POST", "/benchmarks/compare", json=body)
    check(seeded.client.app.openapi(), "post", "/benchmarks/compare", found.json())
