"""What somebody may call an agent, a suite or a run."""

from __future__ import annotations

import pytest

from agentdyno.errors import StoreError
from agentdyno.findings.record.ask_names import AgentName, UnknownName, agent_named, run_named, suite_named
from agentdyno.store import Store

from ...suites import Room
from ...workbench.answering import Answerer, run


def test_an_agent_is_found_by_name_version_and_uuid(room: Room) -> None:
    run(room, Answerer("a", "1.0"), Answerer("b@home", "2.0"))
    uid = {row.name: row.uid for row in room.store.boards.agents()}
    assert agent_named(room.store, "a") == AgentName("a")
    assert agent_named(room.store, "a@1.0").label == "a@1.0"
    assert agent_named(room.store, "b@home") == AgentName("b@home")
    assert agent_named(room.store, uid["b@home"].upper()) == AgentName("b@home", "2.0")
    assert agent_named(room.store, "c", registered=["c"]) == AgentName("c")


def test_what_nothing_is_called_comes_back_with_the_nearest_names(room: Room) -> None:
    run(room, Answerer("alpha", "1.0"))
    with pytest.raises(UnknownName) as unknown:
        agent_named(room.store, "alpah")
    assert unknown.value.near == ("alpha",)
    with pytest.raises(UnknownName) as version:
        agent_named(room.store, "alpha@1.1")
    assert version.value.near == ("alpha@1.0",)
    with pytest.raises(UnknownName, match="there is no suite 'rom' here") as suite:
        suite_named(room.store, "rom")
    assert suite.value.near == ("room",)
    with pytest.raises(UnknownName, match="there is no run"):
        run_named(room.store, "zzz")


def test_a_suite_is_an_id_for_all_versions_and_a_digest_for_one(room: Room) -> None:
    run(room, Answerer("a"), version="3")
    (row,) = room.store.boards.suites()
    assert suite_named(room.store, "room") == "room"
    assert {suite_named(room.store, name) for name in (row.digest, row.uid, "room@3")} == {row.digest}


def test_a_store_that_fails_is_no_unknown_name(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: Store, reference: str) -> str:
        raise StoreError("the database is gone") from OSError()

    monkeypatch.setattr(Store, "find_run", fail)
    with pytest.raises(StoreError, match="the database is gone"):
        run_named(room.store, "last")
