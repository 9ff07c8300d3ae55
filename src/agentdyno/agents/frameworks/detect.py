"""Which framework an object belongs to, by the names of its classes: nothing is imported to find out.

Standard library only, as all of this folder: an adapter imports its framework when it is given one of its objects, in
the interpreter that has it.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module
from typing import Protocol

from agentdyno.errors import PluginError


class FrameworkAdapter(Protocol):
    """Answers cases with an object of a framework; further parameters of ``run`` are the agent's configuration.

    ``run`` may be async. What happens meanwhile goes to the recorder of the case.
    """

    def run(self, prompt: object, history: list[dict[str, object]]) -> object: ...


@dataclass(frozen=True, slots=True)
class Framework:
    """``root`` is the package that its classes are defined in, ``classes`` the bases of what can answer a case.

    ``adapter`` is ``module:Class`` of ours. ``install`` is what pip is told. ``forms`` says in words what is taken.
    ``near`` are classes that cannot answer themselves, with what to do about each. ``has`` is an attribute that
    tells the framework's class from one of the user's own package of that name.
    """

    name: str
    root: str
    classes: tuple[str, ...]
    adapter: str
    install: str
    forms: str
    near: Mapping[str, str] = field(default_factory=dict)
    has: str = ""


_HERE = "agentdyno.agents.frameworks"
FRAMEWORKS = (
    Framework(
        "langgraph",
        "langgraph",
        ("Pregel",),
        f"{_HERE}.langgraph:GraphAgent",
        "langgraph",
        "a compiled graph of langgraph",
        {"StateGraph": "Compile it first: `graph = builder.compile()`."},
    ),
    Framework(
        "langchain",
        "langchain_core",
        ("Runnable",),
        f"{_HERE}.langgraph:RunnableAgent",
        "langchain",
        "a runnable of langchain",
        {"BaseTool": "A tool is no agent; give the agent that calls it."},
    ),
    Framework(
        "openai-agents",
        "agents",
        ("Agent",),
        f"{_HERE}.openai_agents:OpenAIAgent",
        "openai-agents",
        "an Agent of openai-agents",
        {"Runner": "Give the Agent that it runs.", "FunctionTool": "Give the Agent that has this tool."},
        has="handoffs",
    ),
    Framework(
        "pydantic-ai",
        "pydantic_ai",
        ("AbstractAgent",),
        f"{_HERE}.pydantic_ai:PydanticAgent",
        "pydantic-ai-slim[openai]",
        "an Agent of pydantic-ai",
        {"Model": "Give an Agent with this model: `Agent(model)`."},
    ),
    Framework(
        "smolagents",
        "smolagents",
        ("MultiStepAgent",),
        f"{_HERE}.smolagents:SmolAgent",
        "smolagents[openai]",
        "an agent of smolagents",
        {"Model": "Give a ToolCallingAgent or CodeAgent with this model."},
    ),
    Framework(
        "autogen",
        "autogen_agentchat",
        ("BaseChatAgent", "BaseGroupChat"),
        f"{_HERE}.autogen:AutogenAgent",
        "autogen-agentchat",
        "an agent or a team of autogen",
    ),
    Framework(
        "google-adk",
        "google.adk",
        ("BaseAgent", "Runner"),
        f"{_HERE}.google_adk:AdkAgent",
        "google-adk",
        "an agent or a Runner of google-adk",
    ),
    Framework(
        "crewai",
        "crewai",
        ("BaseAgent", "Crew", "Flow"),
        f"{_HERE}.crewai:CrewAgent",
        "crewai",
        "an Agent, Crew or Flow of crewai",
        {"Task": "Give the Crew that has this task.", "LLM": "Give an Agent with this model."},
    ),
    Framework(
        "claude-agent-sdk",
        "claude_agent_sdk",
        ("ClaudeAgentOptions",),
        f"{_HERE}.claude_agent:ClaudeAgent",
        "claude-agent-sdk",
        "ClaudeAgentOptions of claude-agent-sdk",
        {"ClaudeSDKClient": "Give its ClaudeAgentOptions: each case gets a session of its own."},
    ),
)
_FURTHER_PACKAGES = {
    "langchain": "langchain",
    "langchain_openai": "langchain-openai",
    "langchain_anthropic": "langchain-anthropic",
    "autogen_core": "autogen-core",
    "autogen_ext": "autogen-ext[openai]",
    "litellm": "litellm",
    "openai": "openai",
    "anthropic": "anthropic",
    "mcp": "mcp",
}


def framework_of(thing: object) -> Framework | None:
    """The framework whose agent ``thing`` is; an object of several is the most special one's."""
    for kind in type(thing).__mro__:
        for framework in FRAMEWORKS:
            if kind.__name__ in framework.classes and _is_of(kind, framework):
                return framework
    return None


def adapted(thing: object, name: str = "") -> FrameworkAdapter | None:
    """An adapter around an agent of a framework; ``None`` for anything else.

    Raises ``PluginError`` where the framework's version lacks something that the adapter needs.
    """
    framework = framework_of(thing)
    if framework is None:
        return None
    module, _, kind = framework.adapter.partition(":")
    try:
        adapter: FrameworkAdapter = getattr(import_module(module), kind)(thing)
    except (ImportError, AttributeError) as error:
        raise PluginError(
            f"{name or framework.name}: {version_text(framework)} lacks what the adapter needs: {error}",
            where=name or None,
            remedy=f"{pip_command(framework.install)} --upgrade",
        ) from error
    return adapter


def not_an_agent(thing: object, label: str) -> PluginError:
    """What was found instead of an agent, and the nearest forms."""
    kind = type(thing)
    where = "" if kind.__module__ in ("builtins", "__main__") else f" of {kind.__module__.partition('.')[0]}"
    message = f"{label} is {kind.__name__}{where}, which cannot answer a case"
    for framework in FRAMEWORKS:
        of_it = [base.__name__ for base in kind.__mro__ if _is_from(base, framework.root)]
        if of_it:
            near = next((framework.near[name] for name in of_it if name in framework.near), "")
            return PluginError(message, remedy=" ".join(filter(None, (near, f"Taken is {framework.forms}."))))
    forms = ", ".join(framework.forms for framework in FRAMEWORKS)
    return PluginError(
        message,
        remedy=f"Give a function, a class or an object with run(case), or an agent of a framework: {forms}.",
    )


def install_remedy(module: str) -> str | None:
    """The command that installs a missing framework into this interpreter; ``None`` for other modules."""
    package = next((item.install for item in FRAMEWORKS if _covers(item.root, module)), None)
    package = package or _FURTHER_PACKAGES.get(module.partition(".")[0])
    if package is None:
        return None
    return f"{pip_command(package)}, or name the interpreter that has it: `python:` in dyno.yaml, --python."


def pip_command(package: str) -> str:
    quoted = f"'{package}'" if "[" in package else package
    return f"`{sys.executable} -m pip install {quoted}`"


def version_text(framework: Framework) -> str:
    """``langgraph 1.2.20``; the name alone where the version is not known."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"{framework.name} {version(framework.install.partition('[')[0])}"
    except PackageNotFoundError:
        return framework.name


def _is_of(kind: type, framework: Framework) -> bool:
    if not _is_from(kind, framework.root):
        return False
    declared = getattr(kind, "__dataclass_fields__", {})
    return not framework.has or framework.has in declared or hasattr(kind, framework.has)


def _is_from(kind: type, root: str) -> bool:
    module = str(getattr(kind, "__module__", ""))
    return module == root or module.startswith(f"{root}.")


def _covers(root: str, module: str) -> bool:
    """``import google.adk`` fails with ``google`` or with ``google.adk``."""
    return module == root or module.startswith(f"{root}.") or root.startswith(f"{module}.")
