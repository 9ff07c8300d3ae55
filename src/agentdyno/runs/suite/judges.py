"""What judging needs beside the rubric: local code with scorers, agents that are asked, the bundled model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from agentdyno.contracts import Agent
from agentdyno.model import AgentUse, Case, Response, Suite, Workspace
from agentdyno.registry.local import load_import
from agentdyno.runs.lineup import LocalServer, Maker, find_judge


@dataclass(slots=True)
class JudgingAgent:
    """An agent that judges. ``digest`` is of all it is made of: a declared version may stay while that changes."""

    agent: Agent
    digest: str
    name: str = field(init=False)
    version: str = field(init=False)
    config: Mapping[str, object] = field(init=False)
    paid: bool = field(init=False)

    def __post_init__(self) -> None:
        self.name, self.version = self.agent.name, self.agent.version
        self.config, self.paid = self.agent.config, self.agent.paid

    async def run(self, case: Case) -> Response:
        return await self.agent.run(case)

    async def start(self) -> None:
        await self.agent.start()

    async def close(self) -> None:
        await self.agent.close()


@dataclass(slots=True)
class JudgingAgents:
    """Agents that scorers ask, one object per reference."""

    workspace: Workspace
    base_dir: Path
    maker: Maker
    local: LocalServer
    made: dict[str, Agent] = field(default_factory=dict)
    uses: list[AgentUse] = field(default_factory=list)

    def named(self, reference: str) -> Agent:
        if reference not in self.made:
            judge = find_judge(reference, self.workspace, self.base_dir)
            maker = replace(self.maker, local_url=self.local.url) if judge.wants_local_model else self.maker
            self.uses.append(judge.use)
            self.made[reference] = JudgingAgent(judge.make(maker, None), judge.version.digest)
        return self.made[reference]


def load_imports(suite: Suite) -> None:
    """Loads the files and modules that a suite imports, so that what they register is known."""
    for item in suite.imports:
        load_import(str((Path(suite.base_dir) / item).resolve()) if item.endswith(".py") else item)
