"""Marks and calibrations of a store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

from sqlalchemy import delete, select

from agentdyno.model.sample import AnswerMark
from agentdyno.store.database.repository import Repository, directly, durably
from agentdyno.store.database.session import DatabaseSession
from agentdyno.store.runs.schema import MARK_KEY, judge_calibrations, marks

_COLUMNS = tuple(marks.c[field.name] for field in fields(AnswerMark))
Document = dict[str, Any]  # JSON, as a finding wrote it


def keep_mark(session: DatabaseSession, mark: AnswerMark) -> None:
    """Keeps a mark in place of the one that the same person gave to the same answer before."""
    session.execute(session.backend.insert_or_replace(marks, MARK_KEY, "1 = 1"), asdict(mark))


def delete_mark(session: DatabaseSession, mark: AnswerMark) -> bool:
    """Takes a person's mark of an answer away; whether there was one."""
    own = (marks.c[name] == getattr(mark, name) for name in MARK_KEY)
    return session.execute(delete(marks).where(*own)).rowcount > 0


def list_marks(session: DatabaseSession, run_id: str | None = None, case_id: str | None = None) -> list[AnswerMark]:
    """Every mark, or those of a run or a case of it, in the order of answers, then of who gave them."""
    wanted = select(*_COLUMNS).order_by(*(marks.c[name] for name in MARK_KEY))
    if run_id is not None:
        wanted = wanted.where(marks.c.run_id == run_id)
    if case_id is not None:
        wanted = wanted.where(marks.c.case_id == case_id)
    return [AnswerMark(**row._mapping) for row in session.execute(wanted)]


def keep_calibration(
    session: DatabaseSession, fingerprint: str, made_at: int, document: Mapping[str, object]
) -> None:
    """Keeps the calibration of a judge in place of the one before."""
    row = {"fingerprint": fingerprint, "made_at": made_at, "document": dict(document)}
    session.execute(session.backend.insert_or_replace(judge_calibrations, ("fingerprint",), "1 = 1"), row)


def list_calibrations(session: DatabaseSession) -> list[Document]:
    """The calibrations of all judges, newest first."""
    newest = (judge_calibrations.c.made_at.desc(), judge_calibrations.c.id.desc())
    return list(session.execute(select(judge_calibrations.c.document).order_by(*newest)).scalars())


class JudgingRepository(Repository):
    """What people say of answers, and calibrations that rest on it. What is written survives a loss of power."""

    mark = durably(keep_mark)
    unmark = durably(delete_mark)
    marks = directly(list_marks)
    keep_calibration = durably(keep_calibration)
    calibrations = directly(list_calibrations)
