"""Settings of every run, and those of experiments."""

from __future__ import annotations

from agentdyno.settings.setting import (
    AUTO,
    CHECK,
    COMMANDS,
    DATASET,
    ITERATIONS,
    JOB,
    LOAD_CHOICE,
    LOAD_COMMAND,
    LOAD_FILE,
    RESUME,
    SPEC,
    SPEC_CHANGE,
    SPEC_CHOICE,
    SUITE,
    SUITE_CHOICE,
    Setting,
    Wording,
)

MAX_SECONDS = 2_000_000
"""About 23 days: the longest wait that the system's polling calls take."""
MAX_ITERATIONS = 1_000_000
MAX_TRIALS = 1_000_000
MAX_MEBIBYTES = 10**9
EVERY_CHOICE = SPEC_CHOICE | SUITE_CHOICE | LOAD_CHOICE

# What is run, and how often.
PARAMS = Setting(
    "params",
    ("object",),
    default=None,
    option="-p --param",
    metavar="NAME=VALUE",
    description="Values of parameters",
    help="A parameter; a list is a sweep.",
    worded={"load command": Wording(help="A parameter of the scenarios.")},
    scopes=SPEC_CHANGE | LOAD_COMMAND,
)
MEASURED = Setting(
    "iterations",
    ("integer",),
    default=10,
    minimum=1,
    maximum=MAX_ITERATIONS,
    option="--iterations",
    key="iterations.measured",
    example=10,
    description="Recorded iterations of each arm",
    help="Measured samples per arm.",
    scopes=ITERATIONS,
)
WARMUP = Setting(
    "warmup",
    ("integer",),
    default=1,
    minimum=0,
    maximum=MAX_ITERATIONS,
    option="--warmup",
    key="iterations.warmup",
    example=1,
    description="Calls before measuring that are not recorded",
    help="Calls before measuring.",
    scopes=ITERATIONS,
)
INSTRUMENTED = Setting(
    "instrumented",
    ("integer",),
    default=1,
    minimum=0,
    maximum=10_000,
    key="iterations.instrumented",
    example=1,
    description="Extra passes for each perturbing instrument",
    scopes=ITERATIONS,
)
PRECISION = Setting(
    "precision",
    ("number",),
    default=0.02,
    above=0,
    maximum=1,
    example=0.02,
    description="Half-width of the median's 95 % interval, as a fraction of the median, at which an arm stops",
    scopes=AUTO,
)
FEWEST = Setting(
    "min",
    ("integer",),
    default=10,
    minimum=1,
    maximum=MAX_ITERATIONS,
    example=10,
    description="Fewest measured iterations of an arm",
    scopes=AUTO,
)
MOST = Setting(
    "max",
    ("integer",),
    default=500,
    minimum=1,
    maximum=MAX_ITERATIONS,
    example=500,
    description="Most measured iterations of an arm",
    scopes=AUTO,
)
ONLY = Setting(
    "only",
    ("array",),
    default=(),
    option="--only",
    metavar="NAME",
    description="Experiments of the file to run, by name; all of them without it",
    help="Run this one of the file's experiments, by name; repeatable.",
    scopes=SPEC_CHANGE,
)
QUICK_RUN = Setting(
    "quick",
    ("boolean",),
    default=False,
    option="--quick",
    description="What the suite says under `quick`",
    help="Apply the file's `quick:` overrides.",
    scopes=EVERY_CHOICE | JOB | CHECK,
)
AGAINST = Setting(
    "against",
    ("string", "null"),
    default=None,
    option="--against",
    metavar="REF",
    description="What the run is measured against",
    help="Measure a baseline too: git revision, agent, file.py@name, name=value, interpreter.",
    worded={"check": Wording(help="Git revision, baseline file, AGENT@VERSION.  [default: dyno.yaml]")},
    scopes=SPEC_CHOICE | SUITE_CHOICE | CHECK,
)
DRY_RUN = Setting(
    "dry_run",
    ("boolean",),
    default=False,
    option="--dry-run",
    description="Show what would run, and run nothing",
    worded={"load command": Wording(help="Show what would be sent, and send nothing.")},
    scopes=EVERY_CHOICE | LOAD_COMMAND,
)

# How an experiment is measured.
INSTRUMENTS = Setting(
    "instruments",
    ("array",),
    default=(),
    option="--instrument",
    key="instrumentation",
    metavar="NAME",
    description="Instruments to add",
    help="Add an instrument.",
    scopes=SPEC_CHANGE,
)
IMPORTS = Setting(
    "imports",
    ("array",),
    default=(),
    spelled="lines",
    option="--import",
    metavar="FILE|MODULE",
    example=["bench/experiments.py", "package.module"],
    description="Python files or modules to load first, so that what they register is known",
    help="Load local code first.",
    scopes=SPEC,
)
SEED = Setting(
    "seed",
    ("integer",),
    default=42,
    minimum=0,
    option="--seed",
    example=42,
    description="Seed of order, draws and experiments",
    help="Seed of order and randomness.",
    worded={
        "suite": Wording("Seed of the order and of the cases"),
        "load file": Wording("Seed of the schedule and the prompts", help="Seed of the schedule and the prompts."),
        "dataset": Wording("Seed of a generator"),
        "commands": Wording("Seed of the order", help="Seed of the order."),
    },
    scopes=SPEC | SUITE | LOAD_FILE | DATASET | COMMANDS,
)
ISOLATION = Setting(
    "isolation",
    ("string",),
    default="process",
    choices=("inline", "process"),
    option="--isolation",
    example="process",
    description="Run in worker processes, or in the very process of the runner",
    help="Where trials run.",
    scopes=SPEC,
)
ORDER = Setting(
    "order",
    ("string",),
    default="interleaved",
    choices=("interleaved", "sequential"),
    option="--order",
    example="interleaved",
    description="Arms in randomised blocks, or one after the other",
    help="How arms take turns.",
    worded={
        "commands": Wording(
            "Commands take turns in random order, or run one after the other",
            help="Commands take turns in random order, or run one after the other.",
        )
    },
    scopes=SPEC | COMMANDS,
)
PROCESSES = Setting(
    "processes",
    ("integer", "null"),
    default=None,
    minimum=1,
    maximum=10_000,
    option="--processes",
    example=1,
    description="Fresh processes over which an arm's iterations spread; "
    "null is 1, or 10 where two sides are compared",
    help="Fresh processes per arm, one after the other.",
    shown_default="`1`; 10 where two sides are compared",
    scopes=SPEC,
)
SAMPLES_PER_SIDE = 50
"""Samples of each side of a comparison where nobody says how many."""
PROCESSES_PER_SIDE = 10
"""Fresh processes of each side of a comparison: one alone would be judged by its luck with memory layout."""
PARALLELISM = Setting(
    "parallelism",
    ("integer",),
    default=1,
    minimum=1,
    maximum=1024,
    option="--parallelism",
    example=1,
    description="Trials in flight at once",
    help="Trials at the same time.",
    hint="suites have --concurrency",
    scopes=SPEC,
)
GC = Setting(
    "gc",
    ("string",),
    default="normal",
    choices=("normal", "off", "collect"),
    spelled="gc",
    example="normal",
    description="Garbage collector: left alone, off while timing, or off and collected before",
    scopes=SPEC,
)
AFFINITY = Setting(
    "affinity",
    ("string",),
    default="auto",
    choices=("auto", "none"),
    example="none",
    description="auto keeps every arm that uses one CPU on the same one, so that no arm has the quieter CPU; "
    "none leaves it to the system.",
    scopes=SPEC,
)
INNER_LOOPS = Setting(
    "inner_loops",
    ("integer",),
    default=0,
    spelled="inner_loops",
    description="Calls in one sample; auto calibrates fast functions",
    example=["auto", 100],
    shown_default="`auto`",
    note="it batches calls shorter than 50 µs; with a number and `warmup: 0`, no call goes unrecorded",
    scopes=SPEC,
)

EXECUTOR = Setting(
    "executor",
    ("string",),
    default="local",
    spelled="line",
    option="--executor",
    metavar="local|ray|ray://HOST:PORT",
    example="ray",
    description="Where trials run: local (this machine), ray (a cluster on this machine, or that of RAY_ADDRESS), "
    "or ray://HOST:PORT (that cluster)",
    help="Where trials run: this machine, or the machines of a Ray cluster.",
    worded={"resume": Wording(help="Go on there.  [default: as the run began]")},
    scopes=SPEC | SUITE | RESUME,
)

# Limits.
TIMEOUT = Setting(
    "timeout_s",
    ("number", "null"),
    default=600.0,
    above=0,
    maximum=MAX_SECONDS,
    option="--timeout",
    metavar="SECONDS",
    example=60,
    description="Longest time of one trial in seconds; null for no limit",
    help="Limit of one trial, or of one case.",
    scopes=SPEC,
)
"""A trial that hangs costs its sample after ten minutes, not the run."""
MEMORY_LIMIT = Setting(
    "memory_limit_mb",
    ("number", "null"),
    default=None,
    above=0,
    maximum=MAX_MEBIBYTES,
    example=2048,
    description="Memory of one worker in MiB; null for no limit",
    scopes=SPEC,
)
OUTPUT_LIMIT = Setting(
    "output_limit_mb",
    ("number",),
    default=16,
    above=0,
    maximum=MAX_MEBIBYTES,
    example=16,
    description="Output of one worker in MiB that is kept; more ends the trial",
    scopes=SPEC,
)
TIME_BUDGET = Setting(
    "time_budget_s",
    ("number", "null"),
    default=None,
    above=0,
    maximum=MAX_SECONDS,
    option="--time-budget",
    metavar="SECONDS",
    example=600,
    description="Time for the whole run in seconds, after which it stops; null for no limit",
    help="Limit of the run.",
    worded={"suite": Wording("Time for the whole run in seconds; null for no limit")},
    scopes=SPEC | SUITE,
)
MAX_FAILURE_RATE = Setting(
    "max_failure_rate",
    ("number",),
    default=0.5,
    minimum=0,
    maximum=1,
    example=0.5,
    description="Share of failed samples above which the run stops",
    note="counted for each arm, which is then given up",
    scopes=SPEC | SUITE,
)
BANDS_FLAG = Setting(
    "bands",
    ("boolean",),
    default=False,
    option="--bands",
    description="Hold the figures against bands: good from here on, a red flag from there on",
    help="Say what the figures mean: good, or a red flag.",
    note="with the thresholds under `bands:` of the file, where it has some",
    scopes=SPEC_CHOICE | SUITE_CHOICE,
)
OTEL = Setting(
    "otel",
    ("boolean",),
    default=False,
    option="--otel",
    example=True,
    description="Put each case once more to command and Python agents, traced, and keep the spans they export",
    help="Suites: a pass with OpenTelemetry tracing after the timed ones.",
    scopes=SUITE,
)
