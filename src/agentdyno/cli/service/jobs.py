"""``dyno jobs``."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from agentdyno.cli.service.remote import RemoteService
from agentdyno.cli.shared import json_option, open_store, print_json, print_tables, say, server_option, store_option
from agentdyno.settings.result import ROWS

if TYPE_CHECKING:
    from agentdyno.model.job import Job
    from agentdyno.store import Store

STATUSES = ("queued", "running", "succeeded", "failed", "cancelled")
LOOK_S = 0.5


@click.group(
    epilog="\b\nExamples:\n"
    "  dyno jobs list\n"
    "  dyno jobs follow 0198c3a1-7f2b\n"
    "  dyno jobs cancel 0198c3a1-7f2b --server https://dyno.example.org"
)
def command() -> None:
    """What was asked of the service: list, follow, cancel. Of the store here, or of --server URL."""


@command.command("list", epilog="\b\nExample:\n  dyno jobs list --status failed --limit 5")
@click.option("--status", type=click.Choice(STATUSES), help="Only these.")
@click.option("--limit", type=click.IntRange(1, 500), default=ROWS, show_default=True, help="Jobs to show.")
@server_option
@store_option
@json_option
def list_(
    status: str | None, limit: int, server: str | None, key_file: Path | None, store: str | None, as_json: bool
) -> int:
    """List jobs, newest first."""
    from agentdyno.model.job import JobStatus
    from agentdyno.show.job_tables import job_table

    _one_place(server, store)
    if server is not None:
        rows = RemoteService.at(server, key_file).jobs(limit, status)
    else:
        with open_store(store, must_exist=True) as opened:
            rows = _explained(opened, opened.service.jobs(status=JobStatus(status) if status else None, limit=limit))
    if as_json:
        print_json(rows)
    else:
        print_tables(job_table(rows))
    return 0


@command.command("follow", epilog="\b\nExample:\n  dyno jobs follow 0198c3a1-7f2b")
@click.argument("job")
@server_option
@store_option
@json_option
def follow_(job: str, server: str | None, key_file: Path | None, store: str | None, as_json: bool) -> int:
    """Watch JOB until it has ended. Exits with 0 when it succeeded, 2 when it failed, 130 when it was cancelled."""
    from agentdyno.cli.service.following import follow, job_exit_code, tell_end

    _one_place(server, store)
    if server is not None:
        ended = follow(RemoteService.at(server, key_file).follow(job))
    else:
        with open_store(store, must_exist=True) as opened:
            ended = follow(_changes(opened, job))
    tell_end(ended, server)
    if as_json:
        print_json(ended)
    return job_exit_code(ended)


@command.command("cancel", epilog="\b\nExample:\n  dyno jobs cancel 0198c3a1-7f2b")
@click.argument("job")
@server_option
@store_option
@json_option
def cancel(job: str, server: str | None, key_file: Path | None, store: str | None, as_json: bool) -> int:
    """Cancel JOB: at once when it waits, else its worker stops it. What was measured is kept."""
    from agentdyno.model.job import AuditEntry

    _one_place(server, store)
    if server is not None:
        after = RemoteService.at(server, key_file).cancel(job)
    else:
        with open_store(store, must_exist=True) as opened:
            before, now = opened.service.job(job), _now_ms()
            after = opened.service.cancel_job(before.job_id, now)
            if after != before:
                opened.service.add_audit(AuditEntry(now, "local", "cancel", after.job_id))
    if as_json:
        print_json(after)
    elif not after.status.ended:
        say(f"{after.job_id} is stopped by its worker ({after.worker}).")
    else:
        say(f"{after.job_id} is {after.status.value}.")
    return 0


def _changes(store: Store, reference: str) -> Iterator[Job]:
    """The job at each change until it has ended."""
    before = None
    while True:
        (now,) = _explained(store, [store.service.job(reference)])
        if now != before:
            yield now
            before = now
        if now.status.ended:
            return
        time.sleep(LOOK_S)


def _explained(store: Store, rows: list[Job]) -> list[Job]:
    from agentdyno.jobs.submitting import explained

    return explained(store, rows, _now_ms())


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _one_place(server: str | None, store: str | None) -> None:
    if server is not None and store is not None:
        raise click.UsageError("jobs are in a store or at a server: give --store or --server, not both")
