"""Suites in a folder of their own, run without the command line."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from agentdyno.model import Progress, RunResult, Workspace
from agentdyno.runs.kind import Choices, Tools
from agentdyno.runs.kinds import SUITE, kind_named
from agentdyno.runs.lineup import Named
from agentdyno.runs.pipeline import resume, start
from agentdyno.runs.suite.prepare import suite_request
from agentdyno.specs import LoadedSuite, load_workspace, parse_suite
from agentdyno.store import Store

from .given_figures import given_figures

AGENT = """
from pathlib import Path

def good(case):
    with open("calls.log", "a") as log:
        log.write(case.id + "\\n")
    return case.target

def bad(text):
    return "no"

def broken(text):
    if not Path("mended").exists():
        raise RuntimeError("broken")
    return text.upper()
"""
EMPTY = Workspace()
ROWS = [{"id": name, "input": name, "target": name.upper()} for name in ("a", "b", "c", "d")]


@dataclass
class Room:
    """A folder with agents, a store and a way to run suites in it. How long a call took is given, not measured."""

    folder: Path
    store: Store
    seen: list[Progress] = field(default_factory=list)

    def tools(self, workspace: Workspace = EMPTY, choices: Choices | None = None) -> Tools:
        return Tools(
            self.store,
            self.folder / "runs",
            workspace,
            on_progress=self.seen.append,
            choices=choices or Choices(),
        )

    def suite(self, **changes: object) -> LoadedSuite:
        document = {
            "name": "room",
            "dataset": {"cases": ROWS},
            "scorer": "exact",
            "epochs": 1,
            "warmup": 0,
            **changes,
        }
        return parse_suite(document, base_dir=self.folder)

    def workspace(self, text: str = "") -> Workspace:
        (self.folder / "dyno.yaml").write_text(text)
        return load_workspace(self.folder)

    def run(
        self,
        loaded: LoadedSuite,
        *agents: Named,
        workspace: Workspace = EMPTY,
        against: str | None = None,
        until_decided: bool = False,
        **choices: object,
    ) -> RunResult:
        """A run of these agents, those of this process among them."""
        tools = self.tools(workspace, Choices(agents, **choices))  # type: ignore[arg-type]
        kind = kind_named(SUITE)
        request = suite_request(loaded, against=against, until_decided=until_decided)
        with kind.prepare(request, tools) as prepared, given_figures():
            return start(kind, prepared, tools)

    def resume(self, result: RunResult, *, retry_errors: bool = False, workspace: Workspace = EMPTY) -> RunResult:
        with given_figures():
            return resume(result.run_id, self.tools(workspace), retry_errors=retry_errors)

    def calls(self) -> list[str]:
        return (self.folder / "calls.log").read_text().split()


def statuses(result: RunResult) -> dict[str, dict[str, int]]:
    """What became of the cases, by the name of the agent."""
    return {arm.name.rpartition(" · ")[2]: dict(arm.statuses) for arm in result.arms}
