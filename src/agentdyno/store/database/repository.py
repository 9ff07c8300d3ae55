"""What the repositories of a store are made of: functions of a session, each in the transaction that it needs."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar

from agentdyno.store.database.session import DatabaseSession

P = ParamSpec("P")
T = TypeVar("T")


class Repository:
    """One subject of a store. Its methods are functions whose first argument is the session."""

    def __init__(self, session: DatabaseSession) -> None:
        self._session = session


def directly(function: Callable[Concatenate[DatabaseSession, P], T]) -> Callable[Concatenate[Repository, P], T]:
    """The function as a method outside any transaction: each of its statements sees the moment it is run at."""

    @wraps(function)
    def method(self: Repository, /, *args: P.args, **named: P.kwargs) -> T:
        with self._session as session:
            return function(session, *args, **named)

    return method


def in_snapshot(function: Callable[Concatenate[DatabaseSession, P], T]) -> Callable[Concatenate[Repository, P], T]:
    """The function as a method whose reads all see the same moment."""

    @wraps(function)
    def method(self: Repository, /, *args: P.args, **named: P.kwargs) -> T:
        with self._session as session, session.snapshot():
            return function(session, *args, **named)

    return method


def in_transaction(function: Callable[Concatenate[DatabaseSession, P], T]) -> Callable[Concatenate[Repository, P], T]:
    """The function as a method that writes all or nothing. A loss of power may undo what was written last."""

    @wraps(function)
    def method(self: Repository, /, *args: P.args, **named: P.kwargs) -> T:
        with self._session as session, session.transaction():
            return function(session, *args, **named)

    return method


def durably(function: Callable[Concatenate[DatabaseSession, P], T]) -> Callable[Concatenate[Repository, P], T]:
    """The function as a method that writes all or nothing; what it wrote survives a loss of power."""

    @wraps(function)
    def method(self: Repository, /, *args: P.args, **named: P.kwargs) -> T:
        with self._session as session, session.transaction(durable=True):
            return function(session, *args, **named)

    return method
