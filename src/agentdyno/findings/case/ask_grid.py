"""Cases by versions of an agent, or by agents: which were passed by whom, and where that flips."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from agentdyno.errors import NotComparable
from agentdyno.findings.engine.versions import version_number
from agentdyno.findings.record.ask import Records
from agentdyno.model import Case, Suite
from agentdyno.model.case import CaseKey
from agentdyno.model.codec import to_plain
from agentdyno.model.record import AgentRecord, CaseRecord
from agentdyno.store import Store
from agentdyno.store.rows import ExecutionFilter

MOST_COLUMNS = 20
SHOWN_CHARACTERS = 200
"""Of a case's input."""


@dataclass(frozen=True, slots=True)
class GridCell:
    """What one agent made of one case: ``passed`` of ``tries``, its mean ``score`` and how the tries ended."""

    run_id: str
    tries: int
    passed: int
    score: float | None
    statuses: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GridRow:
    """One case; ``cells`` in the order of the columns, ``None`` where it was not tried.

    ``flips`` counts neighbouring cells of which one was passed in most tries and the other was not. ``input`` is its
    beginning, as text.
    """

    benchmark: str
    case_id: str
    group: str | None
    input: str
    flips: int
    cells: tuple[GridCell | None, ...]


@dataclass(frozen=True, slots=True)
class CaseGrid:
    """``columns`` are agents with their versions: those of one agent from the lowest on, or each agent's newest."""

    suite_id: str
    suite_name: str
    columns: tuple[str, ...]
    rows: tuple[GridRow, ...]


def case_grid(store: Store, suite_id: str, name: str | None = None) -> CaseGrid:
    """Of all versions of one agent in a suite, else of all agents, by their newest results there.

    Raises ``NotComparable`` where nobody has results case by case.
    """
    rows = [row for row in store.boards.suites() if suite_id in (row.suite_id, row.digest)]
    records = _versions(store, name, suite_id) if name is not None else _agents(store, suite_id)
    if not records:
        who = name or "no agent"
        raise NotComparable(f"{who} has no cases in {suite_id}", remedy=f"`dyno run {suite_id} --agent AGENT` does.")
    suite = store.boards.load_suite(records[-1].suite or rows[-1].digest)
    return CaseGrid(suite.suite_id, suite.name, tuple(record.agent for record in records), _rows(suite, records))


def last_run_suite(store: Store, name: str | None = None) -> str | None:
    """The id of the suite that was run last, by one agent where it is named; ``None`` where none was."""
    asked = ExecutionFilter() if name is None else ExecutionFilter(agent=name)
    newest = store.boards.executions(asked, limit=1)
    ids = {row.digest: row.suite_id for row in store.boards.suites()}
    return ids.get(newest[0].suite) if newest else None


def _versions(store: Store, name: str, suite_id: str) -> list[AgentRecord]:
    known = store.boards.agent_executions(name, None, suite_id)
    newest_first = dict.fromkeys(row.version for row in known if row.run_id and row.status != "failed")
    last = list(newest_first)[:MOST_COLUMNS]
    # Versions that are no numbers stand in the order in which they were run.
    numbered = all(version_number(version) is not None for version in last)
    ordered = sorted(last, key=lambda version: version_number(version) or ()) if numbered else last[::-1]
    return _read(store, [f"{name}@{version}" for version in ordered], suite_id)


def _agents(store: Store, suite_id: str) -> list[AgentRecord]:
    names = sorted({row.agent for row in store.boards.matrix_rows() if suite_id in _ids(store, row.suite)})
    return _read(store, names[:MOST_COLUMNS], suite_id)


def _ids(store: Store, digest: str) -> set[str]:
    return {value for row in store.boards.suites() if row.digest == digest for value in (row.suite_id, digest)}


def _read(store: Store, agents: Sequence[str], suite_id: str) -> list[AgentRecord]:
    records, found = Records(store), []
    for agent in agents:
        try:
            found.append(records.newest(agent, suite_id))
        except NotComparable:  # only totals of it are here, or it never answered
            continue
    return found


def _rows(suite: Suite, records: Sequence[AgentRecord]) -> tuple[GridRow, ...]:
    asked = {CaseKey(part.benchmark_id, case.id): case for part in suite.benchmarks for case in part.cases}
    by_record = [{case.key: case for case in record.cases} for record in records]
    keys = dict.fromkeys([*asked, *(key for cases in by_record for key in cases)])
    rows = []
    for key in keys:
        cells = tuple(_cell(record, cases.get(key)) for record, cases in zip(records, by_record, strict=True))
        if not any(cells):
            continue
        group = next((cases[key].group for cases in by_record if key in cases), None)
        rows.append(GridRow(key.benchmark, key.case_id, group, _input(asked.get(key)), count_flips(cells), cells))
    return tuple(rows)


def _cell(record: AgentRecord, case: CaseRecord | None) -> GridCell | None:
    if case is None:
        return None
    run_id = next((item.run_id for item in record.benchmarks if item.benchmark_id == case.benchmark), "")
    return GridCell(run_id, case.tries, case.passed, case.score, case.statuses)


def count_flips(cells: Sequence[GridCell | None]) -> int:
    """How often a case goes over from mostly passed to mostly not, or back; cells that were not tried are skipped."""
    sides = [2 * cell.passed > cell.tries for cell in cells if cell is not None and cell.tries]
    return sum(one != other for one, other in pairwise(sides))


def _input(case: Case | None) -> str:
    if case is None:
        return ""
    asked = case.turns if case.turns else case.input
    return (asked if isinstance(asked, str) else str(to_plain(asked)))[:SHOWN_CHARACTERS]
