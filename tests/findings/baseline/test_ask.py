"""Baselines that somebody chose."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from agentdyno.errors import NotComparable, StoreError
from agentdyno.findings.baseline.ask import clear_baseline, export_baselines, find_baseline, set_baseline
from agentdyno.findings.baseline.ask_file import read_baseline
from agentdyno.findings.baseline.tables import baseline_table
from agentdyno.model import ArmResult
from agentdyno.reports import render_console

from ...suites import Room
from ...workbench.answering import Answerer, ids, put, run, two_benchmarks


def test_a_baseline_stays_with_its_run_although_the_version_runs_again(room: Room) -> None:
    chosen = run(room, Answerer("a"))
    row, record = set_baseline(room.store, "a", note="first", now_ms=7)
    assert (row.run_id, row.version, row.suite_id, row.set_at, row.note) == (chosen.run_id, "1.0", "room", 7, "first")
    run(room, Answerer("a", wrong=ids(0, 4)))
    found = find_baseline(room.store, "a", "room")
    assert found == record
    assert find_baseline(room.store, "a", "elsewhere") is None
    assert find_baseline(room.store, "a", "room", "team") is None


def test_a_version_can_be_chosen_that_is_not_the_newest(room: Room) -> None:
    run(room, Answerer("a", "1.0"))
    run(room, Answerer("a", "1.1"))
    row, _ = set_baseline(room.store, "a@1.0")
    assert row.version == "1.0"
    set_baseline(room.store, "a")
    assert [item.version for item in room.store.boards.baselines()] == ["1.1"]


def test_a_baseline_from_several_runs_keeps_every_benchmark(room: Room) -> None:
    loaded = two_benchmarks(room)
    put(room, loaded, Answerer("a"))
    second = put(room, loaded, Answerer("a"))
    room.store.runs.finish(replace(second, arms=_cut(second.arms)))
    row, record = set_baseline(room.store, "a")
    assert len(record.run_ids) == 2
    found = find_baseline(room.store, "a", "pair")
    assert found is not None
    assert {item.benchmark_id for item in found.benchmarks} == {"sums", "talks"}
    assert "its newest" in render_console(baseline_table([row]))


def test_what_never_ran_cannot_be_a_baseline(room: Room) -> None:
    with pytest.raises(StoreError, match="no agent has been benchmarked here yet"):
        set_baseline(room.store, "a")
    run(room, Answerer("a", fails=ids(0, 4)))
    with pytest.raises(NotComparable, match="a gave no usable answer in any run"):
        set_baseline(room.store, "a")
    assert room.store.boards.baselines() == []


def test_clearing_names_what_it_took_back(room: Room) -> None:
    run(room, Answerer("a"), Answerer("b"))
    run(room, Answerer("a"), name="elsewhere")
    for agent, suite in (("a", "room"), ("a", "elsewhere"), ("b", "room")):
        set_baseline(room.store, agent, suite=suite)
    with pytest.raises(StoreError, match=r"no baseline of a@2\.0 is set"):
        clear_baseline(room.store, "a@2.0")
    assert clear_baseline(room.store, "a", suite="elsewhere") == 1
    assert clear_baseline(room.store, "a@1.0") == 1
    assert [row.agent for row in room.store.boards.baselines()] == ["b"]
    with pytest.raises(StoreError, match="no baseline of a is set"):
        clear_baseline(room.store, "a")


def test_an_exported_file_holds_the_chosen_ones_or_those_that_are_named(room: Room, tmp_path: Path) -> None:
    path = tmp_path / "baseline.json"
    with pytest.raises(StoreError, match="nothing to export"):
        export_baselines(room.store, path)
    assert not path.exists()
    run(room, Answerer("a", wrong=ids(0, 1)), Answerer("b"))
    set_baseline(room.store, "a")
    written = export_baselines(room.store, path)
    (read,) = read_baseline(path)
    assert [record.agent for record in written] == ["a@1.0"]
    assert [(case.case_id, case.score) for case in read.cases] == [
        (case.case_id, case.score) for case in written[0].cases
    ]
    export_baselines(room.store, path, agents=["b", "a"])
    assert sorted(record.agent for record in read_baseline(path)) == ["a@1.0", "b@1.0"]
    with pytest.raises(StoreError, match="no baseline is set"):
        export_baselines(room.store, path, suite="elsewhere")


def test_the_table_says_what_to_do_where_none_is_set() -> None:
    assert "dyno baseline set AGENT@VERSION" in render_console(baseline_table([]))


def _cut(arms: tuple[ArmResult, ...]) -> tuple[ArmResult, ...]:
    return tuple(replace(arm, planned=9 if arm.benchmark == "sums" else 3) for arm in arms)
