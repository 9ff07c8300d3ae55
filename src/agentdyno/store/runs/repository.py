"""The runs of a store, from the first plan to the last sample; and how fast the machines were they ran on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import insert, select

from agentdyno.errors import StoreError
from agentdyno.model import Arm, Calibration, Phase, RunStatus, Sample, Status, Trial
from agentdyno.model.codec import to_plain
from agentdyno.store.boards.executions import runs_before
from agentdyno.store.boards.naming import labels_with
from agentdyno.store.boards.targets import first_targets, known_targets
from agentdyno.store.database.repository import Repository, directly, durably, in_snapshot
from agentdyno.store.database.session import DatabaseSession
from agentdyno.store.runs import queries, writes
from agentdyno.store.runs import samples as sample_rows
from agentdyno.store.runs.codec import SAMPLE_COLUMNS, SAMPLE_KEY, sample_row
from agentdyno.store.runs.schema import arms, calibrations, samples

if TYPE_CHECKING:
    from agentdyno.model import RunResult
    from agentdyno.store.rows import RepeatRow, RunRow
    from agentdyno.store.runs.pages import After, AfterSample, SampleFilter, SampleMoment

_REPEATED = f"samples.phase = '{Phase.WARMUP}' OR NOT samples.ended"
_REPLACEABLE = {
    False: f"samples.status = '{Status.CANCELLED}' OR {_REPEATED}",
    True: "samples.status IN "
    f"('{Status.CANCELLED}', '{Status.ERROR}', '{Status.TIMEOUT}', '{Status.LIMIT}') OR {_REPEATED}",
}
_INSERT_SAMPLE = {False: "insert a sample", True: "insert a sample in place of an error"}


def keep_calibration(session: DatabaseSession, calibration: Calibration) -> None:
    """Adds a measurement of a machine."""
    session.execute(insert(calibrations), to_plain(calibration))


def last_calibration(session: DatabaseSession, machine_id: str) -> Calibration | None:
    """The newest calibration of a machine by the time it was measured."""
    columns = [column for column in calibrations.columns if not column.primary_key]
    newest = (calibrations.c.measured_at.desc(), calibrations.c.id.desc())
    wanted = select(*columns).where(calibrations.c.machine_id == machine_id).order_by(*newest).limit(1)
    row = session.execute(wanted).one_or_none()
    return None if row is None else Calibration(**row._mapping)


class RunRepository(Repository):
    """Runs are begun, grow by samples, and are finished; a run that was interrupted is reopened."""

    def __init__(self, session: DatabaseSession, on_run: Callable[[str], None] = lambda _: None) -> None:
        """``on_run`` is told the id of a run before the run is begun."""
        super().__init__(session)
        self._on_run = on_run
        self._arms: dict[tuple[str, str], int] = {}

    find = in_snapshot(queries.find_run)
    has = directly(queries.has_run)
    load = in_snapshot(queries.load_run)
    load_artifact = in_snapshot(queries.load_artifact)
    recorded = in_snapshot(queries.recorded)
    unfinished = in_snapshot(queries.unfinished)
    whole_before = in_snapshot(runs_before)
    targets = in_snapshot(known_targets)
    first_targets = in_snapshot(first_targets)
    labels_with = directly(labels_with)
    find_samples = in_snapshot(sample_rows.find_samples)
    add_arm = durably(writes.add_arm)
    reopen = durably(writes.reopen_run)
    note_pause = durably(writes.note_pause)
    update_scores = durably(sample_rows.update_scores)
    save_calibration = durably(keep_calibration)
    latest_calibration = directly(last_calibration)

    # What lists runs and turns pages is loaded when somebody asks: who measures does without it.

    def newest(self, limit: int = 20) -> list[RunRow]:
        """At most ``limit`` runs, newest first."""
        from agentdyno.store.runs.listing import newest_runs

        return in_snapshot(newest_runs)(self, limit)

    def newest_status(self) -> tuple[str, RunStatus] | None:
        """The id and the status of the newest run, and nothing else of it."""
        from agentdyno.store.runs.listing import newest_status

        return directly(newest_status)(self)

    def page(
        self,
        kind: str | None = None,
        name: str | None = None,
        after: After | None = None,
        *,
        statuses: Sequence[RunStatus] = (),
        text: str = "",
        limit: int,
    ) -> list[RunRow]:
        """Runs, newest first, from the one behind ``after`` on; of every status where none is named.

        ``text`` is part of their name, or of an agent, a suite, a tag or the commit, in small or capital letters.
        """
        from agentdyno.store.runs.pages import run_page

        return in_snapshot(run_page)(self, kind, name, after, statuses=statuses, text=text, limit=limit)

    def sample_page(
        self, run_id: str, wanted: SampleFilter, after: AfterSample | None = None, *, limit: int
    ) -> list[Sample]:
        """Samples of a run from the one behind ``after`` on: arms in the order of the plan, then by phase, trial."""
        from agentdyno.store.runs.pages import sample_page

        return in_snapshot(sample_page)(self, run_id, wanted, after, limit=limit)

    def neighbours(self, run_id: str) -> tuple[str | None, str | None]:
        """The ids of the runs before and after one, among those of its kind and name."""
        from agentdyno.store.runs.pages import run_neighbours

        return in_snapshot(run_neighbours)(self, run_id)

    def moments(self, run_id: str, *, limit: int) -> list[SampleMoment]:
        """The newest measured executions of a run, in the order in which they began."""
        from agentdyno.store.runs.pages import sample_moments

        return in_snapshot(sample_moments)(self, run_id, limit=limit)

    def named_like(self, text: str, *, limit: int) -> list[RunRow]:
        """The newest runs whose name holds ``text``, or whose id begins with it."""
        from agentdyno.store.runs.pages import runs_named_like

        return in_snapshot(runs_named_like)(self, text, limit=limit)

    def tagged_like(self, text: str, *, limit: int) -> list[RunRow]:
        """The newest runs that have a tag which holds ``text``, in small or capital letters."""
        from agentdyno.store.runs.pages import runs_tagged_like

        return in_snapshot(runs_tagged_like)(self, text, limit=limit)

    def hosts(self, run_ids: Sequence[str]) -> dict[str, str]:
        """The host of each run, "" where it was not recorded; runs that the store does not hold are left out."""
        from agentdyno.store.runs.repeats import hosts_of  # only what compares runs asks

        return in_snapshot(hosts_of)(self, run_ids)

    def finished(self) -> tuple[int, int]:
        """How many runs are finished, and when the last one was: what rests on runs alone is the same until then."""
        from agentdyno.store.runs.repeats import finished_runs

        return directly(finished_runs)(self)

    def repeated(self, host_id: str, *, limit: int = 600) -> list[RepeatRow]:
        """Arms of runs that were made on this host to their planned end, newest first; none of an unknown host."""
        from agentdyno.store.runs.repeats import repeated_arms

        return in_snapshot(repeated_arms)(self, host_id, limit=limit)

    def begin(self, header: RunResult, arms: Sequence[Arm], planned: Mapping[str, int]) -> None:
        """Records a run and its arms before anything runs; ``planned`` gives each arm's samples by arm id.

        Survives a loss of power once it returns. The spec in ``header`` and its seed are what a resume plans from.
        """
        self._on_run(header.run_id)
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
            statement = session.statements.get(_INSERT_SAMPLE[replace])
            if statement is None:
                target = session.backend.insert_or_replace(samples, SAMPLE_KEY, _REPLACEABLE[replace])
                statement = session.prepare(_INSERT_SAMPLE[replace], target, SAMPLE_COLUMNS)
            session.begin()
            if statement.run(row) != 1:
                message = f"trial {sample.key} of run {run_id} is recorded already"
                raise StoreError(message, where=session.backend.where)

    def end_trial(self, run_id: str, trial: Trial) -> None:
        """Adds to the group that a trial has ended, with the last of its samples or without any."""
        with self._session as session, session.group():
            arm = self._arms.get((run_id, trial.arm_id)) or self._arm(run_id, trial.arm_id)
            session.begin()
            writes.end_trial(session, arm, trial)

    def forget_trial(self, run_id: str, trial: Trial | Sample) -> None:
        """Adds to the group that all samples of a trial go: it is performed anew, and may have fewer of them now.

        A sample stands for the trial that it is of.
        """
        with self._session as session, session.group():
            arm = self._arms.get((run_id, trial.arm_id)) or self._arm(run_id, trial.arm_id)
            session.begin()
            writes.forget_trial(session, arm, trial)

    def commit(self) -> None:
        """Makes every appended sample permanent: from here on it survives the death of this process."""
        with self._session as session, session.group():
            session.commit()

    def finish(self, result: RunResult, *, folder: Path | None = None) -> None:
        """Closes a run: status, end, warnings, and what was concluded about each arm; survives a loss of power.

        Samples are not taken from ``result``. A run of a suite leaves one execution per arm, which later ends of the
        same run bring up to date. Artifacts replace those recorded before; where ``folder`` is the
        run's folder, the small ones are kept in the store as well.
        """
        with self._session as session, session.group(), session.transaction(durable=True):
            writes.finish_run(session, result, folder)

    def iter_samples(
        self,
        run_id: str,
        *,
        arm_id: str | None = None,
        details: bool = False,
        measured: bool = False,
        answers: bool = True,
    ) -> Iterator[Sample]:
        """The samples of a run, or of one of its arms, in the order of ``load``, a few at a time.

        Without ``details``, those of each sample are empty, and with details but without ``answers`` its output and
        usage; with ``measured`` warm-ups are not read. The store may be used in between, also for writing.
        """
        phases = (Phase.MEASURED,) if measured else tuple(Phase)
        page = sample_rows.page_of(details, answers)
        return sample_rows.iter_samples(self._session, run_id, arm_id, page, phases)

    def _arm(self, run_id: str, arm_id: str) -> int:
        run = queries.run_key(self._session, run_id)
        wanted = select(arms.c.id).where(arms.c.run == run, arms.c.arm_id == arm_id)
        found = self._session.execute(wanted).scalar()
        if found is None:
            raise StoreError(f"run {run_id} was begun without arm {arm_id}", where=self._session.backend.where)
        self._arms[run_id, arm_id] = int(found)
        return int(found)
