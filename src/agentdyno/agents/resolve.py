"""From what a user wrote about an agent to the agent itself."""

from __future__ import annotations

import ast
import inspect
import os
import shlex
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from agentdyno.agents.references import (
    SCHEMES,
    WORKFLOW_KEYS,
    Located,
    label_of,
    locate,
    python_target,
    scheme_of,
)
from agentdyno.agents.versioning import version_of
from agentdyno.errors import DynoError, PluginError, SpecError, nearest
from agentdyno.model.suite import AgentUse
from agentdyno.registry.installed import installed, unknown
from agentdyno.registry.names import registered as registered_here

if TYPE_CHECKING:
    from agentdyno.agents.recording.recording import AgentRecording
    from agentdyno.contracts import Agent

__all__ = ["make_agent", "parse_agent"]

COMMAND_KEYS = ("input", "cwd", "cpu_limit_s", "output_limit_mb")
"""What of a command's configuration is for its adapter; the rest is the command's own."""
PROGRAM_KEYS = ("cwd", "output_limit_mb")
"""The same of a program that stays."""
SAMPLING = frozenset(
    {
        *("temperature", "top_p", "top_k", "seed", "stop", "max_tokens", "max_completion_tokens", "reasoning_effort"),
        *("presence_penalty", "frequency_penalty", "repeat_penalty", "min_p", "num_ctx", "num_gpu", "num_predict"),
    }
)
"""Options of a model that may stand beside the adapter's own keys, so that a sweep can vary each."""
_GIVEN_BY_US = ("self", "name", "version", "environ", "url", "target")


@dataclass(frozen=True, slots=True)
class _Setting:
    workers: int
    memory_limit_bytes: int | None
    environ: Mapping[str, str] | None
    inline: bool
    python: str | None = None
    recording: AgentRecording | None = None


def make_agent(
    use: AgentUse,
    *,
    workers: int = 1,
    memory_limit_bytes: int | None = None,
    environ: Mapping[str, str] | None = None,
    inline: bool = False,
    python: str | None = None,
    recording: AgentRecording | None = None,
) -> Agent:
    """The agent that ``use`` describes; nothing is started yet.

    Python agents run in up to ``workers`` processes of ``python`` (default: the agent's own interpreter, else this
    one), or in this process when ``inline`` and they have no interpreter of their own. ``memory_limit_bytes`` and
    ``recording`` (of what they ask of their model) are for
    Python agents and commands. ``paid: true|false`` in any configuration overrides what the adapter assumes. Raises
    ``PluginError`` for what cannot be found, ``SpecError`` for a configuration that the agent does not have.
    """
    located = locate(use)
    if located.use.python and located.scheme != "python":
        message = f"{use.uses} has an interpreter, but is no Python agent"
        raise SpecError(message, where=f"python of {use.name}", remedy="Remove `python:`.")
    located = replace(located, use=replace(located.use, version=version_of(use, git=False).version))
    config = dict(located.use.config)
    paid = config.pop("paid", None)
    if paid is not None and not isinstance(paid, bool):
        raise _config_error(use, f"paid is {paid!r}", "Say true or false.")
    located = replace(located, use=replace(located.use, config=config))
    agent = _MAKERS[located.scheme](
        located, _Setting(workers, memory_limit_bytes, environ, inline, python, recording)
    )
    if paid is not None:
        agent.paid = paid
    return agent


def _make_python(located: Located, setting: _Setting) -> Agent:
    use, target = located.use, located.target
    python = setting.python
    if use.python and python is None:
        from agentdyno.agents.interpreters import find_interpreter

        python = find_interpreter(use.python, Path(use.base_dir), f"python of {use.name}")
    if target is not None and (use.python or not setting.inline):
        from agentdyno.agents.hosting.agent import HostedAgent, HostLimits

        limits = HostLimits(workers=setting.workers, memory_bytes=setting.memory_limit_bytes)
        return HostedAgent(
            use,
            target=target,
            limits=limits,
            environ=setting.environ,
            python=python,
            recording=setting.recording,
        )
    from agentdyno.agents.hosting.callable_agent import CallableAgent
    from agentdyno.registry.local import load_target

    found = located.found
    if found is None and target is not None:
        folder = str(Path(use.base_dir).resolve())
        if folder not in sys.path:
            sys.path.insert(0, folder)
        found = load_target("agents", target)
    return CallableAgent(found, name=use.name, version=use.version or "", config=use.config)


def _make_command(located: Located, setting: _Setting) -> Agent:
    from agentdyno.agents.commands.agent import CommandAgent, CommandLimits, CommandSetting
    from agentdyno.agents.commands.command_line import split_command

    use = located.use
    own = {key: use.config[key] for key in COMMAND_KEYS if key in use.config}
    rest = _own_of_program(use, COMMAND_KEYS)
    output_mb = _positive(use, "output_limit_mb")
    limits = CommandLimits(setting.memory_limit_bytes, _positive(use, "cpu_limit_s"))
    if output_mb is not None:
        limits = replace(limits, output_bytes=int(output_mb * 2**20))
    cwd = Path(use.base_dir) / str(own.get("cwd", "."))
    return CommandAgent(
        use.name,
        split_command(use.uses.partition(":")[2], use.name),
        config=rest,
        setting=CommandSetting(str(own.get("input", "stdin")), str(cwd), use.env, setting.environ, setting.recording),
        limits=limits,
        version=use.version or "",
    )


def _make_program(located: Located, setting: _Setting) -> Agent:
    from agentdyno.agents.commands.command_line import split_command
    from agentdyno.agents.foreign.agent import ForeignAgent, ProgramLimits, ProgramSetting

    use = located.use
    limits = ProgramLimits(setting.workers, setting.memory_limit_bytes)
    output_mb = _positive(use, "output_limit_mb")
    if output_mb is not None:
        limits = replace(limits, output_bytes=int(output_mb * 2**20))
    cwd = Path(use.base_dir) / str(use.config.get("cwd", "."))
    return ForeignAgent(
        use.name,
        split_command(use.uses.partition(":")[2], use.name),
        config=_own_of_program(use, PROGRAM_KEYS),
        setting=ProgramSetting(str(cwd), use.env, setting.environ, setting.recording),
        limits=limits,
        version=use.version or "",
    )


def _own_of_program(use: AgentUse, ours: tuple[str, ...]) -> dict[str, object]:
    """The configuration that the program sees; raises ``SpecError`` for a key of it that is nearly one of ours."""
    rest = {key: value for key, value in use.config.items() if key not in ours}
    for key in rest:
        if get_close_matches(key, ours, n=1, cutoff=0.85):
            raise _unknown_key(use, key, ours)
    return rest


def _make_openai(located: Located, setting: _Setting) -> Agent:
    from agentdyno.agents.endpoints.openai_chat import OpenAIChat

    return _endpoint(OpenAIChat, located.use, setting, _model_in(located.use))


def _make_ollama(located: Located, setting: _Setting) -> Agent:
    from agentdyno.agents.endpoints.ollama_chat import OllamaChat

    return _endpoint(OllamaChat, located.use, setting, _model_in(located.use))


def _make_http(located: Located, setting: _Setting) -> Agent:
    from agentdyno.agents.endpoints.http_json import HttpJson

    return _endpoint(HttpJson, located.use, setting, {"url": located.use.uses})


def _make_workflow(located: Located, setting: _Setting) -> Agent:
    from agentdyno.agents.workflow.agent import WorkflowAgent
    from agentdyno.agents.workflow.setting import read_setting

    planner, use = located.planner, located.use
    assert planner is not None, "a workflow has a planner"
    own = {key: value for key, value in use.config.items() if key in WORKFLOW_KEYS}
    inner = {key: value for key, value in use.config.items() if key not in WORKFLOW_KEYS}
    if planner.scheme in ("openai", "ollama") and not {"schema", "response_format"} & inner.keys():
        inner["schema"] = "from_case"  # the server enforces the form of a plan where it can
    asked = replace(planner, use=replace(planner.use, name=use.name, version=use.version, config=inner))
    agent = _MAKERS[planner.scheme](asked, setting)
    return WorkflowAgent(agent, read_setting(own, use.name), use.config, use.base_dir)


def _make_mcp(located: Located, setting: _Setting) -> Agent:
    from agentdyno.agents.commands.command_line import command_environment
    from agentdyno.agents.protocols.mcp_tools import McpTools

    use = located.use
    cwd = str((Path(use.base_dir) / str(use.config.get("cwd", "."))).resolve())
    environ = command_environment(os.environ if setting.environ is None else setting.environ, use.env)
    given: dict[str, object] = {"target": use.uses.partition(":")[2], "cwd": cwd}
    return _endpoint(McpTools, use, replace(setting, environ=environ), given)


def _make_a2a(located: Located, setting: _Setting) -> Agent:  # noqa: ARG001
    from agentdyno.agents.protocols.a2a_agent import A2aAgent

    use = located.use
    for key in use.config:
        raise _unknown_key(use, key, ())
    return A2aAgent(use.name, url=use.uses.partition(":")[2], version=use.version or "")


_MAKERS: dict[str, Callable[[Located, _Setting], Agent]] = {
    "python": _make_python,
    "cmd": _make_command,
    "stdio": _make_program,
    "openai": _make_openai,
    "ollama": _make_ollama,
    "mcp": _make_mcp,
    "a2a": _make_a2a,
    "http": _make_http,
    "workflow": _make_workflow,
}


def _model_in(use: AgentUse) -> dict[str, object]:
    """The model after the scheme; one in the configuration, as a sweep gives it, wins."""
    model = use.config.get("model") or use.uses.partition(":")[2]
    if not model:
        raise _config_error(use, "no model is named", f"Say {use.uses}MODEL, or give `model:` in its config.")
    return {"model": model}


def _endpoint(kind: Callable[..., Agent], use: AgentUse, setting: _Setting, given: dict[str, object]) -> Agent:
    """Builds an adapter with the configuration as keyword arguments, each of which it must declare."""
    known = [name for name in inspect.signature(kind).parameters if name not in _GIVEN_BY_US]
    config = _with_options(use) if "options" in known else dict(use.config)
    for key in config:
        if key not in known:
            raise _unknown_key(use, key, known)
    try:
        return kind(use.name, version=use.version or "", environ=setting.environ, **{**config, **given})
    except SpecError as error:
        where = f"config of {use.name}" + (f", {error.where}" if error.where else "")
        raise SpecError(error.message, where=where, remedy=error.remedy) from None
    except DynoError:
        raise
    except (TypeError, ValueError, AttributeError) as error:
        raise _config_error(
            use, f"the configuration is refused: {error}", "Check the types of its values."
        ) from error


def _with_options(use: AgentUse) -> dict[str, object]:
    """The configuration with options of the model, wherever they were written, in ``options``."""
    options = use.config.get("options") or {}
    if not isinstance(options, Mapping):
        raise _config_error(use, f"options is {type(options).__name__}", "Give names and values.")
    beside = {key: value for key, value in use.config.items() if key in SAMPLING}
    rest = {key: value for key, value in use.config.items() if key not in SAMPLING and key != "options"}
    return {**rest, "options": {**options, **beside}} if options or beside else rest


def _positive(use: AgentUse, key: str) -> float | None:
    value = use.config.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < float("inf"):
        raise _config_error(use, f"{key} is {value!r}", "Give a number above 0, or leave it out.")
    return float(value)


def _unknown_key(use: AgentUse, key: str, known: Iterable[str]) -> SpecError:
    names = sorted(known)
    near = nearest(key, names)
    listed = near if near.startswith("Known") else f"{near} Known: {', '.join(names)}."
    return _config_error(use, f"unknown key {key!r}", listed)


def _config_error(use: AgentUse, message: str, remedy: str) -> SpecError:
    return SpecError(message, where=f"config of {use.name}", remedy=remedy)


def parse_agent(
    reference: str, registered: Mapping[str, AgentUse], base_dir: Path | str, *, elsewhere: bool = False
) -> AgentUse:
    """What stands after ``--agent``: a registered ``name[@VERSION]``, a file, a scheme, a module, an installed name.

    ``elsewhere`` says that another interpreter will load it, which may find modules that are not here. Raises
    ``SpecError`` for a version that is not the registered one, ``PluginError`` for what cannot be found.
    """
    reference = reference.strip()
    if reference in registered:
        return registered[reference]
    name, at, version = reference.rpartition("@")
    if at and name in registered:
        return _of_version(registered[name], version)
    folder = Path(base_dir)
    scheme = scheme_of(reference)
    known = {*registered, *registered_here("agents"), *installed("agents")}
    command = _command_in(reference) if scheme == "name" and not {reference, name} & known else ""
    if command and not (reference.endswith(".py") and (folder / reference).is_file()):
        raise PluginError(
            f"{reference} is a command, and no agent is called so",
            remedy=f"A command that answers is an agent when you write {shlex.quote(f'cmd:{command}')}; "
            f"one that stays and speaks the protocol: {shlex.quote(f'stdio:{command}')}. "
            f"To time it: dyno time {shlex.quote(command)}",
        )
    if reference.endswith(".py") and scheme_of(reference) == "name":
        raise PluginError(f"{reference} does not say which agent is meant", remedy=which_function(folder / reference))
    if scheme == "name" and reference not in known:
        if name in known:
            return _of_version(AgentUse(name, name, base_dir=str(folder)), version)
        error = unknown("agents", reference)
        near = nearest(name or reference, known)
        raise PluginError(
            error.message,
            remedy=f"{near} Or give file.py@function, module:function or a scheme: "
            f"{', '.join(f'{item}:' for item in SCHEMES)}.",
        )
    if scheme == "python":
        python_target(reference, folder, elsewhere=elsewhere)
    return AgentUse(label_of(reference), reference, base_dir=str(folder))


def _of_version(use: AgentUse, version: str) -> AgentUse:
    from agentdyno.agents.versioning import version_of

    there = version_of(use, git=False).version
    if version != there:
        raise SpecError(
            f"{use.name} is registered at version {there}, not {version}",
            where=f"{use.name}@{version}",
            remedy=f"Say {use.name}, or register the other version under a name of its own.",
        )
    return use


def which_function(file: Path) -> str:
    """What to type for a file without a name behind it."""
    if not file.is_file():
        others = [path.name for path in file.parent.glob("*.py")] if file.parent.is_dir() else []
        return f"There is no such file. {nearest(file.name, others)}"
    try:
        body = ast.parse(file.read_bytes()).body
    except (SyntaxError, ValueError):
        body = []
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    names = [item.name for item in body if isinstance(item, kinds) and not item.name.startswith("_")]
    return f"Say {' or '.join(f'{file.name}@{name}' for name in names[:6] or ['name'])}."


def _command_in(reference: str) -> str:
    from agentdyno.registry.command_lines import command_in

    return command_in(reference)
