"""Workflows for tests: plans, folders, and executing them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from agentdyno.agents.workflow.execution import PlanExecution, StepState
from agentdyno.agents.workflow.executor import Conditions, PlanExecutor
from agentdyno.agents.workflow.faults import Interrupted, Interruption, StepFault
from agentdyno.agents.workflow.journal import Journal
from agentdyno.agents.workflow.plan import WorkflowPlan, read_plan
from agentdyno.sandbox.isolation import Cells

DATA = {"numbers.txt": "3\n1\n2\n1\n", "names.txt": "b\na\n"}


def plan_of(**commands: str | tuple[str, str]) -> WorkflowPlan:
    """``id="command"``, or ``id=("command", "needed needed")``; what a command redirects to is its output."""
    steps = []
    for name, given in commands.items():
        command, needs = given if isinstance(given, tuple) else (given, "")
        made = [command.rpartition("> ")[2].split()[0]] if "> " in command else []
        steps.append({"id": name, "command": command, "needs": needs.split(), "outputs": made})
    return read_plan({"steps": steps})


SORTING = plan_of(
    numbers="sort -n numbers.txt > sorted.txt",
    names="sort names.txt > ordered.txt",
    unique=("uniq sorted.txt > unique.txt", "numbers"),
    both=("cat ordered.txt unique.txt > all.txt", "names unique"),
)


def make_data(folder: Path) -> None:
    for name, text in DATA.items():
        (folder / name).write_text(text)


def execute(
    plan: WorkflowPlan, folder: Path, conditions: Conditions | None = None, make: Callable[[Path], None] = make_data
) -> PlanExecution:
    """One start, in cells as always."""

    async def work() -> PlanExecution:
        cells = Cells()
        await cells.start()
        try:
            with Journal(folder) as journal:
                return await PlanExecutor(plan, journal, cells, conditions).run(make)
        finally:
            await cells.close()

    return asyncio.run(work())


def interrupt(plan: WorkflowPlan, folder: Path, fault: StepFault, parallel: int = 1) -> Interrupted:
    """Executes with a fault and starts again."""

    async def work() -> Interrupted:
        cells = Cells()
        await cells.start()
        try:
            with Journal(folder) as journal:
                conditions = replace(Conditions(), parallel=parallel)
                return await Interruption(plan, cells, conditions, make_data).run(fault, journal)
        finally:
            await cells.close()

    return asyncio.run(work())


def states(execution: PlanExecution) -> dict[str, str]:
    return {name: outcome.state.value for name, outcome in execution.outcomes.items()}


def ran(execution: PlanExecution) -> set[str]:
    return {item.step for item in execution.in_state(StepState.DONE, StepState.FAILED)}


def change(folder: Path, name: str, text: str) -> None:
    """Another content of a file, as somebody else would write it."""
    place = folder / "work" / name
    place.unlink(missing_ok=True)
    place.write_text(text)


def text_of(folder: Path, name: str) -> str:
    return (folder / "work" / name).read_text()
