"""The format of ``dyno.yaml`` as pydantic models."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator, Field, model_validator

from agentdyno.settings.alerts import MOST_CHANNELS
from agentdyno.specs.files.problems import dotted, shorten
from agentdyno.specs.files.shorthand import refuse
from agentdyno.specs.forms import FileModel, Line, ThresholdsKey
from agentdyno.specs.suite.format import spell_ids
from agentdyno.specs.workspace.agent_format import DeclaredField
from agentdyno.specs.workspace.alerts import CHANNEL_NAME, AlertsField
from agentdyno.specs.workspace.gate import GateField, GateModel, WeightsModel

Dollars = Annotated[float, Field(ge=0, le=10**9)]
OneOrMany = Annotated[
    list[Line],
    BeforeValidator(spell_ids, json_schema_input_type=str | list[str]),
    Field(min_length=1, max_length=1000),
]


class PriceModel(FileModel):
    """US dollars per million tokens of one model."""

    input: Dollars = Field(description="Dollars per million input tokens", examples=[0.25])
    output: Dollars = Field(description="Dollars per million output tokens", examples=[2])
    cached: Dollars = Field(
        default=0, description="Dollars per million cached input tokens; as input without it", examples=[0.025]
    )
    request: Dollars = Field(default=0, description="Dollars per call", examples=[0])


class RunModel(FileModel):
    """What ``dyno run`` runs when it is told nothing else."""

    agents: OneOrMany = Field(
        default_factory=list, description="Agents: names of this file, or references", examples=[["my-agent"]]
    )


class WorkspaceFile(ThresholdsKey):
    """A project's agents, suites, prices, gate and store."""

    workspace: Line = Field(default="default", description="Name of the workspace", examples=["support-bot"])
    agents: dict[str, DeclaredField] = Field(
        default_factory=dict,
        description="Agents by name (or name@version): a reference, or a mapping with use, config and env",
        examples=[{"my-agent": {"use": "agent.py@answer"}, "small": "openai:gpt-5-mini"}],
    )
    suites: OneOrMany = Field(
        default_factory=list, description="Suite files: paths or patterns", examples=[["suites/*.yaml"]]
    )
    imports: OneOrMany = Field(
        default_factory=list,
        description="Python files that register experiments, beside those in experiments/: paths or patterns",
        examples=[["benchmarks/*.py"]],
    )
    run: RunModel = Field(
        default_factory=RunModel,
        description="What dyno run runs when it is told nothing else",
        examples=[{"agents": ["my-agent"]}],
    )
    prices: dict[str, PriceModel] = Field(
        default_factory=dict,
        description="Prices by model, before the built-in ones",
        examples=[{"my-model": {"input": 0.25, "output": 2}}],
    )
    compute_price_per_cpu_hour: Dollars = Field(
        default=0, description="US dollars per hour of CPU time, for agents that run here", examples=[0.04]
    )
    gate: GateField = Field(
        default_factory=GateModel,
        description="What may not get worse before a change is let through",
        examples=[{"against": "main", "metrics": {"accuracy": {"tier": "critical", "tolerance": 0.02}}}],
    )
    weights: WeightsModel = Field(
        default_factory=WeightsModel,
        description="Weights of the dimensions in the overall scores of boards",
        examples=[{"accuracy": 0.5, "cost": 0.3}],
    )
    alerts: dict[str, AlertsField] = Field(
        default_factory=dict,
        max_length=MOST_CHANNELS,
        description="Places that new alerts are posted to, by name",
        examples=[{"team": {"url_env": "SLACK_WEBHOOK_URL", "body": "slack"}}],
    )
    store: Line = Field(
        default="", description="Path or URL of the store", examples=[".dyno/dyno.db", "postgresql://host/dyno"]
    )

    @model_validator(mode="after")
    def _names(self) -> WorkspaceFile:
        for name in self.agents:
            bare, at, version = name.partition("@")
            if not bare or (at and not version) or not name.isprintable() or " " in name or len(name) > 200:
                message = f"expected a name without blanks, or name@version, got {shorten(repr(name))}"
                raise refuse(message, "Write for example `my-agent:`.", dotted(("agents", name)))
        for name in self.alerts:
            if not CHANNEL_NAME.fullmatch(name):
                message = f"expected a name of letters, digits, - and _, got {shorten(repr(name))}"
                raise refuse(message, "Write for example `team:`.", dotted(("alerts", name)))
        return self
