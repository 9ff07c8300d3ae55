"""A workflow task as a case carries it: who makes its files, who checks the final state, what it may use."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agentdyno.errors import SpecError, nearest
from agentdyno.model.case import Case

KEY = "workflow"
_FIELDS = ("make", "check", "seed", "quota_mb", "time_limit_s")


@dataclass(frozen=True, slots=True)
class TaskSetup:
    """``make`` and ``check`` are ``module:function`` or ``file.py@function``: ``make(folder, seed)`` puts the files
    into an empty folder, ``check(state, seed)`` judges what is there at the end. ``quota_mb`` is the room that a step
    has in the working folder, ``time_limit_s`` its time; ``None`` is the executor's own limit."""

    make: str | None = None
    check: str | None = None
    seed: int = 0
    quota_mb: float | None = None
    time_limit_s: float | None = None


def task_of(case: Case) -> TaskSetup:
    """What the case's metadata says under ``workflow``; without it there are no files and no check.

    Raises ``SpecError`` for keys and values that mean nothing.
    """
    given = case.metadata.get(KEY, {})
    where = f"case {case.id}, metadata.workflow"
    if not isinstance(given, Mapping):
        raise SpecError(f"it is {type(given).__name__}", where=where, remedy="Give names and values.")
    for key in given:
        if key not in _FIELDS:
            raise SpecError(f"unknown key {key!r}", where=where, remedy=nearest(str(key), _FIELDS))
    texts = {key: given.get(key) for key in ("make", "check")}
    for key, value in texts.items():
        if value is not None and not isinstance(value, str):
            raise SpecError(f"{key} is {value!r}", where=where, remedy="Give module:function.")
    numbers = {key: given.get(key) for key in ("quota_mb", "time_limit_s")}
    for key, value in numbers.items():
        if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0):
            raise SpecError(f"{key} is {value!r}", where=where, remedy="Give a number above 0.")
    seed = given.get("seed", 0)
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise SpecError(f"seed is {seed!r}", where=where, remedy="Give a whole number.")
    return TaskSetup(seed=seed, **texts, **numbers)
