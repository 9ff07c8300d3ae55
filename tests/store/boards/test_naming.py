"""Agents of a store: told apart by where they come from, called as shortly as that allows."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sqlalchemy import update

from agentdyno.model import AgentUse
from agentdyno.store import BaselineRow, Store
from agentdyno.store.boards.schema import agents
from agentdyno.store.rows import Execution

from ..suite_builders import MONDAY, SUITE, run_suite, suite_header

_IDS = [f"01900000-0000-7000-8000-{number:012}" for number in range(1, 9)]


def use(uses: str, version: str, identity: str = "", name: str = "answer") -> AgentUse:
    return AgentUse(name, uses, identity=identity or uses, at_version=version)


def run(store: Store, number: int, *uses: AgentUse) -> None:
    """A run of these agents, the later the higher its number."""
    by_label = {f"{item.name}@{item.at_version}": 0.5 for item in uses}
    suite = replace(SUITE, agents=uses)
    header = suite_header(_IDS[number], suite=suite, started_at=MONDAY + 10_000 * number)
    run_suite(store, header, by_label)


def names(store: Store) -> list[tuple[str, str]]:
    return [(row.name, row.version) for row in store.boards.agents()]


def test_one_function_alone_keeps_its_short_name_over_all_its_versions(store: Store) -> None:
    run(store, 0, use("triage.py@answer", "v1"))
    run(store, 1, use("triage.py@answer", "v2"))
    assert names(store) == [("answer", "v2"), ("answer", "v1")]
    assert [row.version for row in store.boards.series("answer")][::2] == ["v1", "v2"]


def test_the_same_name_in_another_file_is_another_agent(store: Store) -> None:
    run(store, 0, use("triage.py@answer", "v1"))
    run(store, 1, use("triage_v2.py@answer", "w1"))
    run(store, 2, use("triage.py@answer", "v2"))
    assert names(store) == [("triage.answer", "v2"), ("triage.answer", "v1"), ("triage_v2.answer", "w1")]
    assert {row.version for row in store.boards.series("triage.answer")} == {"v1", "v2"}
    assert {row.agent for row in store.boards.matrix_rows()} == {"triage.answer", "triage_v2.answer"}
    boards = store.boards.leaderboard_rows(days=30, now_ms=MONDAY + 86_400_000)
    assert {row.agent for row in boards} == {"triage.answer", "triage_v2.answer"}
    assert {row.agent for row in store.boards.executions()} == {"triage.answer", "triage_v2.answer"}


def test_two_of_one_name_in_one_run_are_told_apart(store: Store) -> None:
    run(store, 0, use("cmd:node agent.mjs", "a", name="agent"), use("cmd:./agent.sh", "b", name="agent"))
    assert names(store) == [("agent.mjs", "a"), ("agent.sh", "b")]
    (row,) = store.runs.newest(1)
    assert [subject.label for subject in row.subjects] == ["agent.mjs@a", "agent.sh@b"]


def test_the_arms_of_a_run_say_what_they_said_and_its_agents_what_they_are_called_today(store: Store) -> None:
    run(store, 0, use("triage.py@answer", "v1"))
    run(store, 1, use("triage_v2.py@answer", "w1"))
    loaded = store.runs.load(_IDS[0], samples=False)
    assert {arm.agent for arm in loaded.arms} == {"answer@v1"}
    assert loaded.suite is not None
    assert [item.label for item in loaded.suite.agents] == ["triage.answer"]


def test_a_version_of_the_name_that_a_run_uses_finds_its_agent(store: Store) -> None:
    run(store, 0, use("triage.py@answer", "v1"))
    run(store, 1, use("triage_v2.py@answer", "w1"))
    assert {row.run_id for row in store.boards.agent_executions("answer", "w1")} == {_IDS[1]}
    assert {row.run_id for row in store.boards.agent_executions("triage.py@answer")} == {_IDS[0]}


def test_a_given_name_is_never_taken_away(store: Store) -> None:
    run(store, 0, use("triage.py@answer", "v1", "name:answer"))
    run(store, 1, use("other.py@answer", "w1"))
    assert names(store) == [("answer", "v1"), ("other.answer", "w1")]


def test_what_somebody_names_joins_what_ran_before_from_the_same_place(store: Store) -> None:
    run(store, 0, use("triage.py@answer", "v1"))
    run(store, 1, use("triage_v2.py@answer", "w1"))
    run(store, 2, use("triage.py@answer", "v2", "name:answer"))
    assert names(store) == [("answer", "v2"), ("answer", "v1"), ("triage_v2.answer", "w1")]


def forget_identities(store: Store) -> None:
    """As a migration leaves a store in which nobody kept where agents come from."""
    with store.session as session, session.transaction():
        session.execute(update(agents).values(identity=None, label=agents.c.name))


@pytest.mark.parametrize("spelled", ["./triage.py@answer", "/home/me/project/triage.py@answer"])
def test_old_results_join_the_agent_that_runs_again_from_their_place(store: Store, spelled: str) -> None:
    run(store, 0, use(spelled, "v1"))
    run(store, 1, use("triage_v2.py@answer", "w1"))
    forget_identities(store)
    assert {name for name, _ in names(store)} == {"answer"}, "joined by name, as before"
    wanted = use("triage.py@answer", "v2")
    assert store.runs.labels_with([wanted]) == {"triage.py@answer": "triage.answer"}
    run(store, 2, wanted)
    assert names(store) == [("answer", "w1"), ("triage.answer", "v2"), ("triage.answer", "v1")]
    run(store, 3, use("triage_v2.py@answer", "w2"))
    assert {name for name, version in names(store) if version[0] == "w"} == {"triage_v2.answer"}


def test_an_old_agent_that_runs_again_keeps_its_name_where_it_is_alone(store: Store) -> None:
    run(store, 0, use("triage.py@answer", "v1"))
    forget_identities(store)
    wanted = use("src/triage.py@answer", "v2")
    assert store.runs.labels_with([wanted]) == {"src/triage.py@answer": "answer"}
    run(store, 1, wanted)
    assert names(store) == [("answer", "v2"), ("answer", "v1")]


def test_a_baseline_follows_the_agent_whose_version_it_is(store: Store) -> None:
    run(store, 0, use("triage.py@answer", "v1"))
    row = BaselineRow("answer", "daily-work", "v1")
    store.boards.set_baseline(row)
    run(store, 1, use("triage_v2.py@answer", "w1"))
    assert store.boards.baselines() == [replace(row, agent="triage.answer")]


def test_results_of_other_tools_are_known_by_their_name(store: Store) -> None:
    digest = store.boards.add_suite(SUITE, now_ms=MONDAY)
    store.boards.add_executions([Execution("answer", "7", digest, "sums", MONDAY)])
    run(store, 0, use("triage.py@answer", "v1"))
    (first, second) = store.boards.agents()
    assert (first.name, first.identity, second.name) == ("answer", "triage.py@answer", "answer")
