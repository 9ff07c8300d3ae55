"""A message in the form that its receiver takes: JSON of ours, Slack, an issue or a check of GitHub.

Names and sentences come from agents and suites; nothing in them acts as a mention, a link or markup.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from agentdyno.errors import SpecError
from agentdyno.jobs.alerts.message import AlertMessage
from agentdyno.model.codec import to_plain
from agentdyno.reports.markdown import escape
from agentdyno.show.wording import count, one_line

_SLACK_SECTION = 3_000
_SLACK_HEADER = 150
_GITHUB_TEXT = 60_000
_SENTENCE = 600
_GITHUB_HEADERS = {"Accept": "application/vnd.github+json", "X-GitHub-Api-Version": "2022-11-28"}


def body_of(message: AlertMessage, kind: str, delivery_id: str) -> bytes:
    """What is posted. Raises ``SpecError`` where the receiver needs something that the message does not have."""
    return json.dumps(_BODIES[kind](message, delivery_id), ensure_ascii=False, allow_nan=False).encode()


def headers_of(kind: str) -> Mapping[str, str]:
    """Headers that the receiver expects beside those of every message."""
    return _GITHUB_HEADERS if kind.startswith("github") else {}


def _json(message: AlertMessage, delivery_id: str) -> dict[str, object]:
    return {**to_plain(message), "delivery_id": delivery_id}


def _slack(message: AlertMessage, _delivery_id: str) -> dict[str, object]:
    lines = [f"• *{severity}* {_slack_text(sentence)}" for severity, sentence in _findings(message)]
    blocks: list[dict[str, object]] = [
        {"type": "header", "text": {"type": "plain_text", "text": one_line(message.title, _SLACK_HEADER)}}
    ]
    told = _fitting(lines, message, _SLACK_SECTION)
    if told:
        blocks.append({"type": "section", "text": {"type": "mrkdwn", "text": told}})
    if message.link:
        link = {"type": "mrkdwn", "text": f"<{_slack_text(message.link)}|Open it in the dashboard>"}
        blocks.append({"type": "context", "elements": [link]})
    return {"text": _slack_text(message.title), "blocks": blocks}


def _slack_text(text: str) -> str:
    """Slack acts on these three characters alone: ``<!channel>`` would wake everybody."""
    safe = one_line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return safe.replace("|", "¦")


def _github_issue(message: AlertMessage, delivery_id: str) -> dict[str, object]:
    # An issue cannot be posted under a key: who finds two can tell by the last line that they are one message.
    return {"title": message.title, "body": f"{_markdown(message)}\n\n<!-- agentdyno alert {delivery_id} -->"}


def _github_check(message: AlertMessage, delivery_id: str) -> dict[str, object]:
    if not message.commit:
        raise SpecError(
            "GitHub's checks belong to a commit, and the run knows none",
            remedy="Run it in a git checkout, or use `body: github-issue`.",
        )
    return {
        "name": "agentdyno",
        "head_sha": message.commit,
        "external_id": delivery_id,
        "status": "completed",
        "conclusion": "neutral" if message.event == "test" else "failure",
        "output": {"title": message.title, "summary": _markdown(message)},
    }


def _markdown(message: AlertMessage) -> str:
    lines = [f"- **{severity}** {escape(sentence)}" for severity, sentence in _findings(message)]
    parts = [_fitting(lines, message, _GITHUB_TEXT) or escape(message.title)]
    if message.run_id:
        parts.append(f"Run `{message.run_id}`: `dyno show {message.run_id[:13]}`")
    if message.link:
        parts.append(f"<{message.link}>")
    return "\n\n".join(parts)


def _findings(message: AlertMessage) -> list[tuple[str, str]]:
    found = (alert.regression for alert in message.alerts)
    return [(item.severity.value, one_line(item.explanation, _SENTENCE)) for item in found]


def _fitting(lines: list[str], message: AlertMessage, most: int) -> str:
    """As many lines as the receiver takes, and how many are left out."""
    kept: list[str] = []
    room = most - 50
    for line in lines:
        if len(line) + 1 > room:
            break
        room -= len(line) + 1
        kept.append(line)
    left = message.count - len(kept)
    return "\n".join([*kept, f"… and {count(left, 'more alert')}"] if left else kept)


_BODIES: dict[str, Callable[[AlertMessage, str], dict[str, object]]] = {
    "json": _json,
    "slack": _slack,
    "github-issue": _github_issue,
    "github-check": _github_check,
}
