"""What agents did, read from the store: which results are taken, and from which runs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from agentdyno.errors import NotComparable, StoreError
from agentdyno.findings.duel.judge import duel
from agentdyno.findings.record.ask import Records
from agentdyno.store.rows import Execution

from ...suites import Room
from ...workbench.answering import Answerer, cases, ids, put, run, two_benchmarks


def imported(room: Room, agent: str, **changes: object) -> None:
    """An execution of which only totals are known."""
    row = Execution(agent, "1.0", room.suite().suite.digest, "room", 1_700_000_000_000, accuracy=0.5)
    room.store.boards.add_suite(room.suite().suite, now_ms=1)
    room.store.boards.add_executions([replace(row, **changes)])  # type: ignore[arg-type]


def test_a_name_means_the_version_that_was_run_last(room: Room) -> None:
    run(room, Answerer("a", "2.0"))
    last = run(room, Answerer("a", "1.0", wrong=ids(0, 1)))
    record = Records(room.store).newest("a")
    assert (record.agent, record.run_ids) == ("a@1.0", (last.run_id,))
    assert [case.score for case in record.cases] == [0.0, 1.0, 1.0, 1.0]
    assert Records(room.store).newest("a@2.0").agent == "a@2.0"


def test_of_two_versions_in_one_run_a_name_means_the_highest_number(room: Room) -> None:
    run(room, Answerer("a", "1.10"), Answerer("a", "1.9"), Answerer("a", "0.99"))
    assert Records(room.store).newest("a").agent == "a@1.10"


def test_a_version_may_be_cut_short_where_that_is_unique(room: Room) -> None:
    run(room, Answerer("a", "0a1b2c3d4e5f"), Answerer("a", "0a1b9999ffff"))
    records = Records(room.store)
    assert records.newest("a@0a1b2").version == "0a1b2c3d4e5f"
    with pytest.raises(StoreError, match="0a1b begins 2 versions of a") as ambiguous:
        records.newest("a@0a1b")
    assert "0a1b2c3d4e5f" in str(ambiguous.value)
    with pytest.raises(StoreError, match="a has no version '0a1' here"):
        records.newest("a@0a1")
    with pytest.raises(StoreError, match="a has no version 'ffff' here"):
        records.newest("a@ffff")


def test_one_version_that_was_defined_in_two_ways_is_still_one_version(room: Room) -> None:
    for use in ("agent.py@good", "agent.py@bad"):
        workspace = room.workspace(f"agents: {{x: {{use: {use}, version: '1'}}}}")
        room.run(room.suite(), "x", workspace=workspace)
    assert [row.version for row in room.store.boards.agents() if row.name == "x"] == ["1", "1"]
    record = Records(room.store).newest("x@1")
    assert [case.score for case in record.cases] == [0.0] * 4


def test_agents_of_one_run_are_taken_from_it_although_one_ran_again_later(room: Room) -> None:
    shared = run(room, Answerer("a"), Answerer("b"))
    run(room, Answerer("a", wrong=ids(0, 2)))
    found = Records(room.store).together(["a", "b"])
    assert [record.run_ids for record in found] == [(shared.run_id,), (shared.run_id,)]
    assert duel(*found).paired


def test_agents_of_separate_runs_are_set_side_by_side_with_a_warning(room: Room) -> None:
    first, second = run(room, Answerer("a")), run(room, Answerer("b"))
    found = Records(room.store).together(["a", "b"])
    assert [record.run_ids[0] for record in found] == [first.run_id, second.run_id]
    judged = duel(*found)
    assert not judged.paired
    assert "separate-runs" in {warning.code for warning in judged.warnings}


def test_the_newest_version_of_the_suite_that_all_have_run_is_chosen(room: Room) -> None:
    run(room, Answerer("a"), Answerer("b"), count=3)
    run(room, Answerer("a"), Answerer("b"), count=4)
    run(room, Answerer("a"), count=5)
    found = Records(room.store).together(["a", "b"])
    assert [len(record.cases) for record in found] == [4, 4]
    assert found[0].suite == found[1].suite


def test_versions_of_one_suite_are_paired_over_the_cases_that_are_equal(room: Room) -> None:
    run(room, Answerer("a"), count=6)
    changed = [*cases(4), {"id": "c04", "input": "other", "target": "OTHER"}]
    put(room, room.suite(dataset={"cases": changed}), Answerer("b"))
    first, second = Records(room.store).together(["a", "b"])
    assert (len(first.cases), len(second.cases)) == (6, 5)
    judged = duel(first, second)
    assert judged.flips.cases == 4
    assert {"different-suites", "changed-cases", "missing-cases"} <= {warning.code for warning in judged.warnings}


def test_agents_without_a_suite_in_common_are_not_comparable(room: Room) -> None:
    run(room, Answerer("a"))
    run(room, Answerer("b"), name="elsewhere")
    with pytest.raises(NotComparable, match=r"a@1\.0 ran room; b@1\.0 ran elsewhere") as caught:
        Records(room.store).together(["a", "b"])
    assert caught.value.remedy == "Run them on one suite: dyno run SUITE --agent A --agent B."


def test_an_unknown_agent_or_suite_answers_with_the_nearest_name(room: Room) -> None:
    with pytest.raises(StoreError, match="no agent has been benchmarked here yet"):
        Records(room.store).newest("a")
    run(room, Answerer("librarian"))
    with pytest.raises(StoreError, match=r"no agent 'librarain' has been benchmarked here\n  Did you mean librarian"):
        Records(room.store).newest("librarain")
    with pytest.raises(StoreError, match=r"no run of a suite 'rom' is in the store\n  Did you mean room"):
        Records(room.store).newest("librarian", "rom")


def test_an_agent_is_not_set_against_itself_and_the_one_named_twice_is_told(room: Room) -> None:
    run(room, Answerer("a"), Answerer("b"))
    with pytest.raises(NotComparable, match=r"b@1\.0 cannot be set against itself"):
        Records(room.store).together(["a", "b", "b@1.0"])
    for alone in ([], ["a"]):
        with pytest.raises(NotComparable, match="one agent alone"):
            Records(room.store).together(alone)


def test_an_agent_that_never_answered_is_not_comparable(room: Room) -> None:
    run(room, Answerer("a"), Answerer("b", fails=ids(0, 4)))
    with pytest.raises(NotComparable, match="b gave no usable answer in any run"):
        Records(room.store).together(["a", "b"])
    assert [record.name for record in Records(room.store).every()] == ["a"]


def test_a_failed_run_does_not_hide_the_success_before_it(room: Room) -> None:
    good = run(room, Answerer("a"))
    run(room, Answerer("a", fails=ids(0, 4)))
    assert Records(room.store).newest("a").run_ids == (good.run_id,)


def test_complete_results_come_before_newer_partial_ones(room: Room) -> None:
    whole = run(room, Answerer("a"))
    cut = run(room, Answerer("a", fails=ids(1, 4)), retries=0)
    room.store.runs.finish(replace(cut, arms=tuple(replace(arm, planned=9) for arm in cut.arms)))
    statuses = [row.status for row in room.store.boards.executions()]
    assert statuses == ["partial", "success"], statuses
    assert Records(room.store).newest("a").run_ids == (whole.run_id,)


def test_a_partial_run_is_used_where_there_is_no_other_and_said_to_be_one(room: Room) -> None:
    cut = run(room, Answerer("a"), Answerer("b"))
    room.store.runs.finish(replace(cut, arms=tuple(replace(arm, planned=9) for arm in cut.arms)))
    found = Records(room.store).together(["a", "b"])
    text = " ".join(warning.message for warning in duel(*found).warnings if warning.code == "partial-run")
    assert "a@1.0 made 4 of 9 planned executions" in text


def test_benchmarks_of_several_runs_make_one_record(room: Room) -> None:
    suite = two_benchmarks(room)
    first = put(room, suite, Answerer("a"))
    second = put(room, suite, Answerer("a", wrong=[*ids(0, 3), *ids(10, 13)]))
    cut = tuple(replace(arm, planned=9 if arm.benchmark == "sums" else 3) for arm in second.arms)
    room.store.runs.finish(replace(second, arms=cut))
    record = Records(room.store).newest("a")
    assert {item.benchmark_id: item.run_id for item in record.benchmarks} == {
        "sums": first.run_id,
        "talks": second.run_id,
    }
    assert [case.score for case in record.cases] == [0.0] * 3 + [1.0] * 3, "talks first, as it is newer"


def test_of_imported_totals_it_is_said_that_they_have_no_cases(room: Room) -> None:
    run(room, Answerer("a"))
    imported(room, "b")
    with pytest.raises(NotComparable, match="b has imported totals and no cases"):
        Records(room.store).together(["a", "b"])


def test_every_agent_of_the_suite_that_was_run_last_is_found_among_imported_totals(room: Room) -> None:
    with pytest.raises(StoreError, match="no agent has run a suite yet"):
        Records(room.store).every()
    run(room, Answerer("a"), Answerer("b"), count=4)
    imported(room, "c", created_at=4_000_000_000_000)
    assert [record.agent for record in Records(room.store).every()] == ["b@1.0", "a@1.0"]
    run(room, Answerer("d"), name="elsewhere")
    assert [record.agent for record in Records(room.store).every()] == ["d@1.0"]
    assert len(Records(room.store).every("room")) == 2
    assert len(Records(room.store).chosen(["a"])) == 1
    assert [record.agent for record in Records(room.store).chosen(["b", "a"])] == ["b@1.0", "a@1.0"]


def test_a_run_gives_the_records_of_its_agents_in_its_order(room: Room) -> None:
    result = run(room, Answerer("b"), Answerer("a", wrong=ids(0, 1)))
    found = Records(room.store).of_run(result.run_id)
    assert [record.agent for record in found] == ["b@1.0", "a@1.0"]
    assert [sum(case.passed for case in record.cases) for record in found] == [4, 3]
