"""What boards are made from, as the store reads it. Times are UTC milliseconds."""

from __future__ import annotations

from typing import NamedTuple


class MatrixRow(NamedTuple):
    """An agent's last success in one benchmark; everything is ``None`` where it never had one.

    A tuple, because a board is made of thousands and a dataclass takes ten times as long to make.
    ``attempt_at`` and ``attempt_status`` are of its last attempt, which may be a later one. ``case_mean`` and
    ``case_variance`` are of the ``scored`` cases; ``accuracy_error`` and the like are standard errors of the scores.
    ``spread`` is how they move together, as ``figures.spread`` packs it; ``whole`` is 0 where it was no whole run of
    the suite. ``cases`` is how many the benchmark has.
    """

    agent_uid: str
    agent: str
    agent_version: str
    suite: str
    benchmark: str
    category: str
    attempt_at: int
    attempt_status: str
    success_at: int | None
    execution_uid: str | None
    accuracy: float | None
    speed: float | None
    efficiency: float | None
    cost: float | None
    reliability: float | None
    overall: float | None
    cost_usd: float | None
    duration_s: float | None
    tokens_used: int | None
    scored: int | None
    case_mean: float | None
    case_variance: float | None
    accuracy_error: float | None = None
    speed_error: float | None = None
    efficiency_error: float | None = None
    cost_error: float | None = None
    reliability_error: float | None = None
    spread: bytes | None = None
    whole: int = 1
    cases: int = 0


class LeaderboardRow(NamedTuple):
    """An agent's successes of one category over some days: means of what is known of each.

    ``n`` counts successes and ``attempts`` all executions; ``benchmarks`` those with a success in these days, the
    last one at ``last_success_at``. ``cost_usd`` is per execution. ``case_mean`` and ``case_variance`` are of all
    ``scored`` cases together; ``known`` counts the executions behind each mean. ``errors`` are standard errors of the
    five scores, in the order of the dimensions, from the last success in each benchmark; ``None`` where unknown.
    ``spreads`` say how the scores move together in each of these, as ``figures.spread`` packs it; ``None`` where that
    is not known. ``not_whole`` of the successes were no whole runs of the suite. ``last_scored`` cases of the
    ``last_cases`` that these benchmarks have were scored in the last success in each; 0 where that is not known.
    ``suite`` is its id on a board across suites.
    """

    agent_uid: str
    agent: str
    agent_version: str
    category: str
    attempts: int
    n: int
    benchmarks: int
    last_success_at: int | None
    accuracy: float | None
    speed: float | None
    efficiency: float | None
    cost: float | None
    reliability: float | None
    overall: float | None
    cost_usd: float | None
    passed: int
    samples: int
    scored: int
    case_mean: float | None
    case_variance: float | None
    known: tuple[int, ...] = ()
    errors: tuple[float | None, ...] = ()
    spreads: tuple[bytes | None, ...] = ()
    not_whole: int = 0
    last_scored: int = 0
    last_cases: int = 0
    suite: str = ""
