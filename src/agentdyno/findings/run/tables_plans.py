"""The table of a run that has not started: what would be measured."""

from __future__ import annotations

from collections.abc import Mapping

from agentdyno.model import Phase, Plan
from agentdyno.show.table import Align, Cell, Column, Table
from agentdyno.show.wording import settings


def plan_table(plan: Plan, measured: Mapping[str, int]) -> Table:
    """One row per arm: calls to warm up, samples, instrumented passes, parameters."""
    passes = dict.fromkeys((arm.arm_id for arm in plan.arms), 0)
    for trial in plan.trials:
        passes[trial.arm_id] += trial.phase is Phase.INSTRUMENTED
    columns = (
        Column("arm", wrap=True, heading=True),
        Column("warm-up", Align.RIGHT),
        Column("measured", Align.RIGHT),
        Column("instrumented", Align.RIGHT),
        Column("parameters", wrap=True, priority=1),
    )
    rows = tuple(
        (
            Cell(arm.name),
            Cell(str(plan.warmups.get(arm.arm_id, 0))),
            Cell(str(measured[arm.arm_id])),
            Cell(str(passes[arm.arm_id])),
            Cell(settings(arm.params)),
        )
        for arm in plan.arms
    )
    return Table("Plan", columns, rows)
