"""Executions that no run of this store made, many at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from math import isfinite
from operator import attrgetter

from sqlalchemy import func, select

from agentdyno.errors import StoreError
from agentdyno.model.form import WHOLE
from agentdyno.store.boards import summaries
from agentdyno.store.boards.executions import keep_agent, standard_error
from agentdyno.store.boards.identities import timed_uid
from agentdyno.store.boards.naming import called, label_agents
from agentdyno.store.boards.schema import ERRORS, NUMBERS, agents, benchmarks, executions, suites
from agentdyno.store.database.session import DatabaseSession
from agentdyno.store.rows import Execution
from agentdyno.store.runs.codec import id_bytes
from agentdyno.store.runs.suites import keep_workspace

_GROUP = 10_000
_NO_ERRORS = (None,) * len(ERRORS)
_RESOLVED = (
    "uid",
    "agent",
    "benchmark",
    "workspace",
    "started_at",
    "finished_at",
    "created_at",
    "simulated",
    "status",
    "error_details",
    "form",
)


def add_executions(session: DatabaseSession, rows: Iterable[Execution]) -> int:
    """Inserts rows from outside, as they come, and takes them into the summaries; how many there were."""
    summaries.lock(session)
    before = int(session.execute(select(func.coalesce(func.max(executions.c.id), 0))).scalar_one())
    resolver = _Resolver(session)
    encoded = resolver.encoded(rows)
    count = 0
    # Whole groups: while rows are on their way into PostgreSQL, its connection can look up nothing.
    while group := list(islice(encoded, _GROUP)):
        session.backend.insert_many(session.connection, executions, [*_RESOLVED, *NUMBERS, *ERRORS], group)
        count += len(group)
    label_agents(session)
    summaries.add_known(session, executions.c.id > before, resolver.places())
    return count


class _Resolver:
    """Names to keys, each looked up once. Agents and workspaces are made where they are new, suites are not."""

    def __init__(self, session: DatabaseSession) -> None:
        self._session = session
        self._agents: dict[tuple[str, str], int] = {}
        self._benchmarks: dict[tuple[str, str], int] = {}
        self._workspaces: dict[str, int] = {}
        self._met: set[tuple[int, int, str]] = set()

    def places(self) -> set[summaries.Place]:
        """Where the rows that were encoded so far stand in the summaries."""
        return {(agent, benchmark, int(form in WHOLE)) for agent, benchmark, form in self._met}

    def encoded(self, rows: Iterable[Execution]) -> Iterator[Sequence[object]]:
        """Rows in the order of ``_RESOLVED``, ``NUMBERS`` and ``ERRORS``; what is no finite number is unknown."""
        taken: Callable[[Execution], tuple[float | None, ...]] = attrgetter(*NUMBERS)
        spreads: Callable[[Execution], tuple[float | None, ...]] = attrgetter(*ERRORS)
        for row in rows:
            at = row.created_at
            numbers = taken(row)
            if not isfinite(sum(filter(None, numbers))):
                numbers = tuple(None if value is None or not isfinite(value) else value for value in numbers)
            errors = spreads(row)
            if errors != _NO_ERRORS:
                errors = tuple(map(standard_error, errors))
            agent = self._agents.get((row.agent, row.agent_version)) or self._agent(row)
            benchmark = self._benchmarks.get((row.suite, row.benchmark)) or self._benchmark(row)
            self._met.add((agent, benchmark, row.form))
            yield (
                id_bytes(row.uid) if row.uid else timed_uid(at),
                agent,
                benchmark,
                self._workspaces.get(row.workspace) or self._workspace(row.workspace),
                at if row.started_at is None else row.started_at,
                at if row.finished_at is None else row.finished_at,
                at,
                int(row.simulated),
                row.status,
                row.error_details,
                row.form,
                *numbers,
                *errors,
            )

    def _agent(self, row: Execution) -> int:
        wanted = select(agents.c.id).where(called(row.agent, row.agent_version))
        found = self._session.execute(wanted.order_by(agents.c.id.desc()).limit(1)).scalar()
        key = int(found) if found else keep_agent(self._session, row.agent, row.agent_version, None, row.created_at)
        self._agents[row.agent, row.agent_version] = key
        return key

    def _benchmark(self, row: Execution) -> int:
        wanted = select(benchmarks.c.id).join(suites, suites.c.id == benchmarks.c.suite)
        wanted = wanted.where(suites.c.digest == row.suite, benchmarks.c.benchmark_id == row.benchmark)
        found = self._session.execute(wanted).scalar()
        if found is None:
            raise StoreError(
                f"the store has no benchmark {row.benchmark!r} of a suite {row.suite!r}",
                where=self._session.backend.where,
                remedy="Add the suite before its executions.",
            )
        self._benchmarks[row.suite, row.benchmark] = int(found)
        return int(found)

    def _workspace(self, name: str) -> int:
        self._workspaces[name] = keep_workspace(self._session, name)
        return self._workspaces[name]
