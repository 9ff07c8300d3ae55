"""What is told, in the forms of its receivers, and its signature."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from dataclasses import replace
from typing import Any

import pytest

from agentdyno.errors import SpecError
from agentdyno.findings.change.model import Alert
from agentdyno.findings.history.model_regression import Detector, Regression, Severity
from agentdyno.jobs.alerts.bodies import body_of
from agentdyno.jobs.alerts.message import AlertMessage, groups_of, is_wanted, message_of, trial_of
from agentdyno.jobs.alerts.signing import signed_headers
from agentdyno.model.workspace import AlertChannel
from agentdyno.specs.workspace.alerts import alert_channels

RUN = "01a1e525-a394-7456-94ff-d0642ca88063"
EVIL = "<!channel> & <https://evil.example|click> @octocat [x](http://evil.example) `rm`"


def channel(**changes: object) -> AlertChannel:
    return alert_channels({"team": {"url": "https://hooks.example.org/", **changes}}, "dyno.yaml")["team"]


def alert(number: int = 0, severity: Severity = Severity.HIGH, why: str = "accuracy fell", **changes: Any) -> Alert:
    item = Regression(Detector.VERSION, "drop", "accuracy", 1.0, 0.5, 0.5, True, 0.1, severity, why, version="2")
    return Alert(f"id-{number}", "bot", "daily", replace(item, **changes), run_id=RUN)


def told(*alerts: Alert, **changes: object) -> AlertMessage:
    return message_of(alerts or (alert(),), channel(**changes), "default", "c0ffee")


def posted(message: AlertMessage, kind: str) -> Any:
    return json.loads(body_of(message, kind, "key-1"))


def test_a_message_names_the_version_the_suite_how_many_and_the_worst() -> None:
    message = told(alert(0, Severity.MEDIUM), alert(1, Severity.CRITICAL), dashboard="https://dyno.example.org/")
    assert message.title == "bot@2 is worse on daily: 2 alerts, critical"
    assert message.link == f"https://dyno.example.org/runs/{RUN}"


def test_alerts_of_one_agent_suite_and_version_are_one_message() -> None:
    other = replace(alert(2), agent="other")
    later = alert(3, version="3")
    assert groups_of([alert(0), other, alert(1), later]) == [(alert(0), alert(1)), (other,), (later,)]


@pytest.mark.parametrize(
    ("changes", "given", "wanted"),
    [
        ({}, {"severity": Severity.LOW}, False),
        ({}, {"severity": Severity.MEDIUM}, True),
        ({"severity": "critical"}, {"severity": Severity.HIGH}, False),
        ({}, {"confirmed": False}, False),
        ({"unconfirmed": True}, {"confirmed": False}, True),
        ({}, {"undone_at": 5}, False),
    ],
)
def test_a_place_hears_of_what_is_severe_confirmed_and_still_so(
    changes: dict[str, object], given: dict[str, Any], wanted: bool
) -> None:
    assert is_wanted(alert(**given), channel(**changes)) is wanted


def test_the_json_has_everything_and_the_key() -> None:
    document = posted(told(), "json")
    assert (document["form"], document["event"], document["delivery_id"]) == ("agentdyno.alert/1", "alert", "key-1")
    assert (document["commit"], document["severity"], document["count"]) == ("c0ffee", "high", 1)
    assert document["alerts"][0]["regression"]["explanation"] == "accuracy fell"


def test_slack_gets_blocks_in_which_nothing_acts() -> None:
    document = posted(told(alert(why=EVIL)), "slack")
    assert [block["type"] for block in document["blocks"]] == ["header", "section"]
    text = document["blocks"][1]["text"]["text"]
    assert "&lt;!channel&gt; &amp; &lt;https://evil.example¦click&gt;" in text
    assert "<" not in text


def test_github_gets_an_issue_in_which_nothing_acts() -> None:
    document = posted(told(alert(why=EVIL)), "github-issue")
    assert document["title"] == "bot@2 is worse on daily: 1 alert, high"
    assert "@octocat" not in document["body"]
    assert "<https" not in document["body"]
    assert r"\[x\]" in document["body"]
    assert document["body"].endswith("<!-- agentdyno alert key-1 -->")


def test_github_gets_a_check_of_the_commit_that_was_measured() -> None:
    document = posted(told(), "github-check")
    assert (document["head_sha"], document["conclusion"], document["external_id"]) == ("c0ffee", "failure", "key-1")
    trial = posted(trial_of(channel(), "default", "c0ffee"), "github-check")
    assert trial["conclusion"] == "neutral"
    with pytest.raises(SpecError, match="the run knows none"):
        body_of(replace(told(), commit=""), "github-check", "key-1")


def test_a_message_with_more_than_a_receiver_takes_says_how_many_are_left_out() -> None:
    message = told(*(alert(number, why="x" * 590) for number in range(120)))
    text = posted(message, "slack")["blocks"][1]["text"]["text"]
    assert len(text) <= 3000
    assert text.endswith("… and 116 more alerts")
    assert len(posted(message, "json")["alerts"]) == 50
    issue = posted(message, "github-issue")["body"]
    assert len(issue) < 65_536
    assert "… and 70 more alerts" in issue


@pytest.mark.parametrize("secret", ["0123456789abcdef", "whsec_" + base64.b64encode(b"0123456789abcdef").decode()])
def test_the_signature_is_that_of_the_standard_over_id_time_and_body(secret: str) -> None:
    headers = signed_headers("key-1", 1_700_000_000, b'{"a": 1}', secret)
    signed = hmac.new(b"0123456789abcdef", b'key-1.1700000000.{"a": 1}', hashlib.sha256).digest()
    assert headers == {
        "webhook-id": "key-1",
        "webhook-timestamp": "1700000000",
        "webhook-signature": "v1," + base64.b64encode(signed).decode(),
    }


def test_the_signature_of_the_example_that_the_standard_gives() -> None:
    headers = signed_headers(
        "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}', "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    )
    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_a_secret_that_is_short_or_no_base64_is_refused_without_being_shown() -> None:
    for secret in ("hush", "whsec_hush!!", "whsec_aHVzaA=="):
        with pytest.raises(SpecError) as refused:
            signed_headers("key", 1, b"", secret)
        assert "hush" not in str(refused.value)
