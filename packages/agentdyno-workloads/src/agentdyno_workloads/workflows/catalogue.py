"""Every task, by name and by tier."""

from __future__ import annotations

from collections.abc import Iterator

from agentdyno_workloads.workflows.task import TIERS, WorkflowTask
from agentdyno_workloads.workflows.tasks import code, logs, numbers, rna, tables, texts

TASKS: tuple[WorkflowTask, ...] = tuple(
    sorted(
        (*logs.TASKS, *tables.TASKS, *texts.TASKS, *numbers.TASKS, *code.TASKS, *rna.TASKS),
        key=lambda task: (TIERS.index(task.tier), task.id),
    )
)


def cases(tier: str = "") -> Iterator[dict[str, object]]:
    """The tasks as rows of a data set; of one tier where it is named."""
    if tier and tier not in TIERS:
        raise ValueError(f"no tier {tier!r}: {', '.join(TIERS)}")
    yield from (task.case() for task in TASKS if not tier or task.tier == tier)


def task_named(task_id: str) -> WorkflowTask:
    return next(task for task in TASKS if task.id == task_id)
