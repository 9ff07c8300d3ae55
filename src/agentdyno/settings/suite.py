"""Settings of suites: how often, how many at once, which cases, what it may cost."""

from __future__ import annotations

from agentdyno.settings.run import MAX_SECONDS
from agentdyno.settings.setting import (
    AGENT,
    BENCHMARK,
    CHECK,
    JOB,
    LOAD_CHOICE,
    QUICK,
    RESUME,
    SPEC_CHOICE,
    SUITE,
    SUITE_CHANGE,
    SUITE_CHOICE,
    Setting,
    Wording,
)

MAX_CASES = 100_000
MAX_EPOCHS = 10_000
MAX_USD = 1e9

AGENTS = Setting(
    "agents",
    ("array",),
    default=(),
    option="--agent",
    metavar="AGENT",
    description="Agents to run",
    help="An agent to run; repeatable. Of an experiment: its parameter agent.",
    worded={"check": Wording(help="The agents to check; repeatable.")},
    scopes=SUITE_CHANGE | SUITE_CHOICE | SPEC_CHOICE | CHECK,
)
INTERPRETER = Setting(
    "interpreter",
    ("string",),
    default="",
    option="--python",
    metavar="PATH",
    description="Interpreter of Python agents that have none of their own",
    help="Interpreter, or environment, of the Python agents.",
    scopes=SUITE_CHOICE | CHECK,
)
EPOCHS = Setting(
    "epochs",
    ("integer",),
    default=5,
    minimum=1,
    maximum=MAX_EPOCHS,
    option="--epochs",
    shows_maximum=True,
    example=5,
    description="Repeats of each case",
    help="Suites: times that each case is put to each agent.",
    worded={
        "benchmark": Wording("Repeats of each case; the suite's without it"),
        "check": Wording(help="Times that each case is put to each agent."),
    },
    scopes=SUITE | BENCHMARK | JOB | CHECK,
)
NUM_RUNS = Setting(
    "num_runs",
    ("integer",),
    default=EPOCHS.default,
    minimum=1,
    maximum=MAX_EPOCHS,
    example=5,
    description="The same as epochs",
    scopes=BENCHMARK,
)
SUITE_WARMUP = Setting(
    "warmup",
    ("integer",),
    default=3,
    minimum=0,
    maximum=MAX_EPOCHS,
    option="--warmup",
    example=3,
    description="Calls before measuring, per agent and benchmark; without it 3, none for agents that cost money",
    help="Calls before measuring.",
    worded={"benchmark": Wording("Calls before measuring, per agent")},
    scopes=SUITE | BENCHMARK,
)
"""The default holds for agents that cost nothing."""
LIMIT = Setting(
    "limit",
    ("integer",),
    default=0,
    minimum=1,
    maximum=MAX_CASES,
    option="--limit",
    example=20,
    description="Cases of the whole suite, spread evenly over its benchmarks, the first ones of each",
    help="Suites: number of cases, spread over the benchmarks.",
    worded={"job": Wording("Number of cases")},
    scopes=QUICK | JOB,
)
CASES = Setting(
    "cases",
    ("array",),
    default=(),
    option="--case",
    metavar="ID",
    description="Cases to run",
    help="Suites: only this case; repeatable.",
    scopes=SUITE_CHANGE,
)
BENCHMARKS = Setting(
    "benchmarks",
    ("array",),
    default=(),
    option="--benchmark",
    metavar="ID",
    description="Benchmarks to run",
    help="Suites: only this one; repeatable.",
    scopes=SUITE_CHANGE,
)
CONCURRENCY = Setting(
    "concurrency",
    ("integer",),
    default=1,
    minimum=1,
    maximum=1024,
    option="--concurrency",
    example=4,
    description="Cases in flight at once",
    help="Suites: calls at the same time.",
    scopes=SUITE,
)
RETRIES = Setting(
    "retries",
    ("integer",),
    default=2,
    minimum=0,
    maximum=100,
    option="--retries",
    example=2,
    description="New attempts after a failure of the infrastructure",
    help="Suites: repeats after errors of the infrastructure.",
    scopes=SUITE,
)
CASE_TIME_LIMIT = Setting(
    "time_limit_s",
    ("number", "null"),
    default=300.0,
    above=0,
    maximum=MAX_SECONDS,
    option="--timeout",
    dest="timeout_s",
    metavar="SECONDS",
    key="case_constraints.time_limit_ms",
    scale=1000,
    description="Longest time of one case",
    help="Limit of one trial, or of one case.",
    scopes=SUITE_CHANGE,
)
"""The default is for a case of which nobody said how long it may take."""
RECORD = Setting(
    "record",
    ("string",),
    default="auto",
    choices=("auto", "off", "counts", "full"),
    option="--record",
    example="counts",
    description="What is kept of the model calls of Python agents and commands, by a proxy between the two: off, "
    "counts, or full with requests and answers; auto is counts where a variable says where the model is",
    help="Suites: what to keep of agents' model calls, by a proxy.",
    worded={
        "agent": Wording("What is kept of its model calls (off, counts, full, auto); as the suite says without it"),
    },
    scopes=SUITE | AGENT,
)
ASK_ABOVE_USD = 1.0
"""A run that may cost more starts only when somebody agrees, or has said how much it may cost."""
MAX_COST = Setting(
    "max_cost_usd",
    ("number", "null"),
    default=None,
    above=0,
    maximum=MAX_USD,
    option="--max-cost",
    dest="max_cost",
    key="constraints.cost_limit_usd",
    metavar="DOLLARS",
    description="US dollars",
    help="Suites: spend no more.",
    worded={
        "check": Wording(help="Spend no more per run."),
        "resume": Wording(help="Suites: stop before; what is spent counts."),
    },
    scopes=SUITE_CHANGE | SUITE_CHOICE | JOB | CHECK | RESUME,
)
CACHE = Setting(
    "cache",
    ("boolean",),
    default=False,
    option="--cache",
    description="Reuse answers of earlier runs",
    help="Suites: reuse answers of earlier runs (not measured again).",
    scopes=SUITE_CHOICE,
)
YES = Setting(
    "yes",
    ("boolean",),
    default=False,
    option="--yes",
    description="Do not ask before spending",
    help="Suites: do not ask before spending.",
    worded={"check": Wording(help="Do not ask before spending.")},
    scopes=SPEC_CHOICE | SUITE_CHOICE | LOAD_CHOICE | CHECK,
)
ALLOW_CHANGED_SUITE = Setting(
    "allow_changed_suite",
    ("boolean",),
    default=False,
    option="--allow-changed-suite",
    description="Run a version of a suite that was run with other contents before",
    help="Suites: run a version that had other contents before.",
    scopes=SUITE_CHOICE | JOB | CHECK,
)
UNTIL_DECIDED = Setting(
    "until_decided",
    ("boolean",),
    default=False,
    option="--until-decided",
    description="Stop as soon as the two sides are told apart",
    help="Suites: stop as soon as the two sides are told apart.",
    scopes=SUITE_CHOICE,
)
SEND_ALERTS = Setting(
    "send_alerts",
    ("boolean",),
    default=False,
    option="--alert",
    description="Send new alerts to the places under `alerts:` of dyno.yaml",
    help="Suites: send new alerts to the places under `alerts:` of dyno.yaml.",
    scopes=SUITE_CHOICE | CHECK,
)
