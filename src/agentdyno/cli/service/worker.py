"""``dyno worker``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

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
    "  dyno worker --once                       what is queued now, and no more\n"
    "  dyno worker --listen 10.0.0.1:7700       load for `dyno load --clients`"
)
@click.option("--name", help="What the worker is called. [default: machine and process]")
@settings_options(WORKER)
@click.option("--once", is_flag=True, help="End when no job is left.")
@store_option
@json_option
def command(name: str | None, once: bool, store: str | None, as_json: bool, **options: Any) -> int:
    """Run the jobs that a service has queued, until Ctrl-C.

    Only jobs whose agent and suite are registered here too, with the same content, are taken. A job of a worker that
    died is gone on with after its last stored sample.
    """
    from agentdyno.jobs.processes import stop_on_signals
    from agentdyno.jobs.worker import Worker, worker_name

    if options["listen"]:
        return _listen(options["listen"], as_json)
    ended: dict[str, str] = {}

    def tell(job: Job, what: str) -> None:
        ended[job.job_id] = what
        say(f"{job.job_id}  {job.agent} on {job.suite_id}: {what}")

    worker = Worker(
        store_url(store),
        Path.cwd(),
        name=name or worker_name(),
        lease_ms=round(options["lease_s"] * 1000),
        on_job=tell,
        share=options["share_cases"],
    )
    stop = stop_on_signals()
    say(f"{worker.name} waits for jobs." + ("" if once else " Ctrl-C stops it; a run goes on elsewhere then."))
    attempts = worker.work(stop, once)
    if as_json:
        print_json({"worker": worker.name, "attempts": attempts, "jobs": ended})
    else:
        say(f"{attempts} attempt{'s' * (attempts != 1)} at {len(ended)} job{'s' * (len(ended) != 1)}.")
    return 0


def _listen(address: str, as_json: bool) -> int:
    from agentdyno.jobs.processes import stop_on_signals
    from agentdyno.runs.cluster.listening import ClientListener

    listener = ClientListener(address, say=say)
    stop = stop_on_signals()
    say(f"Load clients at {listener.address}. Ctrl-C stops it.")
    count = listener.serve(stop)
    if as_json:
        print_json({"address": listener.address, "clients": count})
    else:
        say(f"{count} client{'s' * (count != 1)} came.")
    return 0
