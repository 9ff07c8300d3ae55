"""The format of a suite file as pydantic models: the field names are the contract, the descriptions for editors."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from agentdyno.errors import nearest
from agentdyno.settings.run import MAX_MEBIBYTES, MAX_SECONDS
from agentdyno.settings.setting import BENCHMARK, QUICK, SUITE
from agentdyno.specs.bands import BandsKey
from agentdyno.specs.dataset.format import DatasetField
from agentdyno.specs.files.problems import dotted, shorten
from agentdyno.specs.files.shorthand import check_version, refuse
from agentdyno.specs.forms import FileModel, Line, Text, ThresholdsKey, form
from agentdyno.specs.suite.rubric import DIMENSIONS, METRICS, MeasuredField, RubricField, RubricModel, ScorersField
from agentdyno.specs.workspace.agent_format import AgentField

CATEGORIES = Literal["speed", "accuracy", "cost", "reliability", "scalability", "comprehensive"]
TEST_TYPES = Literal["synthetic", "real_world", "stress", "edge_case"]
MAX_BENCHMARKS = 1000


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
    memory_limit_mb: Annotated[float, Field(gt=0, le=MAX_MEBIBYTES)] | None = Field(
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
    def _known(self) -> Self:
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
        description="Dimensions to score, or metrics that tell about them; all five where nothing is named",
        examples=[["accuracy", "duration_s"]],
    )
    dataset: DatasetField = Field(
        description="The cases: a file, a list, or a mapping that says where they come from",
        examples=["cases.jsonl", {"cases": [{"input": "1 + 1", "target": "2"}]}],
    )
    expected_outputs: list[Any] = Field(
        default_factory=list, description="Targets of the cases, by position", examples=[["391", "12"]]
    )
    scoring_rubric: RubricField = Field(
        default_factory=RubricModel,
        description="How answers are judged and figures scored",
        examples=[{"scorer": "exact", "targets": {"duration_s": 0.5}, "limits": {"duration_s": 10}}],
    )
    scorer: ScorersField = Field(
        default_factory=list, description="The same as scoring_rubric.scorer", examples=["exact"]
    )

    @model_validator(mode="after")
    def _one_scorer(self) -> Self:
        if "scorer" in self.model_fields_set and "scorer" in self.scoring_rubric.model_fields_set:
            raise refuse(
                "expected the scorer here or in scoring_rubric, got both", "Remove one of the two.", "scorer"
            )
        return self


class BenchmarkOwn(BenchmarkFields):
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

    @model_validator(mode="after")
    def _named_once(self) -> Self:
        if {"epochs", "num_runs"} <= self.model_fields_set:
            raise refuse("expected epochs or num_runs, got both", "Remove one of the two.", "num_runs")
        if not {"benchmark_id", "name"} & self.model_fields_set:
            raise refuse("expected a name, got none", "Add for example `name: arithmetic`.", "name")
        return self


BenchmarkModel = form(
    "BenchmarkModel",
    BENCHMARK,
    base=BenchmarkOwn,
    order="test_type metrics_measured dataset expected_outputs scoring_rubric scorer benchmark_id name description "
    "category constraints epochs num_runs warmup",
)


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


class SuiteOwn(BandsKey):
    """How a suite is run: what ``quick:`` and the command line may change."""

    agents: list[AgentField] = Field(
        default_factory=list,
        min_length=1,
        max_length=200,
        description="Agents: names of dyno.yaml, references, or mappings with use, config and sweep",
        examples=[["my-agent", {"use": "openai:gpt-5-mini", "sweep": {"temperature": [0, 1]}}]],
    )
    constraints: ConstraintsModel = Field(
        default_factory=ConstraintsModel, description="What the whole run may use", examples=[{"cost_limit_usd": 2}]
    )
    case_constraints: ConstraintsModel = Field(
        default_factory=ConstraintsModel,
        description="What one case may use where its benchmark does not say",
        examples=[{"time_limit_ms": 30_000}],
    )


class LayerOwn(SuiteOwn):
    """What a quick run changes."""

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


_ORDER = (
    "agents epochs warmup concurrency retries constraints case_constraints tags notes seed output_dir "
    "max_failure_rate time_budget_s otel fail_under record bands"
)
SuiteLayer = form("SuiteLayer", SUITE | QUICK, base=LayerOwn, order=f"{_ORDER} limit benchmarks cases")


class SuiteFileOwn(BenchmarkFields, SuiteOwn, ThresholdsKey):
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

    @model_validator(mode="after")
    def _one_form(self) -> Self:
        given = self.model_fields_set
        if {"suite_name", "name"} <= given:
            raise refuse("expected suite_name or name, got both", "Remove one of the two.", "name")
        if {"benchmarks", "dataset"} <= given:
            raise refuse("expected benchmarks or dataset, got both", "Move the data set into a benchmark.", "dataset")
        if "benchmarks" in given and "expected_outputs" in given:
            message = "expected_outputs belong to a benchmark, got them beside benchmarks"
            raise refuse(message, "Move them into the benchmark.", "expected_outputs")
        return self


SuiteFile = form(
    "SuiteFile",
    SUITE,
    base=SuiteFileOwn,
    order=f"{_ORDER} test_type metrics_measured dataset expected_outputs scoring_rubric scorer suite_id suite_name "
    "name category description benchmarks baseline_scores thresholds version created_at imports",
    benchmarks=(
        list[BenchmarkModel],  # type: ignore[valid-type]
        Field(
            default_factory=list,
            min_length=1,
            max_length=MAX_BENCHMARKS,
            description="The benchmarks",
            examples=[[{"name": "arithmetic", "scorer": "exact", "dataset": "arithmetic.jsonl"}]],
        ),
    ),
    quick=(
        SuiteLayer,
        Field(
            default_factory=SuiteLayer,
            description="Changes for a quick run (--quick)",
            examples=[{"limit": 10, "epochs": 1}],
        ),
    ),
)
