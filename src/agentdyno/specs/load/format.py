"""The file format of a load run: the key ``load:`` beside name, tags, notes and seed."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, model_validator

from agentdyno.specs.experiment.format import FileModel, Line, Seconds
from agentdyno.specs.files.problems import got
from agentdyno.specs.files.shorthand import refuse

Rate = Annotated[float, Field(gt=0, le=1_000_000)]
Names = Annotated[list[Line], Field(max_length=100)]


def spell_names(value: object) -> object:
    """``a, b`` as the list that it stands for."""
    return [item.strip() for item in value.split(",") if item.strip()] if isinstance(value, str) else value


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
    duration_s: Seconds = Field(description="How long it lasts, in seconds", examples=[30])
    rate: float = Field(default=0.0, ge=0, le=1_000_000, description="Requests a second", examples=[100])
    rate_to: float | None = Field(
        default=None, ge=0, le=1_000_000, description="Where the rate goes, linearly", examples=[500]
    )
    concurrency: int = Field(
        default=0, ge=0, le=100_000, description="Requests in flight (closed loop)", examples=[8]
    )
    concurrency_to: int | None = Field(
        default=None, ge=0, le=100_000, description="Where the number in flight goes", examples=[64]
    )

    @model_validator(mode="after")
    def _one_kind(self) -> StageModel:
        if self.rate_to is None and not self.rate and not self.concurrency and self.concurrency_to is None:
            return self  # a pause
        open_loop = bool(self.rate or self.rate_to)
        if open_loop and (self.concurrency or self.concurrency_to):
            raise refuse("expected a rate or a concurrency, got both", "Remove one of the two.", "concurrency")
        return self


class LengthsModel(FileModel):
    """Lengths of prompts, in words."""

    distribution: Literal["fixed", "uniform", "lognormal"] = Field(
        default="fixed", description="How lengths are drawn", examples=["lognormal"]
    )
    mean: float = Field(default=32.0, ge=1, le=1_000_000, description="Words on average", examples=[200])
    sigma: float = Field(default=0.5, gt=0, le=5, description="Spread of the logarithm (lognormal)", examples=[0.5])
    low: int = Field(default=1, ge=1, le=1_000_000, description="Fewest words", examples=[10])
    high: int = Field(default=4096, ge=1, le=1_000_000, description="Most words", examples=[4096])
    shared: int = Field(default=0, ge=0, le=1_000_000, description="First words that all have alike", examples=[100])


class LoadFields(FileModel):
    """What ``dyno load`` takes, by the names of its options."""

    target: Line = Field(default="", description="A URL or an agent", examples=["http://127.0.0.1:8000/v1"])
    dialect: Literal["http", "openai", "ollama", "agent"] | None = Field(
        default=None,
        description="How the target is spoken to; found out from the URL without it",
        examples=["openai"],
    )
    model: Line = Field(default="", description="The model to ask for", examples=["smollm2-135m-instruct"])
    api_key_env: Line = Field(
        default="", description="Environment variable with the key", examples=["OPENAI_API_KEY"]
    )
    scenarios: Annotated[Names, BeforeValidator(spell_names, json_schema_input_type=str | list[str])] = Field(
        default_factory=list, description="Stress scenarios by name, or all", examples=[["spike_load"]]
    )
    profile: Literal["quick", "standard", "full"] = Field(
        default="standard", description="How long and how hard the scenarios are", examples=["quick"]
    )
    params: dict[str, Any] = Field(
        default_factory=dict, description="Parameters of the scenarios", examples=[{"duration_s": 10}]
    )
    stages: list[StageModel] = Field(
        default_factory=list, max_length=1000, description="A shape of one's own", examples=[[{"duration_s": 10}]]
    )
    shape: Literal["soak", "ramp", "step", "spike", "sawtooth"] | None = Field(
        default=None, description="A usual course, from rate or concurrency to `to`", examples=["ramp"]
    )
    to: Annotated[float, Field(ge=0, le=1_000_000)] | None = Field(
        default=None, description="Where a shape goes: its end, or its peak", examples=[500]
    )
    count: int = Field(default=5, ge=1, le=1000, description="Steps or teeth of a shape", examples=[5])
    rate: Rate | None = Field(default=None, description="Requests a second", examples=[1000])
    duration_s: Seconds | None = Field(default=None, description="How long, with rate or concurrency", examples=[300])
    concurrency: Annotated[int, Field(ge=1, le=100_000)] | None = Field(
        default=None, description="Requests in flight: closed loop", examples=[8]
    )
    arrivals: Literal["constant", "poisson", "gamma"] = Field(
        default="poisson", description="How requests come in open loop", examples=["poisson"]
    )
    burstiness: float = Field(
        default=1.0,
        gt=0,
        le=1000,
        description="Shape of gamma arrivals: 1 is Poisson, less is burstier",
        examples=[0.5],
    )
    trace: Line = Field(
        default="", description="A recorded trace (CSV or JSONL: timestamp, lengths)", examples=["trace.csv"]
    )
    find_limit: bool = Field(default=False, description="Search the highest rate that meets the SLO", examples=[True])
    slo: Line = Field(default="", description="Objectives", examples=["ttft_p95<200ms, error_rate<1%"])
    processes: int = Field(default=1, ge=1, le=256, description="Client processes", examples=[2])
    connections: int = Field(
        default=1000, ge=1, le=100_000, description="Connections at once, at most", examples=[100]
    )
    timeout_s: Seconds = Field(default=30.0, description="Longest answer in seconds", examples=[30])
    window_s: Annotated[float, Field(ge=0.05, le=3600)] = Field(
        default=1.0, description="Length of a window in seconds", examples=[1]
    )
    max_requests: int = Field(
        default=10_000_000, ge=1, le=1_000_000_000, description="No more requests than this", examples=[100_000]
    )
    max_s: Seconds = Field(default=7200.0, description="No longer than this", examples=[600])
    prompt: str = Field(default="", max_length=1_000_000, description="What is asked, every time", examples=["Hi."])
    prompt_words: Annotated[
        LengthsModel, BeforeValidator(spell_lengths, json_schema_input_type=int | LengthsModel)
    ] = Field(default_factory=LengthsModel, description="Lengths of made-up prompts, in words", examples=[200])
    output_tokens: Annotated[int, Field(ge=1, le=1_000_000)] | None = Field(
        default=None, description="Longest answer in tokens", examples=[64]
    )
    options: dict[str, Any] = Field(
        default_factory=dict, description="Further fields of each request to a model", examples=[{"temperature": 0}]
    )
    turns: int = Field(default=1, ge=1, le=1000, description="Turns of a conversation", examples=[4])
    think_s: Annotated[float, Field(ge=0, le=86_400)] = Field(
        default=1.0, description="Seconds between an answer and the next turn, on average", examples=[2]
    )
    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"] = Field(
        default="POST", description="HTTP method of a plain target", examples=["GET"]
    )
    headers: dict[str, str] = Field(
        default_factory=dict, description="Headers of a plain target; no secrets", examples=[{"X-Team": "blue"}]
    )
    body: Any = Field(default=None, description="JSON body of a plain target", examples=[{"question": "Hi"}])
    input: Any = Field(
        default=None, description="Input of the case that an agent is given", examples=["What is 2+2?"]
    )
    ca_file: Line = Field(default="", description="Certificates to trust, in PEM", examples=["ca.pem"])
    insecure: bool = Field(default=False, description="Do not check the certificate", examples=[True])
    own_target: bool = Field(
        default=False, description="The target is on a public address, and it is yours", examples=[True]
    )


class LoadQuick(FileModel):
    """What a quick run changes."""

    load: LoadFields = Field(default_factory=LoadFields, description="Fields of load that change", examples=[{}])


class LoadFile(FileModel):
    """A load run, as its file describes it."""

    name: Line = Field(default="", description="Name of the run; the file's name without it", examples=["checkout"])
    load: LoadFields = Field(
        default_factory=LoadFields, description="The target and what is asked of it", examples=[{}]
    )
    tags: list[Line] = Field(default_factory=list, description="Words to find the run by", examples=[["nightly"]])
    notes: str = Field(default="", max_length=100_000, description="Free text kept with the run", examples=["first"])
    seed: int = Field(default=42, ge=0, description="Seed of the schedule and the prompts", examples=[42])
    output_dir: Line = Field(default="", description="Folder for the results", examples=["results/load"])
    quick: LoadQuick = Field(
        default_factory=LoadQuick,
        description="Changes for a quick run (--quick)",
        examples=[{"load": {"profile": "quick"}}],
    )
