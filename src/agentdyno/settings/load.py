"""Settings of load: what is asked of a target, and how the client behaves."""

from __future__ import annotations

from agentdyno.settings.run import MAX_SECONDS
from agentdyno.settings.setting import LOAD, Setting

MAX_RATE = 1_000_000
MAX_IN_FLIGHT = 100_000
MAX_WORDS = 1_000_000

# What is asked.
SCENARIOS = Setting(
    "scenarios",
    ("array",),
    default=(),
    spelled="names",
    option="--scenario",
    metavar="LIST",
    example=["spike_load"],
    description="Stress scenarios by name, or all",
    help="Stress scenarios, or all (the default without a rate): high_load, sustained_load, spike_load, "
    "memory_pressure, concurrent_requests, large_inputs, rate_limiting, failure_recovery.",
    scopes=LOAD,
)
PROFILE = Setting(
    "profile",
    ("string",),
    default="standard",
    choices=("quick", "standard", "full"),
    option="--profile",
    example="quick",
    description="How long and how hard the scenarios are",
    help="How long and how hard.",
    scopes=LOAD,
)
FIND_LIMIT = Setting(
    "find_limit",
    ("boolean",),
    default=False,
    option="--find-limit",
    example=True,
    description="Search the highest rate that meets the SLO",
    help="Search the highest rate that meets the objectives.",
    scopes=LOAD,
)
SLO = Setting(
    "slo",
    ("string",),
    default="",
    spelled="line",
    option="--slo",
    metavar="LIST",
    example="ttft_p95<200ms, error_rate<1%",
    description="Objectives",
    help='Objectives, such as "ttft_p95<200ms, error_rate<1%".',
    scopes=LOAD,
)
RATE = Setting(
    "rate",
    ("number", "null"),
    default=None,
    above=0,
    maximum=MAX_RATE,
    option="--rate",
    example=1000,
    description="Requests a second",
    help="Requests a second: open loop.",
    scopes=LOAD,
)
IN_FLIGHT = Setting(
    "concurrency",
    ("integer", "null"),
    default=None,
    minimum=1,
    maximum=MAX_IN_FLIGHT,
    option="--concurrency",
    example=8,
    description="Requests in flight: closed loop",
    scopes=LOAD,
)
SHAPE = Setting(
    "shape",
    ("string", "null"),
    default=None,
    choices=("soak", "ramp", "step", "spike", "sawtooth"),
    option="--shape",
    example="ramp",
    description="A usual course, from rate or concurrency to `to`",
    help="A usual course, from --rate or --concurrency to --to.",
    scopes=LOAD,
)
TO = Setting(
    "to",
    ("number", "null"),
    default=None,
    minimum=0,
    maximum=MAX_RATE,
    option="--to",
    example=500,
    description="Where a shape goes: its end, or its peak",
    scopes=LOAD,
)
COUNT = Setting(
    "count",
    ("integer",),
    default=5,
    minimum=1,
    maximum=1000,
    option="--count",
    example=5,
    description="Steps or teeth of a shape",
    shows_default=True,
    scopes=LOAD,
)
DURATION = Setting(
    "duration_s",
    ("number", "null"),
    default=10.0,
    above=0,
    maximum=MAX_SECONDS,
    option="--duration",
    example=300,
    description="How long, with rate or concurrency",
    help="Seconds.",
    shows_default=True,
    scopes=LOAD,
)
ARRIVALS = Setting(
    "arrivals",
    ("string",),
    default="poisson",
    choices=("constant", "poisson", "gamma"),
    option="--arrivals",
    example="poisson",
    description="How requests come in open loop",
    help="How requests come.",
    scopes=LOAD,
)
BURSTINESS = Setting(
    "burstiness",
    ("number",),
    default=1.0,
    above=0,
    maximum=1000,
    option="--burstiness",
    example=0.5,
    description="Shape of gamma arrivals: 1 is Poisson, less is burstier",
    scopes=LOAD,
)
TRACE = Setting(
    "trace",
    ("string",),
    default="",
    spelled="file",
    option="--trace",
    example="trace.csv",
    description="A recorded trace (CSV or JSONL: timestamp, lengths)",
    help="Replay a trace (CSV or JSONL).",
    scopes=LOAD,
)


# The client and its ceilings.
CLIENT_PROCESSES = Setting(
    "processes",
    ("integer",),
    default=1,
    minimum=1,
    maximum=256,
    option="--processes",
    example=2,
    description="Client processes",
    shows_default=True,
    scopes=LOAD,
)
CLIENTS = Setting(
    "clients",
    ("string",),
    default="",
    spelled="line",
    option="--clients",
    metavar="ray|ray://HOST:PORT|HOST:PORT,…",
    example="10.0.0.1:7700,10.0.0.2:7700",
    description="Machines that put the load on the target: workers that listen (`dyno worker --listen`), with "
    "`processes` clients each, or a Ray cluster, with a client for each of its cores",
    help="Other machines that put the load on it: workers that listen, or a Ray cluster.",
    scopes=LOAD,
)
CONNECTIONS = Setting(
    "connections",
    ("integer",),
    default=1000,
    minimum=1,
    maximum=100_000,
    option="--connections",
    example=100,
    description="Connections at once, at most",
    note="a request that is due while all are busy goes late, and is counted",
    shows_default=True,
    scopes=LOAD,
)
REQUEST_TIMEOUT = Setting(
    "timeout_s",
    ("number",),
    default=30.0,
    above=0,
    maximum=MAX_SECONDS,
    option="--timeout",
    example=30,
    description="Longest answer in seconds",
    help="Of a request, in seconds.",
    scopes=LOAD,
)
WINDOW = Setting(
    "window_s",
    ("number",),
    default=1.0,
    minimum=0.05,
    maximum=3600,
    option="--window",
    example=1,
    description="Length of a window in seconds",
    help="Length of a window, in seconds.",
    scopes=LOAD,
)
MAX_REQUESTS = Setting(
    "max_requests",
    ("integer",),
    default=10_000_000,
    minimum=1,
    maximum=1_000_000_000,
    option="--max-requests",
    example=100_000,
    description="No more requests than this",
    help="No more than this.",
    shows_default=True,
    scopes=LOAD,
)
MAX_DURATION = Setting(
    "max_s",
    ("number",),
    default=7200.0,
    above=0,
    maximum=MAX_SECONDS,
    option="--max-seconds",
    example=600,
    description="No longer than this",
    scopes=LOAD,
)
