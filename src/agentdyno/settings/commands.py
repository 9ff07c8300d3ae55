"""Settings of commands that are timed: how often each runs, what runs around it, and through which shell."""

from __future__ import annotations

from agentdyno.settings.run import MAX_ITERATIONS, MAX_SECONDS
from agentdyno.settings.setting import COMMANDS, Setting

SECONDS_PER_COMMAND = 3.0
"""Seconds of measured time for a command, within its fewest and most runs, where nobody says how many runs."""

WARMUP_RUNS = Setting(
    "warmup",
    ("integer",),
    default=0,
    minimum=0,
    maximum=MAX_ITERATIONS,
    option="-w --warmup",
    metavar="NUM",
    example=3,
    description="Runs of each command before measuring, which are not recorded",
    scopes=COMMANDS,
)
RUNS = Setting(
    "runs",
    ("integer", "null"),
    default=None,
    minimum=1,
    maximum=MAX_ITERATIONS,
    option="-r --runs",
    metavar="NUM",
    example=20,
    description="Measured runs of each command",
    help="Measured runs of each command.  [default: 3 seconds of them]",
    shown_default="3 seconds of them",
    scopes=COMMANDS,
)
MIN_RUNS = Setting(
    "min_runs",
    ("integer",),
    default=10,
    minimum=1,
    maximum=MAX_ITERATIONS,
    option="-m --min-runs",
    metavar="NUM",
    shows_default=True,
    example=10,
    description="Fewest runs of each command, where `runs` is not given",
    scopes=COMMANDS,
)
MAX_RUNS = Setting(
    "max_runs",
    ("integer",),
    default=1000,
    minimum=1,
    maximum=MAX_ITERATIONS,
    option="-M --max-runs",
    metavar="NUM",
    shows_default=True,
    example=1000,
    description="Most runs of each command, where `runs` is not given",
    scopes=COMMANDS,
)
COMMAND_NAMES = Setting(
    "names",
    ("array",),
    default=(),
    spelled="lines",
    option="-n --command-name",
    metavar="NAME",
    example=["old", "new"],
    description="What the commands are called in tables, in their order",
    scopes=COMMANDS,
)
SETUP = Setting(
    "setup",
    ("string",),
    default="",
    spelled="text",
    option="-s --setup",
    metavar="CMD",
    example="make",
    description="Run once for each command, before its runs; not timed",
    scopes=COMMANDS,
)
PREPARE = Setting(
    "prepare",
    ("array",),
    default=(),
    spelled="lines",
    option="-p --prepare",
    metavar="CMD",
    example=["sync"],
    description="Run before each run, warm-ups too; not timed. One for all commands, or one for each in their order",
    scopes=COMMANDS,
)
CLEANUP = Setting(
    "cleanup",
    ("string",),
    default="",
    spelled="text",
    option="-c --cleanup",
    metavar="CMD",
    example="rm -f out.bin",
    description="Run once for each command, after all runs; not timed",
    scopes=COMMANDS,
)
SHELL = Setting(
    "shell",
    ("string",),
    default="auto",
    spelled="line",
    option="-S --shell",
    metavar="SHELL",
    example="bash",
    description="The shell that reads the commands; `none` starts the programs themselves, `auto` does so unless a "
    "command needs a shell (then `sh` reads all of them). What the shell takes to start is measured and subtracted",
    scopes=COMMANDS,
)
IGNORE_FAILURE = Setting(
    "ignore_failure",
    ("boolean",),
    default=False,
    option="-i --ignore-failure",
    example=True,
    description="Go on when a command exits with a code other than 0; the times count",
    scopes=COMMANDS,
)
COMMAND_INPUT = Setting(
    "input",
    ("string",),
    default="null",
    spelled="line",
    option="--input",
    metavar="WHERE",
    example="words.txt",
    description="What commands read: `null` (nothing) or a file",
    scopes=COMMANDS,
)
COMMAND_OUTPUT = Setting(
    "output",
    ("string",),
    default="null",
    spelled="line",
    option="--output",
    metavar="WHERE",
    example="inherit",
    description="Where what commands print goes: `null` (nowhere), `inherit` (here) or a file",
    scopes=COMMANDS,
)
COMMAND_TIMEOUT = Setting(
    "timeout_s",
    ("number", "null"),
    default=None,
    above=0,
    maximum=MAX_SECONDS,
    option="--timeout",
    metavar="SECONDS",
    example=60,
    description="Longest time of one run in seconds; null for no limit",
    scopes=COMMANDS,
)
