"""What was spent on which day: sums over executions by day, agent and the model that answered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import BigInteger, cast, func, select

from agentdyno.store.boards.schema import agents, configurations, executions
from agentdyno.store.database.session import DatabaseSession
from agentdyno.store.rows import SpendRow

DAY_MS = 86_400_000


def list_spending(session: DatabaseSession, since: int) -> list[SpendRow]:
    """Of executions from ``since`` (UTC milliseconds) on, oldest day first; simulated ones are left out."""
    own = executions.c
    day = (own.created_at - own.created_at % DAY_MS).label("day")
    asked = (
        select(
            day,
            own.agent,
            own.configuration,
            func.count(),
            func.count(own.cost_usd),
            func.coalesce(func.sum(own.cost_usd), 0.0),
            func.count(own.tokens_used),
            cast(func.coalesce(func.sum(own.tokens_used), 0), BigInteger),
        )
        .where(own.created_at >= since, own.simulated == 0)
        .group_by(day, own.agent, own.configuration)
    )
    rows = session.execute(asked).all()
    names = {row.id: row.name for row in session.execute(select(agents.c.id, agents.c.name))}
    wanted = {row[2] for row in rows if row[2] is not None}
    models = {
        row.id: _model(row.document)
        for row in session.execute(select(configurations.c.id, configurations.c.document))
        if row.id in wanted
    }
    found: dict[tuple[int, str, str], SpendRow] = {}
    for at, agent, configuration, *sums in rows:
        key = (int(at), str(names[agent]), models.get(configuration, ""))
        before = found.get(key, SpendRow(*key, 0, 0, 0.0, 0, 0))
        found[key] = SpendRow(*key, *(old + new for old, new in zip(before[3:], sums, strict=True)))
    return [found[key] for key in sorted(found)]


def _model(document: Mapping[str, Any]) -> str:
    """The model that answered most, as the run observed it; "" where no answer named one."""
    observed = document.get("observed")
    named = observed.get("model") if isinstance(observed, Mapping) else None
    return named if isinstance(named, str) else ""
