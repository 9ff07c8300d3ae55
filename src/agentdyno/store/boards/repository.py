"""What a store answers about agents, suites and their executions."""

from __future__ import annotations

from collections.abc import Sequence

from agentdyno.model import RunStatus, Sample, Suite
from agentdyno.store.boards import (
    baselines,
    histories,
    leaderboards,
    pages,
    summaries,
)
from agentdyno.store.boards import (
    matrix as boards,
)
from agentdyno.store.boards import (
    queries as execution_queries,
)
from agentdyno.store.boards.pages import After, AfterSample, ResultFilter, SampleFilter
from agentdyno.store.database.session import DatabaseSession
from agentdyno.store.rows import (
    AgentExecutionRow,
    AgentRow,
    ArmSeriesRow,
    BaselineRow,
    Execution,
    ExecutionFilter,
    LeaderboardRow,
    MatrixRow,
    RunRow,
    SeriesRow,
    SuiteRow,
)

_HISTORY = 1_000


class Questions:
    """The part of a ``Store`` that reads executions and changes nothing."""

    def __init__(self, session: DatabaseSession) -> None:
        self._session = session

    def load_suite(self, reference: str) -> Suite:
        """A suite by digest, or the version of a suite id that came last."""
        with self._session as session, session.snapshot():
            return boards.load_suite(session, reference)

    def executions(self, wanted: ExecutionFilter | None = None, *, limit: int | None = 100) -> list[Execution]:
        """Executions that match, newest first."""
        with self._session as session, session.snapshot():
            return execution_queries.list_executions(session, wanted or ExecutionFilter(), limit)

    def execution_page(self, wanted: ResultFilter, after: After | None = None, *, limit: int) -> list[Execution]:
        """Executions of an agent, newest first, from the one behind ``after`` on."""
        with self._session as session, session.snapshot():
            return pages.execution_page(session, wanted, after, limit)

    def run_page(
        self,
        kind: str | None = None,
        name: str | None = None,
        after: After | None = None,
        *,
        statuses: Sequence[RunStatus] = (),
        limit: int,
    ) -> list[RunRow]:
        """Runs, newest first, from the one behind ``after`` on; of every status where none is named."""
        with self._session as session, session.snapshot():
            return pages.run_page(session, pages.RunFilter(kind, name, statuses), after, limit)

    def sample_page(
        self, run_id: str, wanted: SampleFilter, after: AfterSample | None = None, *, limit: int
    ) -> list[Sample]:
        """Samples of a run in the order of ``load_run``, from the one behind ``after`` on."""
        with self._session as session, session.snapshot():
            return pages.sample_page(session, run_id, wanted, after, limit)

    def latest_run(self, agent: str, suite_digest: str) -> str | None:
        """The id of the newest run in which the agent of that name succeeded in a benchmark of this suite."""
        with self._session as session, session.snapshot():
            return execution_queries.latest_run(session, agent, suite_digest)

    def agents(self) -> list[AgentRow]:
        """Every agent that has an execution, by name, newest version first."""
        with self._session as session, session.snapshot():
            return boards.list_agents(session)

    def suites(self) -> list[SuiteRow]:
        """Every version of every suite, by id, newest version first."""
        with self._session as session, session.snapshot():
            return boards.list_suites(session)

    def matrix_rows(self, *, suite: str | None = None, category: str | None = None) -> list[MatrixRow]:
        """What each agent last achieved in each benchmark; ``suite`` is a digest, or an id for its newest version."""
        with self._session as session:
            key = None if suite is None else boards.suite_key(session, suite)
            return boards.matrix_rows(session, key, category)

    def leaderboard_rows(
        self,
        *,
        days: int,
        now_ms: int,
        category: str | None = None,
        suite: str | None = None,
        brief: bool = False,
        together: bool = False,
    ) -> list[LeaderboardRow]:
        """What each agent achieved per category of benchmarks over ``days`` days (UTC), that of ``now_ms`` included.

        Nothing later is in it: ``now_ms`` less ``days`` days gives the window before. ``benchmarks``,
        ``last_success_at`` and ``errors`` come from the last success in each benchmark, so that a window which is
        past leaves out benchmarks with a success since.

        With a ``suite`` (a digest, or an id for its newest version) the row is made of the last success in each of
        its benchmarks, and of the last attempt where that came later, as far as they are within the days.
        ``together``: one row per agent, over all its categories, with ``category`` "".
        ``brief`` rows have ``n`` and the mean scores alone, which a trend takes and which are faster to read.
        """
        with self._session as session:
            key = None if suite is None else boards.suite_key(session, suite)
            window = leaderboards.Window.ending(now_ms, days)
            return leaderboards.leaderboard_rows(session, window, category, key, brief=brief, together=together)

    def generation(self) -> int:
        """A number that changes with every change of an execution: boards made at the same one are the same."""
        with self._session as session:
            return summaries.generation(session)

    def series(
        self,
        agent: str,
        *,
        suite: str | None = None,
        benchmark: str | None = None,
        since: int | None = None,
        limit: int | None = _HISTORY,
    ) -> list[SeriesRow]:
        """The executions of all versions of the agent of that name, whatever their status, oldest first.

        ``suite`` is a digest or an id (all its versions), ``since`` a time. At most the ``limit`` newest rows; a run
        that would be cut in two is left out. Simulated ones are not in it.
        """
        with self._session as session, session.snapshot():
            return histories.series(session, agent, (suite, benchmark), since, limit)

    def agent_executions(
        self, name: str, version: str | None = None, suite: str | None = None, *, limit: int | None = _HISTORY
    ) -> list[AgentExecutionRow]:
        """Where the executions of an agent are to be found, newest first, simulated ones and imported ones included.

        ``suite`` is a digest or an id (all its versions); without a ``version``, all of them.
        """
        with self._session as session, session.snapshot():
            return histories.agent_executions(session, name, version, suite, limit)

    def arm_series(
        self, experiment: str | None = None, arm_name: str | None = None, *, limit: int | None = _HISTORY
    ) -> list[ArmSeriesRow]:
        """The arms of runs of experiments that have ended, oldest first; at most the ``limit`` newest ones."""
        with self._session as session, session.snapshot():
            return histories.arm_series(session, experiment, arm_name, limit)

    def baselines(self, workspace: str | None = None) -> list[BaselineRow]:
        """Every baseline, or those of one workspace, by workspace, agent and suite."""
        with self._session as session:
            return baselines.list_baselines(session, workspace)
