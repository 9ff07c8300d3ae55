"""Cases by versions and by agents, over HTTP."""

from __future__ import annotations

from agentdyno.findings.case.ask_grid import GridCell, count_flips
from tests.suites import Room
from tests.workbench.answering import Answerer, run

from .asking import Seeded, check_documented, client_of, fields


def test_versions_of_an_agent_stand_side_by_side_with_their_flips(room: Room) -> None:
    for version, wrong in (("1", ["c00"]), ("2", []), ("10", ["c00", "c01"])):
        last = run(room, Answerer("a", version, wrong=wrong), count=3, epochs=2)
    client = client_of(room)
    found = client.ok("/api/case-grid", agent_id="a")
    assert found["columns"] == ["a@1", "a@2", "a@10"]
    rows = {row["case_id"]: row for row in found["rows"]}
    assert {case: row["flips"] for case, row in rows.items()} == {"c00": 2, "c01": 1, "c02": 0}
    assert [cell["passed"] for cell in rows["c00"]["cells"]] == [0, 2, 0]
    assert rows["c01"]["cells"][2] == {
        "run_id": last.run_id,
        "tries": 2,
        "passed": 0,
        "score": 0.0,
        "statuses": {"failed": 2},
    }
    assert rows["c00"]["input"]
    check_documented(client, "get", "/api/case-grid", found)
    client.app.state.services.close()


def test_without_an_agent_every_agent_is_a_column(seeded: Seeded) -> None:
    suite = seeded.client.ok(f"/api/runs/{seeded.first}")["run"]["suite"]["suite_id"]
    found = seeded.client.ok("/api/case-grid", suite_id=suite)
    assert [agent.partition("@")[0] for agent in found["columns"]] == sorted(
        {agent.partition("@")[0] for agent in found["columns"]}
    )
    assert "steady@2.0" in found["columns"]


def test_a_store_without_runs_has_an_empty_grid(room: Room) -> None:
    client = client_of(room)
    assert client.ok("/api/case-grid")["rows"] == []
    client.app.state.services.close()


def test_names_that_are_not_there_are_not_found(seeded: Seeded) -> None:
    assert fields(seeded.client.problem("/api/case-grid", 404, suite_id="nowhere")) == ["suite_id"]
    seeded.client.problem("/api/case-grid", 404, agent_id="nobody")


def test_cells_that_were_not_tried_do_not_flip() -> None:
    passed, missed = GridCell("", 2, 2, 1.0), GridCell("", 2, 1, 0.5)
    assert count_flips([passed, None, passed, GridCell("", 0, 0, None), missed, missed, passed]) == 2
    assert count_flips([]) == 0
