"""``dyno run SUITE --agent AGENT --server URL``: the run is made there, and followed here."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

import click

from agentdyno.cli.service.remote import RemoteService
from agentdyno.cli.shared import INTERRUPTED, print_json, say
from agentdyno.settings import settings_of
from agentdyno.settings.judging import TOLERANCE
from agentdyno.settings.setting import JOB

if TYPE_CHECKING:
    from agentdyno.model.job import Job

TAKEN = frozenset({"agents", "server", "key_file", "as_json", "yes"})
"""Options that mean something here beside those that a service takes; the rest would be lost on the way."""


def run_remotely(what: str | None, options: dict[str, Any]) -> int:
    """One job for each agent, all queued first. The exit code is the worst of them."""
    from agentdyno.cli.service.following import follow, job_exit_code, tell_end

    _refuse_others(options)
    agents = tuple(options.get("agents") or ())
    if not what or not agents:
        raise click.UsageError(
            "a service needs the id of a suite and an agent: dyno run SUITE --agent AGENT --server URL"
        )
    service = RemoteService.at(options["server"], options.get("key_file"))
    asked = {setting.name: options.get(setting.asked) for setting in settings_of(JOB)}
    chosen = {name: value for name, value in asked.items() if value is not None and value is not False}
    body = {"suite_id": what, "options": chosen}
    jobs = [service.submit({**body, "agent_id": agent}, str(uuid.uuid4())) for agent in agents]
    ended: list[Job] = []
    try:
        for job in jobs:
            ended.append(follow(service.follow(job.job_id)))
            tell_end(ended[-1], service.url)
    except KeyboardInterrupt:
        for job in jobs[len(ended) :]:
            say(f"It goes on there. To stop it: dyno jobs cancel {job.job_id} --server {service.url}")
        return INTERRUPTED
    if options.get("as_json"):
        print_json(ended[0] if len(ended) == 1 else ended)
    return max(job_exit_code(job) for job in ended)


def _refuse_others(options: dict[str, Any]) -> None:
    taken = TAKEN | {setting.asked for setting in settings_of(JOB)}
    for name, value in options.items():
        if name not in taken and value and not (name == TOLERANCE.asked and value == TOLERANCE.default):
            raise click.UsageError(f"--{name.replace('_', '-')} means nothing with --server")
