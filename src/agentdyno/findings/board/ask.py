"""Boards as a user asks for them, from the summaries of the store."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from agentdyno.errors import SpecError, StoreError, nearest
from agentdyno.findings.board.judge import coverage, leaderboard, matrix, shared_suites
from agentdyno.findings.board.model import BoardScope, Coverage, Leaderboard, Matrix
from agentdyno.findings.board.model_rows import LeaderboardRow, MatrixRow
from agentdyno.findings.figures.dimensions import WEIGHTS, check_weights
from agentdyno.model import Category
from agentdyno.model.form import WHOLE, Form
from agentdyno.settings.result import ROWS
from agentdyno.store import Store
from agentdyno.store.answers import Answers
from agentdyno.store.rows import SuiteRow

DAY_MS = 86_400_000
WINDOW_DAYS = 30
OVERALL = "overall"
EACH = "each"
"""In place of a category: every one that has results, one after the other."""
ALL_SUITES = "all"
"""In place of a suite: agents that share suites, over the shared ones."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """How a leaderboard reads the store, whichever the suite."""

    store: Store
    days: int
    now_ms: int
    category: str | None
    partial: bool

    def rows(self, digest: str) -> tuple[list[LeaderboardRow], list[LeaderboardRow]]:
        """The rows of the window and, with their scores alone, of the window before."""
        read = partial(
            self.store.boards.leaderboard_rows,
            days=self.days,
            category=self.category,
            suite=digest,
            together=True,
            partial=self.partial,
        )
        return read(now_ms=self.now_ms), read(now_ms=self.now_ms - self.days * DAY_MS, brief=True)

    def forms(self, digest: str) -> dict[str, tuple[int, int]]:
        return self.store.boards.form_counts(days=self.days, now_ms=self.now_ms, suite=digest)


@dataclass(slots=True)
class Boards:
    """Asks one store; a board that was made since the last change of an execution is not made again."""

    store: Store
    weights: Mapping[str, float] = field(default_factory=dict)
    now_ms: int | None = None
    leaderboards: Answers[Leaderboard] = field(default_factory=Answers)
    matrices: Answers[Matrix] = field(default_factory=Answers)

    def leaderboard(
        self,
        *,
        category: str = OVERALL,
        metric: str = "all",
        days: int = WINDOW_DAYS,
        limit: int | None = ROWS,
        suite: str | None = None,
        partial: bool = False,
    ) -> Leaderboard:
        """Agents by ``metric`` over the last ``days`` days, with what changed since the ``days`` days before.

        ``suite`` is a digest; without one it is the suite that was run last. ``ALL_SUITES`` compares the agents that
        share suites over these. ``partial``: also runs that were quick, limited or cut short.
        """
        if days < 1:
            raise SpecError(f"a window of {days} days", where="days", remedy="Give 1 or more.")
        now = self._now()
        asked = None if category == OVERALL else category
        question = (
            "leaderboard",
            category,
            metric,
            days,
            limit,
            suite,
            partial,
            now // DAY_MS,
            tuple(self._weights().items()),
        )

        def make() -> Leaderboard:
            reading = _Reading(self.store, days, now, asked, partial)
            rows, before, scope = self._rows(reading, suite)
            return leaderboard(
                rows,
                before,
                category=category,
                metric=metric,
                days=days,
                until=now,
                limit=limit,
                weights=self._weights(),
                scope=scope,
            )

        return replace(self.leaderboards.get(self.store.boards.generation(), question, make), until=now)

    def by_category(
        self, *, metric: str = "all", days: int = WINDOW_DAYS, limit: int | None = ROWS, partial: bool = False
    ) -> list[Leaderboard]:
        """One leaderboard for each category that suites or their benchmarks with results have, ranks within it.

        Each is of the suite of that category that was run last, else of one with a benchmark of it: like is compared
        with like.
        """
        held = self.store.boards.categories()
        boards = []
        for name in (name for name in Category if name in held):
            suite = self.store.boards.last_suite(category=name, partial=partial, own_first=True)
            boards.append(
                self.leaderboard(category=name, metric=metric, days=days, limit=limit, suite=suite, partial=partial)
            )
        return [board for board in boards if board.entries]

    def _rows(
        self, reading: _Reading, suite: str | None
    ) -> tuple[list[LeaderboardRow], list[LeaderboardRow], BoardScope]:
        """The rows of the window, those of the window before it, and what they are of."""
        known = self.store.boards.suites()
        ids = {row.digest: row.suite_id for row in known}
        if suite == ALL_SUITES:
            return self._across(reading, known)
        digest = suite or self.store.boards.last_suite(category=reading.category, partial=reading.partial)
        if digest is None:
            return [], [], BoardScope(includes_partial=reading.partial)
        rows, before = reading.rows(digest)
        scope = self._scope(reading, (ids.get(digest, digest),), [digest], known)
        older = self._older(
            known, digest, since=reading.now_ms - reading.days * DAY_MS, on_board={row.agent for row in rows}
        )
        recorded = self._recorded([digest], rows, reading.partial)
        return rows, before, replace(scope, older_version=older, recorded=recorded)

    def _across(
        self, reading: _Reading, known: Sequence[SuiteRow]
    ) -> tuple[list[LeaderboardRow], list[LeaderboardRow], BoardScope]:
        """Agents that share suites, over the shared ones, each in its newest version."""
        newest = {row.suite_id: row.digest for row in reversed(known) if not row.part_of}
        read = {suite_id: reading.rows(digest) for suite_id, digest in newest.items()}
        ran: dict[str, set[str]] = {}
        for suite_id, (rows, _) in read.items():
            for row in rows:
                if row.n:
                    ran.setdefault(f"{row.agent}@{row.agent_version}", set()).add(suite_id)
        shared, agents = shared_suites(ran)

        def kept(part: int) -> list[LeaderboardRow]:
            of = [(suite_id, row) for suite_id in shared for row in read[suite_id][part]]
            return [row._replace(suite=at) for at, row in of if f"{row.agent}@{row.agent_version}" in agents]

        scope = self._scope(reading, shared, [newest[suite_id] for suite_id in shared], known)
        left = tuple(sorted(set(ran) - set(agents)))
        rows = kept(0)
        recorded = self._recorded([newest[suite_id] for suite_id in shared], rows, reading.partial)
        return rows, kept(1), replace(scope, not_shared=left, recorded=recorded)

    def _scope(
        self, reading: _Reading, suites: tuple[str, ...], digests: Sequence[str], known: Sequence[SuiteRow]
    ) -> BoardScope:
        counts: Counter[str] = Counter()
        for digest in digests:
            counts.update({form: pair[0] for form, pair in reading.forms(digest).items()})
        left = 0 if reading.partial else sum(n for form, n in counts.items() if form not in WHOLE)
        others = dict.fromkeys(row.suite_id for row in known if row.suite_id not in suites)
        return BoardScope(
            suites=suites,
            other_suites=tuple(others),
            includes_partial=reading.partial,
            left_out=left,
            unknown_form=counts[Form.UNKNOWN],
        )

    def _older(
        self, known: Sequence[SuiteRow], digest: str, *, since: int, on_board: Collection[str]
    ) -> tuple[str, ...]:
        """Where this is the newest version of its suite: agents that since that time ran only others of it."""
        suite_id = next((row.suite_id for row in known if row.digest == digest), "")
        versions = [row.digest for row in known if row.suite_id == suite_id and not row.part_of]  # newest first
        if len(versions) < 2 or versions[0] != digest:
            return ()
        ran = self.store.boards.agents_of_versions(suite_id, since=since)
        others = {name for version in versions[1:] for name in ran.get(version, ())}
        return tuple(sorted(others.difference(on_board)))

    def _recorded(
        self, digests: Sequence[str], rows: Sequence[LeaderboardRow | MatrixRow], partial: bool
    ) -> tuple[str, ...]:
        """Agents of the board whose times a recording proxy is in, where it is not in those of all."""
        here = {f"{row.agent}@{row.agent_version}" for row in rows}
        found = here & self.store.boards.recorded_agents(digests, partial=partial) if len(here) > 1 else set()
        return tuple(sorted(found)) if found != here else ()

    def matrix(self, *, suite: str | None = None, category: str | None = None, partial: bool = False) -> Matrix:
        """Every agent × every dimension, from each agent's last success in each benchmark.

        ``suite`` and ``partial`` are as in ``leaderboard``.
        """
        category = None if category == OVERALL else category
        if category is not None and category not in set(Category):
            known = [OVERALL, *Category]
            raise SpecError(f"there is no category {category!r}", remedy=nearest(category, known))
        question = ("matrix", suite, category, partial, tuple(self._weights().items()))

        def make() -> Matrix:
            digest = suite or self.store.boards.last_suite(category=category, partial=partial)
            if digest is None:
                return matrix([], weights=self._weights(), scope=BoardScope(includes_partial=partial))
            asked, known = None if digest == ALL_SUITES else digest, self.store.boards.suites()
            rows = self.store.boards.matrix_rows(suite=asked, category=category, partial=partial)
            rows, scope = self._of_suites(self._one_per_benchmark(rows, partial), asked, partial)
            if asked is not None:
                here = {row.agent for row in rows}
                scope = replace(scope, older_version=self._older(known, asked, since=0, on_board=here))
            digests = [row.digest for row in known if row.suite_id in scope.suites] if asked is None else [asked]
            scope = replace(scope, recorded=self._recorded(digests, rows, partial))
            return matrix(rows, suite=self._suite_name(asked), weights=self._weights(), scope=scope)

        return self.matrices.get(self.store.boards.generation(), question, make)

    def _of_suites(
        self, rows: list[MatrixRow], digest: str | None, partial: bool
    ) -> tuple[list[MatrixRow], BoardScope]:
        """Of one suite all rows; across suites those of agents that share some, in these."""
        known = self.store.boards.suites()
        ids = {row.digest: row.suite_id for row in known}
        left: tuple[str, ...] = ()
        suites: tuple[str, ...] = (self._suite_name(digest),)
        if digest is None:
            ran: dict[str, set[str]] = {}
            for row in rows:
                if row.success_at is not None:
                    ran.setdefault(f"{row.agent}@{row.agent_version}", set()).add(ids.get(row.suite, row.suite))
            suites, agents = shared_suites(ran)
            left = tuple(sorted(set(ran) - set(agents)))
            rows = [
                row
                for row in rows
                if ids.get(row.suite, row.suite) in suites and f"{row.agent}@{row.agent_version}" in agents
            ]
        others = dict.fromkeys(row.suite_id for row in known if row.suite_id not in suites)
        return rows, BoardScope(suites, tuple(others), left, partial)

    def together(self, boards: Sequence[Leaderboard], *, metric: str, days: int) -> Leaderboard:
        """The boards of ``by_category`` as one, by category; each entry says its own."""
        entries = tuple(entry for board in boards for entry in board.entries)
        suites = dict.fromkeys(suite for board in boards for suite in board.scope.suites)
        scope = BoardScope(
            suites=tuple(suites),
            includes_partial=any(board.scope.includes_partial for board in boards),
            recorded=tuple(sorted({agent for board in boards for agent in board.scope.recorded})),
        )
        told = boards[0].metric if boards else metric
        total = sum(board.total for board in boards)
        return Leaderboard(EACH, told, days, self._now(), self._weights(), entries, total, scope)

    def coverage(self, *, days: int = WINDOW_DAYS, all_versions: bool = False) -> Coverage:
        """Which agents were benchmarked within ``days`` days, and which were not."""
        return coverage(self.store.boards.agents(), days=days, now_ms=self._now(), all_versions=all_versions)

    def suite_digest(self, suite: str | None) -> str | None:
        """A suite by id, name or digest as the store knows it, its newest version; ``ALL_SUITES`` stays as it is."""
        if suite is None or suite == ALL_SUITES:
            return suite
        known = self.store.boards.suites()
        for row in known:
            if suite in (row.suite_id, row.digest, row.name):
                return row.digest
        names = sorted({row.suite_id for row in known})
        raise StoreError(f"no run of a suite {suite!r} is in the store", remedy=nearest(suite, names))

    def _one_per_benchmark(self, rows: list[MatrixRow], partial: bool) -> list[MatrixRow]:
        """Versions and parts of one suite are one on the board: an agent's newest success in a benchmark counts."""
        ids = {row.digest: row.suite_id for row in self.store.boards.suites()}
        digests = {row.suite for row in rows}
        if len({ids.get(digest, digest) for digest in digests}) == len(digests) and not partial:
            return rows
        newest: dict[tuple[str, str, str], MatrixRow] = {}
        for row in rows:
            key = (row.agent_uid, ids.get(row.suite, row.suite), row.benchmark)
            before = newest.get(key)
            if before is None or (row.success_at or 0, row.attempt_at) > (before.success_at or 0, before.attempt_at):
                newest[key] = row
        return [row._replace(suite=suite_id) for (_, suite_id, _), row in newest.items()]

    def _suite_name(self, digest: str | None) -> str:
        known = {row.digest: row.suite_id for row in self.store.boards.suites()} if digest is not None else {}
        return known.get(digest or "", digest or "")

    def _weights(self) -> Mapping[str, float]:
        return check_weights({**WEIGHTS, **self.weights}) if self.weights else WEIGHTS

    def _now(self) -> int:
        return time.time_ns() // 1_000_000 if self.now_ms is None else self.now_ms
