"""Runs of a store, chosen by a short text."""

from __future__ import annotations

import html
import os
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, overload

from agentdyno.errors import SpecError, nearest
from agentdyno.model import RunResult
from agentdyno.model.naming import meant_by
from agentdyno.settings.result import ROWS
from agentdyno.store import Store
from agentdyno.store.rows import RunRow
from agentdyno.workbench.export.frames import frame_of
from agentdyno.workbench.export.rows import SAMPLES
from agentdyno.workbench.location import project_store

_LOOKED_THROUGH = 10_000
_KEYS = ("name", "kind", "status", "tag", "agent", "since")


class StoredRuns(Sequence[RunResult]):
    """Runs that were read from a store, the newest first; a notebook shows them as a table."""

    def __init__(self, results: Sequence[RunResult]) -> None:
        self._results = tuple(results)

    def __len__(self) -> int:
        return len(self._results)

    @overload
    def __getitem__(self, place: int) -> RunResult: ...

    @overload
    def __getitem__(self, place: slice) -> StoredRuns: ...

    def __getitem__(self, place: int | slice) -> RunResult | StoredRuns:
        return StoredRuns(self._results[place]) if isinstance(place, slice) else self._results[place]

    def __iter__(self) -> Iterator[RunResult]:
        return iter(self._results)

    def __repr__(self) -> str:
        return "\n".join([f"{len(self)} run{'s' * (len(self) != 1)}", *(f"  {item!r}" for item in self)])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{item.run_id[:13]}</td><td>{html.escape(item.name)}</td><td>{html.escape(item.kind)}</td>"
            f"<td>{item.status.value}</td><td>{_when(item.started_at)}</td><td>{len(item.arms)}</td></tr>"
            for item in self
        )
        head = "".join(f"<th>{name}</th>" for name in ("run", "name", "kind", "status", "started (UTC)", "arms"))
        return f"<table><tr>{head}</tr>{rows}</table>"

    def to_frame(self, what: str = SAMPLES, library: str | None = None) -> Any:
        """All of them in one frame, as ``RunResult.to_frame``."""
        return frame_of(self._results, what, library)


def read_runs(
    query: str = "", *, limit: int = ROWS, store: str | os.PathLike[str] | None = None, samples: bool = True
) -> StoredRuns:
    """The newest runs of a store that a query chooses, at most ``limit``: their samples are all in memory.

    A query is words: ``name=capital*``, ``kind=suite``, ``status=complete``, ``tag=nightly``, ``agent=answer``,
    ``since=7d`` or ``since=2026-01-31``; a word alone is a name. All of them have to hold. Without ``samples`` only
    the figures of the runs are read.
    """
    tests, agent = _tests(query)
    url = project_store(Path.cwd(), os.environ) if store is None else os.fspath(store)
    found: list[RunResult] = []
    with Store.open(url, must_exist=True) as opened:
        for row in opened.runs.newest(_LOOKED_THROUGH):
            if len(found) == limit:
                break
            if not all(test(row) for test in tests):
                continue
            if agent and not _has_agent(opened.runs.load(row.run_id, samples=False), agent):
                continue
            found.append(opened.runs.load(row.run_id, samples=samples))
    return StoredRuns(found)


def _tests(query: str) -> tuple[list[Callable[[RunRow], bool]], str]:
    tests: list[Callable[[RunRow], bool]] = []
    agent = ""
    for word in query.split():
        key, equals, value = word.partition("=")
        key, value = (key, value) if equals else ("name", word)
        if key not in _KEYS:
            raise SpecError(f"runs have no {key!r}", where=f"read_runs({query!r})", remedy=nearest(key, _KEYS))
        if key == "agent":
            agent = value
        elif key == "since":
            tests.append(_since(value, query))
        else:
            tests.append(_matching(key, value))
    return tests, agent


def _matching(key: str, value: str) -> Callable[[RunRow], bool]:
    def holds(row: RunRow) -> bool:
        if key == "tag":
            return value in row.tags
        return fnmatchcase(str(getattr(row, key)), value)

    return holds


def _since(value: str, query: str) -> Callable[[RunRow], bool]:
    try:
        if value.endswith("d"):
            first = datetime.now(UTC) - timedelta(days=float(value[:-1]))
        else:
            given = datetime.fromisoformat(value)
            first = given if given.tzinfo is not None else given.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise SpecError(
            f"{value!r} is no date", where=f"read_runs({query!r})", remedy="Say since=7d or since=2026-01-31."
        ) from None
    return lambda row: row.started_at >= first.timestamp() * 1000


def _has_agent(header: RunResult, agent: str) -> bool:
    return any(meant_by(header.suite, arm.agent, agent) for arm in header.arms if arm.agent)


def _when(started_at_ms: int) -> str:
    return datetime.fromtimestamp(started_at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M")
