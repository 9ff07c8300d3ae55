"""Planners of this workload: the reference, and a small model that chooses among templates."""

from __future__ import annotations

from agentdyno import Case
from agentdyno_workloads.workflows.catalogue import task_named


def reference(case: Case) -> dict[str, object]:
    """The plan that was written for the task by hand: it shows that the task can be done."""
    return {"steps": [step.plain() for step in task_named(case.id).plan]}
