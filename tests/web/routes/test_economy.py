"""Cost, reliability and spread over HTTP."""

from __future__ import annotations

import pytest

from tests.suites import Room

from .asking import SCRIPT, Seeded, client_of, fields


def test_what_agents_cost_is_unknown_where_no_price_is(seeded: Seeded) -> None:
    found = seeded.client.ok("/api/cost", suite_id="room", agent_ids="steady@1.0,weak", volume=500)
    assert (found["suite"], found["volume"]) == ("room", 500)
    rows = [(row["agent"], row["tasks"], row["successes"], row["cost_usd"]) for row in found["rows"]]
    assert sorted(rows) == [("steady@1.0", 12, 12, None), ("weak@1.0", 12, 6, None)]


def test_what_was_spent_is_told_by_day_agent_and_model(seeded: Seeded) -> None:
    found = seeded.client.ok("/api/spend", days=7)
    assert found["days"] == 7
    assert {"steady", "weak"} <= {item["agent"] for item in found["items"]}
    unknown = next(item for item in found["items"] if item["agent"] == "weak")
    assert (unknown["priced"], unknown["cost_usd"], unknown["model"]) == (0, None, "")
    assert fields(seeded.client.problem("/api/spend", 422, days=0)) == ["query.days"]


def test_without_names_all_agents_of_the_suite_are_in_it(seeded: Seeded) -> None:
    found = seeded.client.ok("/api/cost", suite_id="room")
    assert {row["agent"] for row in found["rows"]} == {
        "steady@1.0",
        "steady@2.0",
        "weak@1.0",
        "tracer@1.0",
        "tracer@2.0",
    }


def test_simulated_agents_are_marked(seeded: Seeded) -> None:
    found = seeded.client.ok("/api/cost", suite_id="odd")
    assert {row["agent"]: row["simulated"] for row in found["rows"]}[f"{SCRIPT}@1"] is True
    items = seeded.client.ok("/api/spread", suite_id="odd", metric="score")["items"]
    assert {item["agent"]: item["simulated"] for item in items}[f"{SCRIPT}@1"] is True
    items = seeded.client.ok("/api/reliability", suite_id="odd")["items"]
    assert any(item["simulated"] for item in items if item["agent"] == f"{SCRIPT}@1")


def test_reliability_counts_tries_and_errors(seeded: Seeded) -> None:
    items = seeded.client.ok("/api/reliability", suite_id="room", agent_ids="steady@2.0")["items"]
    whole = next(item for item in items if item["benchmark"] == "")
    assert (whole["agent"], whole["cases"], whole["tries"]) == ("steady@2.0", 6, 12)
    assert whole["statuses"] == {"ok": 6, "failed": 4, "error": 2}
    assert whole["error_rate"] == pytest.approx(2 / 12)


def test_the_spread_has_one_value_per_case(seeded: Seeded) -> None:
    items = seeded.client.ok("/api/spread", agent_ids="weak,steady@1.0", suite_id="room", metric="score")["items"]
    found = {item["agent"]: sorted(item["values"]) for item in items}
    assert found == {"weak@1.0": [0, 0, 0, 1, 1, 1], "steady@1.0": [1] * 6}
    (item,) = seeded.client.ok("/api/spread", agent_ids="weak")["items"]
    assert (len(item["values"]), item["unit"]) == (6, "s")
    assert all(value > 0 for value in item["values"])


@pytest.mark.parametrize(
    ("path", "query", "status", "field"),
    [
        ("/api/cost", {"volume": 0}, 422, "query.volume"),
        ("/api/cost", {"agent_ids": "weak,stedy"}, 404, "agent_ids"),
        ("/api/cost", {"agent_ids": ",".join(["weak"] * 51)}, 422, "query.agent_ids"),
        ("/api/reliability", {"suite_id": "rooom"}, 404, "suite_id"),
        ("/api/spread", {"metric": "beauty"}, 422, "query.metric"),
    ],
)
def test_a_question_that_has_no_answer_says_why(
    seeded: Seeded, path: str, query: dict[str, object], status: int, field: str
) -> None:
    assert fields(seeded.client.problem(path, status, **query)) == [field]


def test_agents_without_a_common_suite_are_in_conflict(seeded: Seeded) -> None:
    seeded.client.problem("/api/cost", 409, agent_ids=f"weak,{SCRIPT}")


def test_an_empty_store_has_nothing_to_report(room: Room) -> None:
    client = client_of(room)
    assert client.ok("/api/cost")["rows"] == []
    assert client.ok("/api/reliability") == {"items": []}
    assert client.ok("/api/spread") == {"items": []}
    client.app.state.services.close()
