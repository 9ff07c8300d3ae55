"""Which subjects there are, and where each can live. Standard library only."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from agentdyno_workloads.frameworks.subjects.task import FrameworkSubject, add


@dataclass(frozen=True, slots=True)
class ListedFramework:
    """``environment`` is a folder of scripts/frameworks.sh, ``package`` what pip calls it, ``module`` its file here.

    ``shares`` says whether one agent may answer several tasks at the same time; others remember what they were told,
    and are made once for each.
    """

    module: str
    environment: str
    package: str
    shares: bool = True

    def make(self, tool: Callable[..., Any] = add) -> FrameworkSubject:
        """Imports the framework and builds its agent; raises whatever the framework does about a wrong ``tool``."""
        folder = __name__.rpartition(".")[0]
        made: FrameworkSubject = import_module(f"{folder}.{self.module}").make(tool)
        return made


SUBJECTS = {
    "bare": ListedFramework("bare", "core", "httpx"),
    "openai-sdk": ListedFramework("openai_sdk", "core", "openai"),
    "langgraph": ListedFramework("langgraph", "core", "langgraph"),
    "openai-agents": ListedFramework("openai_agents", "core", "openai-agents"),
    "pydantic-ai": ListedFramework("pydantic_ai", "core", "pydantic-ai-slim"),
    "autogen": ListedFramework("autogen", "more", "autogen-agentchat", shares=False),
    "smolagents": ListedFramework("smolagents", "more", "smolagents", shares=False),
    "google-adk": ListedFramework("google_adk", "more", "google-adk"),
    "crewai": ListedFramework("crewai", "crewai", "crewai", shares=False),
}
