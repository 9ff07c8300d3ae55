"""What a reference to an agent means, and the agents that an entry of a suite or of ``dyno.yaml`` stands for."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import Any

from agentdyno.model.identity import canonical_json, digest
from agentdyno.model.spec import Strategy
from agentdyno.model.suite import AgentUse
from agentdyno.specs.files.problems import FileProblem, dotted, shorten, spec_error

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
    """The agents of validated ``entries`` (``key`` is theirs in ``source``), sweeps expanded.

    Two of one name and version are refused, unless nobody gave them that name and they come from different places:
    a run tells ``triage.answer`` from ``triage_v2.answer``, however they were named on the way to it.
    """
    problems: list[FileProblem] = []
    found: list[AgentUse] = []
    places: dict[str, list[tuple[object, str]]] = {}
    for i, entry in enumerate(entries):
        place = f"{key}[{i}]"
        wrong = [*entry_problems(entry, place)]
        problems += wrong
        for use in [] if wrong else expand_agent(entry, base_dir=base_dir):
            label = f"{use.name}@{use.version}" if use.version else use.name
            origin = None if entry.get("name") or use.version else (use.uses, use.config.get("base_url"))
            alike = [where for other, where in places.get(label, ()) if origin in (None, other) or other is None]
            if alike:
                message = f"{shorten(label)} is here twice, as in {alike[0]}"
                problems.append(
                    FileProblem(f"{place}.name", message, "Give one of them another `name:` or `version:`.")
                )
                break
            places.setdefault(label, []).append((origin, place))
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
    from agentdyno.specs.files.pasted_secrets import secret_problems  # a bare name on a command line is no entry

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
