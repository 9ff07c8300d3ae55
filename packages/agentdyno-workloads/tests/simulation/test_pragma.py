"""SQLite's settings: what is asked for is in force, what is written is there, and a killed writer leaves no half."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from agentdyno import ExperimentContext, SpecError
from agentdyno_workloads.simulation.storage import pragma_profile
from agentdyno_workloads.simulation.storage.pragma_crash import COMMITTED, damage, kill_in_mid_transaction, survives
from agentdyno_workloads.simulation.storage.pragma_profile import AGENTS, PragmaProfile, make_rows
from agentdyno_workloads.simulation.storage.pragmas import PROFILES, Profile, connect, observed, read_back


def started(experiment: PragmaProfile, monkeypatch: pytest.MonkeyPatch) -> ExperimentContext:
    """Set up without the killed writer, which has tests of its own."""
    monkeypatch.setattr(pragma_profile, "survives", lambda folder, name: "ok")
    context = ExperimentContext()
    experiment.setup(context)
    return context


@pytest.mark.parametrize("name", PROFILES)
def test_every_pragma_of_a_profile_is_in_force_as_sqlite_reports_it(name: str, tmp_path: Path) -> None:
    profile = PROFILES[name]
    with closing(connect(tmp_path / "a.db", profile)) as link:
        link.execute("CREATE TABLE t (a)")
        assert observed(link, profile) == profile.wanted


def test_the_profiles_differ_in_what_is_observed(tmp_path: Path) -> None:
    seen = set()
    for name, profile in PROFILES.items():
        with closing(connect(tmp_path / f"{name}.db", profile)) as link:
            seen.add(tuple(read_back(link).items()))
    assert len(seen) == 4


def test_a_pragma_that_is_not_in_force_is_named(tmp_path: Path) -> None:
    with closing(connect(tmp_path / "a.db", PROFILES["balanced"])) as link:
        link.execute("PRAGMA synchronous=OFF")
        with pytest.raises(AssertionError, match="balanced is not in force: synchronous is OFF, not NORMAL"):
            observed(link, PROFILES["balanced"])


def test_codes_are_reported_as_words(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "a.db")) as link:
        link.execute("PRAGMA synchronous=3")
        link.execute("PRAGMA temp_store=1")
        assert read_back(link)["synchronous"] == "EXTRA"
        assert read_back(link)["temp_store"] == "FILE"


@pytest.mark.parametrize("name", PROFILES)
def test_a_writer_killed_in_mid_transaction_leaves_what_it_committed(name: str, tmp_path: Path) -> None:
    assert survives(tmp_path, name) == "ok"
    with closing(sqlite3.connect(tmp_path / "killed.db")) as link:
        assert link.execute("SELECT count(*) FROM entries").fetchone() == (COMMITTED,)


def test_the_check_sees_what_a_journal_in_memory_alone_leaves_behind(tmp_path: Path) -> None:
    unsafe = Profile("unsafe", "memory", "OFF", 1024, "MEMORY", 0, "normal")
    kill_in_mid_transaction(tmp_path / "a.db", unsafe)
    assert damage(tmp_path / "a.db") is not None


@pytest.mark.parametrize(("rows", "open_rows"), [(COMMITTED - 1, 0), (COMMITTED, 1), (COMMITTED + 5, 5)])
def test_a_lost_commit_and_half_a_transaction_are_damage(rows: int, open_rows: int, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "a.db")) as link:
        link.execute("CREATE TABLE entries (id INTEGER PRIMARY KEY, change INTEGER)")
        changes = [(-1,)] * open_rows + [(0,)] * (rows - open_rows)
        link.executemany("INSERT INTO entries (change) VALUES (?)", changes)
        link.commit()
    assert f"{rows} rows instead of {COMMITTED}, {open_rows} of them" in (damage(tmp_path / "a.db") or "")


def test_a_writer_that_cannot_write_is_no_success(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match=r"before it could be killed: [\s\S]*unable to open"):
        survives(tmp_path / "missing", "balanced")


@pytest.mark.parametrize("workload", ["write", "read", "mixed"])
def test_a_workload_counts_its_operations_and_keeps_its_rows(workload: str, monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = PragmaProfile("memory", workload, rows=500, batch=200)  # type: ignore[arg-type]
    context = started(experiment, monkeypatch)
    try:
        first, second = (experiment.execute_once(context) for _ in range(2))
    finally:
        experiment.teardown(context)
    assert first["rows"] == second["rows"] == 500
    # 500 rows in transactions of 200; 100 questions in transactions of 80.
    assert first["commits"] == {"write": 3, "read": 0, "mixed": 2}[workload]
    assert first["ops_per_s"] > 0
    assert context.observed["journal_mode"] == "wal"
    assert context.observed["integrity_after_kill"] == "ok"
    assert not Path(experiment.folder.name).exists()


def test_a_row_that_changed_on_the_way_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = PragmaProfile("balanced", "read", rows=100)
    context = started(experiment, monkeypatch)
    with closing(sqlite3.connect(experiment.path)) as link:
        link.execute("UPDATE memories SET energy = -1")
        link.commit()
    with pytest.raises(AssertionError, match="holds -1"):
        experiment.execute_once(context)
    experiment.teardown(context)


def test_a_row_that_is_missing_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = PragmaProfile("balanced", "mixed", rows=100)
    context = started(experiment, monkeypatch)
    experiment.asked = [0] * 20
    with closing(sqlite3.connect(experiment.path)) as link:
        link.execute("DELETE FROM memories WHERE id = 99")
        link.commit()
    with pytest.raises(AssertionError, match="rows, energy and checksum"):
        experiment.execute_once(context)
    experiment.teardown(context)


def test_the_rows_follow_from_the_seed() -> None:
    assert make_rows(50, 1) == make_rows(50, 1) != make_rows(50, 2)
    assert [row[:3] for row in make_rows(AGENTS + 2, 1)][-2:] == [(AGENTS, 0, 1), (AGENTS + 1, 1, 1)]


@pytest.mark.parametrize("name", ["rows", "batch"])
def test_nothing_to_write_is_refused(name: str) -> None:
    with pytest.raises(SpecError) as caught:
        PragmaProfile(**{name: 0})  # type: ignore[arg-type]
    assert caught.value.where == f"params.{name}"
    assert caught.value.remedy
