"""``gate:`` and ``weights:`` of ``dyno.yaml``: their format, and the policy that they make.

First what it asks of single cases and of what was seen, then its rules by metric.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from agentdyno.errors import nearest
from agentdyno.model.metric import Direction, known_metric
from agentdyno.model.policy import (
    AGENT_METRICS,
    DEFAULT_RULES,
    MINIMUM_METRICS,
    CasePolicy,
    GatePolicy,
    GateRule,
    Quarantine,
    Tier,
)
from agentdyno.settings.judging import PARTS_TOLERANCE, POINTS_TOLERANCE
from agentdyno.settings.setting import GATE, REQUIRE
from agentdyno.specs.files.problems import dotted, got, shorten
from agentdyno.specs.files.shorthand import refuse
from agentdyno.specs.forms import FileModel, Line, form
from agentdyno.specs.suite.format import spell_ids

RETURNED = "result."
"""What a number that an experiment returns begins with."""
_TIERS = ("critical", "supporting", "advisory", "off")
_EXPERIMENTS = ("duration_s", "cpu_s", "peak_rss_bytes", "throughput_per_s")
_POINTS = ("pass_hat_3", "overall")

Files = Annotated[
    list[Line], BeforeValidator(spell_ids, json_schema_input_type=str | list[str]), Field(max_length=100)
]
Weight = Annotated[float, Field(ge=0, le=10**6)]
MOST_PATTERNS = 1_000
Least = Annotated[float, Field(gt=0, le=1)]
CaseNames = Annotated[
    list[Line],
    BeforeValidator(spell_ids, json_schema_input_type=str | list[str | int]),
    Field(max_length=MOST_PATTERNS),
]


def check_day(value: object) -> object:
    """A day, ISO 8601; readers of YAML may have made a date of it already."""
    if isinstance(value, date):
        return value.isoformat()[:10]
    if isinstance(value, str):
        try:
            date.fromisoformat(value)
        except ValueError:
            message = f"expected a day, got {shorten(repr(value))}"
            raise refuse(message, "Write year, month and day, as in 2026-12-31.") from None
    return value


class QuarantineModel(FileModel):
    """Cases that do not block for a while."""

    case: Line = Field(description="A case: its id, a tag, or a pattern", examples=["refund-17"])
    reason: Line = Field(description="Why; it is shown with every check", examples=["the oracle is being mended"])
    until: Annotated[Line, BeforeValidator(check_day, json_schema_input_type=str)] = Field(
        description="The last day on which it holds; after it the check fails", examples=["2026-12-31"]
    )


class RequireOwn(FileModel):
    """What is required of every single case."""


RequireModel = form("RequireModel", REQUIRE, base=RequireOwn)
if TYPE_CHECKING:  # a class that is made at run time is no type for a checker
    RequireField = RequireOwn
else:
    RequireField = RequireModel


class GateCases(FileModel):
    """The part of a gate that is about cases."""

    minimum: dict[str, Least] = Field(
        default_factory=dict,
        description="Least value by metric, as seen in this run: accuracy, reliability, pass_hat_3 or overall",
        examples=[{"accuracy": 0.95}],
    )
    must_pass: CaseNames = Field(
        default_factory=list,
        description="Cases that have to be right in every try: ids, tags or patterns",
        examples=[["login-*", "safety"]],
    )
    require: RequireField = Field(
        default_factory=RequireModel,
        description="What is required of every single case; cases in doubt are tried again",
        examples=[{"pass_rate": 0.8}],
    )
    quarantine: list[QuarantineModel] = Field(
        default_factory=list,
        max_length=MOST_PATTERNS,
        description="Cases that do not block for a while, each with a reason and a last day",
        examples=[[{"case": "refund-17", "reason": "the oracle is being mended", "until": "2026-12-31"}]],
    )

    @model_validator(mode="after")
    def _minima(self) -> Self:
        for name in self.minimum:
            if name not in MINIMUM_METRICS:
                message = f"no least value can be asked of {shorten(repr(name))}"
                raise refuse(message, nearest(name[:200], MINIMUM_METRICS), dotted(("minimum", name)))
        return self


def case_policy(document: Mapping[str, Any]) -> CasePolicy:
    """The policy of a validated ``gate:``."""
    required = document.get("require", {}).get("pass_rate")
    return CasePolicy(
        minimum={name: float(value) for name, value in document.get("minimum", {}).items()},
        must_pass=tuple(document.get("must_pass", ())),
        max_broken=document.get("max_broken"),
        pass_rate=None if required is None else float(required),
        quarantine=tuple(
            Quarantine(row["case"], row["reason"], row["until"]) for row in document.get("quarantine", ())
        ),
    )


def spell_rule(value: object) -> object:
    """A bare tier as the mapping that it stands for."""
    if isinstance(value, str):
        if value not in _TIERS:
            raise refuse(f"expected {', '.join(_TIERS[:-1])} or off, got {got(value)}", nearest(value[:200], _TIERS))
        return {"tier": value}
    if value is False:  # how other readers of YAML understand `off`
        return {"tier": "off"}
    if not isinstance(value, dict):
        raise refuse(
            f"expected a tier, or a mapping with tier and tolerance, got {got(value)}",
            "Write for example `critical`, `off` or `{tier: critical, tolerance: 0.02}`.",
        )
    return value


class RuleModel(FileModel):
    """How one metric is judged."""

    tier: Literal["critical", "supporting", "advisory", "off"] = Field(
        default="supporting",
        description="critical blocks, supporting warns, advisory is shown, off is left out",
        examples=["critical"],
    )
    tolerance: float = Field(
        default=PARTS_TOLERANCE,
        ge=0,
        le=100,
        description="How much worse it may be: a part of the baseline, or points of a score or rate",
        examples=[0.02],
    )


RuleField = Annotated[
    RuleModel,
    BeforeValidator(
        spell_rule,
        json_schema_input_type=RuleModel | Literal["critical", "supporting", "advisory", "off", False],
    ),
]


class GateOwn(GateCases):
    """What ``dyno check`` lets through."""

    against: Line = Field(
        default="",
        description="Default baseline: a git revision, a baseline file, or AGENT@VERSION",
        examples=["main"],
    )
    metrics: dict[str, RuleField] = Field(
        default_factory=dict,
        description="Metrics by name: a tier, or a mapping with tier and tolerance; before the default rules",
        examples=[
            {"accuracy": {"tier": "critical", "tolerance": 0.02}, "cost_usd": "advisory", "reliability": "off"}
        ],
    )

    calibrations: Files = Field(
        default_factory=list,
        description="Files of `dyno judge calibrate --output`: calibrations of judges beside those of the store",
        examples=[["calibration.json"]],
    )

    @model_validator(mode="after")
    def _names(self) -> Self:
        for name in self.metrics:
            if not _is_judged(name):
                message = f"unknown metric {shorten(repr(name))}"
                known = {*AGENT_METRICS, *_EXPERIMENTS}
                remedy = f"{nearest(name[:200], known)} A number that an experiment returns is {RETURNED}NAME."
                raise refuse(message, remedy, dotted(("metrics", name)))
        return self


GateModel = form("GateModel", GATE, base=GateOwn, order="against alpha metrics minimum must_pass max_broken")
if TYPE_CHECKING:  # a class that is made at run time is no type for a checker
    GateField = GateOwn
else:
    GateField = GateModel


class WeightsModel(FileModel):
    """How much each dimension counts in an overall score."""

    accuracy: Weight = Field(default=0.30, description="Weight of accuracy", examples=[0.3])
    speed: Weight = Field(default=0.20, description="Weight of speed", examples=[0.2])
    efficiency: Weight = Field(default=0.20, description="Weight of efficiency", examples=[0.2])
    cost: Weight = Field(default=0.15, description="Weight of cost", examples=[0.15])
    reliability: Weight = Field(default=0.15, description="Weight of reliability", examples=[0.15])

    @model_validator(mode="after")
    def _some(self) -> Self:
        if not any((self.accuracy, self.speed, self.efficiency, self.cost, self.reliability)):
            raise refuse("expected at least one weight above 0", "Write for example `weights: {accuracy: 0.3}`.")
        return self


def gate_policy(document: Mapping[str, Any]) -> GatePolicy:
    """The policy of a validated ``gate:``: the default rules, those that it names replaced, added or taken away."""
    written: Mapping[str, Mapping[str, Any]] = document.get("metrics", {})
    rules = {rule.metric: rule for rule in DEFAULT_RULES}
    for metric, row in written.items():
        default = rules.pop(metric, None) or GateRule(metric, Tier.SUPPORTING, _default_tolerance(metric))
        tier = row.get("tier", default.tier.value)
        if tier != "off":
            rules[metric] = GateRule(metric, Tier(tier), float(row.get("tolerance", default.tolerance)))
    policy = GatePolicy()
    return GatePolicy(
        rules=tuple(sorted(rules.values(), key=lambda rule: list(Tier).index(rule.tier))),
        alpha=float(document.get("alpha", policy.alpha)),
        against=document.get("against"),
        own_tiers=tuple(metric for metric, row in written.items() if "tier" in row),
        own_tolerances=tuple(metric for metric, row in written.items() if "tolerance" in row),
        cases=case_policy(document),
        uncalibrated=document.get("uncalibrated", policy.uncalibrated),
        judge_floor=float(document.get("judge_floor", policy.judge_floor)),
        calibrations=tuple(document.get("calibrations", ())),
    )


def _default_tolerance(metric: str) -> float:
    return POINTS_TOLERANCE if metric in _POINTS else PARTS_TOLERANCE


def _is_judged(name: str) -> bool:
    if name in AGENT_METRICS or (name.startswith(RETURNED) and len(name) > len(RETURNED) and name.isprintable()):
        return True
    if name != "score" and known_metric(name).direction is not Direction.UNKNOWN:
        return True
    from agentdyno.findings.figures.window_readings import LOAD_METRICS

    return name in LOAD_METRICS and LOAD_METRICS[name].direction is not Direction.UNKNOWN
