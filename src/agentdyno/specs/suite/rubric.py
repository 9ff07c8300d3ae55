"""How answers are judged, as a suite file says it: scorers, reducer, targets and limits."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from agentdyno.errors import nearest
from agentdyno.findings.figures.dimensions import measured_dimensions
from agentdyno.model.metric import Direction, known_metric
from agentdyno.settings.judging import MAX_K
from agentdyno.settings.setting import RUBRIC
from agentdyno.specs.files.problems import dotted, got, shorten
from agentdyno.specs.files.shorthand import refuse
from agentdyno.specs.forms import FileModel, Line, form

DIMENSIONS = ("accuracy", "speed", "cost", "efficiency", "reliability")
JUDGED = ("score", "correctness", "completeness", "relevance")
METRICS = (
    *("duration_s", "cpu_s", "cost_usd", "total_tokens", "input_tokens", "output_tokens", "peak_rss_bytes"),
    *("ttft_s", "itl_s", "tokens_per_s", "api_calls"),
    *JUDGED,
)
_BEHIND = {
    "accuracy": "score",
    "speed": "duration_s",
    "cost": "cost_usd",
    "efficiency": "total_tokens, cpu_s or peak_rss_bytes",
}
_REDUCER = re.compile(r"(pass[@^])(k|[1-9]\d{0,3})|mean|max")
_SCORER_REMEDY = "Write for example `scorer: exact` or `scorer: [exact, {name: numeric, weight: 2}]`."


def higher_is_better(metric: str) -> bool:
    """Whether more of a metric is better; true for scores and for tokens per second."""
    return metric in JUDGED or known_metric(metric).direction is Direction.HIGHER


def check_measured(value: object) -> object:
    """Every name must be a metric or a dimension, and one of them must be scored."""
    if isinstance(value, (list, tuple)):
        for i, name in enumerate(value):
            if isinstance(name, str) and name not in (*METRICS, *DIMENSIONS):
                message = f"unknown metric {shorten(repr(name))}"
                raise refuse(message, nearest(name[:200], [*METRICS, *DIMENSIONS]), f"[{i}]")
        names = [name for name in value if isinstance(name, str)]
        if names and not measured_dimensions(names):
            remedy = f"Add one of {', '.join(DIMENSIONS)}, or leave metrics_measured out to score all of them."
            raise refuse(f"nothing would be scored by {', '.join(names)} alone", remedy)
    return value


def check_values(value: object) -> object:
    """Targets or limits: known metrics, and values that a logarithm can take."""
    if not isinstance(value, Mapping):
        return value
    for name, number in value.items():
        key = dotted((str(name),))
        if name not in METRICS:
            raise refuse(f"unknown metric {shorten(repr(name))}", _nearest_metric(str(name)), key)
        if isinstance(number, bool) or not isinstance(number, (int, float)):
            raise refuse(f"expected a number, got {got(number)}", f"Write for example `{name}: 2.5`.", key)
        if number <= 0:
            raise refuse(
                f"expected more than 0, got {number:g}", "Scores are logarithmic; give what is realistic.", key
            )
        if name in JUDGED and number > 1:
            raise refuse(f"expected at most 1, got {number:g}", "Scores lie between 0 and 1.", key)
    return value


def _nearest_metric(name: str) -> str:
    behind = _BEHIND.get(name)
    return f"{name} is scored from {behind}; give that." if behind else nearest(name[:200], METRICS)


def spell_scorers(value: object) -> object:
    """One name, or one mapping, as the list that it stands for."""
    items = value if isinstance(value, (list, tuple)) else [value]
    return [_scorer(item, i if items is value else None) for i, item in enumerate(items)]


def _scorer(item: object, position: int | None) -> object:
    key = "" if position is None else f"[{position}]"
    if isinstance(item, str):
        return {"name": item}
    if isinstance(item, dict) and "name" in item:
        return item
    raise refuse(f"expected a scorer's name, or a mapping with its name, got {got(item)}", _SCORER_REMEDY, key)


def spell_rubric(value: object) -> object:
    """A scorer, or a list of them, as the rubric that it stands for."""
    return {"scorer": value} if isinstance(value, (str, list, tuple)) else value


def check_reducer(value: object) -> object:
    """``mean``, ``max``, ``pass@3``, ``pass^3``, or ``pass@k`` with ``k`` beside it."""
    if isinstance(value, str) and not _REDUCER.fullmatch(value):
        raise refuse(
            f"expected mean, max, pass@k or pass^k, got {shorten(repr(value))}",
            "Write for example `reducer: pass@3`.",
        )
    return value


class ScorerModel(FileModel):
    """A scorer by name with its weight; every further key is one of its options."""

    model_config = ConfigDict(extra="allow", strict=True)

    name: Line = Field(description="Registered scorer, or path/file.py@name", examples=["exact"])
    weight: float = Field(default=1.0, gt=0, le=1e6, description="Weight in the case's score", examples=[2])
    options: dict[str, Any] = Field(
        default_factory=dict, description="Options of the scorer", examples=[{"tolerance": 0.01}]
    )

    @model_validator(mode="after")
    def _once(self) -> ScorerModel:
        for name in self.model_extra or {}:
            if name in self.options:
                message = f"the option {shorten(repr(name))} is given twice, within options and beside them"
                raise refuse(message, "Keep one of the two.", dotted((name,)))
        return self


ScorersField = Annotated[
    list[ScorerModel],
    BeforeValidator(spell_scorers, json_schema_input_type=str | ScorerModel | list[str | ScorerModel]),
    Field(min_length=1, max_length=50),
]
ValuesField = Annotated[
    dict[str, float],
    BeforeValidator(
        check_values,
        json_schema_input_type=dict[Literal[METRICS], Annotated[float, Field(gt=0)]],  # type: ignore[valid-type]
    ),
]
MeasuredField = Annotated[
    list[Line],
    BeforeValidator(
        check_measured,
        json_schema_input_type=list[Literal[(*METRICS, *DIMENSIONS)]],  # type: ignore[valid-type]
    ),
]


class RubricOwn(FileModel):
    """How answers are judged and figures scored."""

    if TYPE_CHECKING:
        k: int

    scorer: ScorersField = Field(
        default_factory=list,
        description="One scorer, or several with weights",
        examples=["exact", ["includes", {"name": "numeric", "weight": 2, "tolerance": 0.01}]],
    )
    reducer: Annotated[
        str, BeforeValidator(check_reducer), Field(json_schema_extra={"pattern": f"^({_REDUCER.pattern})$"})
    ] = Field(
        default="mean",
        description="How the epochs of a case become one score: mean, max, pass@k or pass^k",
        examples=["mean", "pass@3"],
    )
    targets: ValuesField = Field(
        default_factory=dict,
        description="Per metric the value that scores 1; limits says what scores 0",
        examples=[{"duration_s": 0.5, "cost_usd": 0.001}],
    )
    limits: ValuesField = Field(
        default_factory=dict,
        description="Per metric the value that scores 0; targets says what scores 1",
        examples=[{"duration_s": 10, "cost_usd": 0.05}],
    )

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        _check_pairs(self.targets, self.limits)
        kind, _, k = self.reducer.partition("@" if "@" in self.reducer else "^")
        if kind != "pass":
            if "k" in self.model_fields_set:
                raise refuse(f"expected no k with reducer {kind}, got {self.k}", "Write `reducer: pass@k`.", "k")
        elif k == "k" and "k" not in self.model_fields_set:
            raise refuse("expected a number for k, got none", "Write for example `reducer: pass@3`.", "reducer")
        elif k != "k" and "k" in self.model_fields_set and self.k != int(k):
            raise refuse(f"expected one k, got {k} in the reducer and k: {self.k}", "Remove one of the two.", "k")
        elif k != "k" and int(k) > MAX_K:
            raise refuse(f"expected k of at most {MAX_K}, got {k}", "Write for example `reducer: pass@3`.", "reducer")
        return self


RubricModel = form("RubricModel", RUBRIC, base=RubricOwn, order="scorer pass_threshold reducer k targets limits")
if TYPE_CHECKING:  # a class that is made at run time is no type for a checker
    RubricField = RubricOwn
else:
    RubricField = Annotated[
        RubricModel, BeforeValidator(spell_rubric, json_schema_input_type=str | list[Any] | RubricModel)
    ]


def _check_pairs(targets: Mapping[str, float], limits: Mapping[str, float]) -> None:
    for have, other, word, missing in ((targets, limits, "targets", "limit"), (limits, targets, "limits", "target")):
        for name in have:
            if name not in other:
                message = f"expected a {missing} for {name} too: between the two lie the scores from 1 to 0"
                raise refuse(message, f"Add `{name}:` below {missing}s.", f"{word}.{name}")
    for name, target in targets.items():
        more = higher_is_better(name)
        if target == limits[name] or (target > limits[name]) != more:
            word = "more" if more else "less"
            message = (
                f"expected a target better than the limit ({word} is better), got {target:g} and {limits[name]:g}"
            )
            raise refuse(message, "Exchange the two, or correct one.", f"targets.{name}")
