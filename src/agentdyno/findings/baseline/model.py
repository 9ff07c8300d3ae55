"""Targets of a suite's version, and what somebody moved."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class TargetRow(NamedTuple):
    """At ``target`` a benchmark's metric scores 1, at ``bound`` 0; ``agent`` and ``run_id`` are what they come from.

    ``agent`` is "" where they are those of the rubric.
    """

    benchmark: str
    metric: str
    target: float
    bound: float
    agent: str = ""
    run_id: str = ""
    set_at: int = 0


@dataclass(frozen=True, slots=True)
class MovedTarget:
    """``before`` and ``after`` are the values that score 1 and 0; ``None`` where there were none before."""

    benchmark: str
    metric: str
    before: tuple[float, float] | None
    after: tuple[float, float]


@dataclass(frozen=True, slots=True)
class TargetMove:
    """What came of moving targets to those of ``agent`` in ``run_ids``; ``moved`` is empty where nothing changed.

    ``scored_again`` executions have other scores on boards now. ``left_out`` are totals from outside whose scores
    cannot be worked out again: boards show them without speed, efficiency and cost.
    """

    suite_id: str
    agent: str
    run_ids: tuple[str, ...]
    moved: tuple[MovedTarget, ...]
    scored_again: int = 0
    left_out: int = 0
