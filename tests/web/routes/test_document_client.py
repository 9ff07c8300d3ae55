"""A client that knows nothing but the requirement: its five endpoints, their parameters, and its shapes."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentdyno.model.job import Scope
from tests.suites import Room
from tests.web.service import Bench
from tests.workbench.answering import Answerer, ids, run

from .asking import Client, Json, Seeded, check_documented, client_of, fields, refused

DIMENSIONS = ["accuracy", "speed", "efficiency", "cost", "reliability"]
ROW = {
    *(f"{name}_score" for name in DIMENSIONS),
    "id",
    "suite_id",
    "benchmark_id",
    "agent_id",
    "agent_version",
    "start_time",
    "end_time",
    "total_duration_ms",
    "tokens_used",
    "api_calls_made",
    "memory_peak_mb",
    "cpu_usage_percent",
    "output_correctness",
    "output_completeness",
    "output_relevance",
    "status",
    "error_details",
    "created_at",
}


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("document"))


def test_a_run_is_asked_for_by_parameters_with_the_configuration_as_the_body(bench: Bench) -> None:
    asked = {"agent_id": "echo", "suite_id": "sums", "async_execution": "true"}
    with bench.client(bench.key(Scope.RUN)) as client:
        bare = client.post("/benchmarks/run", params=asked)
        assert bare.status_code == 202, bare.text
        assert bare.json()["job_id"] == bare.json()["job"]["job_id"]
        configured = client.post("/benchmarks/run", params=asked, json={"style": "plain"})
        assert configured.status_code == 202, configured.text
        assert configured.json()["job"]["configuration"] == {"style": "plain"}
        named = client.post("/benchmarks/run", params=asked, json={"configuration": {"style": "plain"}})
        assert named.json()["job"]["configuration"] == {"style": "plain"}
        both = client.post("/benchmarks/run", params={"agent_id": "echo"}, json={"suite_id": "sums", **ASYNC})
        assert both.status_code == 202, both.text


ASYNC = {"async_execution": True}


@pytest.mark.parametrize(
    ("query", "body", "field"),
    [
        ({"agent_id": "echo"}, None, "body.suite_id"),
        ({}, None, "body.agent_id"),
        ({"agent_id": "echo", "suite_id": "sums"}, {"agent_id": "other"}, "query.agent_id"),
        ({"agent_id": "echo", "suite_id": "sums"}, {"style": {"deep": 1}}, "body.configuration.style.bool"),
        ({"agent_id": "echo", "suite_id": "sums"}, ["echo"], "body"),
        ({"agent_id": "echo", "suite_id": "sums", "async_execution": "perhaps"}, None, "query.async_execution"),
    ],
)
def test_what_is_wrong_with_parameters_is_named(bench: Bench, query: Json, body: object, field: str) -> None:
    with bench.client(bench.key(Scope.RUN, f"key-{field}-{len(query)}")) as client:
        answer = client.post("/benchmarks/run", params=query, json=body)
        assert answer.status_code == 422, answer.text
        assert field in [item["field"] for item in answer.json()["errors"]]


def test_parameters_need_the_key_that_a_body_needs_and_a_form_of_another_site_has_none(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    asked = {"agent_id": "echo", "suite_id": "sums", "async_execution": "true"}
    with bench.client() as client:
        assert client.post("/benchmarks/run", params=asked).status_code == 401
        form = client.post(
            "/benchmarks/run", params=asked, data={"a": "b"}, headers={"Origin": "http://evil.example"}
        )
        assert form.status_code == 401
    reader, runner = bench.key(Scope.READ), bench.key(Scope.RUN)
    with bench.client(reader) as client:
        assert client.post("/benchmarks/run", params=asked).status_code == 403
    with bench.client(runner) as client:
        plain = client.post(
            "/benchmarks/run", params=asked, content=b'{"style": "x"}', headers={"Content-Type": "text/plain"}
        )
        assert plain.status_code == 422
        assert client.get("/benchmarks/run", params=asked).status_code == 405
    with bench.store() as store:
        assert store.service.queue_depth() == 0


def test_results_have_the_columns_of_the_execution_table(seeded: Seeded) -> None:
    found = seeded.client.ok("/benchmarks/agents/steady/results", suite_id="room", timeframe="latest")
    (row, *_) = found["items"]
    assert set(row) >= ROW
    assert (row["suite_id"], row["benchmark_id"], row["agent_id"]) == ("room", "room", "steady@2.0")
    assert row["accuracy_score"] == row["accuracy"] == 0.6
    assert row["total_duration_ms"] == pytest.approx(1000 * row["duration_s"])
    assert row["start_time"].endswith("Z")


def test_the_leaderboard_has_scores_and_ranks_by_dimension(seeded: Seeded) -> None:
    board = seeded.client.ok("/benchmarks/leaderboard", category="overall", metric="all", limit=20)
    (first, *_) = board["entries"]
    assert list(first["scores_and_ranks"]) == DIMENSIONS
    assert first["scores_and_ranks"]["accuracy"]["rank"] == 1
    assert first["agent_name"] == first["name"]
    assert first["agent_id"] == first["agent"]
    assert {"benchmark_category", "benchmarks_completed", "last_benchmark_date", "best_ranking"} <= set(first)
    assert seeded.client.ok(f"/benchmarks/agents/{first['agent_id']}/results")["items"]
    check_documented(seeded.client, "get", "/benchmarks/leaderboard", board)


def compared(client: Client, body: object = None, **query: object) -> Json:
    answer = client.send("POST", "/benchmarks/compare", params=query, json=body)
    assert answer.status_code == 200, answer.text
    plain: Json = answer.json()
    return plain


def test_agents_are_compared_by_a_list_and_parameters(seeded: Seeded) -> None:
    found = compared(seeded.client, ["steady@1.0", "weak"], suite_id="room", comparison_type="head_to_head")
    assert found == compared(seeded.client, agent_ids=["steady@1.0", "weak"], suite_id="room")
    assert found == compared(seeded.client, {"agent_ids": ["steady@1.0", "weak"], "suite_id": "room"})
    assert found["overall_winner"] == found["duel"]["winner"]
    assert [item["metric"] for item in found["detailed_metrics"]] == DIMENSIONS
    (accuracy, *_) = found["detailed_metrics"]
    assert (accuracy["agent_a_score"], accuracy["agent_b_score"], accuracy["difference"]) == (1.0, 0.5, 0.5)
    assert accuracy["percentage_difference"] == 100.0
    assert list(found["statistical_significance"]) == DIMENSIONS
    assert found["recommendations"] == found["duel"]["recommendations"]
    check_documented(seeded.client, "post", "/benchmarks/compare", found)
    every = compared(seeded.client, ["steady@1.0", "weak", "tracer@1.0"], comparison_type="matrix")
    assert every["overall_winner"] == every["tournament"]["winner"]


def test_a_comparison_by_parameters_is_refused_by_its_field(seeded: Seeded) -> None:
    answer = seeded.client.send("POST", "/benchmarks/compare", params={"suite_id": "room"}, json=["steady"])
    assert fields(refused(answer, 422)) == ["body.agent_ids"]


def test_regressions_are_told_in_the_words_of_the_requirement(room: Room) -> None:
    run(room, Answerer("a", "1.0"), count=24)
    run(room, Answerer("a", "1.1", wrong=ids(0, 16)), count=24)
    client = client_of(room)
    found = client.ok("/benchmarks/agents/a/regressions", baseline_version="1.0", threshold=0.1)
    assert found["has_regressions"] is True
    assert found["overall_health"] == found["health"] < 100
    assert found["recommended_action"] == found["action"]
    worst = next(item for item in found["regressions"] if item["metric"] == "accuracy")
    assert (worst["baseline_value"], worst["current_value"]) == (1.0, pytest.approx(8 / 24))
    assert worst["regression_percentage"] == pytest.approx(100 * 16 / 24)
    assert {"benchmark_id", "severity", "impact_analysis"} <= set(worst)
    assert worst["impact_analysis"]
    check_documented(client, "get", "/benchmarks/agents/{agent_id}/regressions", found)
    client.app.state.services.close()


def test_a_suite_is_shown_as_the_requirement_has_it(tmp_path: Path) -> None:
    bench = Bench(tmp_path)  # whose service has not read its suites yet
    (bench.folder / "sums.yaml").write_text(
        "name: Sums\nversion: '3'\ncreated_at: '2026-01-31'\ncategory: accuracy\n"
        "baseline_scores: [{agent_id: echo, scores: {accuracy: 0.9}}]\n"
        "benchmarks:\n  - name: small\n    metrics_measured: [accuracy, duration_s]\n"
        "    dataset: {data_source: by hand, complexity: low, cases: [{id: one, input: '1', target: '1'}]}\n"
        "    constraints: {time_limit_ms: 1500, memory_limit_mb: 64, token_limit: 99}\n"
        "    scoring_rubric: {scorer: exact, targets: {duration_s: 0.5}, limits: {duration_s: 5}}\n"
    )
    with bench.client(bench.key(Scope.READ, "suites")) as client:
        found = client.get("/api/suites/sums").json()
    assert (found["suite_id"], found["suite_name"], found["category"]) == ("sums", "Sums", "accuracy")
    assert (found["version"], found["created_at"]) == ("3", "2026-01-31")
    assert found["baseline_scores"] == [{"agent_id": "echo", "scores": {"accuracy": 0.9}}]
    (small,) = found["benchmarks"]
    assert small["metrics_measured"] == ["accuracy", "duration_s"]
    assert small["dimensions"] == ["accuracy", "speed"]
    assert small["dataset"] == {"size": 1, "complexity": "low", "data_source": "by hand"}
    assert small["constraints"] == {
        "time_limit_ms": 1500,
        "memory_limit_mb": 64,
        "token_limit": 99,
        "cost_limit_usd": None,
    }
    assert small["scoring_rubric"]["targets"] == {"duration_s": 0.5}
    assert small["scoring_rubric"]["scorers"][0]["name"] == "exact"
