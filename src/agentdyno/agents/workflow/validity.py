"""Whether a step that has ended need not run again: judged by files and checksums, never by words.

A step is still valid where its command is the same, everything that it read is as it was, and everything that it made
is still there. A file that the step itself, or a step after it, has since written over counts by what that one left.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agentdyno.agents.workflow.journal import StepEnd
from agentdyno.agents.workflow.plan import WorkflowPlan
from agentdyno.agents.workflow.tree import WorkTree
from agentdyno.model.identity import digest


@dataclass(frozen=True, slots=True)
class Invalid:
    """Why a step must run again. ``restart``: what it read has been written over since, so that only the beginning
    can bring it back."""

    why: str
    restart: bool = False


@dataclass(frozen=True, slots=True)
class View:
    """What is known of a workflow: steps that have ended, the files as they are, those it began with, and which steps
    have ever ``made`` a path, those included that are to run again."""

    plan: WorkflowPlan
    ends: Mapping[str, StepEnd]
    work: WorkTree
    data: Mapping[str, str]
    made: Mapping[str, set[str]]


def invalid(step_id: str, view: View) -> Invalid | None:
    """``None`` where the step may be skipped; what it needs must have been settled before."""
    plan, ends, work = view.plan, view.ends, view.work
    end = ends.get(step_id)
    if end is None:
        return Invalid("it has not ended")
    if end.command != plan.step(step_id).digest:
        return Invalid("its command has changed")
    later = [ends[other] for other in plan.descendants(step_id) if other in ends]
    lost = _overwritten(end, later, work)
    for path, before in end.inputs.items():
        now = work.checksum(path)
        if now != before and not any(now == other.written[path] for other in (end, *later) if path in other.written):
            return Invalid(f"{path} has changed" if now is not None else f"{path} is missing", lost)
    for path, made in end.written.items():
        now = work.checksum(path)
        if now != made and not any(now == other.written[path] for other in later if path in other.written):
            return Invalid(f"{path}, which it made, {'has changed' if now is not None else 'is missing'}", lost)
    for folder, names in end.listed.items():
        if listing(folder, step_id, view) != names:
            return Invalid(f"other files are in {folder}", lost)
    return None


def _overwritten(end: StepEnd, later: list[StepEnd], work: WorkTree) -> bool:
    """Whether some file that it read is no longer what it read, because it or a later step wrote over it."""
    return any(
        work.checksum(path) != before and any(path in other.written for other in (end, *later))
        for path, before in end.inputs.items()
    )


def listing(folder: str, step_id: str, view: View) -> str:
    """A digest of the names in a folder as a step sees them: without what steps have made that it does not need."""
    place = "" if folder == "./" else folder
    before = view.plan.ancestors(step_id)
    made = {_below(place, path) for path, steps in view.made.items() if before.isdisjoint(steps)}
    made -= {_below(place, path) for path in view.data}
    names = {name for name in view.work.names(place) if name.rstrip("/") not in made}
    return digest(sorted(names), 32)


def _below(folder: str, path: str) -> str:
    """The first part of a path below a folder; empty where it lies elsewhere."""
    return path[len(folder) :].partition("/")[0] if path.startswith(folder) else ""
