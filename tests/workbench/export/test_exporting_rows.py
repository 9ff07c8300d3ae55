"""Results as frames and files: what is in them is what is in the store."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pandas
import pytest
from pyarrow import parquet

import agentdyno
from agentdyno.errors import PluginError, SpecError, StoreError
from agentdyno.findings.case.tables import case_tables
from agentdyno.importers.evals.inspect_log import InspectImporter
from agentdyno.model import RunResult
from agentdyno.reports import render_console
from agentdyno.workbench.export.files import write_rows
from agentdyno.workbench.export.inspect_log import write_inspect

from ...given_results import Factory
from ...suites import Room


@pytest.fixture
def result(room: Room) -> RunResult:
    """Two agents on four cases, three times each, as a store has it: one is always right, one always wrong."""
    made = room.run(room.suite(epochs=3), "agent.py@good", "agent.py@bad")
    return room.store.runs.load(made.run_id)


def test_samples_cases_and_arms_are_frames(result: RunResult) -> None:
    samples, cases, arms = (result.to_frame(what) for what in ("samples", "cases", "arms"))
    assert isinstance(samples, pandas.DataFrame)
    assert (len(samples), len(cases), len(arms)) == (24, 8, 2)
    right = samples.groupby("agent")["score.score"].mean()
    assert sorted(right) == [0.0, 1.0]
    assert set(samples["target"]) == {"A", "B", "C", "D"}
    assert sorted(cases["passed"]) == [0] * 4 + [3] * 4
    assert set(arms["score.accuracy"]) == {0.0, 1.0}


def test_samples_that_stayed_in_the_store_are_read_from_it(room: Room, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DYNO_STORE", f"sqlite:///{room.folder / 'dyno.db'}")
    made = room.run(room.suite(), "agent.py@good")
    assert len(made.to_frame()) == 4
    monkeypatch.setenv("DYNO_STORE", f"sqlite:///{room.folder / 'other.db'}")
    bare = room.store.runs.load(made.run_id, samples=False)
    with pytest.raises(StoreError, match="which is not"):
        bare.to_frame()


def test_what_is_not_there_is_told(result: RunResult, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SpecError, match="no rows of 'case'") as told:
        result.to_frame("case")
    assert "cases" in str(told.value)
    with pytest.raises(SpecError, match="no frames of 'arrow'"):
        result.to_frame(library="arrow")
    with pytest.raises(PluginError, match="polars is not installed") as missing:
        result.to_frame(library="polars")
    assert "pip install polars" in str(missing.value), "the extra brings pandas"


def test_a_comparison_has_a_short_text(make: Factory) -> None:
    arms = [make.arm(name, [at * (1 + n / 1000) for n in range(20)]) for name, at in (("a", 1.0), ("b", 2.0))]
    told = repr(agentdyno.compare(*make.result(arms).arms))
    assert told.startswith("<Comparison 'a' → 'b': duration_s ×2 ")
    assert len(told) < 120


def test_a_result_has_a_short_text_and_a_table_with_a_picture(result: RunResult, make: Factory) -> None:
    assert repr(result) == f"<RunResult {result.run_id[:13]} suite 'room' complete: room · good, room · bad>"
    assert repr(result.arms[0]) == "<ArmResult 'room · good': 12 ok>"
    page = result._repr_html_()
    assert "<td>12 of 12</td>" in page
    assert page.count("<circle") == 2
    timed = make.result([make.arm("a<b", [1.0, 2.0, 3.0])])
    assert "a&lt;b" in timed._repr_html_()
    assert "time per call" in timed._repr_html_()


def test_csv_and_parquet_hold_the_same(result: RunResult, tmp_path: Path) -> None:
    table, column = tmp_path / "x.csv", tmp_path / "x.parquet"
    assert write_rows([result], table, format_name="csv") == write_rows([result], column, format_name="parquet") == 24
    with table.open(newline="") as stream:
        read = list(csv.DictReader(stream))
    kept = parquet.read_table(column).to_pylist()
    assert [row["case_id"] for row in read] == [row["case_id"] for row in kept]
    assert [float(row["duration_s"]) for row in read] == [row["duration_s"] for row in kept]


def test_a_cell_that_a_spreadsheet_would_run_is_made_harmless(room: Room, tmp_path: Path) -> None:
    def formula(text: str) -> str:
        return "=1+1"

    made = room.store.runs.load(room.run(room.suite(), formula).run_id)
    write_rows([made], tmp_path / "x.csv", format_name="csv")
    assert "'=1+1" in (tmp_path / "x.csv").read_text()


def test_logs_of_inspect_can_be_read_again(result: RunResult, tmp_path: Path) -> None:
    files = write_inspect(result, tmp_path / "logs")
    assert len(files) == 2
    plain = json.loads(files[0].read_text())
    assert (plain["version"], plain["status"], len(plain["samples"])) == (2, "success", 12)
    (again,) = InspectImporter().read(files[0])
    assert again.arms[0].case_figures is not None
    assert again.arms[0].case_figures.mean == 1.0
    assert {sample.case_id for sample in again.arms[0].samples} == {"a", "b", "c", "d"}


def test_only_suites_become_logs_of_inspect(make: Factory, tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="no run of a suite"):
        write_inspect(make.result([make.arm("a", [1.0, 2.0, 3.0])]), tmp_path)


def test_runs_are_read_by_a_query(room: Room) -> None:
    store = room.folder / "dyno.db"
    for agent in ("good", "bad", "good"):
        room.run(room.suite(), f"agent.py@{agent}")
    assert len(agentdyno.read_runs(store=store)) == 3
    assert len(agentdyno.read_runs("agent=bad", store=store)) == 1
    assert len(agentdyno.read_runs("ro* kind=suite status=complete since=1d", store=store)) == 3
    assert len(agentdyno.read_runs("name=other", store=store)) == 0
    two = agentdyno.read_runs("agent=good", store=store)
    assert len(two.to_frame("cases")) == 8
    assert repr(two).startswith("2 runs\n  <RunResult ")
    assert two._repr_html_().count("<tr>") == 3
    assert len(two[:1]) == 1
    with pytest.raises(SpecError, match="runs have no 'agnt'") as told:
        agentdyno.read_runs("agnt=x", store=store)
    assert "agent" in str(told.value)
    with pytest.raises(SpecError, match="is no date"):
        agentdyno.read_runs("since=yesterday", store=store)


@pytest.fixture
def two_files(room: Room) -> RunResult:
    """What two files call by one name, in one run."""
    (room.folder / "triage.py").write_text("def answer(text):\n    return text\n")
    (room.folder / "triage_v2.py").write_text("def answer(text):\n    return text.upper()\n")
    made = room.run(room.suite(), "triage.py@answer", "triage_v2.py@answer")
    return room.store.runs.load(made.run_id)


def test_agents_have_in_frames_files_and_notebooks_the_names_by_which_they_are_told_apart(
    two_files: RunResult, tmp_path: Path
) -> None:
    called = {agent.rpartition("@")[0] for agent in two_files.to_frame("arms")["agent"]}
    assert called == {"triage.answer", "triage_v2.answer"}
    assert "triage_v2.answer@" in two_files._repr_html_()
    write_rows([two_files], tmp_path / "rows.csv", format_name="csv")
    assert "triage_v2.answer@" in (tmp_path / "rows.csv").read_text()
    assert {path.name.partition("@")[0] for path in write_inspect(two_files, tmp_path / "logs")} == called
    shown = render_console(case_tables(two_files, "a", "triage_v2.answer"))
    assert "triage_v2.answer@" in shown


def test_runs_are_chosen_by_the_name_of_an_agent_that_people_read(room: Room, two_files: RunResult) -> None:
    store = str(room.folder / "dyno.db")
    for agent in ("triage_v2.answer", "answer"):
        (found,) = agentdyno.read_runs(f"agent={agent}", store=store)
        assert found.run_id == two_files.run_id
    assert len(agentdyno.read_runs("agent=triage_v3.answer", store=store)) == 0
