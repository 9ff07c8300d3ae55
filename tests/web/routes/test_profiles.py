"""Profiles over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agentdyno.model import Event, Response

from ...workbench.answering import run
from .asking import Client, Told, check_documented, client_of, fields, new_room

TEMPLATE = "/api/profiles"


def told(tool_s: float) -> Response:
    events = (
        Event("model_call", 0.0, "m", None, 0.05, {"usage": {"input_tokens": 10, "output_tokens": 5}}),
        Event("tool_call", 0.05, "search", {"q": 1}, tool_s),
    )
    return Response("WORD 0", events=events)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """``steady`` in two versions, whose tool takes 100 and 200 ms in case c00; ``quiet`` tells nothing."""
    room = new_room(tmp_path_factory.mktemp("profiled"))
    with room.store:
        run(room, Told("steady", "1.0", {"c00": told(0.1)}), count=2, epochs=1)
        run(room, Told("steady", "2.0", {"c00": told(0.2)}), Told("quiet"), count=2, epochs=1)
        found = client_of(room)
        yield found
        found.app.state.services.close()


def test_each_agent_of_the_newest_run_has_a_profile(client: Client) -> None:
    answer = client.ok(TEMPLATE)
    assert [profile["agent_id"] for profile in answer["profiles"]] == ["steady@2.0", "quiet@1.0"]
    steady, quiet = answer["profiles"]
    data = steady["profile_data"]
    names = ["model", "tool", "retrieval", "own_code", "queue", "retry_wait", "idle"]
    assert [phase["phase_name"] for phase in data["execution_phases"]] == names
    assert data["execution_phases"][1]["duration_ms"] == pytest.approx(200)
    assert data["bottlenecks"][0]["location"] == "tools search"
    assert data["token_analysis"]["input_tokens"] == 10
    assert steady["definitions"]["parallelization_score"]
    assert (quiet["executions"], quiet["without_spans"]) == (0, 2)
    check_documented(client, "get", TEMPLATE, answer)


def test_the_profile_of_a_case_has_its_spans(client: Client) -> None:
    (profile,) = client.ok(TEMPLATE, subject="steady", case_id="c00")["profiles"]
    assert [span["name"] for span in profile["trees"][0]["spans"]] == ["m", "search"]


def test_two_versions_stand_side_by_side(client: Client) -> None:
    answer = client.ok(TEMPLATE, subject="steady@2.0", against="steady@1.0")
    (pair,) = answer["comparisons"]
    assert (pair["baseline"]["agent_id"], pair["candidate"]["agent_id"], pair["cases"]) == (
        "steady@1.0",
        "steady@2.0",
        1,
    )
    assert next(item for item in pair["changes"] if item["name"] == "tool")["ratio"] == pytest.approx(2)
    check_documented(client, "get", TEMPLATE, answer)


@pytest.mark.parametrize("query", [{"subject": "nobody"}, {"case_id": "c99"}, {"agent": "x"}, {"benchmark": "x"}])
def test_what_is_not_there_is_a_404(client: Client, query: dict[str, str]) -> None:
    assert fields(client.problem(TEMPLATE, 404, **query)) == ["subject"]


def test_profiles_without_a_case_in_common_are_a_conflict(client: Client) -> None:
    problem = client.problem(TEMPLATE, 409, subject="steady", against="quiet")
    assert "no case with spans in common" in problem["detail"]


def test_a_store_without_runs_has_no_profiles(tmp_path: Path) -> None:
    room = new_room(tmp_path)
    with room.store:
        client = client_of(room)
        assert client.ok(TEMPLATE) == {"profiles": [], "comparisons": []}
        client.app.state.services.close()
