"""Settings of outgoing alerts: those of one place under ``alerts:`` of ``dyno.yaml``."""

from __future__ import annotations

from agentdyno.settings.setting import ALERTS, Setting

ALERT_URL = Setting(
    "alert_url",
    ("string",),
    default="",
    key="alerts.url",
    spelled="line",
    description="Where alerts are posted; https, unless it is private and that is allowed",
    example="https://hooks.example.org/dyno",
    scopes=ALERTS,
)
ALERT_URL_ENV = Setting(
    "alert_url_env",
    ("string",),
    default="",
    key="alerts.url_env",
    spelled="line",
    description="Environment variable with the address, where that is itself a secret (Slack)",
    example="SLACK_WEBHOOK_URL",
    scopes=ALERTS,
)
ALERT_BODY = Setting(
    "alert_body",
    ("string",),
    default="json",
    choices=("json", "slack", "github-issue", "github-check"),
    key="alerts.body",
    description="What is posted: everything as JSON, a message for Slack, an issue or a check for GitHub",
    example="slack",
    scopes=ALERTS,
)
ALERT_SECRET_ENV = Setting(
    "alert_secret_env",
    ("string",),
    default="",
    key="alerts.secret_env",
    spelled="line",
    description="Environment variable with the secret that signs what is posted (HMAC-SHA256)",
    example="ALERT_SECRET",
    scopes=ALERTS,
)
ALERT_TOKEN_ENV = Setting(
    "alert_token_env",
    ("string",),
    default="",
    key="alerts.token_env",
    spelled="line",
    description="Environment variable with the token that is sent as `Authorization: Bearer` (GitHub)",
    example="GITHUB_TOKEN",
    scopes=ALERTS,
)
ALERT_SEVERITY = Setting(
    "alert_severity",
    ("string",),
    default="medium",
    choices=("low", "medium", "high", "critical"),
    key="alerts.severity",
    description="The least severity that is sent",
    example="high",
    scopes=ALERTS,
)
ALERT_UNCONFIRMED = Setting(
    "alert_unconfirmed",
    ("boolean",),
    default=False,
    key="alerts.unconfirmed",
    description="Send findings that rest on few points, too",
    example=True,
    scopes=ALERTS,
)
ALERT_DASHBOARD = Setting(
    "alert_dashboard",
    ("string",),
    default="",
    key="alerts.dashboard",
    spelled="line",
    description="Address of the dashboard, for a link to the run",
    example="https://dyno.example.org",
    scopes=ALERTS,
)
ALERT_PRIVATE = Setting(
    "alert_private",
    ("boolean",),
    default=False,
    key="alerts.allow_private",
    description="Allow private, loopback and link-local addresses, and http to them",
    example=True,
    scopes=ALERTS,
)
ALERT_TRIES = Setting(
    "alert_tries",
    ("integer",),
    default=8,
    minimum=1,
    maximum=20,
    key="alerts.max_tries",
    description="How often it is tried before it is given up; the pauses double, from 10 s to an hour",
    example=8,
    scopes=ALERTS,
)
ALERT_TIMEOUT = Setting(
    "alert_timeout_s",
    ("number",),
    default=10.0,
    minimum=1,
    maximum=60,
    key="alerts.timeout_s",
    description="Seconds that one try may take",
    example=10,
    scopes=ALERTS,
)
MOST_CHANNELS = 20
"""Places under ``alerts:``."""
