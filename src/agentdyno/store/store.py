"""The store as the rest of the program sees it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType

from sqlalchemy import insert, select, update

from agentdyno.errors import StoreError
from agentdyno.model import Arm, Calibration, Phase, RunResult, RunStatus, Sample, Status, Suite, Trial
from agentdyno.model.codec import to_plain
from agentdyno.store.boards import baselines, summaries
from agentdyno.store.boards import imports as execution_imports
from agentdyno.store.boards.repository import Questions
from agentdyno.store.database import revision
from agentdyno.store.database.backend import Backend, backend_for
from agentdyno.store.database.session import DatabaseSession, Statement
from agentdyno.store.rows import BaselineRow, Execution, RunRow
from agentdyno.store.runs import queries, schema, suites, writes
from agentdyno.store.runs import samples as sample_pages
from agentdyno.store.runs.codec import SAMPLE_COLUMNS, SAMPLE_KEY, sample_row
from agentdyno.store.runs.schema import artifacts, calibrations, runs
from agentdyno.store.service.repository import Service

BUSY_TIMEOUT_S = 5.0

_REPEATED = f"samples.phase = '{Phase.WARMUP}' OR NOT samples.ended"
_REPLACEABLE = {
    False: f"samples.status = '{Status.CANCELLED}' OR {_REPEATED}",
    True: "samples.status IN "
    f"('{Status.CANCELLED}', '{Status.ERROR}', '{Status.TIMEOUT}', '{Status.LIMIT}') OR {_REPEATED}",
}


class Store(Questions, Service):
    """Runs with their samples, what agents achieved in suites, calibrations, and the jobs and keys of a service.

    Any number of processes may read and write one store; each writes for as long as it takes to commit. Within a
    process, threads may share a ``Store`` and take turns. Whatever goes wrong with the database is a
    ``StoreError``. A lost connection is one such error; the next call connects anew.
    """

    def __init__(self, session: DatabaseSession) -> None:
        """Use ``Store.open``."""
        super().__init__(session)
        self._arms: dict[tuple[str, str], int] = {}
        self._inserts: dict[bool, Statement] = {}
        self.url = session.backend.url

    @classmethod
    def open(cls, url: str | Path, *, must_exist: bool = False, busy_timeout_s: float = BUSY_TIMEOUT_S) -> Store:
        """The store at a URL or at the path of an SQLite file; created there unless it ``must_exist``.

        A write waits ``busy_timeout_s`` seconds for other writers before it fails.
        """
        backend = backend_for(url)
        if must_exist and not backend.exists():
            raise _missing(backend)
        if not must_exist:
            backend.make_room()
        session = DatabaseSession(backend, busy_timeout_s)
        try:
            with session:
                found = revision.current(session)
                if found is None:
                    if must_exist:
                        raise _missing(backend)
                    revision.create(session)
                    found = revision.current(session) or ""
                revision.require_current(found, backend.where)
        except BaseException:
            session.close()
            raise
        return cls(session)

    @classmethod
    def migrate(cls, url: str | Path, *, busy_timeout_s: float = BUSY_TIMEOUT_S) -> tuple[str | None, str]:
        """Brings the store at ``url`` up to date; the schema revisions before (``None``: empty) and after."""
        backend = backend_for(url)
        if not backend.exists():
            raise _missing(backend)
        session = DatabaseSession(backend, busy_timeout_s)
        try:
            with session:
                return revision.upgrade(session)
        finally:
            session.close()

    @classmethod
    def copy(cls, url: str | Path, path: Path, *, busy_timeout_s: float = BUSY_TIMEOUT_S) -> None:
        """``backup`` of a store of whatever revision: an older one is copied before it is migrated."""
        backend = backend_for(url)
        if not backend.exists():
            raise _missing(backend)
        session = DatabaseSession(backend, busy_timeout_s)
        try:
            with session:
                if revision.current(session) is None:
                    raise _missing(backend)
                backend.backup(path)
        finally:
            session.close()

    def begin_run(self, header: RunResult, arms: Sequence[Arm], planned: Mapping[str, int]) -> None:
        """Records a run and its arms before anything runs; ``planned`` gives each arm's samples by arm id.

        Survives a loss of power once it returns. The spec in ``header`` and its seed are what a resume plans from.
        """
        with self._session as session, session.transaction(durable=True):
            writes.begin_run(session, header, arms, planned)

    def append(self, run_id: str, sample: Sample, *, replace: bool = False, ended: bool = True) -> None:
        """Adds a sample to the group that the next ``commit`` makes permanent; its trial has ``ended`` with it.

        The sample of a trial that is recorded already is refused, unless the recorded one was cancelled, is a
        warm-up or did not end its trial, or it is an error and ``replace`` is set.
        """
        with self._session as session, session.group():
            arm = self._arms.get((run_id, sample.arm_id)) or self._arm(run_id, sample.arm_id)
            row = sample_row(arm, sample, ended)
            statement = self._inserts.get(replace)
            if statement is None:
                target = session.backend.insert_or_replace(schema.samples, SAMPLE_KEY, _REPLACEABLE[replace])
                statement = self._inserts[replace] = session.prepare(target, SAMPLE_COLUMNS)
            session.begin()
            if statement.run(row) != 1:
                raise StoreError(
                    f"trial {sample.key} of run {run_id} is recorded already", where=session.backend.where
                )

    def end_trial(self, run_id: str, trial: Trial) -> None:
        """Adds to the group that a trial has ended with the last of its samples; one without any leaves no trace."""
        with self._session as session, session.group():
            arm = self._arms.get((run_id, trial.arm_id)) or self._arm(run_id, trial.arm_id)
            session.begin()
            writes.end_trial(session, arm, trial)

    def commit(self) -> None:
        """Makes every appended sample permanent: from here on it survives the death of this process."""
        with self._session as session, session.group():
            session.commit()

    def finish_run(self, result: RunResult, *, folder: Path | None = None) -> None:
        """Closes a run: status, end, warnings, and what was concluded about each arm; survives a loss of power.

        Samples are not taken from ``result``. A run of a suite leaves one execution per arm, which later ends of the
        same run bring up to date. Artifacts replace those recorded before; where ``folder`` is the
        run's folder, the small ones are kept in the store as well.
        """
        with self._session as session, session.group(), session.transaction(durable=True):
            writes.finish_run(session, result, folder)

    def reopen_run(self, run_id: str) -> None:
        """Marks a run as running again; its samples stay. Survives a loss of power."""
        with self._session as session, session.transaction(durable=True):
            session.execute(
                update(runs).where(runs.c.id == queries.run_key(session, run_id)),
                {"status": RunStatus.RUNNING.value, "finished_at": None, "stopped_because": None},
            )

    def find_run(self, reference: str) -> str:
        """The full id for an id, a unique beginning of one, ``last`` or ``last~N``."""
        with self._session as session, session.snapshot():
            return queries.find_run(session, reference)

    def has_run(self, run_id: str) -> bool:
        """Whether the store holds a run of that full id."""
        with self._session as session:
            return queries.has_run(session, run_id)

    def load_run(self, run_id: str, *, samples: bool = True) -> RunResult:
        """A run by its full id: arms in the order of the plan, all their samples by phase, iteration and case."""
        with self._session as session, session.snapshot():
            return queries.load_run(session, run_id, samples)

    def load_artifact(self, run_id: str, path: str) -> bytes | None:
        """The content of an artifact by its path below the run's folder; ``None`` where the store has none."""
        with self._session as session, session.snapshot():
            run = queries.run_key(session, run_id)
            wanted = select(artifacts.c.content).where(artifacts.c.run == run, artifacts.c.path == path)
            return session.execute(wanted.limit(1)).scalar()

    def recorded(self, run_id: str) -> dict[str, Status]:
        """What a resume may skip: the status of every planned trial that has ended, by trial key (no warm-ups)."""
        with self._session as session, session.snapshot():
            return queries.recorded(session, run_id)

    def unfinished(self, run_id: str) -> dict[str, int]:
        """How many samples each planned trial has that was begun and has not ended, by trial key."""
        with self._session as session, session.snapshot():
            return queries.unfinished(session, run_id)

    def list_runs(self, limit: int = 20) -> list[RunRow]:
        """At most ``limit`` runs, newest first."""
        with self._session as session, session.snapshot():
            return queries.list_runs(session, limit)

    def iter_samples(self, run_id: str, *, arm_id: str | None = None, details: bool = False) -> Iterator[Sample]:
        """The samples of a run, or of one of its arms, in the order of ``load_run``, a few at a time.

        Without ``details``, those of each sample are empty. The store may be used in between, also for writing.
        """
        return sample_pages.iter_samples(self._session, run_id, arm_id, details)

    def find_samples(self, run_id: str, case_id: str) -> list[Sample]:
        """Every sample of one case, with all details."""
        with self._session as session, session.snapshot():
            return sample_pages.find_samples(session, run_id, case_id)

    def update_scores(self, run_id: str, samples: Iterable[Sample]) -> int:
        """Replaces scores, status and details of samples that are recorded, all of them or none; how many."""
        with self._session as session, session.transaction(durable=True):
            return sample_pages.update_scores(session, run_id, samples)

    def add_suite(self, suite: Suite, *, now_ms: int) -> str:
        """Makes a suite known, with its benchmarks, before executions of it are added; its digest."""
        with self._session as session, session.transaction(durable=True):
            suites.keep_suite(session, suite, now_ms)
        return suite.digest

    def add_executions(self, rows: Iterable[Execution]) -> int:
        """Adds executions that no run of this store made, all of them or none; how many.

        Made for many rows: they are taken one by one. Agents and workspaces that are new are made, a suite has to
        be known (``add_suite``).
        """
        with self._session as session:
            with session.transaction(durable=True):
                count = execution_imports.add_executions(session, rows)
            session.backend.settle(session.connection, summaries.TABLES)
        return count

    def rebuild_summaries(self) -> None:
        """Works all summaries out anew from the executions; what boards show stays the same."""
        with self._session as session:
            with session.transaction(durable=True):
                summaries.rebuild(session)
            session.backend.settle(session.connection, summaries.TABLES)

    def set_baseline(self, row: BaselineRow) -> None:
        """Makes this the baseline of an agent in a suite, in place of any before; survives a loss of power."""
        with self._session as session, session.transaction(durable=True):
            baselines.set_baseline(session, row)

    def clear_baseline(self, agent: str, suite_id: str | None = None, workspace: str = "default") -> int:
        """Forgets the baseline of an agent in a suite, or in all suites; how many there were. Survives as above."""
        with self._session as session, session.transaction(durable=True):
            return baselines.clear_baseline(session, agent, suite_id, workspace)

    def save_calibration(self, calibration: Calibration) -> None:
        with self._session as session, session.transaction(durable=True):
            session.execute(insert(calibrations), to_plain(calibration))

    def latest_calibration(self, machine_id: str) -> Calibration | None:
        """The newest calibration of a machine by the time it was measured."""
        columns = [column for column in calibrations.columns if not column.primary_key]
        newest = (calibrations.c.measured_at.desc(), calibrations.c.id.desc())
        with self._session as session:
            wanted = select(*columns).where(calibrations.c.machine_id == machine_id).order_by(*newest).limit(1)
            row = session.execute(wanted).one_or_none()
        return None if row is None else Calibration(**row._mapping)

    def backup(self, path: Path) -> None:
        """Writes a consistent copy of everything committed, while others may go on writing; never overwrites."""
        with self._session as session:
            session.commit()
            session.backend.backup(path)

    def vacuum(self) -> tuple[int, int]:
        """Gives unused space back; bytes on disk before and after."""
        with self._session as session:
            session.commit()
            return session.backend.vacuum(session.connection)

    def close(self) -> None:
        """Commits what was appended and lets go of the database."""
        try:
            self._session.close()
        finally:
            self._inserts.clear()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _arm(self, run_id: str, arm_id: str) -> int:
        run = queries.run_key(self._session, run_id)
        wanted = select(schema.arms.c.id).where(schema.arms.c.run == run, schema.arms.c.arm_id == arm_id)
        found = self._session.execute(wanted).scalar()
        if found is None:
            raise StoreError(f"run {run_id} was begun without arm {arm_id}", where=self._session.backend.where)
        self._arms[run_id, arm_id] = int(found)
        return int(found)


def _missing(backend: Backend) -> StoreError:
    return StoreError(
        "there is no store here",
        where=backend.where,
        remedy="`dyno run FILE` creates one; --store or DYNO_STORE names another.",
    )
