"""Results at rest. ``Store`` is the whole of it; ``default_url`` says where a project keeps its own."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentdyno.findings.board.model_rows import LeaderboardRow, MatrixRow
    from agentdyno.store.location import default_url
    from agentdyno.store.rows import (
        AgentExecutionRow,
        AgentRow,
        ArmMetric,
        ArmSeriesRow,
        BaselineRow,
        Execution,
        ExecutionFilter,
        RunRow,
        SeriesRow,
        SuiteRow,
    )
    from agentdyno.store.store import Store

__all__ = [
    "AgentExecutionRow",
    "AgentRow",
    "ArmMetric",
    "ArmSeriesRow",
    "BaselineRow",
    "Execution",
    "ExecutionFilter",
    "LeaderboardRow",
    "MatrixRow",
    "RunRow",
    "SeriesRow",
    "Store",
    "SuiteRow",
    "default_url",
]

_HOMES = {
    **dict.fromkeys(__all__, "agentdyno.store.rows"),
    **dict.fromkeys(("LeaderboardRow", "MatrixRow"), "agentdyno.findings.board.model_rows"),
    "Store": "agentdyno.store.store",
    "default_url": "agentdyno.store.location",
}


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(home), name)
