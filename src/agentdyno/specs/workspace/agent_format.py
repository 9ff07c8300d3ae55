"""The form in which suites and ``dyno.yaml`` describe an agent."""

from __future__ import annotations

import re
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, model_validator

from agentdyno.errors import nearest
from agentdyno.settings.setting import AGENT
from agentdyno.settings.suite import RECORD
from agentdyno.specs.files.problems import dotted, got, shorten
from agentdyno.specs.files.shorthand import check_version, refuse
from agentdyno.specs.forms import FileModel, Line

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_NAME = re.compile(r"[^\s@]+")


def check_variable(value: object) -> object:
    """The name of an environment variable; a value beside it is not shown."""
    if isinstance(value, str) and not _VARIABLE.fullmatch(value):
        shown = shorten(repr(value.partition("=")[0])) + (" with a value" if "=" in value else "")
        raise refuse(
            f"expected the name of an environment variable, got {shown}",
            "Give the name alone, as in `env: [OPENAI_API_KEY]`; its value stays in the environment.",
        )
    return value


def check_names(value: object) -> object:
    """``env`` is a list of names; a mapping would hold values."""
    if isinstance(value, dict):
        raise refuse(
            "expected a list of names, got a mapping",
            "Give the names alone, as in `env: [OPENAI_API_KEY]`; their values stay in the environment.",
        )
    return value


def check_name(value: object) -> object:
    """A name that a command line can take: no blanks, and no ``@``, which stands before a version."""
    if isinstance(value, str) and not _NAME.fullmatch(value):
        raise refuse(
            f"expected a name without blanks and @, got {shorten(repr(value))}", "Write for example `my-agent`."
        )
    return value


def spell_use(value: object) -> object:
    """A bare reference as the mapping that it stands for."""
    if isinstance(value, str):
        return {"use": value}
    if not isinstance(value, dict):
        raise refuse(
            f"expected an agent's name or reference, or a mapping with `use`, got {got(value)}",
            "Write for example `agent.py@answer` or `{use: openai:gpt-5-mini, config: {temperature: 0}}`.",
        )
    return value


def check_record(value: object) -> object:
    """What may be kept of an agent's model calls."""
    problem = RECORD.problem(value)
    if problem is not None:
        raise refuse(problem, nearest(str(value)[:200], [str(choice) for choice in RECORD.choices]))
    return value


Variable = Annotated[str, BeforeValidator(check_variable), Field(min_length=1, max_length=200)]
AgentName = Annotated[str, BeforeValidator(check_name), Field(min_length=1, max_length=200)]


class DeclaredAgent(FileModel):
    """Where an agent is, and how it is configured."""

    use: Line = Field(
        default="",
        description="Registered name, path/file.py@name, module:attribute, "
        "or cmd:, stdio:, openai:, ollama:, mcp:, a2a:, http(s):, workflow:",
        examples=["agent.py@answer", "openai:gpt-5-mini", "cmd:./agent --plain"],
    )
    uses: Line = Field(default="", description="The same as use", examples=["agent.py@answer"])
    version: Annotated[Line, BeforeValidator(check_version)] = Field(
        default="", description="Version of the agent; without it a hash of its content", examples=["1.2"]
    )
    config: dict[str, Any] = Field(
        default_factory=dict,
        description="Configuration of the agent; no secrets",
        examples=[{"temperature": 0, "max_tokens": 200}],
    )
    env: Annotated[list[Variable], BeforeValidator(check_names, json_schema_input_type=list[str])] = Field(
        default_factory=list,
        description="Names of the environment variables that it may read",
        examples=[["OPENAI_API_KEY"]],
    )
    record: Annotated[str, BeforeValidator(check_record, json_schema_input_type=str)] = Field(
        default="",
        description=RECORD.wording(AGENT).description,
        examples=[RECORD.example],
        json_schema_extra={"enum": [*map(str, RECORD.choices)]},
    )
    python: Line = Field(
        default="",
        description="Interpreter of a Python agent, or the folder of its environment; without it the bench's own",
        examples=["envs/graph", "python3.12"],
    )
    description: str = Field(default="", max_length=10_000, description="Free text", examples=["The small one"])
    sweep: dict[str, Annotated[list[Any], Field(min_length=1, max_length=200)]] = Field(
        default_factory=dict,
        description="Configuration values to run through; each combination is an agent of its own",
        examples=[{"model": ["small", "large"], "temperature": [0, 0.7]}],
    )

    @model_validator(mode="after")
    def _consistent(self) -> DeclaredAgent:
        if {"use", "uses"} <= self.model_fields_set:
            raise refuse("expected use or uses, got both", "Remove one of the two.", "uses")
        for name in self.sweep:
            if name in self.config:
                message = f"expected {shorten(repr(name))} in config or in sweep, got both"
                raise refuse(message, "Remove one of the two.", dotted(("sweep", name)))
        return self


class AgentModel(DeclaredAgent):
    """An agent of a suite."""

    name: AgentName = Field(default="", description="What it is called in results", examples=["my-agent"])


DeclaredField = Annotated[DeclaredAgent, BeforeValidator(spell_use, json_schema_input_type=str | DeclaredAgent)]
AgentField = Annotated[AgentModel, BeforeValidator(spell_use, json_schema_input_type=str | AgentModel)]
