"""Settings of what a run leaves behind: its name, notes, folder and reports."""

from __future__ import annotations

from agentdyno.settings.run import EVERY_CHOICE
from agentdyno.settings.setting import (
    COMMANDS,
    LOAD_COMMAND,
    LOAD_FILE,
    RESUME,
    SPEC,
    SPEC_CHOICE,
    SUITE,
    SUITE_CHOICE,
    Setting,
    Wording,
)

ROWS = 20
"""Rows of a list or of a table, where nobody asks for more."""
REPORTS_FOLDER = "."
"""Where reports about stored results go; those of a run lie in its folder."""

# What is kept with the result.
NAME = Setting(
    "name",
    ("string",),
    default="",
    spelled="line",
    example="nightly",
    description="Name of the run; the file's name without it",
    shown_default="the file's name",
    scopes=SPEC,
)
LOAD_NAME = Setting(
    "name",
    ("string",),
    default="",
    spelled="line",
    option="--name",
    example="checkout",
    description="Name of the run; the file's name without it",
    help="Name of the run.",
    shown_default="the file's name",
    scopes=LOAD_FILE,
)
TAGS = Setting(
    "tags",
    ("array",),
    default=(),
    spelled="lines",
    option="--tag",
    example=["baseline"],
    description="Words to find the run by",
    help="A tag for the result.",
    worded={
        "suite": Wording(example=["nightly"]),
        "load file": Wording(example=["nightly"]),
        "commands": Wording(example=["nightly"], help="Words to find the run by."),
    },
    scopes=SPEC | SUITE | LOAD_FILE | COMMANDS,
)
NOTES = Setting(
    "notes",
    ("string",),
    default="",
    spelled="text",
    option="--notes",
    example="first try",
    description="Free text kept with the run",
    help="A note for the result.",
    worded={
        "load file": Wording(example="first"),
        "commands": Wording(help="Free text kept with the run."),
    },
    scopes=SPEC | SUITE | LOAD_FILE | COMMANDS,
)
OUTPUT_DIR = Setting(
    "output_dir",
    ("string",),
    default="",
    spelled="line",
    option="--output-dir",
    example="results/sort",
    description="Folder for the results of this spec",
    help="Where the run's folder goes.",
    shown_default="`runs` beside the store",
    worded={
        "suite": Wording("Folder for the results", "results"),
        "load file": Wording("Folder for the results", "results/load"),
    },
    scopes=SPEC | SUITE | LOAD_FILE,
)
REPORTS = Setting(
    "reports",
    ("array",),
    default=(),
    spelled="lines",
    example=["md", "html"],
    description="Reports to write with every run, by the names that --format takes",
    scopes=SPEC,
)
FORMATS = Setting(
    "formats",
    ("string", "null"),
    default=None,
    option="--format",
    metavar="LIST",
    description="Reports to write",
    help="Reports to write: md,html,csv,json,png,junit.",
    worded={"load command": Wording(help="Reports to write: md,html,csv,json,png,prometheus.")},
    scopes=EVERY_CHOICE | LOAD_COMMAND,
)
OUTPUT = Setting(
    "output",
    ("string", "null"),
    default=None,
    option="--output",
    metavar="DIR",
    description="Folder for the reports themselves, in place of the run's own",
    help="Where reports go.",
    shown_default="the run's folder; with --report `./benchmark_results`",
    scopes=SPEC_CHOICE | SUITE_CHOICE,
)
VERBOSE = Setting(
    "verbose",
    ("boolean",),
    default=False,
    option="-v --verbose",
    description="Show every table, with intervals, weights and footnotes, in place of the first screen",
    help="Every table, with intervals, weights and footnotes.",
    scopes=SPEC_CHOICE | SUITE_CHOICE | RESUME,
)
RESULTS_FOLDER = "benchmark_results"
"""Where ``--report`` writes, where nobody says."""
