"""Boards as a user asks for them, from the summaries of the store."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from agentdyno.errors import SpecError, StoreError, nearest
from agentdyno.findings.board.judge import coverage, leaderboard, matrix
from agentdyno.findings.board.model import Coverage, Leaderboard, Matrix, MatrixRow
from agentdyno.findings.figures.dimensions import WEIGHTS, check_weights
from agentdyno.model import Category
from agentdyno.store import Store
from agentdyno.store.answers import Answers

DAY_MS = 86_400_000
WINDOW_DAYS = 30
SHOWN = 20
OVERALL = "overall"


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
        limit: int | None = SHOWN,
        suite: str | None = None,
    ) -> Leaderboard:
        """Agents by ``metric`` over the last ``days`` days, with what changed since the ``days`` days before."""
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
            now // DAY_MS,
            tuple(self._weights().items()),
        )

        def make() -> Leaderboard:
            read = partial(
                self.store.boards.leaderboard_rows, days=days, category=asked, suite=suite, together=asked is None
            )
            rows, before = read(now_ms=now), read(now_ms=now - days * DAY_MS, brief=True)
            return leaderboard(
                rows,
                before,
                category=category,
                metric=metric,
                days=days,
                until=now,
                limit=limit,
                weights=self._weights(),
            )

        return replace(self.leaderboards.get(self.store.boards.generation(), question, make), until=now)

    def matrix(self, *, suite: str | None = None, category: str | None = None) -> Matrix:
        """Every agent × every dimension, from each agent's last success in each benchmark."""
        category = None if category == OVERALL else category
        if category is not None and category not in set(Category):
            known = [OVERALL, *Category]
            raise SpecError(f"there is no category {category!r}", remedy=nearest(category, known))
        question = ("matrix", suite, category, tuple(self._weights().items()))

        def make() -> Matrix:
            rows = self._one_per_benchmark(self.store.boards.matrix_rows(suite=suite, category=category))
            return matrix(rows, suite=self._suite_name(suite), weights=self._weights())

        return self.matrices.get(self.store.boards.generation(), question, make)

    def coverage(self, *, days: int = WINDOW_DAYS, all_versions: bool = False) -> Coverage:
        """Which agents were benchmarked within ``days`` days, and which were not."""
        return coverage(self.store.boards.agents(), days=days, now_ms=self._now(), all_versions=all_versions)

    def suite_digest(self, suite: str | None) -> str | None:
        """A suite by id, name or digest as the store knows it; its newest version."""
        if suite is None:
            return None
        known = self.store.boards.suites()
        for row in known:
            if suite in (row.suite_id, row.digest, row.name):
                return row.digest
        names = sorted({row.suite_id for row in known})
        raise StoreError(f"no run of a suite {suite!r} is in the store", remedy=nearest(suite, names))

    def _one_per_benchmark(self, rows: list[MatrixRow]) -> list[MatrixRow]:
        """Versions of one suite are one on the board: an agent's newest success in a benchmark counts."""
        ids = {row.digest: row.suite_id for row in self.store.boards.suites()}
        digests = {row.suite for row in rows}
        if len({ids.get(digest, digest) for digest in digests}) == len(digests):
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
