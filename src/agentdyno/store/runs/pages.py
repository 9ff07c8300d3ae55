"""Runs and samples, a page at a time.

A page goes on after the last row of the one before, whatever was added in between: no row comes twice, and none that
was there at the beginning is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from sqlalchemy import BindParameter, ColumnElement, String, and_, cast, func, not_, or_, select

from agentdyno.errors import SpecError
from agentdyno.model import Phase, RunStatus, Sample, Status
from agentdyno.store.database.session import DatabaseSession
from agentdyno.store.rows import RunRow
from agentdyno.store.runs.codec import id_bytes, id_text, row_sample
from agentdyno.store.runs.listing import list_runs, mentions
from agentdyno.store.runs.queries import WHOLE, run_key
from agentdyno.store.runs.samples import ORDER, behind
from agentdyno.store.runs.schema import arms, runs, samples

_SHORTEST_ID, _LONGEST_ID = 4, 32
"""So many digits of a run's id say that an id is meant."""


class After(NamedTuple):
    """The row that a list of executions or runs goes on after: its time (UTC milliseconds) and its UUID."""

    at: int
    uid: str


class AfterSample(NamedTuple):
    """The sample that a list goes on after."""

    arm_id: str
    phase: str
    iteration: int
    case_id: str
    instrument: str
    part: int = 0


class SampleFilter(NamedTuple):
    """Which samples of a run; ``agent`` is what its arms call ``name@version``, or the name alone.

    ``statuses`` are those that are wanted, all where none is named; ``arm`` is the id or the name of an arm.
    """

    statuses: Sequence[Status] = ()
    agent: str | None = None
    benchmark: str | None = None
    case_id: str | None = None
    phase: Phase | None = None
    arm: str | None = None


def run_page(
    session: DatabaseSession,
    kind: str | None = None,
    name: str | None = None,
    after: After | None = None,
    *,
    statuses: Sequence[RunStatus] = (),
    text: str = "",
    limit: int,
) -> list[RunRow]:
    """Runs, newest first, from the one behind ``after`` on; of every status where none is named.

    ``text`` is part of their name, or of an agent, a suite, a tag or the commit, in small or capital letters; or the
    beginning of their id.
    """
    only: list[ColumnElement[bool]] = []
    if kind is not None:
        only.append(runs.c.kind == kind)
    if name is not None:
        only.append(runs.c.name == name)
    if statuses:
        only.append(runs.c.status.in_([status.value for status in statuses]))
    if text:
        only.append(or_(mentions(text), *_of_id(text)))
    if after is not None:
        place = select(runs.c.id).where(runs.c.run_id == id_bytes(after.uid)).scalar_subquery()
        only.append(behind_row(runs.c.started_at, runs.c.id, after.at, place))
    return list_runs(session, limit, only)


def run_neighbours(session: DatabaseSession, run_id: str) -> tuple[str | None, str | None]:
    """The ids of the runs before and after one, among those of its kind and name."""
    own = session.execute(select(runs).where(runs.c.run_id == id_bytes(run_id))).one()
    alike = runs.c.kind == own.kind, runs.c.name == own.name
    older = behind_row(runs.c.started_at, runs.c.id, own.started_at, own.id)
    newer = and_(not_(older), runs.c.id != own.id)
    place = runs.c.started_at, runs.c.id
    before = select(runs.c.run_id).where(*alike, older).order_by(*(column.desc() for column in place)).limit(1)
    after = select(runs.c.run_id).where(*alike, newer).order_by(*place).limit(1)
    found = [session.execute(asked).scalar() for asked in (before, after)]
    return (None if found[0] is None else id_text(found[0])), (None if found[1] is None else id_text(found[1]))


def runs_named_like(session: DatabaseSession, text: str, *, limit: int) -> list[RunRow]:
    """The newest runs whose name holds ``text`` or whose id begins with it, in small or capital letters."""
    named = func.lower(runs.c.name).contains(text.lower(), autoescape=True)
    return list_runs(session, limit, [or_(named, *_of_id(text))])


def _of_id(text: str) -> list[ColumnElement[bool]]:
    """The run or the runs whose id begins so; nothing for what is no beginning of one."""
    digits = text.replace("-", "").lower()
    if not _SHORTEST_ID <= len(digits) <= _LONGEST_ID or not set(digits) <= set("0123456789abcdef"):
        return []
    return [runs.c.run_id.between(bytes.fromhex(f"{digits:0<32}"), bytes.fromhex(f"{digits:f<32}"))]


def runs_tagged_like(session: DatabaseSession, text: str, *, limit: int) -> list[RunRow]:
    """The newest runs that have a tag which holds ``text``, in small or capital letters."""
    # The column is JSON: what it holds beside letters is looked at once more by the caller.
    tagged = func.lower(cast(runs.c.tags, String)).contains(text.lower(), autoescape=True)
    found = list_runs(session, limit, [tagged])
    return [row for row in found if any(text.lower() in tag.lower() for tag in row.tags)]


class SampleMoment(NamedTuple):
    """When an execution began, how it ended and what it took; ``cost_usd`` is ``None`` where it is not known."""

    started_at_ms: int
    status: Status
    duration_s: float | None
    cost_usd: float | None


def sample_moments(session: DatabaseSession, run_id: str, *, limit: int) -> list[SampleMoment]:
    """The newest measured executions of a run, in the order in which they began."""
    asked = (
        select(samples.c.started_at_ms, samples.c.status, samples.c.duration_s, samples.c.readings)
        .join(arms, samples.c.arm == arms.c.id)
        .where(arms.c.run == run_key(session, run_id), samples.c.phase == Phase.MEASURED.value)
        .order_by(samples.c.started_at_ms.desc(), samples.c.id.desc())
        .limit(limit)
    )
    return [
        SampleMoment(int(at), Status(status), duration, (readings or {}).get("cost_usd"))
        for at, status, duration, readings in reversed(session.execute(asked).all())
    ]


def behind_row(
    time: ColumnElement[int], key: ColumnElement[int], at: int | BindParameter[int], place: Any
) -> ColumnElement[bool]:
    """Rows that come after the one of time ``at`` and key ``place``, where the newest come first."""
    return or_(time < at, and_(time == at, key < place))


def sample_page(
    session: DatabaseSession, run_id: str, wanted: SampleFilter, after: AfterSample | None = None, *, limit: int
) -> list[Sample]:
    """Samples of a run, from the one behind ``after`` on: arms in the order of the plan, then by phase and trial."""
    place = _place(session, run_id, after)
    found: list[Sample] = []
    for position, key, arm_id in _arms(session, run_id, wanted):
        for number, phase in enumerate(Phase):
            if (position, number) < place or wanted.phase not in (None, phase):
                continue
            asked = WHOLE.where(samples.c.arm == key, samples.c.phase == phase.value)
            if after is not None and (position, number) == place:
                asked = asked.where(behind(after.iteration, after.case_id, after.instrument, after.part))
            if wanted.statuses:
                asked = asked.where(samples.c.status.in_([status.value for status in wanted.statuses]))
            if wanted.case_id is not None:
                asked = asked.where(samples.c.case_id == wanted.case_id)
            rows = session.execute(asked.order_by(*ORDER).limit(limit - len(found)))
            found.extend(row_sample(row, arm_id) for row in rows)
            if len(found) >= limit:
                return found
    return found


def _place(session: DatabaseSession, run_id: str, after: AfterSample | None) -> tuple[int, int]:
    """Arm and phase to begin with."""
    if after is None:
        return -1, 0
    asked = select(arms.c.position).where(arms.c.run == run_key(session, run_id), arms.c.arm_id == after.arm_id)
    position = session.execute(asked).scalar()
    if position is None or after.phase not in set(Phase):
        raise SpecError("this is no place in the samples of this run", where="cursor")
    return int(position), list(Phase).index(Phase(after.phase))


def _arms(session: DatabaseSession, run_id: str, wanted: SampleFilter) -> list[tuple[int, int, str]]:
    columns = (arms.c.position, arms.c.id, arms.c.arm_id, arms.c.name, arms.c.agent, arms.c.benchmark)
    asked = select(*columns).where(arms.c.run == run_key(session, run_id)).order_by(arms.c.position)
    return [
        (int(position), int(key), str(arm_id))
        for position, key, arm_id, name, agent, benchmark in session.execute(asked)
        if wanted.arm in (None, arm_id, name)
        if wanted.agent is None or wanted.agent in (agent, (agent or "").rpartition("@")[0])
        if wanted.benchmark in (None, benchmark)
    ]
