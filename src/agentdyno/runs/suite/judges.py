"""What judging needs beside the rubric: local code with scorers, agents that are asked, the bundled model."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path

from agentdyno.contracts import Agent
from agentdyno.model import AgentUse, Suite, Workspace
from agentdyno.registry.local import load_import
from agentdyno.runs.lineup import Maker, find_judge
from agentdyno.runs.local_server import LocalServer


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
            self.made[reference] = judge.make(maker, None)
        return self.made[reference]


def load_imports(suite: Suite) -> None:
    """Loads the files and modules that a suite imports, so that what they register is known."""
    for item in suite.imports:
        load_import(str((Path(suite.base_dir) / item).resolve()) if item.endswith(".py") else item)
