"""What a store knows of agents, suites and their executions, and the baselines that somebody has set."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, fields
from typing import TYPE_CHECKING

from sqlalchemy import delete, select

from agentdyno.store.boards import histories, imports, leaderboards, matrix, pages, queries, summaries
from agentdyno.store.boards.schema import baselines
from agentdyno.store.boards.spending import list_spending
from agentdyno.store.boards.targets import list_targets, move_targets
from agentdyno.store.database.repository import Repository, directly, durably, in_snapshot
from agentdyno.store.database.session import DatabaseSession
from agentdyno.store.rows import BaselineRow, Execution
from agentdyno.store.runs.suites import keep_suite

if TYPE_CHECKING:
    from agentdyno.model import Suite

_BASELINE_KEY = ("workspace", "agent", "suite_id")


def replace_baseline(session: DatabaseSession, row: BaselineRow) -> None:
    """Makes this the baseline of an agent in a suite and workspace, in place of any before."""
    session.execute(session.backend.insert_or_replace(baselines, _BASELINE_KEY, "1 = 1"), asdict(row))


def delete_baseline(
    session: DatabaseSession, agent: str, suite_id: str | None = None, workspace: str = "default"
) -> int:
    """Forgets the baseline of an agent in a suite, or in all suites; how many there were."""
    own = delete(baselines).where(baselines.c.agent == agent, baselines.c.workspace == workspace)
    return session.execute(own if suite_id is None else own.where(baselines.c.suite_id == suite_id)).rowcount


def list_baselines(session: DatabaseSession, workspace: str | None = None) -> list[BaselineRow]:
    """Every baseline, or those of one workspace, by workspace, agent and suite."""
    asked = select(*(baselines.c[field.name] for field in fields(BaselineRow)))
    if workspace is not None:
        asked = asked.where(baselines.c.workspace == workspace)
    rows = session.execute(asked.order_by(*(baselines.c[name] for name in _BASELINE_KEY)))
    return [BaselineRow(*row) for row in rows]


class BoardRepository(Repository):
    """What boards, histories and comparisons are made from. Executions come in with the runs that made them."""

    agents = in_snapshot(matrix.list_agents)
    suites = in_snapshot(matrix.list_suites)
    categories = directly(matrix.list_categories)
    load_suite = in_snapshot(matrix.load_suite)
    last_suite = directly(matrix.last_suite)
    matrix_rows = directly(matrix.matrix_rows)
    agents_of_versions = directly(matrix.agents_of_versions)
    recorded_agents = directly(matrix.recorded_agents)
    leaderboard_rows = directly(leaderboards.leaderboard_rows)
    generation = directly(summaries.generation)
    executions = in_snapshot(queries.list_executions)
    execution_page = in_snapshot(pages.execution_page)
    series = in_snapshot(histories.series)
    agent_executions = in_snapshot(histories.agent_executions)
    arm_series = in_snapshot(histories.arm_series)
    baselines = directly(list_baselines)
    targets = in_snapshot(list_targets)
    move_targets = durably(move_targets)
    spending = in_snapshot(list_spending)
    form_counts = directly(leaderboards.form_counts)
    set_baseline = durably(replace_baseline)
    clear_baseline = durably(delete_baseline)

    def add_suite(self, suite: Suite, *, now_ms: int) -> str:
        """Makes a suite known, with its benchmarks, before executions of it are added; its digest."""
        with self._session as session, session.transaction(durable=True):
            keep_suite(session, suite, now_ms)
        return suite.digest

    def add_executions(self, rows: Iterable[Execution]) -> int:
        """Adds executions that no run of this store made, all of them or none; how many.

        Made for many rows: they are taken one by one. Agents and workspaces that are new are made, a suite has to
        be known (``add_suite``).
        """
        with self._session as session:
            with session.transaction(durable=True):
                count = imports.add_executions(session, rows)
            session.backend.settle(session.connection, summaries.TABLES)
        return count

    def rebuild_summaries(self) -> None:
        """Works all summaries out anew from the executions; what boards show stays the same."""
        with self._session as session:
            with session.transaction(durable=True):
                summaries.rebuild(session)
            session.backend.settle(session.connection, summaries.TABLES)
