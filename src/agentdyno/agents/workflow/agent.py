"""A workflow agent: a planner, which is any other agent, and the executor of its plans."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from agentdyno.agents.workflow.execution import PlanExecution, StepState, step_events, step_readings
from agentdyno.agents.workflow.executor import Conditions, MakeData, PlanExecutor, provide
from agentdyno.agents.workflow.faults import Interruption, StepFault
from agentdyno.agents.workflow.journal import Journal
from agentdyno.agents.workflow.plan import WorkflowPlan
from agentdyno.agents.workflow.planning import Planned, ask_for_plan
from agentdyno.agents.workflow.quality import CommandQuality, command_quality
from agentdyno.agents.workflow.tree import differing
from agentdyno.contracts import CASE_FOLDER, Agent, CaseFailed
from agentdyno.model.case import Case, Event, Response
from agentdyno.model.codec import from_plain, to_plain
from agentdyno.model.sample import FailureKind
from agentdyno.model.workflow.task import TaskSetup, task_of
from agentdyno.registry.local import load_target, parse_reference
from agentdyno.sandbox.isolation import CellIsolation, CellLimits, CellRefused, Cells

PLANNER, EXECUTOR = "planner", "executor"
"""Who decides after a fault what is left to do."""


@dataclass(frozen=True, slots=True)
class WorkflowSetting:
    """``parallel`` steps at once, each within ``limits``. ``repairs``: how often an invalid plan may be mended.
    ``fault`` is injected, and the workflow started again; ``resume`` says who decides what is left to do then:
    ``executor`` by files and checksums, or ``planner``, who is told the state and plans the rest. ``idempotence``
    executes a plan that succeeded a second time on its own result."""

    isolation: CellIsolation = CellIsolation.AUTO
    parallel: int = 2
    limits: CellLimits = field(default_factory=CellLimits)
    repairs: int = 0
    fault: StepFault | None = None
    resume: str = EXECUTOR
    idempotence: bool = False


@dataclass(slots=True)
class _Work:
    """What a case has come to."""

    plan: WorkflowPlan
    quality: CommandQuality
    execution: PlanExecution
    readings: dict[str, float]
    events: list[Event]
    total_s: float


class WorkflowAgent:
    """Has ``planner`` plan a case's task, executes the plan in cells, and answers with what came of it.

    The answer is a mapping: ``outcome`` (``done``, ``failed`` or ``plan_refused``), ``reason``, ``folder`` with the
    final state below ``work``, and ``steps`` by state. A plan that is not valid, and a step that fails, are the
    planner's failure and no error: the check of the final state decides. ``duration_s`` is the planner's time and
    that of the steps, earlier starts included.
    """

    def __init__(
        self, planner: Agent, setting: WorkflowSetting, config: Mapping[str, object], base_dir: str = "."
    ) -> None:
        self.name = planner.name
        self.version = planner.version
        self.config: Mapping[str, object] = dict(config)
        self.paid = planner.paid
        self._planner = planner
        self._setting = setting
        self._base_dir = Path(base_dir)
        self._cells = Cells(setting.isolation)
        self._scratch: list[Path] = []

    async def start(self) -> None:
        """Raises ``RunError`` where commands cannot be isolated, before anything is asked of the planner."""
        await self._cells.start()
        await self._planner.start()

    async def close(self) -> None:
        await self._planner.close()
        await self._cells.close()
        for folder in self._scratch:
            shutil.rmtree(folder, ignore_errors=True)

    def _folder(self) -> Path:
        """Of this try of the case; one that ends with the agent where no run keeps any."""
        named = CASE_FOLDER.get()
        if named is not None:
            return named()
        folder = Path(tempfile.mkdtemp(prefix="dyno-workflow-"))
        self._scratch.append(folder)
        return folder

    async def run(self, case: Case) -> Response:
        task = task_of(case)
        folder = self._folder()
        make_data = _maker(task, self._base_dir)
        with Journal(folder) as journal:
            if journal.data is None:
                await asyncio.to_thread(provide, journal, make_data)
            planned = await self._planned(case, journal)
            plan = planned.read
            if plan is None:
                return self._refused(planned, folder)
            try:
                if self._setting.fault is not None and self._setting.resume == PLANNER and journal.starts == 0:
                    order = Interruption(plan, self._cells, self._conditions(task), make_data)
                    planned, work = await self._planner_resumes(case, planned, order, journal)
                else:
                    work = await self._work(plan, journal, task, make_data)
            except CellRefused as error:
                raise CaseFailed(FailureKind.EXCEPTION, f"no cell for a step: {error}") from None
        return self._response(planned, work, folder)

    async def _planned(self, case: Case, journal: Journal) -> Planned:
        """The recorded plan where an earlier start has one: a planner is paid once."""
        if journal.planned is not None:
            return from_plain(Planned, journal.planned)
        planned = await ask_for_plan(self._planner, case, _sizes(journal), self._setting.repairs)
        journal.record_plan(to_plain(planned))
        return planned

    def _conditions(self, task: TaskSetup) -> Conditions:
        limits = self._setting.limits
        if task.quota_mb is not None:
            limits = replace(limits, work_bytes=int(task.quota_mb * 1024 * 1024))
        if task.time_limit_s is not None:
            limits = replace(limits, time_limit_s=task.time_limit_s)
        return Conditions(self._setting.parallel, limits)

    async def _work(self, plan: WorkflowPlan, journal: Journal, task: TaskSetup, make_data: MakeData) -> _Work:
        quality = await asyncio.to_thread(command_quality, plan)
        conditions, fault = self._conditions(task), self._setting.fault
        earlier_s = journal.earlier_s
        if fault is not None and journal.starts == 0:
            found = await Interruption(plan, self._cells, conditions, make_data).run(fault, journal)
            readings = {**step_readings(found.first, found.second), **found.figures.readings()}
            events = [
                *step_events(found.first, 0.0, "-first"),
                *step_events(found.second, found.first.wall_s, "-second"),
            ]
            total_s = found.first.wall_s + found.second.wall_s
            return _Work(plan, quality, found.last, readings, events, total_s)
        execution = await PlanExecutor(plan, journal, self._cells, conditions).run(make_data)
        readings = {**step_readings(execution), "workflow.starts": float(journal.starts)}
        if self._setting.idempotence and execution.succeeded:
            readings["commands.idempotent"] = float(await self._is_idempotent(plan, journal, conditions))
        return _Work(
            plan, quality, execution, readings, step_events(execution, earlier_s), earlier_s + execution.wall_s
        )

    async def _planner_resumes(
        self, case: Case, planned: Planned, order: Interruption, journal: Journal
    ) -> tuple[Planned, _Work]:
        """The planner is told what the start that met the fault has left, and plans the rest; nothing is skipped for
        it. Files as they are when its plan has been executed are the final state."""
        fault = self._setting.fault
        assert fault is not None, "only after a fault"
        first = await order.first(fault, journal)
        done = tuple(item.step for item in first.in_state(StepState.DONE))
        rest = await ask_for_plan(self._planner, case, _sizes(journal), self._setting.repairs, done)
        together = planned.followed_by(rest)
        quality = await asyncio.to_thread(command_quality, order.plan)
        readings = {"resume.steps_completed": float(len(done)), "resume.planner_s": rest.duration_s}
        events = step_events(first, 0.0, "-first")
        plan = rest.read
        if plan is None:
            return together, _Work(
                order.plan, quality, first, {**step_readings(first), **readings}, events, first.wall_s
            )
        second = await _executed_on(journal, plan, order)
        readings |= {**step_readings(first, second), "resume.steps_replanned": float(len(plan.steps))}
        events += step_events(second, first.wall_s + rest.duration_s, "-second")
        return together, _Work(plan, quality, second, readings, events, first.wall_s + second.wall_s)

    async def _is_idempotent(self, plan: WorkflowPlan, journal: Journal, conditions: Conditions) -> bool:
        """Whether executing everything once more on the final state leaves the same files."""
        before = journal.work.manifest()
        folder = journal.folder / "twice"
        shutil.rmtree(folder, ignore_errors=True)

        def final_state(place: Path) -> None:
            shutil.copytree(journal.work.folder, place, symlinks=True, dirs_exist_ok=True)

        try:
            with Journal(folder) as second:
                again = await PlanExecutor(plan, second, self._cells, conditions).run(final_state)
                return again.succeeded and not differing(before, second.work.manifest())
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _refused(self, planned: Planned, folder: Path) -> Response:
        output = {
            "outcome": "plan_refused",
            "reason": planned.refused,
            "folder": str(folder),
            "answer": planned.answer,
        }
        readings = {"duration_s": planned.duration_s, **_planner_readings(planned)}
        return self._told(planned, output, readings, [])

    def _response(self, planned: Planned, work: _Work, folder: Path) -> Response:
        execution = work.execution
        failed = execution.in_state(StepState.FAILED)
        states = {state: [item.step for item in execution.in_state(state)] for state in StepState}
        output: dict[str, object] = {
            "outcome": "done" if execution.succeeded else "failed",
            "reason": "; ".join(f"{item.step}: {item.why}" for item in failed),
            "folder": str(folder),
            "steps": {state.value: names for state, names in states.items() if names},
            "commands": work.quality.plain(),
        }
        readings = {
            **work.readings,
            **work.quality.readings(),
            **_planner_readings(planned),
            "duration_s": planned.duration_s + work.total_s,
            "cpu_s": planned.readings.get("cpu_s", 0.0) + work.readings["workflow.cpu_s"],
            "peak_rss_bytes": work.readings["workflow.peak_rss_bytes"],
        }
        events = [replace(event, at_s=event.at_s + planned.duration_s) for event in work.events]
        return self._told(planned, output, readings, events)

    def _told(
        self, planned: Planned, output: Mapping[str, object], readings: Mapping[str, float], events: list[Event]
    ) -> Response:
        planning = Event(
            "span",
            0.0,
            "planning",
            duration_s=planned.duration_s,
            details={"span": "planning", "model": planned.model, "repairs": planned.repairs},
        )
        observed: dict[str, object] = {"sandbox": self._cells.used}
        if planned.model is not None:
            observed["model"] = planned.model
        return Response(
            output=output,
            usage=planned.usage,
            cost=planned.cost,
            api_calls=planned.api_calls,
            events=(planning, *planned.events, *events),
            observed=observed,
            readings=readings,
            model=planned.model,
            simulated=planned.simulated,
        )


async def _executed_on(journal: Journal, plan: WorkflowPlan, order: Interruption) -> PlanExecution:
    """Executes another plan on the files of a journal, and leaves the result in their place."""

    def as_left(place: Path) -> None:
        shutil.copytree(journal.work.folder, place, symlinks=True, dirs_exist_ok=True)

    with Journal(journal.folder / "rest") as rest:
        execution = await PlanExecutor(plan, rest, order.cells, order.conditions).run(as_left)
        shutil.rmtree(journal.work.folder)
        rest.work.folder.replace(journal.work.folder)
    return execution


def _planner_readings(planned: Planned) -> dict[str, float]:
    return {"workflow.planner_s": planned.duration_s, "workflow.repairs": float(planned.repairs)}


def _sizes(journal: Journal) -> dict[str, int]:
    return {path: (journal.work.folder / path).lstat().st_size for path in journal.work.files()}


def _maker(task: TaskSetup, base_dir: Path) -> MakeData:
    if task.make is None:
        return lambda _: None
    target = parse_reference(task.make, base_dir)
    if target is None:
        raise CaseFailed(
            FailureKind.EXCEPTION, f"{task.make!r} is neither file.py@name nor module:function", fatal=True
        )
    make = load_target("datasets", target)

    def make_data(folder: Path) -> None:
        make(folder, task.seed)

    return make_data
