"""``dyno worker``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from agentdyno.cli.options import settings_options
from agentdyno.cli.shared import json_option, print_json, say, store_option, store_url
from agentdyno.settings.setting import WORKER

if TYPE_CHECKING:
    from agentdyno.model.job import Job


@click.command(
    epilog="\b\nExamples:\n"
    "  dyno worker                              for the service of this folder\n"
    "  dyno worker --store postgresql://host/dyno --name gpu-1\n"
    "  dyno worker --share                      with others: the cases of one run, too\n"
    "  dyno worker --once                       what is queued now, and no more"
)
@click.option("--name", help="What the worker is called. [default: machine and process]")
@settings_options(WORKER)
@click.option("--once", is_flag=True, help="End when no job is left.")
@store_option
@json_option
def command(name: str | None, lease_s: float, share_cases: bool, once: bool, store: str | None, as_json: bool) -> int:
    """Run the jobs that a service has queued, until Ctrl-C.

    Only jobs whose agent and suite are registered here too, with the same content, are taken. A job of a worker that
    died is gone on with after its last stored sample.
    """
    from agentdyno.jobs.processes import stop_on_signals
    from agentdyno.jobs.worker import Worker, worker_name

    ended: dict[str, str] = {}

    def tell(job: Job, what: str) -> None:
        ended[job.job_id] = what
        say(f"{job.job_id}  {job.agent} on {job.suite_id}: {what}")

    worker = Worker(
        store_url(store),
        Path.cwd(),
        name=name or worker_name(),
        lease_ms=round(lease_s * 1000),
        on_job=tell,
        share=share_cases,
    )
    stop = stop_on_signals()
    say(f"{worker.name} waits for jobs." + ("" if once else " Ctrl-C stops it; a run goes on elsewhere then."))
    attempts = worker.work(stop, once)
    if as_json:
        print_json({"worker": worker.name, "attempts": attempts, "jobs": ended})
    else:
        say(f"{attempts} attempt{'s' * (attempts != 1)} at {len(ended)} job{'s' * (len(ended) != 1)}.")
    return 0
