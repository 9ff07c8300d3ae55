"""The comparison matrix and the leaderboard, from what the store sums up."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Protocol, TypeVar

import numpy as np

from agentdyno.errors import SpecError, nearest
from agentdyno.findings.board.judge_joint import SpreadPart, joint_of
from agentdyno.findings.board.judge_ranks import (
    Numbers,
    case_errors,
    floats,
    owners_of,
    pooled,
    ranked_scores,
    shares_of,
    sums,
)
from agentdyno.findings.board.model import (
    BENCHMARKS,
    BoardScope,
    Coverage,
    Leaderboard,
    LeaderboardEntry,
    Matrix,
    MatrixEntry,
    RankedScore,
    StaleAgent,
)
from agentdyno.findings.board.model_rows import LeaderboardRow, MatrixRow
from agentdyno.findings.figures.dimensions import DIMENSIONS, OVERALL, WEIGHTS, check_weights, overall
from agentdyno.model.metric import Category

METRICS = (OVERALL, *DIMENSIONS)
ALL = "all"
"""Another word for the metric ``overall``."""

ONE_SUITE = BoardScope()
_SUCCESS = "success"
_SCORES = attrgetter(*DIMENSIONS)
_ERRORS = attrgetter(*(f"{name}_error" for name in DIMENSIONS))
_CASES = attrgetter("case_variance", "scored")
_WIDTH = len(DIMENSIONS)
_COST_USD = _WIDTH + 1
"""The place of ``cost_usd`` in the ``known`` of a row, after the dimensions and ``overall``."""


def matrix(
    rows: Sequence[MatrixRow],
    *,
    suite: str = "",
    weights: Mapping[str, float] = WEIGHTS,
    seed: int = 0,
    scope: BoardScope = ONE_SUITE,
) -> Matrix:
    """Every agent (``name@version``) by overall rank: means over the benchmarks it completed, ranks, intervals.

    A score of a dimension is the mean over the benchmarks that have it. Where ``missing`` names something the entry
    is partial: a dimension of weight above 0 that is unknown in a benchmark it completed, and ``benchmarks`` where it
    did not complete one that any agent here was put to. A failed attempt leaves the success before it in force and is
    named in ``failing``; it counts nowhere else. Agents without an overall score come last, by name. ``suite`` is
    said in the answer only; ``seed`` is of the draws behind the intervals of ranks. Raises ``SpecError`` for bad
    weights.
    """
    weighed = check_weights(weights)
    met: dict[tuple[str, str], dict[tuple[str, str], MatrixRow]] = {}
    for row in rows:
        own = met.setdefault((row.agent, row.agent_version), {})
        place = (row.suite, row.benchmark)
        own[place] = row if place not in own else _later(own[place], row)
    done = [[row for row in own.values() if row.success_at is not None] for own in met.values()]
    benchmarks = {place for own in met.values() for place in own}
    scores, errors, gaps = _means(done)
    parts = [[SpreadPart(row.spread, 1.0, 1.0) for row in own] for own in done]
    joint = joint_of(parts, np.nan_to_num(shares_of(scores, weighed)))
    ranked = ranked_scores(scores, errors, weighed, seed, joint)
    entries = []
    for (name, version), own, kept, standing, lacking in zip(met, met.values(), done, ranked, gaps, strict=True):
        missing = [known for known, gap in zip(DIMENSIONS, lacking, strict=True) if gap and weighed[known]]
        if len(kept) < len(benchmarks):
            missing.append(BENCHMARKS)
        entries.append(
            MatrixEntry(
                agent=f"{name}@{version}",
                name=name,
                version=version,
                scores=standing,
                benchmarks_completed=len(kept),
                missing=tuple(missing),
                failing=tuple(row.benchmark for row in own.values() if row.attempt_status != _SUCCESS),
                last_success_at=max((row.success_at or 0 for row in kept), default=None),
                not_whole=tuple(row.benchmark for row in kept if not row.whole),
                scored=sum(row.scored or 0 for row in kept),
                cases=sum(row.cases for row in kept),
            )
        )
    entries.sort(key=lambda entry: _order(entry.scores, OVERALL, entry.agent))
    return Matrix(suite, len(benchmarks), weighed, tuple(entries), scope)


def leaderboard(
    rows: Sequence[LeaderboardRow],
    previous: Sequence[LeaderboardRow],
    *,
    category: str = OVERALL,
    metric: str = OVERALL,
    days: int,
    until: int,
    limit: int | None = None,
    weights: Mapping[str, float] = WEIGHTS,
    seed: int = 0,
    scope: BoardScope = ONE_SUITE,
) -> Leaderboard:
    """Where the agents of a category stand, ``overall`` being all together; the first ``limit`` by ``metric``.

    Across several suites (``scope``) each counts the same, however often an agent ran it. ``rows`` are of the window
    of ``days`` days that ends at ``until`` (UTC milliseconds), ``previous`` of the window before it; rows of other
    categories are passed over. An agent's categories count by their executions. Ranks are
    among all agents, also those not shown. ``trend`` is the score less that of the window before; for ``overall``
    only where both rest on the same dimensions. ``missing`` names dimensions of weight above 0 without a score.
    ``metric`` is a dimension, ``overall`` or ``all``, which is the same. Raises ``SpecError`` for an unknown category
    or metric, for a limit below 1 and for bad weights.
    """
    weighed = check_weights(weights)
    _require(category, "category", {OVERALL, *map(str, Category), *(row.category for row in (*rows, *previous))})
    _require(metric, "metric", {ALL, *METRICS})
    metric = OVERALL if metric == ALL else metric
    if limit is not None and limit < 1:
        raise SpecError(f"a board of {limit} agents shows nothing", remedy="Ask for 1 or more.")
    now, before = (
        _pool([row for row in part if category == OVERALL or row.category in ("", category)], len(scope.suites) > 1)
        for part in (rows, previous)
    )
    joint = joint_of(now.parts, np.nan_to_num(shares_of(now.scores, weighed)))
    ranked = ranked_scores(now.scores, now.errors, weighed, seed, joint)
    past = dict(zip(before.agents, before.by_name(), strict=True))
    entries = []
    for agent, scores, usd in zip(now.agents, ranked, now.cost_usd.tolist(), strict=True):
        trend = _trend(scores, past.get(agent, {}), weighed)
        entries.append(_leaderboard_entry(now.agents[agent], category, scores, trend, weighed, _known(usd)))
    entries.sort(key=lambda entry: _order(entry.scores, metric, entry.agent))
    return Leaderboard(category, metric, days, until, weighed, tuple(entries[:limit]), len(entries), scope)


def _later(one: MatrixRow, other: MatrixRow) -> MatrixRow:
    """Of two definitions of an agent under one version: the later success and the later attempt."""
    success = max(one, other, key=lambda row: -1 if row.success_at is None else row.success_at)
    attempt = max(one, other, key=lambda row: row.attempt_at)
    return success._replace(attempt_at=attempt.attempt_at, attempt_status=attempt.attempt_status)


def _means(done: Sequence[Sequence[MatrixRow]]) -> tuple[Numbers, Numbers, list[list[bool]]]:
    """Agents × dimensions: means, their errors, and whether a benchmark lacks the score (or there is none)."""
    rows = [row for own in done for row in own]
    owners = owners_of([len(own) for own in done])
    values = floats([_SCORES(row) for row in rows], _WIDTH)
    variances, scored = floats([_CASES(row) for row in rows], 2).T
    errors = case_errors(values, floats([_ERRORS(row) for row in rows], _WIDTH), variances, scored)
    means, spread = pooled(owners, len(done), values, errors, np.ones_like(values))
    gaps = (sums(owners, len(done), np.isnan(values).astype(np.float64)) > 0) | np.isnan(means)
    return means, spread, gaps.tolist()


@dataclass(frozen=True, slots=True)
class _Pool:
    """The rows of each agent (``name@version``) together; arrays have a row per agent, in this order."""

    agents: Mapping[str, Sequence[LeaderboardRow]]
    scores: Numbers
    errors: Numbers
    cost_usd: Numbers
    parts: Sequence[Sequence[SpreadPart]]

    def by_name(self) -> list[dict[str, float | None]]:
        return [dict(zip(DIMENSIONS, map(_known, row), strict=True)) for row in self.scores.tolist()]


def _pool(rows: Sequence[LeaderboardRow], across: bool) -> _Pool:
    agents: dict[str, list[LeaderboardRow]] = {}
    for row in rows:
        agents.setdefault(f"{row.agent}@{row.agent_version}", []).append(row)
    flat = [row for own in agents.values() for row in own]
    owners = owners_of([len(own) for own in agents.values()])
    values = floats([_SCORES(row) for row in flat], _WIDTH)
    variances, cases = floats([(row.case_variance, _distinct(row)) for row in flat], 2).T
    given = floats([row.errors if len(row.errors) == _WIDTH else (None,) * _WIDTH for row in flat], _WIDTH)
    errors = case_errors(values, given, variances, cases)
    counts = floats([row.known if len(row.known) > _COST_USD else (row.n,) * (_COST_USD + 1) for row in flat], 7)
    weighing = (counts[:, :_WIDTH] > 0).astype(np.float64) if across else counts[:, :_WIDTH]
    scores, spread = pooled(owners, len(agents), values, errors, weighing)
    money = floats([(row.cost_usd,) for row in flat], 1)
    usd, _ = pooled(owners, len(agents), money, np.zeros_like(money), counts[:, _COST_USD:])
    parts = [[part for row in own for part in _spread_parts(row, across)] for own in agents.values()]
    return _Pool(agents, scores, spread, usd[:, 0], parts)


def _spread_parts(row: LeaderboardRow, across: bool) -> list[SpreadPart]:
    """The benchmarks of a row: each has its part of the row's runs."""
    each = row.n / max(1, len(row.spreads))
    weight = 1.0 / max(1, len(row.spreads)) if across else each
    return [SpreadPart(spread, weight, each) for spread in row.spreads]


def shared_suites(ran: Mapping[str, Collection[str]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Which suites agents can be compared over, and which agents: those that ran all of them.

    ``ran`` gives the suites of each agent. Of all sets of suites that some agents share, the one is taken that has
    most results (agents times suites), of equals the one of more suites; nothing where no two agents share one.
    """
    sets = {frozenset(own) for own in ran.values() if own}
    candidates = {one & other for one in sets for other in sets} - {frozenset()}
    best: tuple[tuple[int, int, tuple[str, ...]], frozenset[str]] | None = None
    for suites in candidates:
        having = sum(suites <= frozenset(own) for own in ran.values())
        key = (having * len(suites), len(suites), tuple(sorted(suites, reverse=True)))
        if having > 1 and (best is None or key > best[0]):
            best = key, suites
    chosen = frozenset[str]() if best is None else best[1]
    agents = tuple(agent for agent, own in ran.items() if chosen and chosen <= frozenset(own))
    return tuple(sorted(chosen)), agents


def _distinct(row: LeaderboardRow) -> float | None:
    """The cases behind the scores, each once: the executions of a benchmark repeat the same ones."""
    return row.scored * min(row.benchmarks, row.n) / row.n if row.n else None


def _per_task(cost_usd: float | None, rows: Sequence[LeaderboardRow]) -> float | None:
    """From the cost of an execution to that of one of its samples."""
    samples = sum(row.samples for row in rows)
    return None if cost_usd is None or not samples else cost_usd * sum(row.n for row in rows) / samples


def _leaderboard_entry(
    rows: Sequence[LeaderboardRow],
    category: str,
    scores: Mapping[str, RankedScore],
    trend: Mapping[str, float | None],
    weights: Mapping[str, float],
    cost_usd: float | None,
) -> LeaderboardEntry:
    one = rows[0]
    done: dict[tuple[str, str], tuple[int, int, int]] = {}
    for row in rows:  # an agent defined in two ways under one version did the same benchmarks
        place = (row.suite, row.category)
        done[place] = max((row.benchmarks, row.last_cases, row.last_scored), done.get(place, (0, 0, 0)))
    completed, cases, scored = (sum(column) for column in zip(*done.values(), strict=True))
    ranks = [rank for name in DIMENSIONS if (rank := scores[name].rank) is not None]
    return LeaderboardEntry(
        agent=f"{one.agent}@{one.agent_version}",
        name=one.agent,
        version=one.agent_version,
        category=category,
        scores=scores,
        benchmarks_completed=completed,
        executions=sum(row.n for row in rows),
        attempts=sum(row.attempts for row in rows),
        last_benchmark_at=max((row.last_success_at for row in rows if row.last_success_at is not None), default=None),
        best_ranking=min(ranks, default=None),
        cost_usd=cost_usd,
        trend=trend,
        missing=tuple(name for name in DIMENSIONS if weights[name] and scores[name].score is None),
        not_whole=sum(row.not_whole for row in rows),
        scored=scored,
        cases=cases,
        cost_per_task_usd=_per_task(cost_usd, rows),
    )


def _trend(
    scores: Mapping[str, RankedScore], past: Mapping[str, float | None], weights: Mapping[str, float]
) -> dict[str, float | None]:
    """By metric the score less that of the window before; of other dimensions an overall score is another thing."""
    then = {**{name: past.get(name) for name in DIMENSIONS}, OVERALL: overall(past, weights)}
    alike = all((scores[name].score is None) == (then[name] is None) for name in DIMENSIONS if weights[name])
    found: dict[str, float | None] = {}
    for name in METRICS:
        now, before = scores[name].score, then[name]
        certain = alike or name != OVERALL
        found[name] = now - before if certain and now is not None and before is not None else None
    return found


def _order(scores: Mapping[str, RankedScore], metric: str, agent: str) -> tuple[float, float, str]:
    """By the metric, equals by the overall score, then by name; what has no rank comes last."""
    ranks = (scores[metric].rank, scores[OVERALL].rank)
    first, second = (float("inf") if rank is None else rank for rank in ranks)
    return first, second, agent


def _known(value: float) -> float | None:
    return None if value != value else value


def _require(name: str, kind: str, known: Collection[str]) -> None:
    if name not in known:
        raise SpecError(f"there is no {kind} {name!r}", remedy=nearest(name, known))


DAY_MS = 86_400_000


class Benched(Protocol):
    """A version of an agent and when it was last on the bench; UTC milliseconds, ``None`` for never."""

    @property
    def name(self) -> str: ...
    @property
    def version(self) -> str: ...
    @property
    def created_at(self) -> int: ...
    @property
    def last_success_at(self) -> int | None: ...
    @property
    def last_attempt_at(self) -> int | None: ...


_Agent = TypeVar("_Agent", bound=Benched)


def coverage(agents: Iterable[Benched], *, days: int, now_ms: int, all_versions: bool = False) -> Coverage:
    """The agents with a success in the ``days`` days up to ``now_ms`` (UTC milliseconds), and those without.

    Of each name only the version that came last counts, unless ``all_versions``. Stale agents come in the order of
    their last success, those that never had one first. Raises ``SpecError`` for fewer than 1 day.
    """
    if days < 1:
        raise SpecError(f"{days} days are no time to look back on", remedy="Ask for 1 day or more.")
    counted = list(agents) if all_versions else newest(agents)
    stale = []
    for agent in counted:
        last = agent.last_success_at
        age = None if last is None else max(0, now_ms - last) / DAY_MS
        if age is None or age > days:
            label = f"{agent.name}@{agent.version}"
            stale.append(StaleAgent(label, agent.name, agent.version, last, agent.last_attempt_at, age))
    stale.sort(key=lambda item: (-1 if item.last_success_at is None else item.last_success_at, item.agent))
    return Coverage(days, len(counted), len(counted) - len(stale), tuple(stale))


def newest(agents: Iterable[_Agent]) -> list[_Agent]:
    """The version of each name that was created last; of equals the one that was tried last."""
    found: dict[str, _Agent] = {}
    for agent in agents:
        other = found.get(agent.name)
        if other is None or _age(agent) > _age(other):
            found[agent.name] = agent
    return list(found.values())


def _age(agent: Benched) -> tuple[int, int, str]:
    return agent.created_at, -1 if agent.last_attempt_at is None else agent.last_attempt_at, agent.version
