"""The format of a suite file as pydantic models: the field names are the contract, the descriptions for editors."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from agentdyno.errors import nearest
from agentdyno.specs.dataset.case_rows import MAX_CASES
from agentdyno.specs.dataset.format import DatasetField
from agentdyno.specs.experiment.format import MAX_SECONDS, FileModel, Line, Megabytes, Seconds
from agentdyno.specs.files.problems import dotted, shorten
from agentdyno.specs.files.shorthand import check_version, refuse
from agentdyno.specs.suite.rubric import DIMENSIONS, METRICS, MeasuredField, RubricModel, ScorersField, spell_rubric
from agentdyno.specs.workspace.agents import AgentField

CATEGORIES = Literal["speed", "accuracy", "cost", "reliability", "scalability", "comprehensive"]
TEST_TYPES = Literal["synthetic", "real_world", "stress", "edge_case"]
MAX_BENCHMARKS = 1000
MAX_EPOCHS = 10_000

Epochs = Annotated[int, Field(ge=1, le=MAX_EPOCHS)]
Warmup = Annotated[int, Field(ge=0, le=MAX_EPOCHS)]
Text = Annotated[str, Field(max_length=100_000)]


def check_date(value: object) -> object:
    """An ISO 8601 date, with or without a time."""
    if isinstance(value, str):
        try:
            datetime.fromisoformat(value)
        except ValueError:
            raise refuse(
                f"expected a date, got {shorten(repr(value))}", 'Write for example "2025-01-31" or with a time.'
            ) from None
    return value


def spell_case_choice(value: object) -> object:
    """A list of ids as the mapping that it stands for."""
    return {"ids": value} if isinstance(value, (str, list, tuple)) else value


def spell_ids(value: object) -> object:
    """One id as a list; numbers, as a file may have them, as text."""
    if isinstance(value, (list, tuple)):
        return [str(item) if isinstance(item, int) and not isinstance(item, bool) else item for item in value]
    return [value] if isinstance(value, str) else value


class ConstraintsModel(FileModel):
    """What may be used; null, or leaving a key out, is no limit."""

    time_limit_ms: Annotated[float, Field(gt=0, le=MAX_SECONDS * 1000)] | None = Field(
        default=None, description="Longest time in milliseconds; leave it out for no limit", examples=[30_000]
    )
    memory_limit_mb: Megabytes | None = Field(
        default=None, description="Memory in MiB; leave it out for no limit", examples=[512]
    )
    token_limit: Annotated[int, Field(gt=0, le=10**12)] | None = Field(
        default=None, description="Tokens, in and out; leave it out for no limit", examples=[4000]
    )
    cost_limit_usd: Annotated[float, Field(gt=0, le=10**9)] | None = Field(
        default=None, description="US dollars; leave it out for no limit", examples=[0.05]
    )


class BaselineModel(FileModel):
    """Scores that an agent is known to have."""

    agent_id: Line = Field(description="The agent", examples=["my-agent"])
    scores: dict[str, float] = Field(
        default_factory=dict, description="Score by dimension or metric", examples=[{"accuracy": 0.82}]
    )

    @model_validator(mode="after")
    def _known(self) -> BaselineModel:
        known = (*DIMENSIONS, "overall", *METRICS)
        for name, value in self.scores.items():
            key = dotted(("scores", name))
            if name not in known:
                raise refuse(f"unknown dimension {shorten(repr(name))}", nearest(name[:200], known), key)
            if name not in METRICS and not 0 <= value <= 1:
                raise refuse(f"expected 0 to 1, got {value:g}", "Scores lie between 0 and 1.", key)
        return self


class BenchmarkFields(FileModel):
    """What one benchmark is; at the top of a flat suite, what its only benchmark is."""

    test_type: TEST_TYPES = Field(default="synthetic", description="Kind of test", examples=["synthetic"])
    metrics_measured: MeasuredField = Field(
        default_factory=list,
        description="Metrics and dimensions that this benchmark is about",
        examples=[["accuracy", "duration_s"]],
    )
    dataset: DatasetField = Field(
        description="The cases: a file, a list, or a mapping that says where they come from",
        examples=["cases.jsonl", {"cases": [{"input": "1 + 1", "target": "2"}]}],
    )
    expected_outputs: list[Any] = Field(
        default_factory=list, description="Targets of the cases, by position", examples=[["391", "12"]]
    )
    scoring_rubric: Annotated[
        RubricModel, BeforeValidator(spell_rubric, json_schema_input_type=str | list[Any] | RubricModel)
    ] = Field(
        default_factory=RubricModel,
        description="How answers are judged and figures scored",
        examples=[{"scorer": "exact", "targets": {"duration_s": 0.5}, "limits": {"duration_s": 10}}],
    )
    scorer: ScorersField = Field(
        default_factory=list, description="The same as scoring_rubric.scorer", examples=["exact"]
    )

    @model_validator(mode="after")
    def _one_scorer(self) -> BenchmarkFields:
        if "scorer" in self.model_fields_set and "scorer" in self.scoring_rubric.model_fields_set:
            raise refuse(
                "expected the scorer here or in scoring_rubric, got both", "Remove one of the two.", "scorer"
            )
        return self


class BenchmarkModel(BenchmarkFields):
    """One benchmark of a suite."""

    benchmark_id: Line = Field(default="", description="Its id; from the name without it", examples=["arithmetic"])
    name: Line = Field(default="", description="Its name; the id without it", examples=["Small arithmetic"])
    description: Text = Field(default="", description="What it asks", examples=["Sums and products"])
    category: CATEGORIES = Field(
        default="comprehensive", description="What it is about; the suite's without it", examples=["accuracy"]
    )
    constraints: ConstraintsModel = Field(
        default_factory=ConstraintsModel,
        description="What one case may use",
        examples=[{"time_limit_ms": 30_000, "token_limit": 4000}],
    )
    epochs: Epochs = Field(default=5, description="Repeats of each case; the suite's without it", examples=[5])
    num_runs: Epochs = Field(default=5, description="The same as epochs", examples=[5])
    warmup: Warmup = Field(default=3, description="Calls before measuring, per agent", examples=[3])

    @model_validator(mode="after")
    def _named_once(self) -> BenchmarkModel:
        if {"epochs", "num_runs"} <= self.model_fields_set:
            raise refuse("expected epochs or num_runs, got both", "Remove one of the two.", "num_runs")
        if not {"benchmark_id", "name"} & self.model_fields_set:
            raise refuse("expected a name, got none", "Add for example `name: arithmetic`.", "name")
        return self


class CaseChoice(FileModel):
    """Which cases to run: by id (wildcards allowed), by metadata, or both."""

    ids: Annotated[list[Line], BeforeValidator(spell_ids, json_schema_input_type=str | list[str | int])] = Field(
        default_factory=list, min_length=1, description="Ids; * stands for anything", examples=[["sum-01", "edge-*"]]
    )
    where: dict[str, Any] = Field(
        default_factory=dict,
        description="Metadata that a case must have; a list means any of its values",
        examples=[{"difficulty": ["easy", "medium"]}],
    )


class SettingFields(FileModel):
    """How a suite is run: what ``quick:`` and the command line may change."""

    agents: list[AgentField] = Field(
        default_factory=list,
        min_length=1,
        max_length=200,
        description="Agents: names of dyno.yaml, references, or mappings with use, config and sweep",
        examples=[["my-agent", {"use": "openai:gpt-5-mini", "sweep": {"temperature": [0, 1]}}]],
    )
    epochs: Epochs = Field(default=5, description="Repeats of each case", examples=[5])
    warmup: Warmup = Field(
        default=3,
        description="Calls before measuring, per agent and benchmark; without it 3, none for agents that cost money",
        examples=[3],
    )
    concurrency: int = Field(default=1, ge=1, le=1024, description="Cases in flight at once", examples=[4])
    retries: int = Field(
        default=2, ge=0, le=100, description="New attempts after a failure of the infrastructure", examples=[2]
    )
    constraints: ConstraintsModel = Field(
        default_factory=ConstraintsModel, description="What the whole run may use", examples=[{"cost_limit_usd": 2}]
    )
    case_constraints: ConstraintsModel = Field(
        default_factory=ConstraintsModel,
        description="What one case may use where its benchmark does not say",
        examples=[{"time_limit_ms": 30_000}],
    )
    tags: list[Line] = Field(default_factory=list, description="Words to find the run by", examples=[["nightly"]])
    notes: Text = Field(default="", description="Free text kept with the run", examples=["first try"])
    seed: int = Field(default=42, ge=0, description="Seed of the order and of the cases", examples=[42])
    output_dir: Line = Field(default="", description="Folder for the results", examples=["results"])
    max_failure_rate: float = Field(
        default=0.5, ge=0, le=1, description="Share of failed samples above which the run stops", examples=[0.5]
    )
    time_budget_s: Seconds | None = Field(
        default=None, description="Time for the whole run in seconds; null for no limit", examples=[600]
    )


class SuiteLayer(SettingFields):
    """What a quick run changes."""

    limit: int = Field(
        default=0,
        ge=1,
        le=MAX_CASES,
        description="Cases of the whole suite, spread evenly over its benchmarks, the first ones of each",
        examples=[20],
    )
    benchmarks: list[Line] = Field(
        default_factory=list, min_length=1, description="Ids of the benchmarks to run", examples=[["arithmetic"]]
    )
    cases: Annotated[
        CaseChoice, BeforeValidator(spell_case_choice, json_schema_input_type=str | list[str | int] | CaseChoice)
    ] = Field(
        default_factory=CaseChoice,
        description="Cases to run, by id or by metadata",
        examples=[["sum-01"], {"where": {"difficulty": "easy"}}],
    )


class SuiteFile(BenchmarkFields, SettingFields):
    """A suite, as its file describes it."""

    dataset: DatasetField = Field(  # type: ignore[assignment]
        default=None,
        description="The cases of a suite with one benchmark, instead of benchmarks",
        examples=["cases.jsonl"],
    )
    suite_id: Line = Field(default="", description="Id of the suite; from its name without it", examples=["first"])
    suite_name: Line = Field(default="", description="Its name; the file's without it", examples=["First steps"])
    name: Line = Field(default="", description="The same as suite_name", examples=["First steps"])
    category: CATEGORIES = Field(
        default="comprehensive", description="What the suite is about", examples=["comprehensive"]
    )
    description: Text = Field(default="", description="What the suite asks", examples=["Sums and a few questions"])
    benchmarks: list[BenchmarkModel] = Field(
        default_factory=list,
        min_length=1,
        max_length=MAX_BENCHMARKS,
        description="The benchmarks",
        examples=[[{"name": "arithmetic", "scorer": "exact", "dataset": "arithmetic.jsonl"}]],
    )
    baseline_scores: list[BaselineModel] = Field(
        default_factory=list,
        description="Scores that agents are known to have",
        examples=[[{"agent_id": "my-agent", "scores": {"accuracy": 0.82}}]],
    )
    version: Annotated[Line, BeforeValidator(check_version)] = Field(
        default="", description="Version of the suite, as text", examples=["1.0"]
    )
    created_at: Annotated[Line, BeforeValidator(check_date)] = Field(
        default="", description="Date of the suite, ISO 8601", examples=["2025-01-31"]
    )
    imports: list[Line] = Field(
        default_factory=list,
        description="Python files or modules to load first, so that what they register is known",
        examples=[["scorers.py"]],
    )
    quick: SuiteLayer = Field(
        default_factory=SuiteLayer,
        description="Changes for a quick run (--quick)",
        examples=[{"limit": 10, "epochs": 1}],
    )

    @model_validator(mode="after")
    def _one_form(self) -> SuiteFile:
        given = self.model_fields_set
        if {"suite_name", "name"} <= given:
            raise refuse("expected suite_name or name, got both", "Remove one of the two.", "name")
        if {"benchmarks", "dataset"} <= given:
            raise refuse("expected benchmarks or dataset, got both", "Move the data set into a benchmark.", "dataset")
        if "benchmarks" in given and "expected_outputs" in given:
            message = "expected_outputs belong to a benchmark, got them beside benchmarks"
            raise refuse(message, "Move them into the benchmark.", "expected_outputs")
        return self
