"""Executions of agents, and agents side by side, over HTTP."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from pathlib import Path

import pytest

from agentdyno.findings.duel.ask import duel_of
from agentdyno.store.boards.pages import ResultFilter
from agentdyno.store.boards.repository import BoardRepository
from agentdyno.store.rows import Execution, ExecutionFilter
from agentdyno.store.runs.pages import After
from agentdyno.web.app import create_app
from agentdyno.web.document_shapes import execution_item
from agentdyno.web.settings import ServiceSettings
from agentdyno.workbench.importing import import_files
from tests.suites import Room
from tests.workbench.answering import Answerer, put, run, two_benchmarks

from .asking import FORMULA, SCRIPT, Client, Json, Seeded, client_of, fields, refused

HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS


def results(client: Client, agent: str, **query: object) -> list[tuple[object, ...]]:
    items = client.ok(f"/benchmarks/agents/{agent}/results", **query)["items"]
    return [(item["agent_version"], item["benchmark"], item["accuracy"], item["status"]) for item in items]


def test_the_newest_execution_of_each_benchmark_is_what_is_shown_by_default(seeded: Seeded) -> None:
    assert results(seeded.client, "steady") == [
        ("2.0", "talks", 1.0, "success"),
        ("2.0", "sums", 1.0, "success"),
        ("2.0", "room", pytest.approx(0.6), "success"),
    ]


def test_all_executions_come_newest_first_with_every_figure(seeded: Seeded) -> None:
    found = seeded.client.ok("/benchmarks/agents/weak/results", timeframe="all")
    (item,) = found["items"]
    assert (item["agent"], item["agent_version"], item["category"]) == ("weak", "1.0", "comprehensive")
    assert (item["accuracy"], item["cases"], item["passed"], item["samples"]) == (0.5, 6, 6, 12)
    assert (item["run_id"], item["simulated"], item["cost_usd"]) == (seeded.first, False, None)
    assert found["next"] is None
    assert len(results(seeded.client, "steady", timeframe="all")) == 4


def test_a_suite_and_a_version_narrow_the_list(seeded: Seeded) -> None:
    assert results(seeded.client, "steady", timeframe="all", suite_id="pair") == [
        ("2.0", "talks", 1.0, "success"),
        ("2.0", "sums", 1.0, "success"),
    ]
    assert results(seeded.client, "steady@1.0", timeframe="all") == [("1.0", "room", 1.0, "success")]


def test_an_agent_may_be_named_by_the_uuid_of_a_version(seeded: Seeded) -> None:
    uid = next(row.uid for row in seeded.room.store.boards.agents() if (row.name, row.version) == ("steady", "1.0"))
    assert results(seeded.client, uid) == [("1.0", "room", 1.0, "success")]
    assert results(seeded.client, uid.upper()) == [("1.0", "room", 1.0, "success")]


def test_simulated_results_are_there_and_marked(seeded: Seeded) -> None:
    found = seeded.client.ok("/benchmarks/agents/%3Cscript%3Ealert(1)%3C%2Fscript%3E/results")
    assert [(item["agent"], item["simulated"]) for item in found["items"]] == [(SCRIPT, True)]


def test_a_name_that_looks_like_markup_comes_back_as_json_text(seeded: Seeded) -> None:
    found = seeded.client.get("/benchmarks/agents/%3Cscript%3Ealert(1)%3C%2Fscript%3E/results")
    assert found.headers["content-type"] == "application/json"
    assert found.headers["x-content-type-options"] == "nosniff"
    formula = seeded.client.ok("/benchmarks/agents/=HYPERLINK(%22http:%2F%2Fevil%22,%22x%22)/results")
    assert [item["agent"] for item in formula["items"]] == [FORMULA]


def test_pages_hold_every_execution_once_while_others_are_added(room: Room) -> None:
    for number in range(7):
        run(room, Answerer("a", f"1.{number}"))
    known = [item.uid for item in room.store.boards.executions(ExecutionFilter(agent="a"))]
    client, seen = client_of(room), []
    for page in client.walk("/benchmarks/agents/a/results", timeframe="all", limit=2):
        seen += [item["uid"] for item in page]
        run(room, Answerer("a", f"2.{len(seen)}"))
    assert seen == known
    client.app.state.services.close()


def test_executions_of_one_moment_are_not_lost_between_pages(room: Room) -> None:
    put(room, two_benchmarks(room), Answerer("a"))
    (row, *_) = room.store.boards.executions()
    room.store.boards.add_executions(replace(row, run_id="", arm_id="", uid="") for _ in range(9))
    client = client_of(room)
    pages = list(client.walk("/benchmarks/agents/a/results", timeframe="all", limit=3))
    assert [len(page) for page in pages] == [3, 3, 3, 2]
    assert len({item["uid"] for page in pages for item in page}) == 11
    client.app.state.services.close()


def test_a_timeframe_leaves_out_what_is_older(room: Room) -> None:
    run(room, Answerer("a"))
    (row,) = room.store.boards.executions()
    ages = (2, 8, 31)
    room.store.boards.add_executions(
        replace(row, run_id="", arm_id="", uid="", created_at=row.created_at - days * DAY_MS) for days in ages
    )
    client = client_of(room)
    counts = {frame: len(results(client, "a", timeframe=frame)) for frame in ("latest", "24h", "7d", "30d", "all")}
    assert counts == {"latest": 1, "24h": 1, "7d": 2, "30d": 3, "all": 4}
    client.app.state.services.close()


def test_a_page_is_written_anew_when_a_row_of_it_changed_and_not_when_others_are_added(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[str] = []

    def counted(row: Execution, suite_id: str) -> object:
        written.append(row.agent)
        return execution_item(row, suite_id)

    monkeypatch.setattr("agentdyno.web.routes.results.execution_item", counted)
    put(room, two_benchmarks(room), Answerer("a"))
    client = client_of(room)
    first = client.ok("/benchmarks/agents/a/results")
    (row, *_) = room.store.boards.executions()
    room.store.boards.add_executions([replace(row, agent="other", run_id="", arm_id="", uid="")])
    assert client.ok("/benchmarks/agents/a/results") == first
    assert written == ["a", "a"]
    room.store.boards.add_executions([replace(row, created_at=row.created_at + 1, run_id="", arm_id="", uid="")])
    second = client.ok("/benchmarks/agents/a/results")
    assert second != first
    alone = client_of(room)
    assert alone.ok("/benchmarks/agents/a/results") == second
    for asked in (client, alone):
        asked.app.state.services.close()


def test_what_leaves_the_window_is_gone_though_nothing_was_added(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    run(room, Answerer("a"))
    (row,) = room.store.boards.executions()
    now = [row.created_at]
    room.store.boards.add_executions(
        replace(row, run_id="", arm_id="", uid="", created_at=now[0] - hours * HOUR_MS) for hours in (1, 20, 23)
    )
    client = Client(create_app(ServiceSettings(str(room.folder / "dyno.db"), room.folder), lambda: now[0]))
    asked: list[ResultFilter] = []
    real = BoardRepository.execution_page

    def counted(
        boards: BoardRepository, wanted: ResultFilter, after: After | None = None, *, limit: int
    ) -> list[Execution]:
        asked.append(wanted)
        return real(boards, wanted, after, limit=limit)

    monkeypatch.setattr(BoardRepository, "execution_page", counted)

    def shown(**query: object) -> tuple[int, bool, int]:
        """How many executions, whether there are more, and how often the store was asked for them."""
        asked.clear()
        page = client.ok("/benchmarks/agents/a/results", timeframe="24h", **query)
        return len(page["items"]), page["next"] is not None, len(asked)

    assert shown() == (4, False, 1)
    assert shown() == (4, False, 0), "kept"
    assert shown(limit=3) == (3, True, 1)
    now[0] += HOUR_MS
    assert shown() == (4, False, 0), "of exactly 24 h ago"
    now[0] += 1
    assert shown() == (3, False, 1)
    assert shown(limit=3) == (3, False, 1)
    now[0] += 2 * HOUR_MS
    assert shown() == (3, False, 0)
    now[0] += 40 * HOUR_MS
    assert [shown(), shown()] == [(0, False, 2), (0, False, 0)], (
        "looked up once more, as there might be no such agent"
    )
    client.app.state.services.close()


def test_an_unknown_agent_is_not_found_and_the_nearest_are_named(seeded: Seeded) -> None:
    problem = seeded.client.problem("/benchmarks/agents/stedy/results", 404)
    assert problem["near"] == ["steady"]
    assert "stedy" in str(problem["detail"])
    assert seeded.client.problem("/benchmarks/agents/steady@9.9/results", 404)["remedy"] == "Known: 2.0, 1.0."


@pytest.mark.parametrize(
    ("query", "field"),
    [({"timeframe": "1y"}, "query.timeframe"), ({"limit": 1001}, "query.limit"), ({"cursor": "!"}, "cursor")],
)
def test_what_is_not_valid_is_refused_by_its_field(seeded: Seeded, query: dict[str, object], field: str) -> None:
    assert fields(seeded.client.problem("/benchmarks/agents/steady/results", 422, **query)) == [field]


def test_a_cursor_that_was_made_up_is_refused(seeded: Seeded) -> None:
    forged = base64.urlsafe_b64encode(b'[1,"no uuid"]').decode().rstrip("=")
    response = seeded.client.get("/benchmarks/agents/steady/results", cursor=forged)
    assert fields(refused(response, 422)) == ["cursor"]


def compare(client: Client, **body: object) -> Json:
    found = client.send("POST", "/benchmarks/compare", json=body)
    assert found.status_code == 200, found.text
    plain: Json = found.json()
    return plain


def test_two_agents_are_compared_case_by_case(seeded: Seeded) -> None:
    found = compare(seeded.client, agent_ids=["steady@1.0", "weak"], suite_id="room")
    assert (found["type"], found["tournament"], found["simulated"]) == ("head_to_head", None, [])
    duel = found["duel"]
    assert (duel["baseline"], duel["candidate"], duel["paired"]) == ("steady@1.0", "weak@1.0", True)
    assert duel["rows"][0]["change"] == -0.5
    assert [key["case_id"] for key in duel["flips"]["broken"]] == ["c00", "c01", "c02"]
    assert compare(seeded.client, agent_ids=["steady@1.0", "weak"], suite_id="room") == found


def test_a_comparison_is_judged_anew_when_a_run_has_ended_and_not_when_others_are_added(
    room: Room, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged: list[int] = []

    def counted(*given: object) -> object:
        judged.append(1)
        return duel_of(*given)  # type: ignore[arg-type]

    monkeypatch.setattr("agentdyno.findings.duel.ask.duel_of", counted)
    run(room, Answerer("a"), Answerer("b", wrong={"c00"}))
    client = client_of(room)
    first = compare(client, agent_ids=["a", "b"])
    (row, *_) = room.store.boards.executions()
    room.store.boards.add_executions([replace(row, agent="other", run_id="", arm_id="", uid="")])
    assert compare(client, agent_ids=["a", "b"]) == first
    assert len(judged) == 1
    run(room, Answerer("c"))  # whose run tells more of the noise on this host
    kept = compare(client, agent_ids=["a", "b"])
    assert len(judged) == 2
    run(room, Answerer("a", wrong={"c01"}), Answerer("b"))
    assert compare(client, agent_ids=["a", "b"]) != kept
    alone = client_of(room)
    assert compare(alone, agent_ids=["a", "b"]) == compare(client, agent_ids=["a", "b"])
    for asked in (client, alone):
        asked.app.state.services.close()


def test_a_comparison_says_from_which_run_each_side_is(seeded: Seeded) -> None:
    duel = compare(seeded.client, agent_ids=["steady@1.0", "steady@2.0"], suite_id="room")["duel"]
    assert (duel["baseline_runs"], duel["candidate_runs"]) == ({"room": seeded.first}, {"room": seeded.second})
    found = compare(seeded.client, agent_ids=["steady@1.0", "weak", "tracer@1.0"], comparison_type="matrix")
    for duel in found["tournament"]["duels"]:
        assert duel["baseline_runs"] == duel["candidate_runs"] == {"room": seeded.first}


def test_benchmarks_of_several_runs_are_each_said_to_be_of_theirs(room: Room) -> None:
    suite = two_benchmarks(room)
    first = put(room, suite, Answerer("a"))
    second = put(room, suite, Answerer("a"), Answerer("b"))
    cut = tuple(replace(arm, planned=9 if arm.benchmark == "sums" else 3) for arm in second.arms)
    room.store.runs.finish(replace(second, arms=cut))
    client = client_of(room)
    alone = put(room, suite, Answerer("c"))
    duel = compare(client, agent_ids=["a", "c"])["duel"]
    assert duel["baseline_runs"] == {"sums": first.run_id, "talks": second.run_id}
    assert duel["candidate_runs"] == {"sums": alone.run_id, "talks": alone.run_id}
    client.app.state.services.close()


def test_three_agents_meet_each_other(seeded: Seeded) -> None:
    found = compare(seeded.client, agent_ids=["steady@1.0", "weak", "tracer@1.0"], comparison_type="matrix")
    assert (found["type"], found["duel"]) == ("matrix", None)
    pairs = [(duel["baseline"], duel["candidate"]) for duel in found["tournament"]["duels"]]
    assert pairs == [("steady@1.0", "weak@1.0"), ("steady@1.0", "tracer@1.0"), ("weak@1.0", "tracer@1.0")]


def test_simulated_sides_of_a_comparison_are_named(seeded: Seeded) -> None:
    assert compare(seeded.client, agent_ids=[SCRIPT, FORMULA])["simulated"] == [f"{SCRIPT}@1"]


def test_agents_without_a_common_suite_are_in_conflict(seeded: Seeded) -> None:
    body = {"agent_ids": ["weak", FORMULA]}
    problem = refused(seeded.client.send("POST", "/benchmarks/compare", json=body), 409)
    assert str(problem["detail"]).startswith("these agents have run no suite in common")
    same = refused(seeded.client.send("POST", "/benchmarks/compare", json={"agent_ids": ["weak", "weak"]}), 409)
    assert "against itself" in str(same["detail"])
    assert problem["type"] == same["type"] == "urn:agentdyno:problem:not-comparable"


def test_a_version_of_which_only_totals_are_known_is_said_to_need_cases(room: Room) -> None:
    run(room, Answerer("a", "2.0"), Answerer("a", "2.1"), Answerer("b"))
    row = next(item for item in room.store.boards.executions() if item.agent == "a")
    room.store.boards.add_executions([replace(row, agent_version="1.9", run_id="", arm_id="", uid="")])
    uid = next(item.uid for item in room.store.boards.agents() if item.version == "1.9")
    client = client_of(room)
    for named in ("a@1.9", uid):
        body = {"agent_ids": [named, "b"], "suite_id": "room"}
        problem = refused(client.send("POST", "/benchmarks/compare", json=body), 409)
        assert problem["type"] == "urn:agentdyno:problem:not-comparable"
        assert problem["detail"] == "a@1.9 has imported totals and no cases of suite room"
        assert "dyno import" in str(problem["remedy"])
        assert "dyno run SUITE --agent a" in str(problem["remedy"])
        assert str(problem["remedy"]).endswith("Versions of a that have cases: 2.1, 2.0.")
    client.app.state.services.close()


def test_an_imported_version_with_cases_is_compared_like_any_other(room: Room) -> None:
    fixture = Path(__file__).parents[2] / "importers" / "fixtures" / "promptfoo" / "bodies.json"
    import_files(room.store, [fixture])
    client = client_of(room)
    versions = {row.name: row for row in room.store.boards.agents()}
    table, echo = versions["table of bodies"], versions["echo"]
    by_name = compare(client, agent_ids=[f"{row.name}@{row.version}" for row in (table, echo)])
    assert by_name == compare(client, agent_ids=[table.uid, echo.uid])
    assert by_name["duel"]["baseline"] == f"{table.name}@{table.version}"
    client.app.state.services.close()


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ({"agent_ids": ["weak"]}, 422, "body.agent_ids"),
        ({"agent_ids": ["weak", "steady", "tracer"]}, 422, "body.agent_ids"),
        ({"agent_ids": ["weak", "steady"], "comparison_type": "duel"}, 422, "body.comparison_type"),
        ({"agent_ids": ["weak", "steady"], "sweet": 1}, 422, "body.sweet"),
        ({"agent_ids": ["weak", "stedy"]}, 404, "body.agent_ids"),
        ({"agent_ids": ["weak", "steady"], "suite_id": "zoom"}, 404, "body.suite_id"),
    ],
)
def test_a_comparison_that_cannot_be_made_says_which_field_is_wrong(
    seeded: Seeded, body: dict[str, object], status: int, field: str
) -> None:
    assert fields(refused(seeded.client.send("POST", "/benchmarks/compare", json=body), status)) == [field]


def test_runs_are_compared_with_the_first_of_them(seeded: Seeded) -> None:
    found = seeded.client.ok("/api/comparisons", run=[seeded.first, seeded.second])
    assert [(duel["baseline"], duel["candidate"]) for duel in found["duels"]] == [
        ("steady@1.0", "steady@2.0"),
        ("tracer@1.0", "tracer@2.0"),
    ]
    assert found["comparisons"] == []


def test_runs_of_experiments_are_compared_metric_by_metric(room: Room) -> None:
    file = {"benchmarks": [{"metadata": {"name": "sum", "unit": "second"}, "runs": [{"values": [0.2, 0.21, 0.19]}]}]}
    ids = []
    for number in (1, 2):
        path = room.folder / f"speed-{number}.json"
        path.write_text(json.dumps({**file, "version": "1.0", "metadata": {"date": f"2026-01-0{number}"}}))
        import_files(room.store, [path])
        ids.append(room.store.runs.newest(1)[0].run_id)
    client = client_of(room)
    (compared,) = client.ok("/api/comparisons", run=ids)["comparisons"]
    assert "duration_s" in [row["metric"]["name"] for row in compared["arms"][0]["metrics"]]
    client.app.state.services.close()


def test_runs_that_have_nothing_in_common_are_in_conflict(seeded: Seeded) -> None:
    seeded.client.problem("/api/comparisons", 409, run=[seeded.first, seeded.odd])
    assert fields(seeded.client.problem("/api/comparisons", 422, run=[seeded.first])) == ["query.run"]
    seeded.client.problem("/api/comparisons", 404, run=[seeded.first, "gone"])
