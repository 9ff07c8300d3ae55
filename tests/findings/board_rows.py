"""Rows of boards with as little said as a test needs."""

from __future__ import annotations

from agentdyno.findings.board.model_rows import LeaderboardRow, MatrixRow

Scores = tuple[float | None, float | None, float | None, float | None, float | None]
NONE: Scores = (None, None, None, None, None)


def even(score: float | None) -> Scores:
    return (score, score, score, score, score)


def matrix_row(
    agent: str,
    benchmark: str = "facts",
    scores: Scores = NONE,
    *,
    errors: Scores = NONE,
    status: str = "success",
    succeeded: bool = True,
    at: int = 1000,
    cases: tuple[int | None, float | None, float | None] = (None, None, None),
    uid: str = "",
    suite: str = "digest",
    size: int = 0,
) -> MatrixRow:
    """``agent`` is ``name@version``; ``cases`` are scored, mean and variance, ``size`` those of the benchmark."""
    name, _, version = agent.partition("@")
    return MatrixRow(
        uid or agent,
        name,
        version or "1",
        suite,
        benchmark,
        "comprehensive",
        at,
        status,
        at if succeeded else None,
        "execution" if succeeded else None,
        *scores,
        None,
        None,
        None,
        None,
        *cases,
        *errors,
        cases=size,
    )


def leaderboard_row(
    agent: str,
    scores: Scores = NONE,
    *,
    category: str = "accuracy",
    n: int = 4,
    benchmarks: int = 2,
    last: int | None = 1000,
    cost_usd: float | None = None,
    cases: tuple[int, float | None, float | None] = (0, None, None),
    known: tuple[int, ...] = (),
    errors: tuple[float | None, ...] = (),
    uid: str = "",
    spreads: tuple[bytes | None, ...] = (),
    scored_of: tuple[int, int] = (0, 0),
) -> LeaderboardRow:
    name, _, version = agent.partition("@")
    return LeaderboardRow(
        agent_uid=uid or agent,
        agent=name,
        agent_version=version or "1",
        category=category,
        attempts=n + 1,
        n=n,
        benchmarks=benchmarks,
        last_success_at=last,
        accuracy=scores[0],
        speed=scores[1],
        efficiency=scores[2],
        cost=scores[3],
        reliability=scores[4],
        overall=None,
        cost_usd=cost_usd,
        passed=0,
        samples=0,
        scored=cases[0],
        case_mean=cases[1],
        case_variance=cases[2],
        known=known,
        errors=errors,
        spreads=spreads,
        last_scored=scored_of[0],
        last_cases=scored_of[1],
    )
