"""Whether a change may pass: the policy, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from agentdyno.findings.duel.model import PairedRow
from agentdyno.findings.standing.model import CaseKey
from agentdyno.model.result import RunWarning
from agentdyno.settings.judging import ALPHA


class Tier(StrEnum):
    """``critical`` metrics block, ``supporting`` ones warn, ``advisory`` ones are shown."""

    CRITICAL = "critical"
    SUPPORTING = "supporting"
    ADVISORY = "advisory"


class GateVerdict(StrEnum):
    PASS = "PASS"
    WARN = "WARN"
    BLOCK = "BLOCK"
    INCONCLUSIVE = "INCONCLUSIVE"


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
    GateRule("reliability", Tier.SUPPORTING, 0.05),
    GateRule("duration_s", Tier.SUPPORTING, 0.10),
    GateRule("cost_usd", Tier.SUPPORTING, 0.10),
    GateRule("total_tokens", Tier.ADVISORY, 0.10),
)


AGENT_METRICS = (
    "accuracy",
    "error_rate",
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


@dataclass(frozen=True, slots=True)
class GatePolicy:
    """``gate:`` of dyno.yaml. ``against`` is the default baseline: a git revision, a file, or AGENT@VERSION.

    ``alpha`` is of the two-sided tests, over all critical metrics together; only changes for the worse block, so that
    an agent set against itself is blocked at most once in 2 / ``alpha`` times. ``own_tiers`` and ``own_tolerances``
    name the metrics whose tier and tolerance the user wrote; those of the others are defaults.
    """

    rules: tuple[GateRule, ...] = DEFAULT_RULES
    alpha: float = ALPHA.default
    against: str | None = None
    own_tiers: tuple[str, ...] = ()
    own_tolerances: tuple[str, ...] = ()

    def rule(self, metric: str) -> GateRule | None:
        return next((rule for rule in self.rules if rule.metric == metric), None)


@dataclass(frozen=True, slots=True)
class GateRow:
    """One metric judged. Two separate questions: is it worse by more than the tolerance (``exceeded``), and is it
    worse beyond chance (``significant``)? ``None`` where a question cannot be answered. ``p_worse`` is one-sided,
    corrected within its family."""

    rule: GateRule
    row: PairedRow
    exceeded: bool | None
    significant: bool | None
    p_worse: float | None
    verdict: GateVerdict
    reason: str


@dataclass(frozen=True, slots=True)
class BrokenCase:
    """A case that the baseline passes and the candidate does not, with what the candidate answered where known.

    The two are scores; the candidate's is ``None`` where every execution of the case ended in an error.
    """

    key: CaseKey
    baseline: float
    candidate: float | None
    want: str = ""
    got: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class GateReport:
    """``rows`` decide; ``benchmark_rows`` explain and do not decide. The exit code follows from the verdict.

    Of experiments, ``suite`` is the name of the spec and the ``benchmark`` of a row is an arm. ``paired``: both sides
    were measured in the same runs. ``summary`` is one sentence. ``fixed`` cases are those that only the candidate
    passes; those that changed most come first, as they do in ``broken``.
    """

    baseline: str
    candidate: str
    suite: str
    verdict: GateVerdict
    summary: str
    rows: tuple[GateRow, ...]
    benchmark_rows: tuple[PairedRow, ...] = ()
    broken: tuple[BrokenCase, ...] = ()
    fixed: tuple[CaseKey, ...] = ()
    policy: GatePolicy = field(default_factory=GatePolicy)
    paired: bool = False
    warnings: tuple[RunWarning, ...] = ()
