"""Running a suite: what is recorded when agents fail, limits are reached, or the store refuses."""

from __future__ import annotations

import json

import pytest

from agentdyno.errors import PluginError, RunError, StoreError
from agentdyno.findings.comparison.ask_result import read_result
from agentdyno.model import RunStatus, Status
from agentdyno.runs.place import run_folder
from agentdyno.runs.recording import UNSAVED

from ...chat_server import Asked, Reply, serving
from ...full_disk import failing_after
from ...suites import Room, statuses


def chat(url: str, extra: str = "") -> str:
    return f'agents: {{model: {{use: "openai:small", config: {{base_url: "{url}"}}}}}}\n{extra}'


def test_every_case_of_every_agent_is_recorded_and_the_result_is_what_the_store_holds(room: Room) -> None:
    result = room.run(room.suite(epochs=2), "agent.py@good", "agent.py@bad")
    assert statuses(result) == {"good": {"ok": 8}, "bad": {"failed": 8}}
    assert result.status is RunStatus.COMPLETE
    assert room.store.runs.load(result.run_id) == result == read_result(run_folder(result.spec, result.run_id))
    assert [progress.done for progress in room.seen] == list(range(17))
    assert room.seen[-1].pass_rate == 0.5


def test_warm_ups_come_first_and_are_no_samples(room: Room) -> None:
    result = room.run(room.suite(warmup=3), "agent.py@good")
    assert statuses(result) == {"good": {"ok": 4}}
    calls = room.calls()
    assert len(calls) == 7
    assert len(set(calls[:4])) == 1, "the first case is asked three times before it counts"


def test_a_rate_limit_that_outlasts_all_patience_is_an_error_of_that_case_alone(room: Room) -> None:
    def answer(asked: Asked) -> Reply:
        busy = asked.text == "b"
        return Reply("slow down", 429, {"Retry-After": "0.01"}) if busy else Reply(asked.text.upper())

    with serving(answer) as server:
        workspace = room.workspace(chat(server.url))
        result = room.run(
            room.suite(retries=0, concurrency=2), "model", "agent.py@good", workspace=workspace, patience_s=0.1
        )
    assert statuses(result) == {"model": {"ok": 3, "error": 1}, "good": {"ok": 4}}
    (limited,) = [sample for sample in result.arms[0].samples if sample.status is Status.ERROR]
    assert limited.failure is not None
    assert limited.failure.kind == "rate_limited"
    assert limited.attempts == 11
    assert limited.scores == {}


def test_an_agent_that_keeps_failing_is_given_up_and_the_others_go_on(room: Room) -> None:
    result = room.run(room.suite(epochs=3), "agent.py@broken", "agent.py@good")
    assert statuses(result) == {"broken": {"error": 3}, "good": {"ok": 12}}
    assert result.status is RunStatus.PARTIAL
    assert [warning.code for warning in result.warnings if warning.code == "given-up"] == ["given-up"]


def test_an_agent_that_cannot_start_leaves_no_run_behind(room: Room) -> None:
    (room.folder / "late.py").write_text("import absent_module\n")
    with pytest.raises(PluginError, match="absent_module"):
        room.run(room.suite(), "agent.py@good", "late.py@answer")
    assert room.store.runs.newest() == []
    assert not (room.folder / "calls.log").exists()


def test_a_key_that_is_refused_ends_the_run_with_its_answers_kept(room: Room) -> None:
    def answer(asked: Asked) -> Reply:
        return Reply("revoked", 401) if asked.number > 2 else Reply(asked.text.upper())

    with serving(answer) as server:
        workspace = room.workspace(chat(server.url))
        with pytest.raises(RunError, match=r"(?s)room · model.*401 Unauthorized: revoked.*dyno resume"):
            room.run(room.suite(), "model", workspace=workspace)
        assert len(server.asked) == 3
    kept = room.store.runs.load(room.store.runs.find("last"))
    assert statuses(kept) == {"model": {"ok": 2, "cancelled": 1}}
    assert kept.status is RunStatus.PARTIAL


@pytest.mark.parametrize(
    ("constraints", "reason"),
    [({"token_limit": 4500}, "4,500 tokens"), ({"cost_limit_usd": 1.0}, "limit of $1")],
)
def test_limits_of_the_whole_run_end_it_before_they_are_passed(
    room: Room, constraints: dict[str, object], reason: str
) -> None:
    with serving(lambda asked: Reply(asked.text.upper())) as server:
        workspace = room.workspace(chat(server.url, "prices: {small: {input: 100, output: 300}}"))
        result = room.run(room.suite(constraints=constraints), "model", workspace=workspace)
    assert statuses(result) == {"model": {"ok": 2}}
    assert reason in (result.stopped_because or "")
    assert result.status is RunStatus.PARTIAL


def test_limits_of_a_case_are_statuses_of_that_case(room: Room) -> None:
    def answer(asked: Asked) -> Reply:
        return Reply(asked.text.upper(), input_tokens=10, output_tokens=5000 if asked.text == "c" else 10)

    with serving(answer) as server:
        workspace = room.workspace(chat(server.url))
        result = room.run(room.suite(case_constraints={"token_limit": 100}), "model", workspace=workspace)
    assert statuses(result) == {"model": {"ok": 3, "limit": 1}}
    (past,) = [sample for sample in result.arms[0].samples if sample.status is Status.LIMIT]
    assert past.failure is not None
    assert (past.case_id, past.failure.kind, past.scores) == ("c", "tokens", {"score": 0.0})


def test_the_other_sides_own_words_about_itself_are_kept_once_per_arm(room: Room) -> None:
    with serving(lambda asked: Reply(asked.text.upper())) as server:
        result = room.run(room.suite(), "model", workspace=room.workspace(chat(server.url)))
    assert result.arms[0].observed["model"] == "small"
    assert result.workspace == "default"
    assert {"ttft_s", "duration_s", "total_tokens"} <= result.arms[0].metrics.keys()


def test_an_answer_that_cannot_be_saved_is_kept_beside_and_saved_on_resume(room: Room) -> None:
    whole, room.store = room.store, failing_after(3, room.store)
    with pytest.raises(StoreError, match="the disk is full; the run stops here"):
        room.run(room.suite(), "agent.py@good")
    room.store = whole
    begun = room.store.runs.load(room.store.runs.find("last"))
    unsaved = room.folder / "runs" / begun.run_id / UNSAVED
    assert {json.loads(line)["status"] for line in unsaved.read_text().splitlines()} == {"ok"}
    result = room.resume(begun)
    assert statuses(result) == {"good": {"ok": 4}}
    assert len(room.calls()) == 4, "no call is made twice because of the store"
    assert not unsaved.exists()
