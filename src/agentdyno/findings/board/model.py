"""Boards: where every agent stands, with how far the place can be trusted. Times are UTC milliseconds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

BENCHMARKS = "benchmarks"
"""What ``missing`` of a matrix names where an agent did not complete every benchmark."""


@dataclass(frozen=True, slots=True)
class RankedScore:
    """A score in 0..1 and its rank (1 is best; equals share one), each with a 95 % interval; ``None``: unknown."""

    score: float | None
    interval: tuple[float, float] | None = None
    rank: int | None = None
    rank_interval: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class BoardScope:
    """What a board is made of: like is compared with like.

    ``suites`` are ids, one unless the board is across suites; ``other_suites`` have results, too. ``not_shared`` are
    agents that are left out because they did not run all of ``suites``. ``includes_partial``: runs that were quick,
    limited or cut short are in it; else ``left_out`` counts their executions in the window. ``unknown_form`` counts
    executions in it of which nobody can tell, because they were recorded before that was kept or by another tool.
    ``older_version`` names agents of which there are only results of other versions of the suite. ``recorded`` names
    agents (``name@version``) whose model calls went through the recording proxy in their last success in a benchmark,
    where those of others on the board did not: their times are longer by what the proxy takes.
    """

    suites: tuple[str, ...] = ()
    other_suites: tuple[str, ...] = ()
    not_shared: tuple[str, ...] = ()
    includes_partial: bool = False
    left_out: int = 0
    unknown_form: int = 0
    older_version: tuple[str, ...] = ()
    recorded: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MatrixEntry:
    """One agent of the matrix. ``scores`` has the five dimensions and ``overall``; ``missing`` names dimensions that
    are unknown in at least one benchmark, and ``benchmarks`` where it did not complete them all: ``overall`` is then
    partial. ``failing`` are benchmarks whose last attempt was no success, ``not_whole`` those whose success is of a
    run that was quick, limited or cut short. Accuracy is of ``scored`` of the ``cases`` of what it completed; 0 where
    that is not known."""

    agent: str
    name: str
    version: str
    scores: Mapping[str, RankedScore]
    benchmarks_completed: int
    missing: tuple[str, ...] = ()
    failing: tuple[str, ...] = ()
    last_success_at: int | None = None
    not_whole: tuple[str, ...] = ()
    scored: int = 0
    cases: int = 0

    @property
    def partial(self) -> bool:
        return bool(self.missing)


@dataclass(frozen=True, slots=True)
class Matrix:
    """Every agent × every dimension, by overall rank. ``suite`` is "" over all suites."""

    suite: str
    benchmarks: int
    weights: Mapping[str, float]
    entries: tuple[MatrixEntry, ...]
    scope: BoardScope = field(default_factory=BoardScope)


@dataclass(frozen=True, slots=True)
class LeaderboardEntry:
    """One agent in one category (``overall``: all together). ``trend`` is by dimension and ``overall`` the score less
    that of the window before, ``None`` where it has none there. ``best_ranking`` is its best rank in a dimension.
    ``not_whole`` of its ``executions`` are of runs that were quick, limited or cut short. In its last success in each
    benchmark ``scored`` of the ``cases`` were scored, which accuracy is of; 0 where that is not known. ``cost_usd``
    is of one execution of a benchmark, ``cost_per_task_usd`` of one case that it asks once."""

    agent: str
    name: str
    version: str
    category: str
    scores: Mapping[str, RankedScore]
    benchmarks_completed: int
    executions: int
    attempts: int
    last_benchmark_at: int | None
    best_ranking: int | None
    cost_usd: float | None = None
    trend: Mapping[str, float | None] = field(default_factory=dict)
    missing: tuple[str, ...] = ()
    not_whole: int = 0
    scored: int = 0
    cases: int = 0
    cost_per_task_usd: float | None = None


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """``entries`` are at most the asked number, by ``metric``; ``total`` counts all. Simulated results are not in it.

    ``until`` is the end of the window of ``days`` days."""

    category: str
    metric: str
    days: int
    until: int
    weights: Mapping[str, float]
    entries: tuple[LeaderboardEntry, ...]
    total: int
    scope: BoardScope = field(default_factory=BoardScope)


@dataclass(frozen=True, slots=True)
class StaleAgent:
    """``days`` since the last success, ``None`` where it never had one."""

    agent: str
    name: str
    version: str
    last_success_at: int | None
    last_attempt_at: int | None
    days: float | None


@dataclass(frozen=True, slots=True)
class Coverage:
    """Of the ``agents`` known (the newest version of each), ``fresh`` were benchmarked within ``days`` days."""

    days: int
    agents: int
    fresh: int
    stale: tuple[StaleAgent, ...]

    @property
    def share(self) -> float | None:
        return self.fresh / self.agents if self.agents else None
