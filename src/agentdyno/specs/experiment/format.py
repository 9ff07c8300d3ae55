"""The file format as pydantic models: the field names are the contract, the descriptions are for editors.

Every field is optional here; what is required, and what excludes what across layers, is checked when the
layers (file, ``quick:``, command line) have been laid over each other.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from agentdyno.specs.files.problems import dotted, shorten
from agentdyno.specs.files.shorthand import (
    MAX_ITERATIONS,
    check_line,
    check_reference,
    refuse,
    spell_auto,
    spell_gc,
    spell_inner_loops,
    spell_instrument,
    spell_iterations,
)

MAX_SECONDS = 2_000_000
"""About 23 days: the longest wait that the system's polling calls take."""


Line = Annotated[str, BeforeValidator(check_line), Field(min_length=1, max_length=1000)]
Reference = Annotated[str, BeforeValidator(check_reference), Field(min_length=1, max_length=1000)]
Seconds = Annotated[float, Field(gt=0, le=MAX_SECONDS)]
Megabytes = Annotated[float, Field(gt=0, le=10**9)]


class FileModel(BaseModel):
    """Unknown keys are refused and nothing is converted: text is not a number."""

    model_config = ConfigDict(extra="forbid", strict=True)


class AutoModel(FileModel):
    """Measure until the median is known precisely enough."""

    precision: float = Field(
        default=0.02,
        gt=0,
        le=1,
        description="Half-width of the median's 95 % interval, as a fraction of the median, at which an arm stops",
        examples=[0.02],
    )
    min: int = Field(
        default=10, ge=1, le=MAX_ITERATIONS, description="Fewest measured iterations of an arm", examples=[10]
    )
    max: int = Field(
        default=500, ge=1, le=MAX_ITERATIONS, description="Most measured iterations of an arm", examples=[500]
    )

    @model_validator(mode="after")
    def _ordered(self) -> AutoModel:
        if {"min", "max"} <= self.model_fields_set and self.min > self.max:
            raise refuse(f"expected min to be at most max, got {self.min} and {self.max}", "Raise max.", "max")
        return self


class IterationsModel(FileModel):
    """How often each arm is executed."""

    warmup: int = Field(
        default=1, ge=0, le=MAX_ITERATIONS, description="Calls before measuring that are not recorded", examples=[1]
    )
    measured: int = Field(
        default=10, ge=1, le=MAX_ITERATIONS, description="Recorded iterations of each arm", examples=[10]
    )
    instrumented: int = Field(
        default=1, ge=0, le=10_000, description="Extra passes for each perturbing instrument", examples=[1]
    )
    auto: Annotated[AutoModel, BeforeValidator(spell_auto, json_schema_input_type=AutoModel | Literal[True])] = Field(
        default_factory=AutoModel,
        description="Instead of measured: stop when the median is known precisely enough",
        examples=[{"precision": 0.02, "min": 10, "max": 500}],
    )

    @model_validator(mode="after")
    def _either(self) -> IterationsModel:
        if {"auto", "measured"} <= self.model_fields_set:
            raise refuse("expected either measured or auto, got both", "Remove one of the two.", "measured")
        return self


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
    def _disjoint(self) -> EntryFields:
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


class RunFields(EntryFields):
    """Everything that ``quick:`` may change too."""

    name: Line = Field(default="", description="Name of the run; the file's name without it", examples=["nightly"])
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
    imports: list[Line] = Field(
        default_factory=list,
        description="Python files or modules to load first, so that what they register is known",
        examples=[["bench/experiments.py", "package.module"]],
    )
    output_dir: Line = Field(default="", description="Folder for the results of this spec", examples=["results/sort"])
    reports: list[Line] = Field(
        default_factory=list,
        description="Reports to write with every run, by the names that --format takes",
        examples=[["md", "html"]],
    )
    tags: list[Line] = Field(default_factory=list, description="Words to find the run by", examples=[["baseline"]])
    notes: str = Field(
        default="", max_length=100_000, description="Free text kept with the run", examples=["first try"]
    )
    seed: int = Field(default=42, ge=0, description="Seed of order, draws and experiments", examples=[42])
    parallelism: int = Field(default=1, ge=1, le=1024, description="Trials in flight at once", examples=[1])
    isolation: Literal["inline", "process"] = Field(
        default="process",
        description="Run in worker processes, or in the very process of the runner",
        examples=["process"],
    )
    processes: int = Field(
        default=1, ge=1, le=10_000, description="Fresh processes over which an arm's iterations spread", examples=[1]
    )
    order: Literal["interleaved", "sequential"] = Field(
        default="interleaved",
        description="Arms in randomised blocks, or one after the other",
        examples=["interleaved"],
    )
    gc: Annotated[
        Literal["normal", "off", "collect"],
        BeforeValidator(spell_gc, json_schema_input_type=Literal["normal", "off", "collect", False]),
    ] = Field(
        default="normal",
        description="Garbage collector: left alone, off while timing, or off and collected before",
        examples=["normal"],
    )
    affinity: Literal["auto", "none"] = Field(
        default="auto",
        description="auto keeps every arm that uses one CPU on the same one, so that no arm has the quieter CPU; "
        "none leaves it to the system.",
        examples=["none"],
    )
    inner_loops: Annotated[
        int, BeforeValidator(spell_inner_loops, json_schema_input_type=Annotated[int, Field(ge=1)] | Literal["auto"])
    ] = Field(default=0, description="Calls in one sample; auto calibrates fast functions", examples=["auto", 100])
    timeout_s: Seconds | None = Field(
        default=None, description="Longest time of one trial in seconds; null for no limit", examples=[60]
    )
    memory_limit_mb: Megabytes | None = Field(
        default=None, description="Memory of one worker in MiB; null for no limit", examples=[2048]
    )
    output_limit_mb: Megabytes = Field(
        default=16, description="Output of one worker in MiB that is kept; more ends the trial", examples=[16]
    )
    time_budget_s: Seconds | None = Field(
        default=None,
        description="Time for the whole run in seconds, after which it stops; null for no limit",
        examples=[600],
    )
    max_failure_rate: float = Field(
        default=0.5, ge=0, le=1, description="Share of failed samples above which the run stops", examples=[0.5]
    )
    metrics: dict[str, MetricModel] = Field(
        default_factory=dict,
        description="Returned numbers with a unit and a direction, so that they can be judged",
        examples=[{"rows_per_s": {"unit": "/s", "direction": "higher"}}],
    )

    @model_validator(mode="after")
    def _one_source(self) -> RunFields:
        if {"experiment", "experiments"} <= self.model_fields_set:
            raise refuse("expected experiment or experiments, got both", "Remove one of the two.", "experiments")
        seen: set[str] = set()
        for i, item in enumerate(self.instrumentation):
            if item.name in seen:
                raise refuse(f"{item.name} appears twice", "Keep one of the two.", f"instrumentation[{i}]")
            seen.add(item.name)
        return self


class QuickModel(RunFields):
    """What a quick run changes; mappings are merged key by key."""


class SpecFile(RunFields):
    """A run, as its file describes it."""

    quick: QuickModel = Field(
        default_factory=QuickModel,
        description="Changes for a quick run (--quick); mappings are merged key by key",
        examples=[{"iterations": 2, "params": {"documents": 100}}],
    )
