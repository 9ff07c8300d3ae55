"""Baselines: per workspace, agent and suite at most one, set by someone on purpose."""

from __future__ import annotations

from dataclasses import asdict, fields

from sqlalchemy import delete, select

from agentdyno.store.boards.schema import baselines
from agentdyno.store.database.session import DatabaseSession
from agentdyno.store.rows import BaselineRow

_KEY = ("workspace", "agent", "suite_id")


def set_baseline(session: DatabaseSession, row: BaselineRow) -> None:
    """Replaces the one that the agent has in this suite and workspace."""
    session.execute(session.backend.insert_or_replace(baselines, _KEY, "1 = 1"), asdict(row))


def clear_baseline(session: DatabaseSession, agent: str, suite_id: str | None, workspace: str) -> int:
    """Forgets the agent's baseline in a suite, or in all of them; how many there were."""
    own = delete(baselines).where(baselines.c.agent == agent, baselines.c.workspace == workspace)
    return session.execute(own if suite_id is None else own.where(baselines.c.suite_id == suite_id)).rowcount


def list_baselines(session: DatabaseSession, workspace: str | None) -> list[BaselineRow]:
    """By workspace, agent and suite."""
    asked = select(*(baselines.c[field.name] for field in fields(BaselineRow)))
    if workspace is not None:
        asked = asked.where(baselines.c.workspace == workspace)
    return [BaselineRow(*row) for row in session.execute(asked.order_by(*(baselines.c[name] for name in _KEY)))]
