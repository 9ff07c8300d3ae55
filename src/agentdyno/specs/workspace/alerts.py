"""``alerts:`` of ``dyno.yaml``: the places that alerts are posted to."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import urlsplit

from pydantic import model_validator

from agentdyno.model.workspace import AlertChannel
from agentdyno.settings import settings_of
from agentdyno.settings.setting import ALERTS
from agentdyno.specs.files.pasted_secrets import secret_problems
from agentdyno.specs.files.problems import FileProblem, spec_error
from agentdyno.specs.files.shorthand import refuse
from agentdyno.specs.forms import FileModel, form

CHANNEL_NAME = re.compile(r"[A-Za-z0-9_-]{1,100}")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,199}")
_VARIABLES = ("url_env", "secret_env", "token_env")
_SLACK = "hooks.slack.com"


class AlertsOwn(FileModel):
    """A place that alerts are posted to."""

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        given: dict[str, Any] = self.model_dump(exclude_unset=True)
        if len({"url", "url_env"} & set(given)) != 1:
            got = "both" if "url" in given else "none"
            raise refuse(f"expected url or url_env, got {got}", "Give one of the two.", "url")
        for key in _VARIABLES:
            if key in given and not _VARIABLE.fullmatch(given[key]):
                raise refuse(
                    "expected the name of an environment variable, got something else",
                    f"Give the name alone, as in `{key}: ALERT_SECRET`; its value stays in the environment.",
                    key,
                )
        for key in ("url", "dashboard"):
            if key in given:
                _check_url(given[key], key)
        if given.get("body", "").startswith("github") and "token_env" not in given:
            remedy = "Write for example `token_env: GITHUB_TOKEN`."
            raise refuse("expected the variable with GitHub's token, got none", remedy, "token_env")
        return self


def _check_url(url: str, key: str) -> None:
    """An http address without credentials; one of Slack is a secret as a whole."""
    try:
        parts = urlsplit(url)
        host, user = parts.hostname, parts.username
    except ValueError:
        host = user = None
    if host is None or parts.scheme not in ("http", "https"):
        raise refuse("expected an address that begins with https://, got another text", "Write it in full.", key)
    if user is not None:
        raise refuse("expected an address without user name and password", "Use `token_env` or `url_env`.", key)
    if key == "url" and host == _SLACK:
        message = "expected no secret in a file: whoever knows an address of Slack's hooks can post there"
        raise refuse(message, "Put it into an environment variable: `url_env: SLACK_WEBHOOK_URL`.", key)


AlertsModel = form("AlertsModel", ALERTS, base=AlertsOwn)
if TYPE_CHECKING:  # a class that is made at run time is no type for a checker
    AlertsField = AlertsOwn
else:
    AlertsField = AlertsModel


def alert_channels(document: Mapping[str, Mapping[str, Any]], source: str) -> dict[str, AlertChannel]:
    """The places of a validated ``alerts:``; a pasted secret is a ``SpecError``."""
    defaults = {setting.form_key: setting.default for setting in settings_of(ALERTS)}
    problems: list[FileProblem] = []
    found: dict[str, AlertChannel] = {}
    for name, row in document.items():
        for key in ("url", "dashboard"):
            problems += secret_problems(row.get(key, ""), f"alerts.{name}.{key}")
        given: dict[str, Any] = {**defaults, **row}
        found[name] = AlertChannel(name=name, **given)
    if problems:
        raise spec_error(source, problems)
    return found
