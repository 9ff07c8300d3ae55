"""Samples of one run, page by page, and their scores anew.

Between two pages nothing is held: no lock, no transaction, no cursor. Others may write, and so may the reader.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import islice
from typing import Any

from sqlalchemy import ColumnElement, Row, Select, bindparam, literal, select, tuple_, update

from agentdyno.errors import StoreError
from agentdyno.model import Phase, Sample
from agentdyno.store.database.session import DatabaseSession
from agentdyno.store.runs.codec import decoder_of, plain_or_null, readable, row_sample
from agentdyno.store.runs.queries import WHOLE, WITHOUT_ANSWERS, WITHOUT_DETAILS, run_key
from agentdyno.store.runs.schema import IS_SAMPLE, arms, samples

PAGE = 500
ORDER = (samples.c.iteration, samples.c.case_id, samples.c.instrument, samples.c.part)


_ARMS = select(arms.c.id, arms.c.arm_id).where(arms.c.run == bindparam("of_run")).order_by(arms.c.position)
_ARM = _ARMS.where(arms.c.arm_id == bindparam("of_arm"))


def iter_samples(
    session: DatabaseSession,
    run_id: str,
    arm_id: str | None,
    first_page: Select[*tuple[Any, ...]],
    phases: Sequence[Phase] = tuple(Phase),
) -> Iterator[Sample]:
    """Arms in the order of the plan, then phase, iteration, case, instrument and part. ``first_page`` is one of
    ``page_of``."""
    with session, session.snapshot():
        keys = _arm_keys(session, run_id, arm_id)
    with readable(run_id):
        for key, name in keys:
            for phase in phases:
                for rows in _pages(session, key, phase, first_page):
                    decode = decoder_of(len(rows))
                    for row in rows:
                        yield row_sample(row, name, decode)


def _arm_keys(session: DatabaseSession, run_id: str, arm_id: str | None) -> list[tuple[int, str]]:
    wanted = _ARMS if arm_id is None else _ARM
    rows = session.execute(wanted, {"of_run": run_key(session, run_id), "of_arm": arm_id})
    found = [(int(row.id), str(row.arm_id)) for row in rows]
    if arm_id is not None and not found:
        raise StoreError(f"run {run_id} was begun without arm {arm_id}", where=session.backend.where)
    return found


def _pages(
    session: DatabaseSession, key: int, phase: Phase, asked: Select[*tuple[Any, ...]]
) -> Iterator[Sequence[Row[*tuple[Any, ...]]]]:
    """Rows in the order of the index over a trial's key, each page taken up after the last row of the one before."""
    values, page = {"of_arm": key, "of_phase": phase.value}, asked
    while True:
        with session:
            rows = session.execute(page, values).all()
        yield rows
        if len(rows) < PAGE:
            return
        last = rows[-1]
        page = asked.where(behind(last.iteration, last.case_id, last.instrument, last.part))


@cache
def page_of(details: bool, answers: bool) -> Select[*tuple[Any, ...]]:
    """The first page, put together once: that takes longer than reading an arm of a few samples."""
    asked = (WHOLE if answers else WITHOUT_ANSWERS) if details else WITHOUT_DETAILS
    own = (samples.c.arm == bindparam("of_arm"), samples.c.phase == bindparam("of_phase"))
    return asked.where(*own).order_by(*ORDER).limit(PAGE)


def behind(iteration: int, case_id: str, instrument: str, part: int) -> ColumnElement[bool]:
    """Samples of the same arm and phase that come after this one."""
    place = (iteration, case_id, instrument, part)
    return tuple_(*ORDER) > tuple_(*(literal(value, column.type) for value, column in zip(place, ORDER, strict=True)))


def find_samples(session: DatabaseSession, run_id: str, case_id: str) -> list[Sample]:
    """Every sample of one case with all details, in the order of ``iter_samples``."""
    keys = _arm_keys(session, run_id, None)
    found: list[Sample] = []
    for key, name in keys:
        own = (samples.c.arm == key, samples.c.case_id == case_id, IS_SAMPLE)
        rows = session.execute(WHOLE.where(*own)).all()
        found.extend(row_sample(row, name) for row in rows)
    order = {arm_id: position for position, (_, arm_id) in enumerate(keys)}
    phases = list(Phase)
    found.sort(key=lambda s: (order[s.arm_id], phases.index(s.phase), s.iteration, s.instrument, s.part))
    return found


def update_scores(session: DatabaseSession, run_id: str, rescored: Iterable[Sample]) -> int:
    """Replaces scores, status and details of samples that are recorded, all of them or none; how many."""
    keys = {name: key for key, name in _arm_keys(session, run_id, None)}
    key_columns = ("phase", "iteration", "case_id", "instrument", "part")
    statement = (
        update(samples)
        .where(samples.c.arm == bindparam("of_arm"))
        .where(*(samples.c[name] == bindparam(f"of_{name}") for name in key_columns))
        .values(status=bindparam("new_status"), scores=bindparam("new_scores"), details=bindparam("new_details"))
    )
    count = 0
    iterator = iter(rescored)
    while group := list(islice(iterator, PAGE)):
        stray = {sample.arm_id for sample in group} - keys.keys()
        if stray:
            raise StoreError(f"run {run_id} was begun without arm {min(stray)}", where=session.backend.where)
        rows = [_rescored_row(keys[sample.arm_id], sample) for sample in group]
        found = session.execute(statement, rows).rowcount
        if found != len(group):
            message = f"run {run_id} has no sample of {len(group) - found} trials, from {group[0].key} on"
            raise StoreError(message, where=session.backend.where)
        count += len(group)
    return count


def _rescored_row(arm: int, sample: Sample) -> dict[str, object]:
    return {
        "of_arm": arm,
        "of_phase": sample.phase.value,
        "of_iteration": sample.iteration,
        "of_case_id": sample.case_id,
        "of_instrument": sample.instrument,
        "of_part": sample.part,
        "new_status": sample.status.value,
        "new_scores": plain_or_null(sample.scores, "a sample"),
        "new_details": plain_or_null(sample.details, "a sample"),
    }
