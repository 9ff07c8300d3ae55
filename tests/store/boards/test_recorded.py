"""Boards tell which agents' times the recording proxy is in: on both databases."""

from __future__ import annotations

from dataclasses import replace

from agentdyno.findings.board.ask import ALL_SUITES, Boards
from agentdyno.findings.board.tables import leaderboard_tables, matrix_tables
from agentdyno.model.suite import RunForm
from agentdyno.show.table import Table
from agentdyno.store import Store

from ..builders import run_id
from ..suite_builders import MONDAY, SUITE, run_suite, suite_header

COST = {"recording_cost": {"plain_s": 0.0002, "streamed_s": 0.0003}}


def run_recorded(store: Store, number: int, agents: dict[str, bool]) -> None:
    """A run whose agents are recorded or not, each with a score of 0.5 for speed."""
    form = RunForm(SUITE.digest, 3, 3, 5, 5, proxied=any(agents.values()))
    header = replace(suite_header(run_id(number)), form=form)
    done = run_suite(store, header, dict.fromkeys(agents, 0.5), finished_at=MONDAY + number)
    arms = [
        replace(arm, observed=COST if agents[arm.agent or ""] else {}, scores={**arm.scores, "speed": 0.5})
        for arm in done.arms
    ]
    store.runs.finish(replace(done, arms=tuple(arms)))


def notes(tables: list[Table]) -> str:
    return " ".join(note for table in tables for note in table.notes)


def speeds(table: Table) -> dict[str, str]:
    place = [column.header for column in table.columns].index("speed")
    return {row[0].text: row[place].text for row in table.rows}


def test_an_agent_whose_calls_were_recorded_is_marked_beside_others_whose_calls_were_not(store: Store) -> None:
    run_recorded(store, 3, {"watched@1": True, "plain@1": False})
    run_recorded(store, 4, {"alone@1": False})
    asked = Boards(store, now_ms=MONDAY)
    for scope in (asked.leaderboard().scope, asked.matrix().scope, asked.leaderboard(suite=ALL_SUITES).scope):
        assert scope.recorded == ("watched@1",)
    board, matrix = leaderboard_tables(asked.leaderboard()), matrix_tables(asked.matrix())
    for tables in (board, matrix):
        assert "Model calls of watched@1 went through the recording proxy" in notes(tables)
    assert {name for name, text in speeds(board[1]).items() if "‡" in text} == {"watched@1"}
    assert {name for name, text in speeds(matrix[0]).items() if "‡" in text} == {"watched@1"}
    (each, *_) = asked.by_category()
    assert asked.together([each], metric="all", days=30).scope.recorded == ("watched@1",)


def test_nothing_is_marked_where_all_were_recorded_or_none_is_any_more(store: Store) -> None:
    run_recorded(store, 3, {"watched@1": True, "other@1": True})
    assert Boards(store, now_ms=MONDAY).leaderboard().scope.recorded == ()
    run_recorded(store, 4, {"watched@1": False})
    assert Boards(store, now_ms=MONDAY).leaderboard().scope.recorded == ("other@1",), "the last success counts"
    run_recorded(store, 5, {"other@1": False})
    assert Boards(store, now_ms=MONDAY).leaderboard().scope.recorded == ()
