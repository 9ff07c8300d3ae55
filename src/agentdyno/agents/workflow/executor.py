"""Executes a plan step by step in cells, skipping what a journal and the files prove to be done."""

from __future__ import annotations

import asyncio
import shutil
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from agentdyno.agents.workflow.execution import PlanExecution, PlanStepOutcome, StepState
from agentdyno.agents.workflow.journal import Journal, StepEnd
from agentdyno.agents.workflow.plan import PlannedStep, WorkflowPlan
from agentdyno.agents.workflow.tree import TreeChange, WorkTree
from agentdyno.agents.workflow.validity import View, invalid, listing
from agentdyno.sandbox.isolation import CellLimits, CellResult, Cells
from agentdyno.sandbox.process import cause_of_death

MakeData = Callable[[Path], None]
"""Puts the files that a task begins with into an empty folder."""


@dataclass(frozen=True, slots=True)
class StepChange:
    """What a fault does to one step: another command in its place, something to do just before it, less room."""

    step: str
    spare_bytes: int | None = None
    command: Callable[[str], str] = lambda command: command
    before: Callable[[Path], None] = lambda _: None


@dataclass(frozen=True, slots=True)
class Conditions:
    """How a plan is executed: ``parallel`` steps at once at most, each within ``limits``."""

    parallel: int = 2
    limits: CellLimits = field(default_factory=CellLimits)
    fault: StepChange | None = None


class PlanExecutor:
    """Executes ``plan`` in the folder of ``journal``. After the first step that fails no other is begun."""

    def __init__(
        self, plan: WorkflowPlan, journal: Journal, cells: Cells, conditions: Conditions | None = None
    ) -> None:
        self._plan = plan
        self._journal = journal
        self._cells = cells
        self._conditions = conditions or Conditions()
        self._outcomes: dict[str, PlanStepOutcome] = {}
        self._started = 0.0
        self._start = 0

    async def run(self, make_data: MakeData) -> PlanExecution:
        """One start: everything that is not done is done. Raises ``CellRefused`` where no cell can be made."""
        if self._journal.data is None:
            await asyncio.to_thread(provide, self._journal, make_data)
        self._start = self._journal.record_start()
        self._started = time.perf_counter()
        restarted = self._must_restart()
        if restarted:
            self._journal.clear()
            await asyncio.to_thread(provide, self._journal, make_data)
        running: dict[asyncio.Task[PlanStepOutcome], str] = {}
        try:
            while self._begin_ready(running) or running:
                done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                for task in done:
                    self._outcomes[running.pop(task)] = task.result()
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)
        wall_s = time.perf_counter() - self._started
        for step in self._plan.steps:
            if step.id not in self._outcomes:
                self._outcomes[step.id] = PlanStepOutcome(step.id, StepState.NOT_RUN, why="a step before it failed")
        ordered = {step.id: self._outcomes[step.id] for step in self._plan.steps}
        return PlanExecution(self._plan, ordered, wall_s, restarted)

    def _must_restart(self) -> bool:
        """Whether a step that must run again would find its input written over."""
        view = self._view()
        reasons = [invalid(step.id, view) for step in self._plan.steps if step.id in view.ends]
        return any(reason is not None and reason.restart for reason in reasons)

    def _begin_ready(self, running: dict[asyncio.Task[PlanStepOutcome], str]) -> bool:
        """Skips what is valid and begins what is ready; whether anything was begun."""
        settled = {StepState.DONE, StepState.SKIPPED}
        begun = False
        for step in self._plan.steps:
            failed = any(item.state is StepState.FAILED for item in self._outcomes.values())
            if failed or len(running) >= self._conditions.parallel:
                break
            ready = all(need in self._outcomes and self._outcomes[need].state in settled for need in step.needs)
            if step.id in self._outcomes or step.id in running.values() or not ready:
                continue
            why = invalid(step.id, self._view())
            if why is None:
                self._outcomes[step.id] = self._skipped(step)
                continue
            again = step.id in self._journal.ends
            self._journal.forget(step.id)
            running[asyncio.create_task(self._execute(step, f"ran again: {why.why}" if again else ""))] = step.id
            begun = True
        return begun

    def _view(self) -> View:
        journal = self._journal
        return View(self._plan, journal.ends, journal.work, journal.data or {}, journal.made)

    def _skipped(self, step: PlannedStep) -> PlanStepOutcome:
        end = self._journal.ends[step.id]
        return PlanStepOutcome(
            step.id,
            StepState.SKIPPED,
            self._now(),
            end.duration_s,
            end.cpu_s,
            end.peak_rss_bytes,
            written=tuple(end.written),
        )

    def _now(self) -> float:
        return time.perf_counter() - self._started

    async def _execute(self, step: PlannedStep, why: str) -> PlanStepOutcome:
        journal, fault = self._journal, self._conditions.fault
        command, limits = step.command, self._conditions.limits
        if fault is not None and fault.step == step.id:
            fault.before(journal.work.folder)
            command = fault.command(command)
            if fault.spare_bytes is not None:
                limits = replace(limits, work_bytes=min(limits.work_bytes, _size(journal.work) + fault.spare_bytes))
        at_s = self._now()
        journal.record_begin(step.id, at_s)
        given = journal.stage / f"{step.id}.in"
        journal.work.snapshot(given)
        before = journal.work.manifest()
        seen = dict(journal.ends)
        try:
            result = await self._cells.run(command, given, limits)
            view = View(self._plan, seen, WorkTree(given), journal.data or {}, journal.made)
            listed = {path: listing(path, step.id, view) for path in result.read if path.endswith("/")}
        finally:
            shutil.rmtree(given, ignore_errors=True)
        outcome = _outcome(step, result, at_s, why)
        changes = journal.work.stage(result, journal.staged(step.id))
        problem = _problem(step, result, changes, before)
        if problem is not None:
            shutil.rmtree(journal.staged(step.id), ignore_errors=True)
            journal.record_failure(step.id, at_s + result.duration_s, problem)
            return replace(outcome, state=StepState.FAILED, why=problem)
        end = StepEnd(
            step=step.id,
            command=step.digest,
            inputs=_inputs(result, changes, before),
            listed=listed,
            changes=changes,
            at_s=at_s,
            duration_s=result.duration_s,
            cpu_s=result.cpu_s,
            peak_rss_bytes=result.peak_rss_bytes,
            output=result.output[-500:],
            start=self._start,
        )
        journal.record_end(end)
        return outcome


def _size(work: WorkTree) -> int:
    return sum((work.folder / path).lstat().st_size for path in work.files())


def provide(journal: Journal, make_data: MakeData) -> None:
    """The task's files, complete or not at all."""
    made, folder = journal.folder / "work.new", journal.work.folder
    shutil.rmtree(made, ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)
    made.mkdir(parents=True)
    make_data(made)
    made.replace(folder)
    journal.record_data(journal.work.manifest())


def _inputs(result: CellResult, changes: tuple[TreeChange, ...], before: Mapping[str, str]) -> dict[str, str]:
    """What a step depends on: what it read, and what it wrote over."""
    touched = {*(path for path in result.read if not path.endswith("/")), *(item.path for item in changes)}
    return {path: before[path] for path in sorted(touched) if path in before}


def _outcome(step: PlannedStep, result: CellResult, at_s: float, why: str) -> PlanStepOutcome:
    return PlanStepOutcome(
        step.id,
        StepState.DONE,
        at_s,
        result.duration_s,
        result.cpu_s,
        result.peak_rss_bytes,
        result.status,
        result.output,
        result.read,
        tuple(item.path for item in result.changed if item.kind != "folder"),
        why,
    )


def _problem(
    step: PlannedStep, result: CellResult, changes: tuple[TreeChange, ...], before: Mapping[str, str]
) -> str | None:
    """Why a step has not ended well; ``None`` where it has."""
    if result.ended_by == "time":
        return "it took longer than a step may"
    if result.ended_by == "output":
        return "it printed more than a step may"
    if result.full:
        return "no room was left in the working folder (the limit of disk space)"
    if result.status < 0:
        return cause_of_death(result.status)[1]
    if result.status > 0:
        last = result.output.strip().splitlines()[-1:] or [""]
        return f"exit status {result.status}" + (f": {last[0][:300]}" if last[0] else "")
    gone = {item.path for item in changes if item.kind == "gone"}
    there = {*before, *(item.path for item in changes)} - gone
    for path in step.outputs:
        if path not in there and not any(item.startswith(f"{path}/") for item in there):
            return f"{path}, which it was to make, is not there"
    return None
