"""What the store answers besides the values of the model. Times are UTC milliseconds, scores are in 0..1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from agentdyno.model import RunStatus


@dataclass(frozen=True, slots=True)
class RunRow:
    """One line of a list of runs.

    ``samples`` counts everything recorded; ``errors`` those of them that gave no answer (status ``error``,
    ``timeout`` or ``limit``).
    """

    run_id: str
    kind: str
    name: str
    status: RunStatus
    started_at: int
    finished_at: int | None
    arms: int
    samples: int
    errors: int
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class AgentRow:
    """An agent that was put on the bench; ``uid`` is the same in every store. ``digest`` is of its definition."""

    uid: str
    name: str
    version: str
    digest: str
    uses: str
    created_at: int
    last_attempt_at: int | None = None
    last_success_at: int | None = None


@dataclass(frozen=True, slots=True)
class SuiteRow:
    """One version of a suite: equal content has an equal ``digest``."""

    uid: str
    suite_id: str
    name: str
    version: str
    digest: str
    category: str
    benchmarks: int
    cases: int
    created_at: int


@dataclass(frozen=True, slots=True)
class Execution:
    """One benchmark executed by one agent: a row of ``executions``. What is not known is ``None``.

    ``suite`` is the digest of the suite's version. ``run_id`` and ``arm_id`` are empty for rows that came from
    outside; ``uid`` is given by the store where it is empty. ``status`` is ``success`` (every planned sample is
    recorded), ``partial`` or ``failed`` (none is usable). ``tokens_used``, ``api_calls``, ``cpu_s``, ``duration_s``
    and ``cost_usd`` are sums over the executions of all cases; ``attempts`` counts calls, retries included.
    """

    agent: str
    agent_version: str
    suite: str
    benchmark: str
    created_at: int
    status: str = "success"
    started_at: int | None = None
    finished_at: int | None = None
    workspace: str = "default"
    accuracy: float | None = None
    speed: float | None = None
    efficiency: float | None = None
    cost: float | None = None
    reliability: float | None = None
    overall: float | None = None
    tokens_used: int | None = None
    api_calls: int | None = None
    memory_peak_bytes: int | None = None
    cpu_s: float | None = None
    duration_s: float | None = None
    correctness: float | None = None
    completeness: float | None = None
    relevance: float | None = None
    cost_usd: float | None = None
    cases: int | None = None
    scored: int | None = None
    case_mean: float | None = None
    case_variance: float | None = None
    passed: int | None = None
    samples: int | None = None
    attempts: int | None = None
    simulated: bool = False
    error_details: str | None = None
    category: str = ""
    uid: str = ""
    run_id: str = ""
    arm_id: str = ""


@dataclass(frozen=True, slots=True)
class ExecutionFilter:
    """Which executions: ``suite`` is a digest or the id of a suite (all its versions), ``since`` a time."""

    agent: str | None = None
    agent_version: str | None = None
    suite: str | None = None
    benchmark: str | None = None
    category: str | None = None
    workspace: str | None = None
    status: str | None = None
    since: int | None = None
    simulated: bool | None = None
    run_id: str | None = None


class MatrixRow(NamedTuple):
    """An agent's last success in one benchmark; everything is ``None`` where it never had one.

    A tuple, because a board is made of thousands and a dataclass takes ten times as long to make.
    ``attempt_at`` and ``attempt_status`` are of its last attempt, which may be a later one. ``case_mean`` and
    ``case_variance`` are of the ``scored`` cases.
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


@dataclass(frozen=True, slots=True)
class LeaderboardRow:
    """An agent's successes of one category over some days: means of what is known of each.

    ``n`` counts successes and ``attempts`` all executions; ``benchmarks`` those with a success in these days, the
    last one at ``last_success_at``. ``cost_usd`` is per execution. ``case_mean`` and ``case_variance`` are of all
    ``scored`` cases together; ``known`` counts the executions behind each mean.
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
