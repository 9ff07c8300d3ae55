"""Jobs, keys and outgoing messages of the service, as tables."""

from __future__ import annotations

from collections.abc import Sequence

from agentdyno.model.job import ApiKey, Delivery, DeliveryStatus, Job, JobStatus
from agentdyno.show.table import Align, Cell, Column, Table, Tone
from agentdyno.show.wording import NOTHING, one_line, took, when

ID_LENGTH = 18
"""Characters of a job id that tell jobs apart."""

_TONES = {
    JobStatus.QUEUED: Tone.PLAIN,
    JobStatus.RUNNING: Tone.PLAIN,
    JobStatus.SUCCEEDED: Tone.GOOD,
    JobStatus.FAILED: Tone.BAD,
    JobStatus.CANCELLED: Tone.MUTED,
}


def job_table(rows: Sequence[Job]) -> Table:
    """The jobs in the order given."""
    columns = (
        Column("job"),
        Column("agent", wrap=True),
        Column("suite", wrap=True),
        Column("status"),
        Column("done", Align.RIGHT, 1),
        Column("asked (UTC)", priority=2),
        Column("took", Align.RIGHT, 3),
        Column("by", priority=4, wrap=True),
        Column("run", priority=5),
        Column("what is wrong", priority=1, wrap=True, below=True),
    )
    notes = () if rows else ("No jobs yet. `dyno run SUITE --agent AGENT --server URL` asks for one.",)
    return Table("Jobs", columns, tuple(_job(row) for row in rows), notes)


def _job(row: Job) -> tuple[Cell, ...]:
    status = f"{row.status.value}, to be cancelled" if row.cancel_requested and not row.status.ended else row.status
    return (
        Cell(row.job_id[:ID_LENGTH]),
        Cell(one_line(row.agent)),
        Cell(one_line(row.suite_id)),
        Cell(str(status), _TONES[row.status]),
        Cell(done_of(row) or NOTHING),
        Cell(when(row.created_at)),
        Cell(NOTHING if row.started_at is None else took(row.started_at, row.finished_at)),
        Cell(one_line(row.created_by), Tone.MUTED),
        Cell(row.run_id[:13] or NOTHING, Tone.MUTED),
        _wrong(row),
    )


def _wrong(row: Job) -> Cell:
    if row.waits_because:
        return Cell(one_line(row.waits_because, 300), Tone.WARN)
    return Cell(one_line(row.error, 300), Tone.BAD)


def done_of(row: Job) -> str:
    """``3/10``, or nothing where nobody knows."""
    done, planned = row.progress.get("done"), row.progress.get("planned")
    return f"{done}/{planned}" if isinstance(done, int) and isinstance(planned, int) else ""


def key_table(rows: Sequence[ApiKey]) -> Table:
    columns = (
        Column("name", wrap=True),
        Column("scope"),
        Column("begins with"),
        Column("created (UTC)", priority=1),
        Column("last used (UTC)", priority=2),
        Column("revoked (UTC)"),
    )
    cells = tuple(
        (
            Cell(one_line(row.name), Tone.MUTED if row.revoked_at else Tone.PLAIN),
            Cell(row.scope.value),
            Cell(f"{row.prefix}…"),
            Cell(when(row.created_at)),
            Cell(when(row.last_used_at) if row.last_used_at else NOTHING),
            Cell(when(row.revoked_at) if row.revoked_at else NOTHING, Tone.BAD),
        )
        for row in rows
    )
    return Table("Keys", columns, cells, () if rows else ("No keys yet. `dyno keys create NAME` makes one.",))


def delivery_table(rows: Sequence[Delivery]) -> Table:
    """Messages about alerts, and what became of them."""
    columns = (
        Column("place"),
        Column("status"),
        Column("message", wrap=True),
        Column("queued (UTC)", priority=1),
        Column("tries", Align.RIGHT, 2),
        Column("what went wrong", priority=1, wrap=True),
    )
    tones = {DeliveryStatus.SENT: Tone.GOOD, DeliveryStatus.FAILED: Tone.BAD}
    cells = tuple(
        (
            Cell(row.channel),
            Cell(row.status.value, tones.get(row.status, Tone.PLAIN)),
            Cell(one_line(str(row.message.get("title", "")), 200)),
            Cell(when(row.created_at)),
            Cell(str(row.tries)),
            Cell(one_line(row.error, 300), Tone.BAD),
        )
        for row in rows
    )
    return Table("Messages about alerts", columns, cells, () if rows else ("None yet.",))
