"""Functions that make an agent rather than answer a case. Standard library only."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from agentdyno.agents.frameworks.detect import FRAMEWORKS, FrameworkAdapter, adapted, not_an_agent
from agentdyno.errors import PluginError

_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
_AGENT_CLASSES = frozenset(
    {name for framework in FRAMEWORKS for name in framework.classes}
    | {"CompiledStateGraph", "ToolCallingAgent", "CodeAgent", "AssistantAgent", "LlmAgent", "InMemoryRunner"}
)


def is_factory(target: object, config: Mapping[str, object]) -> bool:
    """Whether a function leaves no parameter for an input, or says that it returns an agent of a framework."""
    if not inspect.isroutine(target):
        return False
    try:
        signature = inspect.signature(target)
    except (TypeError, ValueError):
        return False
    parameters = signature.parameters.values()
    if any(item.kind not in _NAMED for item in parameters):
        return False
    if any(item.default is item.empty and item.name not in config for item in parameters):
        return False
    return all(item.name in config for item in parameters) or _class_name(signature) in _AGENT_CLASSES


def made_by(
    factory: Callable[..., object], config: Mapping[str, object], label: str
) -> tuple[object, dict[str, Any]]:
    """The agent that ``factory`` makes with the keys it declares, and the rest of ``config``, which is the agent's.

    An async factory is called on the event loop of its agent, before the first case.
    """
    declared = inspect.signature(factory).parameters
    own = {name: value for name, value in config.items() if name in declared}
    rest = {name: value for name, value in config.items() if name not in declared}
    if inspect.iscoroutinefunction(factory):
        return AsyncFactoryAgent(factory, own, label, rest), {}
    try:
        made = factory(**own)
    except Exception as error:
        raise PluginError(f"{label}() raised {type(error).__name__}: {error}", where=label) from error
    if not callable(made) and adapted(made, label) is None and not hasattr(made, "run"):
        raise _useless(made, label)
    return made, rest


class AsyncFactoryAgent:
    """An agent of a framework that an async function makes when the event loop runs."""

    def __init__(
        self, factory: Callable[..., Any], config: Mapping[str, object], label: str, options: Mapping[str, object]
    ) -> None:
        self._factory, self._config, self._label, self._options = factory, config, label, options
        self._adapter: FrameworkAdapter | None = None

    async def start(self) -> None:
        made = await self._factory(**self._config)
        self._adapter = adapted(made, self._label)
        if self._adapter is None:
            raise _useless(made, self._label)

    async def run(self, prompt: object, history: list[dict[str, object]]) -> object:
        assert self._adapter is not None, "its start comes first"
        run: Callable[..., object] = self._adapter.run
        answer = run(prompt, history, **self._options)
        return await answer if inspect.isawaitable(answer) else answer


def _useless(made: object, label: str) -> PluginError:
    told = not_an_agent(made, f"what {label}() returns")
    return PluginError(
        f"{label} takes no input, and {told.message}",
        remedy=f"To answer cases, its first parameter receives the case's input. To make an agent: {told.remedy}",
    )


def _class_name(signature: inspect.Signature) -> str:
    """``Agent`` of ``-> agents.Agent[None]``, whether it is a class or its text."""
    annotation = signature.return_annotation
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    return str(text).partition("[")[0].rpartition(".")[2].strip("'\" ")
