"""What a user types for an agent, and the thing that it names."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, replace
from importlib.machinery import PathFinder
from pathlib import Path
from urllib.parse import urlsplit

from agentdyno.errors import PluginError, nearest
from agentdyno.model.suite import AgentUse
from agentdyno.registry.installed import installed, load
from agentdyno.registry.local import Target, load_target, loaded_by_path, parse_reference

SCHEMES = ("cmd", "stdio", "openai", "ollama", "mcp", "a2a", "http", "https", "workflow")
PROGRAMS = ("cmd", "stdio")
"""Schemes after which a command line stands."""
WORKFLOW_KEYS = (
    *("sandbox", "parallel", "repairs", "fault", "resume", "idempotence"),
    *("quota_mb", "step_time_limit_s", "step_memory_mb", "step_processes"),
)
"""What of a workflow's configuration is for the executor; the rest is the planner's."""
_INTERPRETER = re.compile(r"(python[\d.]*|node|bash|sh|ruby|perl|php|deno|bun)$")
_MOST_PRESETS = 8


@dataclass(frozen=True, slots=True)
class Located:
    """An agent as it will be made: presets replaced by what they stand for.

    ``target`` is where another process finds a Python object; ``found`` is the object of a name, where it was loaded.
    ``planner`` is the agent inside a workflow, whose own configuration ``use`` holds too.
    """

    use: AgentUse
    scheme: str
    target: Target | None = None
    found: object = None
    planner: Located | None = None


def scheme_of(uses: str) -> str:
    """One of ``SCHEMES`` (``http`` for both of its kinds), ``python`` (a file or module) or ``name``."""
    head, colon, _ = uses.partition(":")
    if colon and head in SCHEMES:
        return "http" if head == "https" else head
    file, at, _ = uses.rpartition("@")
    if at and file.endswith(".py"):
        return "python"
    return "python" if colon and all(part.isidentifier() for part in head.split(".")) else "name"


def model_reference(uses: str) -> str:
    """``uses`` where it is a model that is asked as it is, alone or as a planner; "" where code is around it."""
    return uses if scheme_of(uses.removeprefix("workflow:")) in ("openai", "ollama") else ""


def locate(use: AgentUse) -> Located:
    """Finds what ``use.uses`` names; raises ``PluginError`` with the nearest names where nothing does."""
    for _ in range(_MOST_PRESETS):
        scheme = scheme_of(use.uses)
        if scheme == "python":
            elsewhere = bool(use.python)  # what can be imported there is known there
            return Located(use, scheme, python_target(use.uses, Path(use.base_dir), elsewhere=elsewhere))
        if scheme == "workflow":
            return _locate_workflow(use)
        if scheme != "name":
            return Located(use, scheme)
        found = load("agents", use.uses)
        if not isinstance(found, AgentUse):
            return Located(use, "python", _target_of(use.uses, found), found)
        use = _over_preset(found, use)
    raise PluginError(f"{use.name} is a preset of a preset without end", where=use.uses)


def _locate_workflow(use: AgentUse) -> Located:
    """The planner after the scheme, presets replaced by what they stand for, so that its configuration is seen."""
    own = {key: value for key, value in use.config.items() if key in WORKFLOW_KEYS}
    rest = {key: value for key, value in use.config.items() if key not in WORKFLOW_KEYS}
    uses = use.uses.partition(":")[2].strip()
    if scheme_of(uses) == "workflow" or not uses:
        raise PluginError(
            f"{use.uses!r} names no planner",
            where=use.name,
            remedy="Say workflow:AGENT, such as workflow:openai:MODEL.",
        )
    planner = locate(replace(use, uses=uses, config=rest))
    found = planner.use
    whole = replace(found, uses=f"workflow:{found.uses}", config={**found.config, **own})
    return Located(whole, "workflow", planner=planner)


def label_of(uses: str) -> str:
    """A short readable name: ``answer`` of ``agent.py@answer``, ``gpt-5-mini`` of ``openai:gpt-5-mini``."""
    scheme = scheme_of(uses)
    _, _, rest = uses.partition(":")
    if scheme in ("mcp", "a2a") and rest.startswith(("http://", "https://")):
        return label_of(rest)
    if scheme in (*PROGRAMS, "mcp"):
        from agentdyno.agents.commands.command_line import split_command

        argv = split_command(rest, uses)
        first, second = Path(argv[0]).name, next((item for item in argv[1:] if not item.startswith("-")), "")
        return Path(second).stem if second and _INTERPRETER.match(first) and "." in second else Path(first).stem
    if scheme == "workflow":
        return label_of(rest) if rest else scheme
    if scheme in ("openai", "ollama"):
        return rest or scheme
    if scheme == "http":
        parts = urlsplit(uses)
        host = parts.netloc.rpartition("@")[2]
        return f"{host}{parts.path}".rstrip("/")
    if scheme == "python":
        return uses.rpartition("@")[2] if ".py@" in uses else rest
    return uses.partition("@")[0] or uses


def _over_preset(preset: AgentUse, use: AgentUse) -> AgentUse:
    return replace(
        preset,
        name=use.name,
        version=use.version or preset.version,
        config={**preset.config, **use.config},
        env=tuple(dict.fromkeys((*preset.env, *use.env))),
        description=use.description or preset.description,
        base_dir=use.base_dir if preset.base_dir == "." else preset.base_dir,
        python=use.python or preset.python,
    )


def python_target(reference: str, base_dir: Path, *, elsewhere: bool = False) -> Target:
    """Where ``file.py@name`` or ``module:attr`` is; a module must be found here, unless another interpreter loads it.

    Raises ``PluginError`` for what is not there.
    """
    target = parse_reference(reference, base_dir)
    if target is None:
        raise PluginError(f"{reference!r} is neither file.py@name nor module:attr")
    head = (target.module or "").partition(".")[0]
    if target.module is not None and not elsewhere and not _can_be_found(head, base_dir):
        raise PluginError(
            f"{head!r} is neither a scheme nor a module that can be found",
            where=reference,
            remedy=nearest(head, SCHEMES),
        )
    return target


def _can_be_found(module: str, base_dir: Path) -> bool:
    if module in sys.modules or module in sys.builtin_module_names:
        return True
    return PathFinder.find_spec(module, [str(base_dir.resolve()), *sys.path]) is not None or any(
        find(module, None) is not None
        for finder in sys.meta_path
        if (find := getattr(finder, "find_spec", None)) is not None
    )


def _target_of(name: str, found: object) -> Target | None:
    """Where another process finds the object that has a name here; ``None`` where only this process has it."""
    entry = installed("agents").get(name)
    if entry is not None:
        return entry.target
    module, attribute = getattr(found, "__module__", None), getattr(found, "__qualname__", None)
    if not isinstance(module, str) or module not in sys.modules:
        return None
    file = getattr(sys.modules[module], "__file__", None)
    if loaded_by_path(module) and isinstance(file, str):
        return Target(name, files=(file,))
    if not isinstance(attribute, str) or module == "__main__" or "<" in attribute:
        return None
    target = Target(attribute, module=module)
    try:
        return target if load_target("agents", target) is found else None
    except PluginError:
        return None
