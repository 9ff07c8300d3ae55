"""``alerts:`` of ``dyno.yaml``: what is refused, and with which words."""

from __future__ import annotations

from pathlib import Path

import pytest

from agentdyno.errors import SpecError
from agentdyno.specs.workspace.load import read_workspace


def test_a_place_has_the_defaults_of_the_settings(tmp_path: Path) -> None:
    path = tmp_path / "dyno.yaml"
    path.write_text("alerts: {team: {url_env: SLACK_WEBHOOK_URL, body: slack, severity: high}}")
    (place,) = read_workspace(path).alerts.values()
    assert (place.name, place.url, place.url_env, place.body) == ("team", "", "SLACK_WEBHOOK_URL", "slack")
    assert (place.severity, place.allow_private, place.max_tries, place.timeout_s) == ("high", False, 8, 10.0)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{team: {}}", "alerts.team.url: expected url or url_env, got none"),
        ("{team: {url: https://a.example, url_env: X}}", "alerts.team.url: expected url or url_env, got both"),
        ("{team: {url: https://a.example, severty: high}}", "Did you mean severity?"),
        ("{team: {url: ftp://a.example}}", "alerts.team.url: expected an address that begins with https://"),
        ("{team: {url: 'https://[x'}}", "alerts.team.url: expected an address that begins with https://"),
        ("{team: {url: 'https://me:hush@a.example'}}", "expected an address without user name and password"),
        ("{team: {url: https://hooks.slack.com/services/hush}}", "url_env: SLACK_WEBHOOK_URL"),
        ("{team: {url: 'https://a.example/?token=hush-hush'}}", "alerts.team.url: expected no secret in a file"),
        ("{team: {url_env: 'X=hush'}}", "alerts.team.url_env: expected the name of an environment variable"),
        ("{team: {url: https://a.example, body: github-issue}}", "token_env: GITHUB_TOKEN"),
        ("{team: {url: https://a.example, max_tries: 0}}", "alerts.team.max_tries: expected at least 1"),
        ("{'a b': {url: https://a.example}}", "expected a name of letters, digits, - and _"),
    ],
)
def test_a_place_that_cannot_be_meant_is_refused_without_showing_a_secret(
    text: str, words: str, tmp_path: Path
) -> None:
    path = tmp_path / "dyno.yaml"
    path.write_text(f"alerts: {text}")
    with pytest.raises(SpecError) as refused:
        read_workspace(path)
    assert words in str(refused.value)
    assert "hush" not in str(refused.value)
