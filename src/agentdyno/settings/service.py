"""Settings of a service and its workers."""

from __future__ import annotations

from agentdyno.settings.setting import SERVE, WORKER, Setting

MODEL_PORT, SIMULATED_PORT, SIMULATED_SEED = 8080, 8081, 0
"""Where ``dyno model`` serves a real model, and where a simulated one, which does the same for the same seed."""
HOST = Setting(
    "host",
    ("string",),
    default="127.0.0.1",
    option="--host",
    description="Address to listen at; others need a key",
    shows_default=True,
    shows_maximum=True,
    scopes=SERVE,
)
PORT = Setting(
    "port",
    ("integer",),
    default=8321,
    minimum=0,
    maximum=65535,
    option="--port",
    description="Port to listen at",
    help="0 takes any free one.",
    shows_default=True,
    shows_maximum=True,
    scopes=SERVE,
)
WORKERS = Setting(
    "workers",
    ("integer",),
    default=1,
    minimum=0,
    maximum=64,
    option="--workers",
    description="Jobs at the same time",
    shows_default=True,
    shows_maximum=True,
    scopes=SERVE,
)
LEASE = Setting(
    "lease_s",
    ("number",),
    default=15.0,
    minimum=1,
    maximum=3600,
    option="--lease",
    metavar="SECONDS",
    description="How long a job stays with a worker that is not heard of",
    shows_default=True,
    shows_maximum=True,
    scopes=SERVE | WORKER,
)
KEYLESS_READ = Setting(
    "keyless_read",
    ("boolean",),
    default=False,
    option="--keyless-read",
    description="Let programs of this machine read without a key although there are keys",
    scopes=SERVE,
)
SHARE = Setting(
    "share_cases",
    ("boolean",),
    default=False,
    option="--share",
    description="Share the cases of a run with the other workers that were started so",
    scopes=WORKER,
)
LISTEN = Setting(
    "listen",
    ("string",),
    default="",
    option="--listen",
    metavar="[HOST:]PORT",
    description="Instead of jobs, put load on the targets of `dyno load --clients` that come to this address; "
    "DYNO_CLIENTS_TOKEN lets them in",
    help="Instead of jobs: put load on targets for `dyno load --clients`.",
    scopes=WORKER,
)
QUEUE_LIMIT = Setting(
    "queue_limit",
    ("integer",),
    default=100,
    minimum=0,
    description="Jobs that may wait",
)
