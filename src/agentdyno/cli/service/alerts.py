"""``dyno alerts``."""

from __future__ import annotations

import click

from agentdyno.cli.shared import (
    json_option,
    open_store,
    print_json,
    print_tables,
    say,
    store_option,
    workspace_here,
)
from agentdyno.settings.result import ROWS


@click.group(
    epilog="\b\nExamples:\n  dyno alerts test team\n  dyno alerts list\n  dyno alerts send",
)
def command() -> None:
    """Outgoing alerts: try a place of dyno.yaml, list messages, send those that wait."""


@command.command("test", epilog="\b\nExample:\n  dyno alerts test team")
@click.argument("name")
@json_option
def test(name: str, as_json: bool) -> int:
    """Send a message that says that it is a trial to the place NAME under `alerts:` of dyno.yaml, at once."""
    import os
    from pathlib import Path

    from agentdyno.errors import RunError
    from agentdyno.jobs.alerts.outbox import alert_channel, refusal, send_trial
    from agentdyno.runs.environment import capture_vcs

    workspace = workspace_here()
    channel = alert_channel(workspace, name)
    vcs = capture_vcs(Path(workspace.base_dir))
    answer = send_trial(channel, workspace.name, os.environ, "" if vcs is None else vcs.commit)
    refused = refusal(answer)
    if refused:
        raise RunError(f"{name} {refused}", where=f"{workspace.source}: alerts.{name}")
    if as_json:
        print_json({"channel": name, "status": answer.status})
    else:
        say(f"{name} took the trial (it answered {answer.status}).")
    return 0


@command.command("list", epilog="\b\nExample:\n  dyno alerts list --json")
@click.option("--limit", type=click.IntRange(1, 500), default=ROWS, show_default=True, help="Messages to show.")
@store_option
@json_option
def list_(limit: int, store: str | None, as_json: bool) -> int:
    """List the messages that were queued, newest first, and what became of them."""
    from agentdyno.show.job_tables import delivery_table

    with open_store(store, must_exist=True) as opened:
        rows = opened.service.deliveries(limit)
    if as_json:
        print_json(rows)
    else:
        print_tables(delivery_table(rows))
    return 0


@command.command("send", epilog="\b\nExample:\n  dyno alerts send")
@store_option
@json_option
def send(store: str | None, as_json: bool) -> int:
    """Send every message that waits or was given up, now. Exits with 1 when one of them does not arrive."""
    from agentdyno.cli.alerting import require_places, send_now
    from agentdyno.cli.shared import PASS, WORSE
    from agentdyno.model.job import DeliveryStatus

    workspace = workspace_here()
    require_places(workspace)
    with open_store(store, must_exist=True) as opened:
        opened.service.retry_deliveries(workspace.name, list(workspace.alerts), _now_ms())
        tried = send_now(opened, workspace)
    if as_json:
        print_json(tried)
    elif not tried:
        say("No message waits.")
    return PASS if all(item.status is DeliveryStatus.SENT for item in tried) else WORSE


def _now_ms() -> int:
    import time

    return time.time_ns() // 1_000_000
