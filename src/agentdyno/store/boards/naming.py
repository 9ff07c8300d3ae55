"""What agents are called: kept beside each of them, and brought up to date by whoever adds one.

``agents.identity`` is where an agent comes from; null for those of stores from before it was kept, and for results
of other tools, which are known by their name. ``agents.label`` is what an identity is called among all others here;
it is null within a transaction that still has to call ``label_agents``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from sqlalchemy import BindParameter, ColumnElement, and_, exists, not_, or_, select, update

from agentdyno.model.naming import GIVEN, labels
from agentdyno.store.boards.schema import agents, baselines
from agentdyno.store.database.session import DatabaseSession

if TYPE_CHECKING:
    from agentdyno.model import AgentUse


def called(text: str | BindParameter[str], version: str | BindParameter[str] | None = None) -> ColumnElement[bool]:
    """Agents that somebody may mean by ``text``: a label, else an identity or the name that runs of it use.

    One of whom ``text`` is the label goes before others of that name, unless its ``version`` tells.
    """
    named = or_(agents.c.label == text, agents.c.identity == text, agents.c.name == text)
    if version is not None:
        return and_(named, agents.c.version == version)
    others = agents.alias("others")
    somebody = exists(select(others.c.id).where(others.c.label == text))
    return or_(agents.c.label == text, and_(named, not_(somebody)))


def labels_with(session: DatabaseSession, uses: Sequence[AgentUse]) -> dict[str, str]:
    """By identity what these will be called once they have run here."""
    rows = session.execute(select(agents.c.name, agents.c.uses, agents.c.identity).distinct())
    known = {use.identity for use in uses}
    for name, spelled, identity in rows:
        taken = next((use.identity for use in uses if use.name == name and _takes(use, spelled, identity)), identity)
        known.add(taken or GIVEN + name)
    found = labels(known)
    return {use.identity: found[use.identity] for use in uses}


def adopt(session: DatabaseSession, name: str, use: AgentUse) -> None:
    """Tells what is known now of where agents of this name come from that are spelled like this one.

    A name that somebody gave takes all that were only known by it, and what had no given name before.
    """
    rows = session.execute(select(agents.c.id, agents.c.uses, agents.c.identity).where(agents.c.name == name)).all()
    own = [key for key, spelled, identity in rows if _takes(use, spelled, identity)]
    if own:
        session.execute(update(agents).where(agents.c.id.in_(own)), {"identity": use.identity, "label": None})


def label_agents(session: DatabaseSession) -> None:
    """Labels for all, where some have none; baselines follow theirs."""
    if not session.execute(select(exists(select(agents.c.id).where(agents.c.label.is_(None))))).scalar():
        return
    columns = (agents.c.id, agents.c.name, agents.c.version, agents.c.identity, agents.c.label)
    rows = session.execute(select(*columns)).all()
    found = labels({row.identity or GIVEN + row.name for row in rows})
    for row in rows:
        label = found[row.identity or GIVEN + row.name]
        if label == row.label:
            continue
        session.execute(update(agents).where(agents.c.id == row.id), {"label": label})
        _move_baselines(session, row.label or row.name, label, row.version)


def _move_baselines(session: DatabaseSession, before: str, label: str, version: str) -> None:
    """Those of one version, unless the agent has its own under its label."""
    if before == label:
        return
    own = baselines.alias("own")
    same = (own.c.agent == label, own.c.workspace == baselines.c.workspace, own.c.suite_id == baselines.c.suite_id)
    free = not_(exists(select(own.c.id).where(*same)))
    which = (baselines.c.agent == before, baselines.c.version == version, free)
    session.execute(update(baselines).where(*which).values(agent=label))


def _takes(use: AgentUse, spelled: str, identity: str | None) -> bool:
    """Whether an agent of the same name, spelled so, turns out to be this one."""
    if not use.identity or use.identity == identity:
        return False
    given = use.identity.startswith(GIVEN)
    return (given or _alike(spelled, use)) if identity is None else given and _alike(spelled, use)


def _alike(uses: str, use: AgentUse) -> bool:
    """Whether both spell one agent: paths may begin in different folders. What is not spelled may be any."""
    return not uses or any(_same_words(uses, other) for other in (use.uses, use.identity))


def _same_words(one: str, other: str) -> bool:
    pairs = list(zip(one.split(), other.split(), strict=False))
    return len(one.split()) == len(other.split()) and all(_same_path(*pair) for pair in pairs)


def _same_path(one: str, other: str) -> bool:
    mine, theirs = (word.replace(":./", ":").removeprefix("./") for word in (one, other))
    head, colon, rest = mine.partition(":")
    if colon and theirs.startswith(f"{head}:"):
        mine, theirs = rest, theirs.partition(":")[2]
    return mine == theirs or mine.endswith(f"/{theirs}") or theirs.endswith(f"/{mine}")
