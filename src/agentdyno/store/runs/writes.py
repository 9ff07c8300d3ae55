"""The two ends of a run: its header and arms before anything runs, what was concluded when it closes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import ColumnElement, Table, bindparam, delete, func, insert, select, update

from agentdyno.errors import StoreError
from agentdyno.model import Arm, RunStatus, Sample, Status, Trial
from agentdyno.model.codec import to_plain
from agentdyno.store.boards.executions import record_executions
from agentdyno.store.database.session import DatabaseSession
from agentdyno.store.runs.codec import (
    SAMPLE_KEY,
    arm_row,
    digest,
    finite,
    finite_metrics,
    header_row,
    id_bytes,
    plain_or_null,
    sample_row,
)
from agentdyno.store.runs.queries import run_key
from agentdyno.store.runs.schema import WITHOUT_SAMPLE, arms, artifacts, environments, runs, samples, specs
from agentdyno.store.runs.suites import keep_suite, part_of, settings_of

if TYPE_CHECKING:
    from agentdyno.model import ArmResult, Artifact, RunResult

KEPT_ARTIFACT_BYTES = 64 * 1024
"""Artifacts up to this size are kept in the store as well."""


def begin_run(
    session: DatabaseSession, header: RunResult, planned_arms: Sequence[Arm], planned: Mapping[str, int]
) -> None:
    """Inserts the run and its arms; the caller holds the transaction."""
    run_id = id_bytes(header.run_id)
    if session.execute(select(runs.c.id).where(runs.c.run_id == run_id)).scalar() is not None:
        raise StoreError(f"run {header.run_id} is in the store already", where=session.backend.where)
    spec = _shared(session, specs, header.spec, {"name": header.spec.name})
    environment = _shared(session, environments, header.environment, {"machine_id": header.environment.machine_id})
    row = {
        **header_row(header),
        **_suite(session, header),
        "run_id": run_id,
        "kind": header.kind,
        "name": header.name,
        "seed": header.seed,
        "started_at": header.started_at,
        "spec": spec,
        "environment": environment,
    }
    run = session.execute(insert(runs).returning(runs.c.id), row).scalar_one()
    rows = [arm_row(run, i, arm, planned.get(arm.arm_id, 0)) for i, arm in enumerate(planned_arms)]
    if rows:
        session.execute(insert(arms), rows)


def add_arm(session: DatabaseSession, run_id: str, arm: Arm, planned: int) -> None:
    """One more arm of a run whose arms are not known when it begins; the caller holds the transaction."""
    run = run_key(session, run_id)
    position = session.execute(select(func.count()).where(arms.c.run == run)).scalar_one()
    session.execute(insert(arms), [arm_row(run, position, arm, planned)])


def finish_run(session: DatabaseSession, result: RunResult, folder: Path | None) -> None:
    """Updates the run and its arms and lists their artifacts anew; the caller holds the transaction."""
    run = run_key(session, result.run_id)
    keys = {
        row.arm_id: int(row.id) for row in session.execute(select(arms.c.arm_id, arms.c.id).where(arms.c.run == run))
    }
    stray = [arm.name for arm in result.arms if arm.arm_id not in keys]
    if stray:
        raise StoreError(f"run {result.run_id} was begun without {', '.join(stray)}", where=session.backend.where)
    session.execute(update(runs).where(runs.c.id == run), {**header_row(result), **_suite(session, result)})
    session.execute(delete(artifacts).where(artifacts.c.run == run))
    if result.arms:
        conclusions = [_conclusions(keys[arm.arm_id], arm) for arm in result.arms]
        session.execute(update(arms).where(arms.c.id == bindparam("key")), conclusions)
    rows = [
        {"run": run, "arm": keys[arm.arm_id], **to_plain(artifact), "content": _content(folder, artifact)}
        for arm in result.arms
        for artifact in arm.artifacts
    ]
    if rows:
        session.execute(insert(artifacts), rows)
    if result.kind == "suite":
        record_executions(session, run, result, keys)


def end_trial(session: DatabaseSession, arm: int, trial: Trial) -> None:
    """Marks the last sample of a trial as its end, or that it had none; the caller has begun the write."""
    own = _of_trial(arm, trial)
    last = session.execute(select(func.max(samples.c.part)).where(*own)).scalar()
    if last is not None:
        session.execute(update(samples).where(*own, samples.c.part == last), {"ended": True})
        return
    nothing = Sample(trial.arm_id, trial.phase, trial.iteration, Status.OK, 0, {}, trial.case_id, trial.instrument)
    row = {name: value for name, value in sample_row(arm, nothing).items() if value is not None}
    row["phase"] = f"{WITHOUT_SAMPLE}{trial.phase.value}"
    session.execute(session.backend.insert_unless_present(samples, SAMPLE_KEY), row)


def forget_trial(session: DatabaseSession, arm: int, trial: Trial | Sample) -> None:
    """Removes every sample of a trial that is to be performed anew; the caller has begun the write."""
    session.execute(delete(samples).where(*_of_trial(arm, trial)))


def _of_trial(arm: int, trial: Trial | Sample) -> tuple[ColumnElement[bool], ...]:
    return (
        samples.c.arm == arm,
        samples.c.phase == trial.phase.value,
        samples.c.iteration == trial.iteration,
        samples.c.case_id == trial.case_id,
        samples.c.instrument == trial.instrument,
    )


def reopen_run(session: DatabaseSession, run_id: str, *, now_ms: int | None = None) -> int:
    """Marks a run as running again; its samples stay. Survives a loss of power.

    From its end until ``now_ms`` it stood still; where nobody closed it, from the end of its last sample. How long it
    has stood still by now, in milliseconds.
    """
    key = run_key(session, run_id)
    paused = paused_ms(session, key, now_ms)
    session.execute(
        update(runs).where(runs.c.id == key),
        {"status": RunStatus.RUNNING.value, "finished_at": None, "stopped_because": None, "paused_ms": paused},
    )
    return paused


def note_pause(session: DatabaseSession, run_id: str, *, now_ms: int) -> int:
    """Counts the time since the last sample of a run that nobody closed, and that is not gone on with."""
    key = run_key(session, run_id)
    paused = paused_ms(session, key, now_ms)
    session.execute(update(runs).where(runs.c.id == key), {"paused_ms": paused})
    return paused


def paused_ms(session: DatabaseSession, key: int, now_ms: int | None) -> int:
    """How long a run that is reopened at ``now_ms`` has stood still; ``None``: nothing is known of this pause."""
    row = session.execute(
        select(runs.c.started_at, runs.c.finished_at, runs.c.paused_ms).where(runs.c.id == key)
    ).one()
    if now_ms is None:
        return int(row.paused_ms)
    ended = row.finished_at
    if ended is None:
        last = func.max(samples.c.started_at_ms + func.coalesce(samples.c.duration_s, 0.0) * 1000)
        found = session.execute(select(last).join(arms, arms.c.id == samples.c.arm).where(arms.c.run == key)).scalar()
        ended = max(row.started_at + row.paused_ms, round(found or 0))
    return int(row.paused_ms) + max(0, now_ms - int(ended))


def _suite(session: DatabaseSession, header: RunResult) -> dict[str, object]:
    if header.suite is None:
        return {"suite": None, "suite_settings": None}
    return {
        "suite": keep_suite(session, header.suite, header.started_at, part_of(header.form)),
        "suite_settings": plain_or_null(settings_of(header.suite), f"the suite {header.suite.name}"),
    }


def _conclusions(key: int, arm: ArmResult) -> dict[str, object]:
    return {
        "key": key,
        "planned": arm.planned,
        "observed": plain_or_null(arm.observed, f"what {arm.name} observed"),
        "metrics": plain_or_null(finite_metrics(arm.metrics), f"the metrics of {arm.name}"),
        "scores": plain_or_null(arm.scores, f"the scores of {arm.name}"),
        "statuses": plain_or_null(arm.statuses, f"the statuses of {arm.name}"),
        "case_figures": plain_or_null(arm.case_figures, f"the cases of {arm.name}"),
        "totals": plain_or_null(arm.totals, f"the totals of {arm.name}"),
        "score_errors": plain_or_null(finite(arm.score_errors), f"the errors of {arm.name}"),
        "spread": plain_or_null(arm.spread, f"the spread of {arm.name}"),
    }


def _shared(session: DatabaseSession, table: Table, value: object, columns: Mapping[str, object]) -> int:
    """The row of ``table`` that holds ``value``; equal values share one."""
    document = plain_or_null(value, f"an entry of {table.name}")
    name = digest(document)
    session.execute(
        session.backend.insert_unless_present(table, ["digest"]), {"digest": name, "document": document, **columns}
    )
    return int(session.execute(select(table.c.id).where(table.c.digest == name)).scalar_one())


def _content(folder: Path | None, artifact: Artifact) -> bytes | None:
    """A file that is gone or unreadable by now is still listed; only its copy is missing."""
    if folder is None or artifact.size_bytes > KEPT_ARTIFACT_BYTES:
        return None
    path = (folder / artifact.path).resolve()
    if not path.is_relative_to(folder.resolve()):
        return None
    try:
        with path.open("rb") as file:
            content = file.read(KEPT_ARTIFACT_BYTES + 1)
    except OSError:
        return None
    return content if len(content) <= KEPT_ARTIFACT_BYTES else None
