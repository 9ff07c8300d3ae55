"""Where the cases of a benchmark come from, as a suite file says it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from agentdyno.settings.setting import DATASET
from agentdyno.settings.suite import MAX_CASES
from agentdyno.specs.files.problems import got
from agentdyno.specs.files.shorthand import refuse
from agentdyno.specs.forms import FileModel, Line, form

SOURCES = ("cases", "path", "generator", "hf")
HF_SCHEME = "hf:"


def spell_dataset(value: object) -> object:
    """A path, a generator or ``hf:org/name`` as text, or a list of cases, as the mapping that it stands for."""
    if isinstance(value, str):
        return named_source(value)
    if isinstance(value, (list, tuple)):
        return {"cases": value}
    if isinstance(value, dict):
        return value
    raise refuse(
        f"expected cases, a path or a mapping, got {got(value)}",
        "Write for example `dataset: cases.jsonl` or `dataset: {cases: [{input: 1 + 1, target: '2'}]}`.",
    )


def named_source(text: str) -> dict[str, object]:
    """``hf:org/name``, ``file.py@name`` or a path, under the key that it belongs to."""
    if text.startswith(HF_SCHEME):
        return {"hf": text.removeprefix(HF_SCHEME)}
    file, at, _ = text.rpartition("@")
    return {"generator": text} if at and file.endswith(".py") else {"path": text}


class ColumnsModel(FileModel):
    """Which column or key of the data holds which part of a case."""

    id: Line = Field(default="", description="Column of the case's id", examples=["question_id"])
    input: Line = Field(default="", description="Column of the input", examples=["question"])
    target: Line = Field(default="", description="Column of the expected answer", examples=["answer"])
    group: Line = Field(default="", description="Column that related cases share", examples=["document"])
    turns: Line = Field(default="", description="Column with the user's messages", examples=["messages"])
    metadata: Line = Field(default="", description="Column with a mapping of metadata", examples=["info"])


class DatasetOwn(FileModel):
    """The cases of a benchmark: inline, in a file, from a generator or from Hugging Face."""

    size: int = Field(
        default=0,
        ge=1,
        le=MAX_CASES,
        description="Number of cases, checked; a generator is asked for it",
        examples=[50],
    )
    complexity: Literal["low", "medium", "high", "extreme"] = Field(
        default="medium", description="How hard the cases are", examples=["medium"]
    )
    data_source: Line = Field(
        default="",
        description="Where the data come from, in words; the path itself where nothing else names the cases",
        examples=["synthetic"],
    )
    cases: list[Any] = Field(
        default_factory=list,
        description="Cases: input, and where wanted id, target, metadata, group, turns",
        examples=[[{"input": "What is 17 * 23?", "target": "391"}, {"id": "greeting", "input": "Hello"}]],
    )
    path: Line = Field(default="", description="JSONL, JSON, YAML, CSV or TSV file", examples=["cases.jsonl"])
    generator: Line = Field(
        default="",
        description="Registered generator or file.py@name, called with n and seed",
        examples=["data.py@questions"],
    )
    hf: Line = Field(default="", description="Data set on Hugging Face (extra hf)", examples=["openai/gsm8k"])
    columns: ColumnsModel = Field(
        default_factory=ColumnsModel,
        description="Which column holds which part of a case",
        examples=[{"input": "question", "target": "answer"}],
    )
    split: Line = Field(default="test", description="Split of a Hugging Face data set", examples=["test[:100]"])
    subset: Line = Field(default="", description="Configuration of a Hugging Face data set", examples=["main"])
    revision: Line = Field(default="", description="Revision of a Hugging Face data set", examples=["main"])
    options: dict[str, Any] = Field(
        default_factory=dict, description="Further arguments of a generator", examples=[{"digits": 3}]
    )

    @model_validator(mode="after")
    def _one_source(self) -> Self:
        given = [name for name in SOURCES if name in self.model_fields_set]
        if len(given) > 1:
            message = f"expected one of {', '.join(SOURCES)}, got {' and '.join(given)}"
            raise refuse(message, "Keep one of them.", given[1])
        if not given and "data_source" not in self.model_fields_set:
            raise refuse("expected cases, got none", "Give cases, path, generator or hf.", "cases")
        self._check_belonging(given[0] if given else "")
        return self

    def _check_belonging(self, source: str) -> None:
        if self.path.startswith(HF_SCHEME):
            raise refuse("expected a path, got a data set on Hugging Face", "Write it under `hf:`.", "path")
        owners = {"split": "hf", "subset": "hf", "revision": "hf", "options": "generator", "seed": "generator"}
        for name, owner in owners.items():
            if name in self.model_fields_set and source and source != owner:
                raise refuse(f"{name} belongs to {owner}, got it with {source}", "Remove it.", name)


DatasetModel = form(
    "DatasetModel",
    DATASET,
    base=DatasetOwn,
    order="size complexity data_source cases path generator hf columns split subset revision seed options",
)
if TYPE_CHECKING:  # a class that is made at run time is no type for a checker
    DatasetField = DatasetOwn
else:
    DatasetField = Annotated[
        DatasetModel, BeforeValidator(spell_dataset, json_schema_input_type=str | list[Any] | DatasetModel)
    ]
