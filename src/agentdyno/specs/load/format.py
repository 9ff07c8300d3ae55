"""The file format of a load run: the key ``load:`` beside name, tags, notes and seed."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, model_validator

from agentdyno.settings.load import MAX_IN_FLIGHT, MAX_RATE
from agentdyno.settings.run import MAX_SECONDS
from agentdyno.settings.setting import LOAD, LOAD_FILE, PROMPT_WORDS
from agentdyno.specs.bands import BandsKey
from agentdyno.specs.files.problems import got
from agentdyno.specs.files.shorthand import refuse
from agentdyno.specs.forms import FileModel, Line, form


def spell_lengths(value: object) -> object:
    """``32`` as a fixed length."""
    if isinstance(value, int) and not isinstance(value, bool):
        return {"distribution": "fixed", "mean": value}
    if isinstance(value, dict):
        return value
    raise refuse(f"expected words or a mapping, got {got(value)}", "Write for example `prompt_words: 200`.")


class StageModel(FileModel):
    """A stretch of time with a rate, or with a number of requests in flight."""

    label: Line = Field(default="steady", description="What pictures call it", examples=["spike"])
    duration_s: Annotated[float, Field(gt=0, le=MAX_SECONDS)] = Field(
        description="How long it lasts, in seconds", examples=[30]
    )
    rate: float = Field(default=0.0, ge=0, le=MAX_RATE, description="Requests a second", examples=[100])
    rate_to: float | None = Field(
        default=None, ge=0, le=MAX_RATE, description="Where the rate goes, linearly", examples=[500]
    )
    concurrency: int = Field(
        default=0, ge=0, le=MAX_IN_FLIGHT, description="Requests in flight (closed loop)", examples=[8]
    )
    concurrency_to: int | None = Field(
        default=None, ge=0, le=MAX_IN_FLIGHT, description="Where the number in flight goes", examples=[64]
    )

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if self.rate_to is None and not self.rate and not self.concurrency and self.concurrency_to is None:
            return self  # a pause
        open_loop = bool(self.rate or self.rate_to)
        if open_loop and (self.concurrency or self.concurrency_to):
            raise refuse("expected a rate or a concurrency, got both", "Remove one of the two.", "concurrency")
        return self


class LengthsOwn(FileModel):
    """Lengths of prompts, in words."""


class LoadOwn(FileModel):
    """What ``dyno load`` takes, by the names of its options."""

    target: Line = Field(default="", description="A URL or an agent", examples=["http://127.0.0.1:8000/v1"])
    params: dict[str, Any] = Field(
        default_factory=dict, description="Parameters of the scenarios", examples=[{"duration_s": 10}]
    )
    stages: list[StageModel] = Field(
        default_factory=list, max_length=1000, description="A shape of one's own", examples=[[{"duration_s": 10}]]
    )
    options: dict[str, Any] = Field(
        default_factory=dict, description="Further fields of each request to a model", examples=[{"temperature": 0}]
    )
    headers: dict[str, str] = Field(
        default_factory=dict, description="Headers of a plain target; no secrets", examples=[{"X-Team": "blue"}]
    )
    body: Any = Field(default=None, description="JSON body of a plain target", examples=[{"question": "Hi"}])
    input: Any = Field(
        default=None, description="Input of the case that an agent is given", examples=["What is 2+2?"]
    )


class LoadQuickOwn(FileModel):
    """What a quick run changes."""


class LoadFileOwn(BandsKey):
    """A load run, as its file describes it."""


LengthsModel = form("LengthsModel", PROMPT_WORDS, base=LengthsOwn, order="distribution mean sigma low high shared")
LoadFields = form(
    "LoadFields",
    LOAD,
    base=LoadOwn,
    order="target dialect model api_key_env scenarios profile params stages shape to count rate duration_s "
    "concurrency arrivals burstiness trace find_limit slo processes clients connections timeout_s window_s "
    "max_requests max_s prompt dataset journey prompt_words output_tokens options turns think_s method headers body "
    "input ca_file insecure own_target",
    prompt_words=(
        Annotated[LengthsModel, BeforeValidator(spell_lengths, json_schema_input_type=int | LengthsModel)],
        Field(default_factory=LengthsModel, description="Lengths of made-up prompts, in words", examples=[200]),
    ),
)
LoadQuick = form(
    "LoadQuick",
    frozenset(),
    base=LoadQuickOwn,
    load=(LoadFields, Field(default_factory=LoadFields, description="Fields of load that change", examples=[{}])),
)
LoadFile = form(
    "LoadFile",
    LOAD_FILE,
    base=LoadFileOwn,
    order="name load tags notes seed output_dir bands",
    load=(
        LoadFields,
        Field(default_factory=LoadFields, description="The target and what is asked of it", examples=[{}]),
    ),
    quick=(
        LoadQuick,
        Field(
            default_factory=LoadQuick,
            description="Changes for a quick run (--quick)",
            examples=[{"load": {"profile": "quick"}}],
        ),
    ),
)
