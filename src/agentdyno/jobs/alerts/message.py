"""What one message tells: the new alerts of one version of an agent in one suite."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from agentdyno.findings.change.model import Alert
from agentdyno.findings.engine.severity import RANKS
from agentdyno.findings.history.model_regression import Severity
from agentdyno.model.workspace import AlertChannel
from agentdyno.show.wording import count, one_line

FORM = "agentdyno.alert/1"
"""The form of the JSON that is posted; it grows by fields, and another number says that one means something else."""
MOST_ALERTS = 50
"""Alerts that a message describes; it says how many more there are."""


@dataclass(frozen=True, slots=True)
class AlertMessage:
    """``alerts`` have the form of ``/api/alerts``, the worst first, at most 50; ``count`` is how many there are.

    ``event`` is ``alert``, or ``test`` for a trial. ``commit`` is that of the run, "" where it knows none. ``link``
    opens the run, "" where the dashboard's address is not known.
    """

    event: str
    workspace: str
    agent: str
    version: str
    suite_id: str
    severity: Severity
    title: str
    alerts: tuple[Alert, ...]
    count: int
    run_id: str = ""
    commit: str = ""
    link: str = ""
    form: str = FORM


def groups_of(alerts: Iterable[Alert]) -> list[tuple[Alert, ...]]:
    """Alerts of one agent, suite and version together, in the order in which they come."""
    found: dict[tuple[str, str, str], list[Alert]] = {}
    for alert in alerts:
        found.setdefault((alert.agent, alert.suite_id, alert.regression.version), []).append(alert)
    return [tuple(group) for group in found.values()]


def is_wanted(alert: Alert, channel: AlertChannel) -> bool:
    """Whether a place is to hear of it; what was taken back by a later version is no news."""
    item = alert.regression
    if item.undone_at is not None or (not item.confirmed and not channel.unconfirmed):
        return False
    return RANKS[item.severity] >= RANKS[Severity(channel.severity)]


def message_of(group: Sequence[Alert], channel: AlertChannel, workspace: str, commit: str) -> AlertMessage:
    """What to tell a place of a group that is not empty."""
    first = group[0]
    worst = max((alert.regression.severity for alert in group), key=lambda item: RANKS[item])
    version = first.regression.version
    name = f"{first.agent}@{version}" if version else first.agent
    run_id = next((alert.run_id for alert in group if alert.run_id), "")
    return AlertMessage(
        event="alert",
        workspace=workspace,
        agent=first.agent,
        version=version,
        suite_id=first.suite_id,
        severity=worst,
        title=one_line(f"{name} is worse on {first.suite_id}: {count(len(group), 'alert')}, {worst.value}", 200),
        alerts=tuple(group[:MOST_ALERTS]),
        count=len(group),
        run_id=run_id,
        commit=commit,
        link=f"{channel.dashboard.rstrip('/')}/runs/{run_id}" if channel.dashboard and run_id else "",
    )


def trial_of(channel: AlertChannel, workspace: str, commit: str) -> AlertMessage:
    """A message that says that it is a trial."""
    return AlertMessage(
        event="test",
        workspace=workspace,
        agent="",
        version="",
        suite_id="",
        severity=Severity.LOW,
        title=f"A trial of agentdyno's alerts to {channel.name}: nothing is wrong",
        alerts=(),
        count=0,
        commit=commit,
        link=channel.dashboard,
    )
