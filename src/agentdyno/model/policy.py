"""What a change is held against: rules of the gate, as ``dyno.yaml`` says them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from agentdyno.settings.judging import ALPHA, JUDGE_FLOOR, UNCALIBRATED


class Tier(StrEnum):
    """``critical`` metrics block, ``supporting`` ones warn, ``advisory`` ones are shown."""

    CRITICAL = "critical"
    SUPPORTING = "supporting"
    ADVISORY = "advisory"


@dataclass(frozen=True, slots=True)
class GateRule:
    """``tolerance`` is how much worse a metric may be: a part of the baseline (0.1: 10 %) for quantities, plain
    points (0.02: two of a hundred) for scores and rates."""

    metric: str
    tier: Tier
    tolerance: float


DEFAULT_RULES = (
    GateRule("accuracy", Tier.CRITICAL, 0.02),
    GateRule("error_rate", Tier.CRITICAL, 0.02),
    GateRule("unscored", Tier.CRITICAL, 0.0),
    GateRule("reliability", Tier.SUPPORTING, 0.05),
    GateRule("duration_s", Tier.SUPPORTING, 0.10),
    GateRule("cost_usd", Tier.SUPPORTING, 0.10),
    GateRule("total_tokens", Tier.ADVISORY, 0.10),
)
AGENT_METRICS = (
    "accuracy",
    "error_rate",
    "unscored",
    "reliability",
    "pass_hat_3",
    "speed",
    "duration_s",
    "ttft_s",
    "cost",
    "cost_usd",
    "efficiency",
    "total_tokens",
    "cpu_s",
    "peak_rss_bytes",
    "overall",
)
"""What a gate can judge agents by; rules for other metrics are for experiments."""


MINIMUM_METRICS = ("accuracy", "reliability", "pass_hat_3", "overall")
"""Scores in 0..1 that a gate can ask a least value of."""


@dataclass(frozen=True, slots=True)
class Quarantine:
    """Cases that do not block for a while. ``case`` is an id, a tag or a pattern, ``until`` the last day (ISO)."""

    case: str
    reason: str
    until: str


@dataclass(frozen=True, slots=True)
class CasePolicy:
    """What is asked of single cases, and of what was seen: facts about these cases, whatever others would do.

    ``minimum`` gives the least value by metric. ``must_pass`` names cases that have to be right in every try, by id,
    tag or pattern. ``max_broken`` is how many cases may break steadily. ``pass_rate`` is the share of its tries in
    which each case has to be right. ``None`` and empty ask for nothing.
    """

    minimum: Mapping[str, float] = field(default_factory=dict)
    must_pass: tuple[str, ...] = ()
    max_broken: int | None = None
    pass_rate: float | None = None
    quarantine: tuple[Quarantine, ...] = ()


@dataclass(frozen=True, slots=True)
class GatePolicy:
    """``gate:`` of dyno.yaml. ``against`` is the default baseline: a git revision, a file, or AGENT@VERSION.

    ``alpha`` is of the two-sided tests, over all critical metrics together; only changes for the worse block, so that
    an agent set against itself is blocked at most once in 2 / ``alpha`` times. ``own_tiers`` and ``own_tolerances``
    name the metrics whose tier and tolerance the user wrote; those of the others are defaults. ``cases`` is what is
    asked of single cases; by default nothing. ``uncalibrated`` says whether what a model judged may block before that
    judge was held against people (``allow``), ``judge_floor`` is the kappa that it has to reach, ``calibrations`` are
    files with calibrations beside those of the store.
    """

    rules: tuple[GateRule, ...] = DEFAULT_RULES
    alpha: float = ALPHA.default
    against: str | None = None
    own_tiers: tuple[str, ...] = ()
    own_tolerances: tuple[str, ...] = ()
    cases: CasePolicy = field(default_factory=CasePolicy)
    uncalibrated: str = UNCALIBRATED.default
    judge_floor: float = JUDGE_FLOOR.default
    calibrations: tuple[str, ...] = ()

    def rule(self, metric: str) -> GateRule | None:
        return next((rule for rule in self.rules if rule.metric == metric), None)


DEFAULT_POLICY = GatePolicy()
"""What holds where no ``dyno.yaml`` says otherwise."""
