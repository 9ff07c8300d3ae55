"""Alerts on their way out: noticed once, queued in the store, and sent at least once to each place."""

from __future__ import annotations

import logging
import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from agentdyno.errors import DynoError, LeaseLost, SpecError, StoreError, nearest
from agentdyno.findings.change.ask import Changing
from agentdyno.findings.change.model import Alert
from agentdyno.jobs.alerts.bodies import body_of, headers_of
from agentdyno.jobs.alerts.message import AlertMessage, groups_of, is_wanted, message_of, trial_of
from agentdyno.jobs.alerts.posting import PostAnswer, PostLimits, post
from agentdyno.jobs.alerts.signing import signed_headers
from agentdyno.model import RunResult, Workspace
from agentdyno.model.codec import from_plain, to_plain
from agentdyno.model.identity import new_run_id
from agentdyno.model.job import Delivery
from agentdyno.model.workspace import AlertChannel
from agentdyno.store import Store
from agentdyno.version import __version__

log = logging.getLogger("agentdyno.alerts")

FIRST_PAUSE_S = 10.0
LONGEST_PAUSE_S = 3600.0
LEASE_SPARE_MS = 30_000
"""How much longer than a try may take a message stays with who sends it."""
_RETRIED = (408, 425, 429)
"""Refusals that say "later"; any other one below 500 would be the same the next time."""
_RACES = 3


def alert_channel(workspace: Workspace, name: str) -> AlertChannel:
    """A place by its name; ``SpecError`` with the nearest one."""
    if name in workspace.alerts:
        return workspace.alerts[name]
    where = workspace.source or "dyno.yaml"
    if not workspace.alerts:
        raise SpecError("there is no place to send alerts to", where=where, remedy="Add one under `alerts:`.")
    raise SpecError(f"no place {name!r} under alerts", where=where, remedy=nearest(name, workspace.alerts))


def note_alerts(store: Store, workspace: Workspace, results: Collection[RunResult]) -> int:
    """Queues a message to each place about what these runs' agents have become worse in, and that no message has told
    it of; how many. Calling it again queues nothing, so whoever may have been interrupted calls it again."""
    suites = [result.suite for result in results if result.suite is not None]
    if not workspace.alerts or not suites:
        return 0
    # Alerts know an agent by its label, which is not its name where others are called so.
    called = {row.identity: row.name for row in store.boards.agents() if row.identity}
    concerned = {(called.get(use.identity, use.name), suite.suite_id) for suite in suites for use in suite.agents}
    found = Changing(store, workspace=workspace.name, policy=workspace.gate).alerts()
    mine = [alert for alert in found if (alert.agent, alert.suite_id) in concerned]
    queued = 0
    for channel in workspace.alerts.values():
        wanted = [alert for alert in mine if is_wanted(alert, channel)]
        queued += sum(_queue(store, workspace, channel, group) for group in groups_of(wanted))
    return queued


def _queue(store: Store, workspace: Workspace, channel: AlertChannel, group: tuple[Alert, ...]) -> bool:
    for _ in range(_RACES):  # another who notices the same alerts leaves fewer of them to tell
        told = store.service.told_of(workspace.name, channel.name, [alert.alert_id for alert in group])
        group = tuple(alert for alert in group if alert.alert_id not in told)
        if not group:
            return False
        message = message_of(group, channel, workspace.name, _commit(store, group))
        now = _now_ms()
        ids = tuple(alert.alert_id for alert in group)
        delivery = Delivery(new_run_id(), workspace.name, channel.name, now, now, to_plain(message), ids)
        if store.service.add_delivery(delivery):
            return True
    return False


def _commit(store: Store, group: tuple[Alert, ...]) -> str:
    run_id = next((alert.run_id for alert in group if alert.run_id), "")
    if not run_id or not store.runs.has(run_id):
        return ""
    vcs = store.runs.load(run_id, samples=False).vcs
    return "" if vcs is None else vcs.commit


def send_due(store: Store, workspace: Workspace, environ: Mapping[str, str], most: int = 1) -> list[Delivery]:
    """Tries up to ``most`` messages that are due, each once; what came of them. What is not taken by its receiver
    stays queued with a longer pause each time, or is given up. Raises ``StoreError`` only."""
    ended: list[Delivery] = []
    while workspace.alerts and len(ended) < most:
        longest = max(channel.timeout_s for channel in workspace.alerts.values())
        lease_ms = round(longest * 1000) + LEASE_SPARE_MS
        held = store.service.take_delivery(
            workspace.name, list(workspace.alerts), now_ms=_now_ms(), lease_ms=lease_ms
        )
        if held is None:
            break
        tried = _tried(held, workspace.alerts[held.channel], environ)
        try:
            after = store.service.end_delivery(held, now_ms=_now_ms(), error=tried.error, again_at=tried.again_at)
        except LeaseLost as error:
            log.info("%s", error.message)
            continue
        ended.append(after)
    return ended


@dataclass(frozen=True, slots=True)
class _Tried:
    error: str = ""
    again_at: int | None = None


def _tried(held: Delivery, channel: AlertChannel, environ: Mapping[str, str]) -> _Tried:
    pause_s = min(FIRST_PAUSE_S * 2 ** (held.tries - 1), LONGEST_PAUSE_S)
    final = held.tries >= channel.max_tries
    try:
        answer = _post(from_plain(AlertMessage, held.message), channel, held.delivery_id, environ)
    except StoreError:
        raise
    except DynoError as error:
        # What the configuration forbids stays forbidden; a variable may be set when the next worker starts.
        final = final or (isinstance(error, SpecError) and not isinstance(error, _NotSet))
        return _Tried(_line(error), None if final else _now_ms() + round(pause_s * 1000))
    refused = refusal(answer)
    if not refused:
        return _Tried()
    pause_s = min(max(pause_s, answer.retry_after_s or 0.0), LONGEST_PAUSE_S)
    final = final or (answer.status < 500 and answer.status not in _RETRIED)
    return _Tried(refused, None if final else _now_ms() + round(pause_s * 1000))


def send_trial(channel: AlertChannel, workspace: str, environ: Mapping[str, str], commit: str) -> PostAnswer:
    """Posts a message that says that it is a trial, once and at once; what the receiver answered. Raises as a message
    about alerts would fail."""
    return _post(trial_of(channel, workspace, commit), channel, new_run_id(), environ)


def refusal(answer: PostAnswer) -> str:
    """Why an answer does not mean that the message was taken; "" where it does."""
    if 200 <= answer.status < 300:
        return ""
    if 300 <= answer.status < 400:
        return f"answered {answer.status}: redirects are not followed, give the address that it leads to"
    said = " ".join(answer.text.split())[:200]
    return f"answered {answer.status}" + (f": {said}" if said else "")


class _NotSet(SpecError):
    """An environment variable that the configuration names is not there."""


def _post(message: AlertMessage, channel: AlertChannel, delivery_id: str, environ: Mapping[str, str]) -> PostAnswer:
    body = body_of(message, channel.body, delivery_id)
    secret = _value(channel.secret_env, environ)
    headers = {
        "Content-Type": "application/json; charset=utf-8",
        "User-Agent": f"agentdyno/{__version__}",
        "Idempotency-Key": delivery_id,
        **headers_of(channel.body),
        **signed_headers(delivery_id, int(time.time()), body, secret),
    }
    if channel.token_env:
        headers["Authorization"] = f"Bearer {_value(channel.token_env, environ)}"
    url = channel.url or _value(channel.url_env, environ)
    return post(url, body, headers, PostLimits(channel.timeout_s, channel.allow_private))


def _value(name: str, environ: Mapping[str, str]) -> str:
    value = environ.get(name, "").strip() if name else ""
    if name and not value:
        raise _NotSet(f"the environment variable {name} is not set", remedy=f"Set {name} where alerts are sent.")
    return value


def _line(error: DynoError) -> str:
    return f"{error.where}: {error.message}" if error.where else error.message


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
