"""Faults at a chosen step, and how well the second start knew what was done.

The truth does not come from the executor's own bookkeeping. Which steps had ended is what the injector saw end.
Whether skipping one was right is decided by a full run from scratch on the same data: a step was skipped wrongly
where that run made something else than the files that were kept, and had to be done again where it found other files
to read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path

from agentdyno.agents.workflow.execution import PlanExecution, StepState
from agentdyno.agents.workflow.executor import Conditions, MakeData, PlanExecutor, StepChange
from agentdyno.agents.workflow.journal import Journal, StepEnd
from agentdyno.agents.workflow.plan import PlannedStep, WorkflowPlan
from agentdyno.errors import SpecError, nearest
from agentdyno.sandbox.isolation import Cells

_SPARE = 4 * 1024 * 1024
"""Bytes that are left to a step that meets a full disk, before they are filled."""
_WORD = re.compile(r"[\w./-]+")


class FaultKind(StrEnum):
    KILL = "kill"
    DISK_FULL = "disk_full"
    MISSING_INPUT = "missing_input"
    CHANGED_INPUT = "changed_input"


@dataclass(frozen=True, slots=True)
class StepFault:
    """``step`` is an id, a number from 1 on, or a share of the plan (0.5: the step in its middle)."""

    kind: FaultKind
    step: str | int | float = 0.5

    @classmethod
    def read(cls, given: object, where: str) -> StepFault:
        """From a configuration: a kind, or ``{kind: …, step: …}``. Raises ``SpecError``."""
        row = given if isinstance(given, Mapping) else {"kind": given}
        for key in row:
            if key not in ("kind", "step"):
                raise SpecError(
                    f"unknown key {key!r}", where=f"{where}, fault", remedy=nearest(str(key), ("kind", "step"))
                )
        kinds = [kind.value for kind in FaultKind]
        kind, step = row.get("kind"), row.get("step", 0.5)
        if kind not in kinds:
            raise SpecError(f"fault is {kind!r}", where=where, remedy=nearest(str(kind), kinds))
        if isinstance(step, bool) or not isinstance(step, (str, int, float)):
            raise SpecError(f"step is {step!r}", where=f"{where}, fault", remedy="Give an id, a number or a share.")
        return cls(FaultKind(str(kind)), step)

    def chosen(self, plan: WorkflowPlan) -> PlannedStep:
        """The step that it meets. What the plan does not have is its nearest: the first or the last."""
        if isinstance(self.step, str):
            named = [step for step in plan.steps if step.id == self.step]
            return named[0] if named else plan.steps[len(plan.steps) // 2]
        index = self.step - 1 if isinstance(self.step, int) else math.floor(self.step * len(plan.steps))
        return plan.steps[min(max(0, int(index)), len(plan.steps) - 1)]


@dataclass(frozen=True, slots=True)
class ResumeFigures:
    """How well the second start knew what was done. ``precision`` is the share of skipped steps that could be
    skipped, ``recall`` the share of those that could be that were; ``None`` where there were none."""

    completed: int
    skipped: int
    precision: float | None
    recall: float | None
    wrongly_skipped: int
    second_s: float
    full_s: float

    @property
    def time_saved_s(self) -> float:
        return self.full_s - self.second_s

    def readings(self) -> dict[str, float]:
        found = {
            "resume.steps_completed": float(self.completed),
            "resume.steps_skipped": float(self.skipped),
            "resume.wrongly_skipped": float(self.wrongly_skipped),
            "resume.second_start_s": self.second_s,
            "resume.full_rerun_s": self.full_s,
            "resume.time_saved_s": self.time_saved_s,
        }
        known = {"resume.precision": self.precision, "resume.recall": self.recall}
        return found | {name: value for name, value in known.items() if value is not None}


@dataclass(frozen=True, slots=True)
class Interrupted:
    """A workflow that met a fault and was started again. ``last`` is the start that left the final state."""

    first: PlanExecution
    second: PlanExecution
    last: PlanExecution
    figures: ResumeFigures


@dataclass(frozen=True, slots=True)
class Interruption:
    """Everything that executing with a fault needs."""

    plan: WorkflowPlan
    cells: Cells
    conditions: Conditions
    make_data: MakeData

    async def run(self, fault: StepFault, journal: Journal) -> Interrupted:
        """The start that meets the fault, the one after it, and a full run beside them for the truth."""
        first = await self.first(fault, journal)
        ended = {item.step for item in first.in_state(StepState.DONE)}
        kept = {name: end for name, end in journal.ends.items() if name in ended}
        changed: dict[str, bytes] = {}
        if fault.kind is FaultKind.CHANGED_INPUT:
            changed = _change_an_input(journal, self.plan)
        second = await self._start(journal)
        full, made = await self._full(journal.folder / "full", changed)
        skipped = {item.step for item in second.in_state(StepState.SKIPPED)}
        truth = _Truth(ended, ended)  # what a step makes differently each time was done all the same
        if changed:
            same = {name for name in ended if name in made and kept[name].written == made[name].written}
            truth = _Truth({name for name in same if kept[name].inputs == made[name].inputs}, same)
        last = second
        if changed:  # the data as the task has them, so that its check means something
            _put(journal.work.folder, changed)
            last = await self._start(journal)
        return Interrupted(first, second, last, _figures(ended, skipped, truth, (second, full)))

    async def first(self, fault: StepFault, journal: Journal) -> PlanExecution:
        """The start that meets the fault; what was taken away for it is there again afterwards."""
        hidden: dict[str, bytes] = {}
        execution = await self._start(journal, _change(fault.kind, fault.chosen(self.plan), journal, hidden))
        _put(journal.work.folder, hidden)
        return execution

    async def _start(self, journal: Journal, change: StepChange | None = None) -> PlanExecution:
        conditions = replace(self.conditions, fault=change)
        return await PlanExecutor(self.plan, journal, self.cells, conditions).run(self.make_data)

    async def _full(self, folder: Path, changed: Mapping[str, bytes]) -> tuple[PlanExecution, dict[str, StepEnd]]:
        def make(place: Path) -> None:
            self.make_data(place)
            _put(place, {path: changed_content(content) for path, content in changed.items()})

        with Journal(folder) as journal:
            journal.clear()
            execution = await PlanExecutor(self.plan, journal, self.cells, self.conditions).run(make)
            return execution, dict(journal.ends)


@dataclass(frozen=True, slots=True)
class _Truth:
    """Steps that had nothing new to do, and those that it was right to skip: the same would have come out."""

    to_skip: set[str]
    may_skip: set[str]


def _figures(
    ended: set[str], skipped: set[str], truth: _Truth, starts: tuple[PlanExecution, PlanExecution]
) -> ResumeFigures:
    second, full = starts
    return ResumeFigures(
        completed=len(ended),
        skipped=len(skipped),
        precision=len(skipped & truth.may_skip) / len(skipped) if skipped else None,
        recall=len(skipped & truth.to_skip) / len(truth.to_skip) if truth.to_skip else None,
        wrongly_skipped=len(skipped - truth.may_skip),
        second_s=second.wall_s,
        full_s=full.wall_s,
    )


def _change(kind: FaultKind, step: PlannedStep, journal: Journal, hidden: dict[str, bytes]) -> StepChange:
    if kind is FaultKind.DISK_FULL:
        return StepChange(step.id, _SPARE, lambda command: f"head -c 1T /dev/zero > .full 2>/dev/null\n{command}")
    if kind is FaultKind.MISSING_INPUT:
        return StepChange(step.id, before=_hiding(step, journal, hidden), command=lambda command: command + "\nfalse")
    return StepChange(step.id, command=lambda command: f"({command}\n)\nkill -9 $$")


def _hiding(step: PlannedStep, journal: Journal, hidden: dict[str, bytes]) -> Callable[[Path], None]:
    """Takes away the files of the task that the command names, else the first of them."""

    def hide(folder: Path) -> None:
        data = sorted(journal.data or {})
        named = [path for path in data if path in _WORD.findall(step.command)] or data[:1]
        for path in named:
            if (folder / path).is_file():
                hidden[path] = (folder / path).read_bytes()
                (folder / path).unlink()

    return hide


def _change_an_input(journal: Journal, plan: WorkflowPlan) -> dict[str, bytes]:
    """Changes one file that a step has read, else any; returns what it held before."""
    data = journal.data or {}
    read = [path for step in plan.steps if step.id in journal.ends for path in journal.ends[step.id].inputs]
    chosen = next((path for path in (*read, *sorted(data)) if path in data), None)
    if chosen is None or journal.work.checksum(chosen) != data[chosen]:
        return {}
    place = journal.work.folder / chosen
    before = place.read_bytes()
    _put(journal.work.folder, {chosen: changed_content(before)})
    return {chosen: before}


def changed_content(content: bytes) -> bytes:
    """A file with its last line twice: still of the same kind, and no longer the same."""
    last = content.rstrip(b"\n").rpartition(b"\n")[2] + b"\n"
    return content + last if content.endswith(b"\n") or not content else content + b"\n" + last


def _put(folder: Path, files: Mapping[str, bytes]) -> None:
    """Files in a working folder, renamed into place as everything there is."""
    for path, content in files.items():
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        made = place.with_name(f".{place.name}.new")
        made.write_bytes(content)
        made.replace(place)
