"""What ``gate:`` of ``dyno.yaml`` asks of single cases and of what was seen: its format, and the policy it makes."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import TYPE_CHECKING, Annotated, Any, Self

from pydantic import BeforeValidator, Field, model_validator

from agentdyno.errors import nearest
from agentdyno.model.policy import MINIMUM_METRICS, CasePolicy, Quarantine
from agentdyno.settings.setting import REQUIRE
from agentdyno.specs.files.problems import dotted, shorten
from agentdyno.specs.files.shorthand import refuse
from agentdyno.specs.forms import FileModel, Line, form
from agentdyno.specs.suite.format import spell_ids

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
