"""``--alert``: new alerts are sent after a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from agentdyno.cli.shared import say

if TYPE_CHECKING:
    from agentdyno.model import RunResult, Workspace
    from agentdyno.model.job import Delivery
    from agentdyno.store import Store

MOST = 100
"""Messages that one command sends."""


def require_places(workspace: Workspace) -> None:
    """An error before anything is measured, where alerts are asked for and can go nowhere."""
    from agentdyno.errors import SpecError

    if not workspace.alerts:
        raise SpecError(
            "there is no place to send alerts to",
            where=f"{workspace.source or 'dyno.yaml'}: alerts",
            remedy="Add one, as in `alerts: {team: {url_env: SLACK_WEBHOOK_URL, body: slack}}`.",
        )


def tell_alerts(store: Store, workspace: Workspace, results: Sequence[RunResult]) -> None:
    """Queues and sends what is new, and says so. That a place does not take it is no failure of the run."""
    from agentdyno.jobs.alerts.outbox import note_alerts

    finished = [result for result in results if result.stopped_because != "interrupted"]
    if not note_alerts(store, workspace, finished):
        say("Alerts: nothing new.")
    send_now(store, workspace)


def send_now(store: Store, workspace: Workspace) -> list[Delivery]:
    """Sends the messages that are due, each once, and says what came of them."""
    import os

    from agentdyno.jobs.alerts.outbox import send_due
    from agentdyno.model.job import DeliveryStatus

    sent = send_due(store, workspace, os.environ, MOST)
    for item in sent:
        what = str(item.message.get("title", ""))
        if item.status is DeliveryStatus.SENT:
            say(f"Alert to {item.channel}: {what}")
        else:
            later = "it is given up" if item.status is DeliveryStatus.FAILED else "it waits for `dyno alerts send`"
            say(f"Alert to {item.channel} did not arrive, {later}: {item.error}")
    return sent
