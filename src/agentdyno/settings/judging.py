"""Settings of judging: when an answer is right, and when a change counts."""

from __future__ import annotations

from agentdyno.settings.setting import (
    ASK,
    CHECK,
    GATE,
    LOAD_CHOICE,
    REQUIRE,
    RUBRIC,
    SPEC_CHOICE,
    SUITE,
    SUITE_CHOICE,
    Setting,
    Wording,
)

MAX_K = 1000
LEVEL = 0.05
"""Of the two-sided tests of what is compared, the gate's apart."""

LEAST_LABELS = 20
"""Answers that people have to label before anything is concluded about a judge."""

SHEET_SIZE = 100
"""Answers that are drawn for people to label."""

PASS_THRESHOLD = Setting(
    "pass_threshold",
    ("number",),
    default=0.5,
    minimum=0,
    maximum=1,
    example=0.5,
    description="Score from which an answer counts as right",
    scopes=RUBRIC,
)
K = Setting(
    "k",
    ("integer",),
    default=1,
    minimum=1,
    maximum=MAX_K,
    example=3,
    description="The k of pass@k and pass^k",
    scopes=RUBRIC,
)
ALPHA = Setting(
    "alpha",
    ("number",),
    default=0.01,
    above=0,
    maximum=0.5,
    example=0.01,
    description="Level of the two-sided tests over all critical metrics together; half of it is the chance "
    "to block although nothing is worse",
    scopes=GATE,
)
EXPERIMENT_ALPHA = 0.01
"""Level of the two-sided tests of an experiment's metrics, over all of them together."""
PARTS_TOLERANCE, POINTS_TOLERANCE = 0.10, 0.05
"""How much worse a metric may be where a rule does not say it: a part of a quantity, points of a score or rate."""
MAX_BROKEN = Setting(
    "max_broken",
    ("integer", "null"),
    default=None,
    minimum=0,
    maximum=100_000,
    example=0,
    description="Cases that may break: right in every try of the baseline and wrong in every one now, with at "
    "least 3 tries a side",
    scopes=GATE,
)
PASS_RATE = Setting(
    "pass_rate",
    ("number", "null"),
    default=None,
    minimum=0.5,
    maximum=0.99,
    example=0.8,
    description="Share of its tries in which every single case has to be right; cases in doubt are tried again",
    scopes=REQUIRE,
)
UNCALIBRATED = Setting(
    "uncalibrated",
    ("string",),
    default="warn",
    choices=("warn", "allow"),
    example="allow",
    description="What a metric that a model judged may do while no calibration of that judge stands: warn, so that "
    "it never blocks, or be allowed to block",
    scopes=GATE,
)
JUDGE_FLOOR = Setting(
    "judge_floor",
    ("number",),
    default=0.6,
    minimum=0,
    maximum=1,
    example=0.6,
    description="Cohen's kappa with people that a judge has to reach before what it judges may block",
    scopes=GATE,
)
MOST_REPEATS = 20
"""Tries of a case in doubt beyond those that every case has."""
FAIL_UNDER = Setting(
    "fail_under",
    ("number", "null"),
    default=None,
    above=0,
    maximum=1,
    option="--fail-under",
    metavar="ACCURACY",
    shows_maximum=True,
    example=0.9,
    description="Accuracy, 0 to 1, below which the run ends with exit code 1, when all is stored and shown",
    help="Suites: exit 1 where an agent's accuracy is below it.",
    scopes=SUITE,
)
TOLERANCE = Setting(
    "tolerance",
    ("number",),
    default=0.03,
    above=0,
    maximum=10,
    option="--tolerance",
    description="Relative change that counts",
    shows_default=True,
    shows_maximum=True,
    scopes=SPEC_CHOICE | SUITE_CHOICE | LOAD_CHOICE,
)
GATE_FLAG = Setting(
    "gate",
    ("boolean",),
    default=False,
    option="--gate",
    description="Exit 1 when something is worse, 3 when nothing is comparable",
    scopes=SPEC_CHOICE,
)
STRICT = Setting(
    "strict",
    ("boolean",),
    default=False,
    option="--strict",
    description="With --gate: exit 4 when something is inconclusive",
    worded={"check": Wording(help="Exit 4 when something warns or is inconclusive.")},
    scopes=SPEC_CHOICE | CHECK,
)
INCLUDE_PARTIAL = Setting(
    "include_partial",
    ("boolean",),
    default=False,
    option="--include-partial",
    description="Also runs that were quick, limited, cancelled or capped; they are marked",
    scopes=ASK,
)
RERUN = Setting(
    "rerun",
    ("boolean",),
    default=False,
    option="--rerun",
    description="Measure again what is in the store already",
    scopes=CHECK,
)
