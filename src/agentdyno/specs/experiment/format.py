"""The file format as pydantic models: the field names are the contract, the descriptions are for editors.

Every field is optional here; what is required, and what excludes what across layers, is checked when the
layers (file, ``quick:``, command line) have been laid over each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BeforeValidator, ConfigDict, Field, model_validator

from agentdyno.settings.run import MAX_ITERATIONS
from agentdyno.settings.setting import AUTO, ITERATIONS, SPEC
from agentdyno.specs.bands import BandsKey
from agentdyno.specs.files.problems import dotted, shorten
from agentdyno.specs.files.shorthand import (
    check_entry_name,
    check_reference,
    refuse,
    spell_auto,
    spell_instrument,
    spell_iterations,
)
from agentdyno.specs.forms import FileModel, Line, form

Reference = Annotated[str, BeforeValidator(check_reference), Field(min_length=1, max_length=1000)]


EntryName = Annotated[str, BeforeValidator(check_entry_name), Field(min_length=1, max_length=100)]


class AutoOwn(FileModel):
    """Measure until the median is known precisely enough."""

    if TYPE_CHECKING:
        min: int
        max: int

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if {"min", "max"} <= self.model_fields_set and self.min > self.max:
            raise refuse(f"expected min to be at most max, got {self.min} and {self.max}", "Raise max.", "max")
        return self


AutoModel = form("AutoModel", AUTO, base=AutoOwn)


class IterationsOwn(FileModel):
    """How often each arm is executed."""

    @model_validator(mode="after")
    def _either(self) -> Self:
        if {"auto", "measured"} <= self.model_fields_set:
            raise refuse("expected either measured or auto, got both", "Remove one of the two.", "measured")
        return self


IterationsModel = form(
    "IterationsModel",
    ITERATIONS,
    base=IterationsOwn,
    order="warmup measured instrumented auto",
    auto=(
        Annotated[AutoModel, BeforeValidator(spell_auto, json_schema_input_type=AutoModel | Literal[True])],
        Field(
            default_factory=AutoModel,
            description="Instead of measured: stop when the median is known precisely enough",
            examples=[{"precision": 0.02, "min": 10, "max": 500}],
        ),
    ),
)
if TYPE_CHECKING:  # a class that is made at run time is no type for a checker
    IterationsField = IterationsOwn
else:
    IterationsField = Annotated[
        IterationsModel,
        BeforeValidator(
            spell_iterations,
            json_schema_input_type=IterationsModel | Annotated[int, Field(ge=1, le=MAX_ITERATIONS)] | Literal["auto"],
        ),
    ]


class EntryFields(FileModel):
    """Parameters, sweep and iterations: at the top of a file they hold for every experiment in it."""

    params: dict[str, Any] = Field(
        default_factory=dict,
        description="Values of the experiment's parameters; a list for one that is not itself a list is a sweep",
        examples=[{"documents": 1000, "index": ["scan", "tree"]}],
    )
    sweep: dict[str, Annotated[list[Any], Field(min_length=1)]] = Field(
        default_factory=dict,
        description="Values to run through, always a list for each parameter",
        examples=[{"documents": [100, 1000]}],
    )
    strategy: Literal["cartesian", "random", "zip"] = Field(
        default="cartesian",
        description="How swept values combine: every combination, a random draw of them, or first with first",
        examples=["cartesian"],
    )
    samples: int = Field(
        default=0,
        ge=1,
        le=10_000,
        description="Combinations to draw with strategy random; all of them where there are fewer",
        examples=[20],
    )
    iterations: IterationsField = Field(
        default_factory=IterationsModel,
        description="How often each arm is executed: a mapping, the number of measured iterations, or auto",
        examples=[{"warmup": 1, "measured": 10}, 10, "auto"],
    )

    @model_validator(mode="after")
    def _disjoint(self) -> Self:
        for name in self.sweep:
            if name in self.params:
                message = f"expected the parameter {shorten(repr(name))} in params or in sweep, got both"
                raise refuse(message, "Remove one of the two.", dotted(("sweep", name)))
        return self


class EntryModel(EntryFields):
    """One of several experiments."""

    experiment: Reference = Field(
        description="Registered name, path/file.py@name or module:attribute", examples=["retrieval"]
    )
    name: EntryName = Field(
        default="",
        description="Its name in this file: its arms begin with it, and --only chooses it",
        examples=["by context"],
    )


class InstrumentModel(FileModel):
    """An instrument by name; every further key is one of its options."""

    model_config = ConfigDict(extra="allow", strict=True)

    name: Line = Field(description="Name of the instrument", examples=["psutil"])


InstrumentField = Annotated[
    InstrumentModel, BeforeValidator(spell_instrument, json_schema_input_type=str | InstrumentModel)
]


class MetricModel(FileModel):
    """Unit and direction of a number that execute_once returns."""

    unit: str = Field(default="", max_length=100, description="Unit of the number", examples=["/s"])
    direction: Literal["higher", "lower", "unknown"] = Field(
        default="unknown", description="Which way is better; an unknown one is never judged", examples=["higher"]
    )


class SpecOwn(EntryFields, BandsKey):
    """Everything that ``quick:`` may change too."""

    experiment: Reference = Field(
        default="",
        description="What to measure: registered name, path/file.py@name or module:attribute",
        examples=["retrieval", "bench/sort.py@quick_sort", "package.module:Experiment"],
    )
    experiments: list[EntryModel] = Field(
        default_factory=list,
        min_length=1,
        max_length=1000,
        description="Several experiments in one run, instead of experiment",
        examples=[[{"experiment": "retrieval", "params": {"index": "scan"}}, {"experiment": "parsing"}]],
    )
    instrumentation: list[InstrumentField] = Field(
        default_factory=list,
        description="Instruments by name, with options where wanted",
        examples=[["timing", {"name": "psutil", "interval_s": 0.1}]],
    )
    metrics: dict[str, MetricModel] = Field(
        default_factory=dict,
        description="Returned numbers with a unit and a direction, so that they can be judged",
        examples=[{"rows_per_s": {"unit": "/s", "direction": "higher"}}],
    )

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        if {"experiment", "experiments"} <= self.model_fields_set:
            raise refuse("expected experiment or experiments, got both", "Remove one of the two.", "experiments")
        seen: set[str] = set()
        for i, item in enumerate(self.instrumentation):
            if item.name in seen:
                raise refuse(f"{item.name} appears twice", "Keep one of the two.", f"instrumentation[{i}]")
            seen.add(item.name)
        return self


class QuickOwn(SpecOwn):
    """What a quick run changes; mappings are merged key by key."""

    only: list[Line] = Field(
        default_factory=list,
        min_length=1,
        max_length=1000,
        description="The experiments of the file that are run, by name",
        examples=[["by context"]],
    )


class SpecFileOwn(SpecOwn):
    """A run, as its file describes it."""


_ORDER = (
    "params sweep strategy samples iterations name experiment experiments instrumentation imports output_dir reports "
    "tags notes seed parallelism isolation processes order gc affinity inner_loops timeout_s memory_limit_mb "
    "output_limit_mb time_budget_s max_failure_rate metrics bands"
)
QuickModel = form("QuickModel", SPEC, base=QuickOwn, order=_ORDER)
SpecFile = form(
    "SpecFile",
    SPEC,
    base=SpecFileOwn,
    order=_ORDER,
    quick=(
        QuickModel,
        Field(
            default_factory=QuickModel,
            description="Changes for a quick run (--quick); mappings are merged key by key",
            examples=[{"iterations": 2, "params": {"documents": 100}}],
        ),
    ),
)
