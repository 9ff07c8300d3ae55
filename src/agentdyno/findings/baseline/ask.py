"""Baselines that somebody chose: set, shown, taken back, and written to a file for a repository."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path

from agentdyno.errors import StoreError
from agentdyno.findings.baseline.ask_file import write_baseline
from agentdyno.findings.record.ask import Records
from agentdyno.model.record import AgentRecord
from agentdyno.store import Store
from agentdyno.store.rows import BaselineRow

_SET_ONE = "`dyno baseline set AGENT@VERSION` chooses one."


def set_baseline(
    store: Store,
    agent: str,
    *,
    suite: str | None = None,
    workspace: str = "default",
    note: str = "",
    now_ms: int | None = None,
    partial: bool = False,
) -> tuple[BaselineRow, AgentRecord]:
    """Makes the newest results of an agent (``NAME[@VERSION]``) what its later versions are held against.

    Those of whole runs; with ``partial`` also of runs that were quick, limited or cut short.
    """
    record = Records(store, whole=not partial).newest(agent, suite)
    row = BaselineRow(
        workspace=workspace,
        agent=record.name,
        suite_id=record.suite_id,
        version=record.version,
        run_id=record.run_ids[0] if len(record.run_ids) == 1 else "",
        set_at=time.time_ns() // 1_000_000 if now_ms is None else now_ms,
        note=note,
    )
    store.boards.set_baseline(row)
    return row, record


def find_baseline(store: Store, agent: str, suite_id: str, workspace: str = "default") -> AgentRecord | None:
    """What was set for an agent in a suite, or ``None``."""
    for row in store.boards.baselines(workspace):
        if row.agent == agent and row.suite_id == suite_id:
            return record_of_baseline(store, row)
    return None


def record_of_baseline(store: Store, row: BaselineRow) -> AgentRecord:
    """The results of the run that the baseline was set to; the newest of its version where they are of several."""
    label = f"{row.agent}@{row.version}"
    if not row.run_id:
        return Records(store).newest(label, row.suite_id)
    for record in Records(store).of_run(store.runs.find(row.run_id)):
        if record.agent == label:
            return record
    raise StoreError(f"run {row.run_id[:13]} does not hold {label} any more", remedy=_SET_ONE)


def clear_baseline(store: Store, agent: str, *, suite: str | None = None, workspace: str = "default") -> int:
    """Takes the baselines of an agent back; with ``NAME@VERSION`` only where that version is it. How many."""
    rows = [row for row in store.boards.baselines(workspace) if agent in (row.agent, f"{row.agent}@{row.version}")]
    rows = [row for row in rows if suite in (None, row.suite_id)]
    if not rows:
        raise StoreError(f"no baseline of {agent} is set", remedy="`dyno baseline show` lists them.")
    return sum(store.boards.clear_baseline(row.agent, row.suite_id, workspace) for row in rows)


def export_baselines(
    store: Store, path: Path, *, agents: Sequence[str] = (), suite: str | None = None, workspace: str = "default"
) -> tuple[AgentRecord, ...]:
    """Writes the chosen baselines, or the newest results of ``agents``, to a small file for the repository."""
    if agents:
        records = [Records(store).newest(agent, suite) for agent in agents]
    else:
        rows = [row for row in store.boards.baselines(workspace) if suite in (None, row.suite_id)]
        if not rows:
            raise StoreError(
                "no baseline is set, so there is nothing to export",
                remedy=f"{_SET_ONE} Or name agents: dyno baseline export FILE --agent AGENT@VERSION.",
            )
        records = [record_of_baseline(store, row) for row in rows]
    write_baseline(path, records)
    return tuple(records)
