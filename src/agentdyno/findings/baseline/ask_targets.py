"""Targets of a suite's version: shown, and moved where somebody asks for it."""

from __future__ import annotations

import time

from agentdyno.errors import NotComparable, StoreError, nearest
from agentdyno.findings.baseline.model import MovedTarget, TargetMove, TargetRow
from agentdyno.findings.figures.dimensions import targets_for
from agentdyno.findings.record.ask import Records
from agentdyno.store import Store
from agentdyno.store.rows import SuiteRow


def targets_of(store: Store, suite: str) -> tuple[SuiteRow, list[TargetRow]]:
    """The newest version of a suite (by id, name or digest) and the targets in force for it."""
    row = _suite(store, suite)
    return row, store.boards.targets(row.digest)


def move_targets(store: Store, suite: str, agent: str, *, now_ms: int | None = None) -> TargetMove:
    """Makes half and five times what ``agent`` used in its newest whole run the targets of the suite's version.

    What the rubric says stays. Every execution of this version is scored again.
    """
    row, known = targets_of(store, suite)
    record = Records(store, whole=True).newest(agent, row.digest)
    before = {(item.benchmark, item.metric): (item.target, item.bound) for item in known}
    at = time.time_ns() // 1_000_000 if now_ms is None else now_ms
    wanted: list[TargetRow] = []
    for item in record.benchmarks:
        header = store.runs.load(item.run_id, samples=False)
        assert header.suite is not None, "records are of runs of suites"
        arm = next(arm for arm in header.arms if (arm.agent, arm.benchmark) == (record.arm_agent, item.benchmark_id))
        found = targets_for(header.suite.benchmark(item.benchmark_id), arm)
        wanted += [
            TargetRow(item.benchmark_id, metric, *pair, record.arm_agent, item.run_id, at)
            for metric, pair in found.items()
        ]
    changed = [new for new in wanted if before.get((new.benchmark, new.metric)) != (new.target, new.bound)]
    if not wanted:
        raise NotComparable(
            f"{record.agent} has used nothing that a target could be made of",
            remedy="Targets are made of time, money, tokens, CPU time and memory of an agent that was right.",
        )
    moved = tuple(
        MovedTarget(new.benchmark, new.metric, before.get((new.benchmark, new.metric)), (new.target, new.bound))
        for new in changed
    )
    if not changed:
        return TargetMove(row.suite_id, record.agent, record.run_ids, ())
    result = store.boards.move_targets(row.digest, changed)
    return TargetMove(row.suite_id, record.agent, record.run_ids, moved, result.scored_again, result.left_out)


def _suite(store: Store, suite: str) -> SuiteRow:
    known = store.boards.suites()
    for row in known:
        if suite in (row.suite_id, row.digest, row.name):
            return row
    names = sorted({row.suite_id for row in known})
    raise StoreError(f"no run of a suite {suite!r} is in the store", remedy=nearest(suite, names))
