"""An agent as suites and ``dyno.yaml`` describe it."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, model_validator

from agentdyno.errors import nearest
from agentdyno.model.identity import canonical_json, digest
from agentdyno.model.spec import Strategy
from agentdyno.model.suite import AgentUse
from agentdyno.settings.setting import AGENT
from agentdyno.settings.suite import RECORD
from agentdyno.specs.files.pasted_secrets import secret_problems
from agentdyno.specs.files.problems import FileProblem, dotted, got, shorten, spec_error
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


_INTERPRETER = re.compile(r"(python[\d.]*|node|bash|sh|ruby|perl|php|deno|bun)$")
MAX_AGENTS = 200


def agent_use(reference: str, *, base_dir: str = ".") -> AgentUse:
    """What a bare reference means: ``file.py@name``, ``module:attr``, a scheme, or ``name[@version]``.

    It is called by its last part: ``answer`` of ``agent.py@answer``, ``gpt-5-mini`` of ``openai:gpt-5-mini``, host
    and path of a URL, the program of a command. A version stays part of what it uses, so that nothing else can
    run in its place.
    """
    name, version = _label(reference)
    return AgentUse(name=name or reference, uses=reference, version=version, base_dir=base_dir)


def _label(reference: str) -> tuple[str, str | None]:
    scheme, colon, rest = reference.partition(":")
    if colon and scheme in ("mcp", "a2a") and rest.startswith(("http://", "https://")):
        return _label(rest)
    if colon and scheme in ("cmd", "stdio", "mcp"):
        return _program(rest), None
    if colon and scheme in ("openai", "ollama"):
        return rest, None
    if colon and scheme in ("http", "https"):
        host, slash, path = rest.lstrip("/").partition("/")
        return (host.rpartition("@")[2] + slash + path.partition("?")[0]).rstrip("/"), None
    before, at, after = reference.rpartition("@")
    if at and before.endswith(".py"):
        return after, None
    if at and before and after:
        return before, after
    return rest if colon else reference, None


def _program(command: str) -> str:
    """``agent`` of ``./agent --plain`` and of ``python3 agent.py``."""
    try:
        words = shlex.split(command)
    except ValueError:
        words = command.split()
    first = Path(words[0]).name if words else ""
    script = next((word for word in words[1:] if not word.startswith("-")), "")
    return Path(script).stem if _INTERPRETER.match(first) and "." in script else Path(first).stem


def agent_uses(entries: Sequence[Mapping[str, Any]], *, key: str, source: str, base_dir: str) -> tuple[AgentUse, ...]:
    """The agents of validated ``entries`` (``key`` is theirs in ``source``), sweeps expanded, names distinct."""
    problems: list[FileProblem] = []
    found: list[AgentUse] = []
    places: dict[str, str] = {}
    for i, entry in enumerate(entries):
        place = f"{key}[{i}]"
        wrong = [*entry_problems(entry, place)]
        problems += wrong
        for use in [] if wrong else expand_agent(entry, base_dir=base_dir):
            label = f"{use.name}@{use.version}" if use.version else use.name
            if label in places:
                message = f"{shorten(label)} is here twice, as in {places[label]}"
                problems.append(
                    FileProblem(f"{place}.name", message, "Give one of them another `name:` or `version:`.")
                )
                break
            places[label] = place
            found.append(use)
    if not problems and len(found) > MAX_AGENTS:
        message = f"expected at most {MAX_AGENTS} agents, got {len(found)}"
        problems.append(FileProblem(key, message, "Sweep fewer values."))
    if problems:
        raise spec_error(source, problems)
    return tuple(found)


def entry_problems(entry: Mapping[str, Any], key: str) -> Iterator[FileProblem]:
    """What is wrong with one agent: nothing to use, pasted secrets, a sweep that cannot be run through."""
    if not reference_of(entry):
        yield FileProblem(f"{key}.use", "expected what to use, got none", "Add for example `use: agent.py@answer`.")
    for name in ("use", "uses", "config", "sweep", "description"):
        if name in entry:
            yield from secret_problems(entry[name], f"{key}.{name}")
    sweep: Mapping[str, Sequence[object]] = entry.get("sweep", {})
    for name, values in sweep.items():
        if len({canonical_json(value) for value in values}) < len(values):
            place = f"{key}.{dotted(('sweep', name))}"
            yield FileProblem(place, "expected different values, got one of them twice", "Remove one of the two.")
    found = _sweep_problem(sweep) if sweep else None
    if found is not None:
        yield FileProblem(f"{key}.sweep", found.message, found.remedy)


def _sweep_problem(sweep: Mapping[str, Sequence[object]]) -> FileProblem | None:
    from agentdyno.specs.experiment.sweep import axes_problem

    found = axes_problem(sweep, Strategy.CARTESIAN)
    if found is None and math.prod(len(values) for values in sweep.values()) > MAX_AGENTS:
        return FileProblem("", f"expected at most {MAX_AGENTS} combinations", "Sweep fewer values.")
    return found


def expand_agent(entry: Mapping[str, Any], *, base_dir: str, name: str = "") -> list[AgentUse]:
    """The agents of one entry: ``name model=small temperature=0`` and so on where it sweeps."""
    bare = agent_use(reference_of(entry), base_dir=base_dir)
    name = entry.get("name") or name or bare.name
    sweep: Mapping[str, Sequence[object]] = entry.get("sweep", {})
    combinations = [dict(zip(sweep, values, strict=True)) for values in product(*sweep.values())]
    labels = [_swept_name(name, chosen) if chosen else name for chosen in combinations]
    return [
        AgentUse(
            name=label if labels.count(label) == 1 else f"{label} #{digest(chosen, 6)}",
            uses=bare.uses,
            version=entry.get("version") or bare.version,
            config={**entry.get("config", {}), **chosen},
            env=tuple(dict.fromkeys(entry.get("env", ()))),
            description=entry.get("description", ""),
            base_dir=base_dir,
            record=entry.get("record", ""),
            python=entry.get("python", ""),
        )
        for label, chosen in zip(labels, combinations, strict=True)
    ]


def _swept_name(name: str, chosen: Mapping[str, object]) -> str:
    from agentdyno.specs.experiment.arms import shown_value

    return " ".join([name, *(f"{key}={shown_value(value)}" for key, value in chosen.items())])


def reference_of(entry: Mapping[str, Any]) -> str:
    """What an entry uses; its name where it says nothing else."""
    return str(entry.get("use") or entry.get("uses") or entry.get("name") or "")
