from __future__ import annotations

import uuid
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from alembic import command, op
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Engine, NullPool, create_engine, inspect, make_url, text
from sqlalchemy.engine.interfaces import ReflectedIndex
from sqlalchemy.schema import CreateTable

from agentdyno.errors import StoreError
from agentdyno.model import Status
from agentdyno.model.codec import encode
from agentdyno.model.job import Scope
from agentdyno.store import Store
from agentdyno.store.location import path_url
from agentdyno.store.runs.schema import HEAD, REVISIONS, VERSION_TABLE, metadata

from ..postgres import Postgres
from .builders import ENVIRONMENT, FIRST_ID, SPEC, begin, sample
from .job_builders import NOW, job, lease
from .suite_builders import SUITE

CREATE_0001 = """
INSERT INTO environments (digest, machine_id, document) VALUES (:digest, 'm', :environment);
INSERT INTO specs (digest, name, document) VALUES (:digest, 'sorting', :spec);
INSERT INTO runs (run_id, kind, name, status, seed, started_at, spec, environment, notes, tags)
  SELECT :run_id, 'experiment', 'old', 'complete', 7, 1700000000000, s.id, e.id, 'kept', '["a"]'
  FROM specs s, environments e;
INSERT INTO arms (run, arm_id, position, name, experiment, planned, scores)
  SELECT id, 'arm-z', 0, 'sort', 'workload:Sort', 1, '{"speed": 0.5}' FROM runs;
INSERT INTO samples (arm, phase, iteration, case_id, instrument, status, started_at_ms, duration_s, inner_loops, seed,
  process, attempts, output)
  SELECT id, 'measured', 0, 'c', '', 'ok', 5, 0.25, 1, 3, 0, 1, '"out"' FROM arms;
INSERT INTO artifacts (run, arm, name, path, size_bytes, media_type)
  SELECT run, id, 'a.txt', 'artifacts/a.txt', 5, 'text/plain' FROM arms
"""

CREATE_0002 = """
INSERT INTO suites (uid, suite_id, name, version, digest, category, document, created_at)
  VALUES (:uid, 'daily-work', 'Daily work', '1', 'd1', 'accuracy', :suite, 1700000000000);
INSERT INTO benchmarks (uid, suite, position, benchmark_id, name, category, test_type, complexity, cases)
  SELECT :uid, id, 0, 'sums', 'Sums', 'accuracy', 'single', 'simple', 2 FROM suites;
INSERT INTO agents (uid, name, version, digest, uses, created_at) VALUES (:uid, 'quick', '1', '', '', 1700000000000);
INSERT INTO workspaces (uid, name) VALUES (:uid, 'default');
UPDATE runs SET kind = 'suite', suite = (SELECT id FROM suites);
INSERT INTO executions (uid, run, arm, agent, benchmark, workspace, environment, started_at, finished_at, created_at,
  status, accuracy, samples, passed, scored, simulated)
  SELECT :uid, arms.run, arms.id, agents.id, benchmarks.id, workspaces.id, environments.id, 1700000000000,
    1700000001000, 1700000002000, 'success', 0.5, 4, 2, 2, 0 FROM arms, agents, benchmarks, workspaces, environments;
INSERT INTO latest (agent, benchmark, category, attempt, attempt_at, attempt_status, success, success_at, success_uid,
  accuracy, scored) SELECT agent, benchmark, 'accuracy', id, created_at, status, id, created_at, uid, accuracy, scored
  FROM executions;
INSERT INTO agg_day SELECT 'accuracy', agent, 19675, workspace, 1, 1, 500000000000, 0, 0, 0, 0, 0, 0,
  1, 0, 0, 0, 0, 0, 0, 2, 4, 2, 0, 0 FROM executions;
INSERT INTO counters (name, value) VALUES ('generation', 1)
"""

CREATE_0003 = """
INSERT INTO baselines (workspace, agent, suite_id, version, run_id, set_at, note)
  VALUES ('default', 'quick', 'daily-work', '1', 'r', 1700000000000, 'kept');
UPDATE executions SET accuracy_error = 0.25;
UPDATE runs SET origin = '{"format": "inspect"}'
"""
VALUES: dict[str, object] = {
    "digest": bytes(32),
    "uid": bytes(range(16)),
    "run_id": uuid.UUID(FIRST_ID).bytes,
    "environment": encode(ENVIRONMENT),
    "spec": encode(SPEC),
    "suite": encode(SUITE),
}


def fill(engine: Engine, statements: str) -> None:
    with engine.begin() as connection:
        for statement in statements.split(";"):
            connection.execute(text(statement), {k: v for k, v in VALUES.items() if f":{k}" in statement})


def engine_of(url: str) -> Engine:
    return create_engine(make_url(url), poolclass=NullPool)


def migrated(url: str) -> str:
    if url.startswith("sqlite"):
        Path(url.removeprefix("sqlite:///")).touch()
    assert Store.migrate(url) == (None, HEAD)
    return url


def described(url: str) -> dict[str, Any]:
    """Everything that the database reports about tables and views, in a form that can be compared."""
    engine = engine_of(url)
    inspector = inspect(engine)
    tables: dict[str, Any] = {
        table: (
            [{**column, "type": str(column["type"])} for column in inspector.get_columns(table)],
            inspector.get_pk_constraint(table),
            sorted(map(str, map(printable, inspector.get_indexes(table)))),
            sorted(inspector.get_unique_constraints(table), key=str),
            sorted(inspector.get_foreign_keys(table), key=str),
        )
        for table in sorted(inspector.get_table_names())
    }
    views = {view: inspector.get_view_definition(view) for view in inspector.get_view_names()}
    if engine.dialect.name == "postgresql":
        with engine.connect() as connection:
            wanted = (
                "SELECT table_name, column_name, collation_name FROM information_schema.columns"
                " WHERE table_schema = 'public' ORDER BY 1, 2"
            )
            tables["collations"] = connection.execute(text(wanted)).all()
    return {**tables, **views}


def printable(index: ReflectedIndex) -> dict[str, object]:
    options = {name: str(value) for name, value in index.get("dialect_options", {}).items()}
    return {**index, "dialect_options": options}


def at_revision(url: str, revision: str) -> Engine:
    """A database at an old revision."""
    engine = engine_of(url)
    config = Config()
    config.set_main_option("script_location", "agentdyno.store:migrations")
    config.set_main_option("path_separator", "os")
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
    return engine


def test_the_known_revisions_are_the_shipped_migrations_in_order() -> None:
    config = Config()
    config.set_main_option("script_location", "agentdyno.store:migrations")
    config.set_main_option("path_separator", "os")
    scripts = ScriptDirectory.from_config(config)
    assert tuple(reversed([script.revision for script in scripts.walk_revisions()])) == REVISIONS
    assert scripts.get_current_head() == HEAD


def test_migrating_an_empty_database_gives_what_creating_a_store_gives(
    tmp_path: Path, request: pytest.FixtureRequest, store_url: str
) -> None:
    Store.open(store_url).close()
    if store_url.startswith("sqlite"):
        assert described(migrated(path_url(tmp_path / "migrated.db"))) == described(store_url)
        return
    server: Postgres = request.getfixturevalue("postgres")
    assert described(migrated(server.url(server.create_database()))) == described(store_url)


def test_the_migrations_and_the_schema_in_code_do_not_drift_apart(store_url: str) -> None:
    with engine_of(migrated(store_url)).connect() as connection:
        options = {"compare_type": True, "compare_server_default": True, "version_table": VERSION_TABLE}
        context = MigrationContext.configure(connection, opts=options)
        assert compare_metadata(context, metadata) == []


def test_a_migrated_store_works(store_url: str) -> None:
    with Store.open(migrated(store_url), must_exist=True) as store:
        run = begin(store)
        store.runs.append(run, sample(0))
        assert store.runs.load(run).arms[0].samples == (sample(0),)
        if store_url.startswith("sqlite"):
            with store.session as session:
                assert session.connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"


def test_a_store_of_the_first_revision_keeps_everything_when_it_is_migrated(store_url: str) -> None:
    engine = at_revision(store_url, "0001")
    fill(engine, CREATE_0001)
    with pytest.raises(StoreError, match="has schema revision 0001"):
        Store.open(store_url)
    assert Store.migrate(store_url) == ("0001", HEAD)
    with Store.open(store_url, must_exist=True) as store:
        run = store.runs.load(FIRST_ID)
        assert (run.name, run.notes, run.tags, run.spec) == ("old", "kept", ("a",), SPEC)
        assert (run.workspace, run.suite, run.pricing, run.targets) == ("default", None, {}, {})
        assert run.arms[0].scores == {"speed": 0.5}
        assert run.arms[0].samples[0].output == "out"
        assert run.arms[0].artifacts[0].path == "artifacts/a.txt"
        store.runs.append(FIRST_ID, sample(1))
        assert len(store.runs.recorded(FIRST_ID)) == 2


def test_a_store_of_the_second_revision_keeps_its_executions_and_knows_no_errors(store_url: str) -> None:
    engine = at_revision(store_url, "0002")
    fill(engine, CREATE_0001)
    fill(engine, CREATE_0002)
    with pytest.raises(StoreError, match="has schema revision 0002"):
        Store.open(store_url)
    assert Store.migrate(store_url) == ("0002", HEAD)
    with Store.open(store_url, must_exist=True) as store:
        run = store.runs.load(FIRST_ID)
        assert (run.name, run.origin, run.arms[0].score_errors, run.suite) == ("old", {}, {}, SUITE)
        (row,) = store.boards.executions()
        assert (row.run_id, row.accuracy, row.accuracy_error, row.reliability_error) == (FIRST_ID, 0.5, None, None)
        (cell,) = store.boards.matrix_rows(suite="daily-work")
        assert (cell.accuracy, cell.accuracy_error, cell.cost_error) == (0.5, None, None)
        (entry,) = store.boards.leaderboard_rows(days=1, now_ms=1700000002000)
        assert (entry.accuracy, entry.benchmarks, entry.errors) == (0.5, 1, (None,) * 5)
        assert [point.run_id for point in store.boards.series("quick")] == [FIRST_ID]
        assert store.boards.baselines() == []
        store.boards.rebuild_summaries()
        assert store.boards.matrix_rows() == [cell]


def test_a_store_of_the_third_revision_keeps_everything_and_takes_jobs_and_keys(store_url: str) -> None:
    engine = at_revision(store_url, "0003")
    for statements in (CREATE_0001, CREATE_0002, CREATE_0003):
        fill(engine, statements)
    with pytest.raises(StoreError, match="has schema revision 0003"):
        Store.open(store_url)
    assert Store.migrate(store_url) == ("0003", HEAD)
    with Store.open(store_url, must_exist=True) as store:
        run = store.runs.load(FIRST_ID)
        assert (run.name, run.origin, run.suite) == ("old", {"format": "inspect"}, SUITE)
        assert run.arms[0].samples[0].output == "out"
        (row,) = store.boards.executions()
        assert (row.accuracy, row.accuracy_error) == (0.5, 0.25)
        (kept,) = store.boards.baselines()
        assert (kept.agent, kept.version, kept.note) == ("quick", "1", "kept")
        assert (
            store.service.jobs(),
            store.service.keys(),
            store.service.audit(),
            store.service.acknowledgements(),
        ) == ([], [], [], {})
        assert store.service.has_keys() is False
        store.service.add_job(job())
        assert lease(store).attempt == 1
        _, secret = store.service.add_key("ci", Scope.RUN, NOW)
        assert store.service.find_key(secret, NOW) is not None
        store.ping()


def test_samples_of_the_fifth_revision_were_whole_trials_and_read_the_same(store_url: str) -> None:
    engine = at_revision(store_url, "0005")
    for statements in (CREATE_0001, CREATE_0002, CREATE_0003):
        fill(engine, statements)
    with pytest.raises(StoreError, match="has schema revision 0005"):
        Store.open(store_url)
    assert Store.migrate(store_url) == ("0005", HEAD)
    with Store.open(store_url, must_exist=True) as store:
        (kept,) = store.runs.load(FIRST_ID).arms[0].samples
        assert (kept.output, kept.readings, kept.seed, kept.part) == ("out", {"duration_s": 0.25}, 3, 0)
        assert store.runs.recorded(FIRST_ID) == {kept.key: Status.OK}
        assert store.runs.unfinished(FIRST_ID) == {}
        assert list(store.runs.iter_samples(FIRST_ID, details=True)) == [kept]
        with pytest.raises(StoreError, match="is recorded already"):
            store.runs.append(FIRST_ID, kept)
        store.runs.append(FIRST_ID, replace(kept, part=1))
        assert [item.part for item in store.runs.iter_samples(FIRST_ID)] == [0, 1]


def test_of_runs_of_the_sixth_revision_only_it_is_known_whether_they_were_cut_short(store_url: str) -> None:
    engine = at_revision(store_url, "0006")
    for statements in (CREATE_0001, CREATE_0002, CREATE_0003):
        fill(engine, statements)
    fill(engine, "UPDATE runs SET status = 'partial', stopped_because = 'interrupted'")
    assert Store.migrate(store_url) == ("0006", HEAD)
    with Store.open(store_url, must_exist=True) as store:
        assert store.runs.load(FIRST_ID).form is None
        assert [row.form for row in store.boards.executions()] == ["cancelled"]
        assert store.boards.matrix_rows() == []
        assert [row.accuracy for row in store.boards.matrix_rows(partial=True)] == [0.5]
        assert store.boards.targets("daily-work") == []


def test_a_store_of_the_seventh_revision_keeps_its_rows_and_gets_two_indexes(store_url: str) -> None:
    engine = at_revision(store_url, "0006")
    for statements in (CREATE_0001, CREATE_0002, CREATE_0003):
        fill(engine, statements)
    at_revision(store_url, "0007")
    with pytest.raises(StoreError, match="has schema revision 0007"):
        Store.open(store_url)
    assert Store.migrate(store_url) == ("0007", HEAD)
    indexes = {item["name"]: item["column_names"] for item in inspect(engine_of(store_url)).get_indexes("executions")}
    assert indexes["ix_executions_benchmark_created_at"] == ["benchmark", "created_at"]
    assert indexes["ix_executions_accuracy_speed"] == ["accuracy", "speed"]
    with Store.open(store_url, must_exist=True) as store:
        assert [(row.run_id, row.accuracy) for row in store.boards.executions()] == [(FIRST_ID, 0.5)]


def test_agents_of_the_eleventh_revision_are_called_as_before(store_url: str) -> None:
    engine = at_revision(store_url, "0003")
    for statements in (CREATE_0001, CREATE_0002, CREATE_0003):
        fill(engine, statements)
    at_revision(store_url, "0011")
    assert Store.migrate(store_url) == ("0011", HEAD)
    with Store.open(store_url, must_exist=True) as store:
        (row,) = store.boards.agents()
        assert (row.name, row.called, row.identity) == ("quick", "quick", "name:quick")
        assert [point.run_id for point in store.boards.series("quick")] == [FIRST_ID]
        assert [kept.agent for kept in store.boards.baselines()] == ["quick"]
        assert store.runs.load(FIRST_ID).paused_ms == 0


def test_a_store_that_is_taken_back_to_the_fifth_revision_keeps_one_sample_of_each_trial(store_url: str) -> None:
    with Store.open(migrated(store_url)) as store:
        run = begin(store)
        for part in range(3):
            store.runs.append(run, replace(sample(0), part=part), ended=part == 2)
    config = Config()
    config.set_main_option("script_location", "agentdyno.store:migrations")
    config.set_main_option("path_separator", "os")
    with engine_of(store_url).begin() as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, "0005")
    assert Store.migrate(store_url) == ("0005", HEAD)
    with Store.open(store_url) as store:
        assert store.runs.load(run).arms[0].samples == (sample(0),)


def test_a_migrated_store_can_be_taken_back_to_the_first_revision(store_url: str) -> None:
    engine = at_revision(store_url, "0001")
    before = described(store_url)
    assert Store.migrate(store_url) == ("0001", HEAD)
    config = Config()
    config.set_main_option("script_location", "agentdyno.store:migrations")
    config.set_main_option("path_separator", "os")
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, "0001")
    assert described(store_url) == before


def test_migrating_a_store_that_is_up_to_date_changes_nothing(store_url: str) -> None:
    with Store.open(store_url) as store:
        run = begin(store)
    assert Store.migrate(store_url) == (HEAD, HEAD)
    with Store.open(store_url) as store:
        assert store.runs.load(run).name == "sorting"


def test_a_migration_that_fails_half_way_leaves_the_database_as_it_was(
    store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("half way")

    engine = at_revision(store_url, "0001")
    before = described(store_url)
    monkeypatch.setattr(op, "create_index", fail)
    with pytest.raises(RuntimeError, match="half way"):
        Store.migrate(store_url)
    assert described(store_url) == before
    engine.dispose()


def test_there_must_be_something_to_migrate(path: Path) -> None:
    with pytest.raises(StoreError, match="there is no store here"):
        Store.migrate(path)
    assert not path.exists()


def test_every_table_can_be_written_in_the_sql_of_postgresql() -> None:
    dialect = make_url("postgresql://").get_dialect()()
    written = {table.name: str(CreateTable(table).compile(dialect=dialect)) for table in metadata.sorted_tables}
    assert "run_id BYTEA" in written["runs"]
    assert "readings JSON" in written["samples"]
    assert 'case_id TEXT COLLATE "C"' in written["samples"]
    assert "id BIGSERIAL" in written["samples"]


def test_a_store_can_be_copied_before_it_is_migrated(tmp_path: Path, path: Path) -> None:
    at_revision(path_url(path), "0003")
    copy = tmp_path / "copy.db"
    Store.copy(path, copy)
    assert Store.migrate(path) == ("0003", HEAD)
    assert Store.migrate(copy) == ("0003", HEAD)
    with pytest.raises(StoreError, match="would overwrite this file"):
        Store.copy(path, copy)
    with pytest.raises(StoreError, match="there is no store here"):
        Store.copy(tmp_path / "none.db", tmp_path / "other.db")
    assert not (tmp_path / "other.db").exists()
