"""What an arm of a suite needs to be executed: its agent, its cases, and who judges and prices the answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from agentdyno.contracts import Agent
from agentdyno.model.case import Case, Response
from agentdyno.model.suite import Constraints
from agentdyno.runner.cases.cpu_share import CpuShare
from agentdyno.settings.judging import PASS_THRESHOLD
from agentdyno.settings.suite import CASE_TIME_LIMIT, CONCURRENCY, RETRIES

DEFAULT_TIME_LIMIT_S = CASE_TIME_LIMIT.default


@dataclass(frozen=True, slots=True)
class Judgement:
    """``scores`` by name, with ``score`` the one that decides; ``scoring`` what each scorer said.

    ``cost_usd`` is what judging itself cost; ``None`` where that is unknown.
    """

    scores: Mapping[str, float | None]
    scoring: tuple[Mapping[str, object], ...] = ()
    cost_usd: float | None = 0.0


@dataclass(frozen=True, slots=True)
class Priced:
    """Dollars, ``None`` where unknown, and how they are known: reported, priced, derived, free or unknown."""

    usd: float | None
    source: str


class ResponseCache(Protocol):
    """Answers from before. They are reused on request only and never count as a measurement."""

    def get(self, arm_id: str, case: Case, epoch: int) -> Response | None: ...

    def put(self, arm_id: str, case: Case, epoch: int, response: Response) -> None: ...


@dataclass(frozen=True, slots=True)
class CaseJob:
    """One arm. Calls of arms that share an ``agent`` share its allowance of calls at once."""

    agent: Agent
    cases: Mapping[str, Case]
    judge: Callable[[Case, Response], Awaitable[Judgement]]
    price: Callable[[Response, float | None], Priced]
    constraints: Constraints = field(default_factory=Constraints)
    pass_threshold: float = PASS_THRESHOLD.default
    warmup: int = 0
    server: CpuShare | None = None


@dataclass(frozen=True, slots=True)
class Conduct:
    """How calls are made: how many at once, how often again, how long a rate limit is waited for.

    ``redact`` takes secrets out of everything that is kept.
    """

    concurrency: int = CONCURRENCY.default
    retries: int = RETRIES.default
    patience_s: float = 120.0
    redact: Callable[[object], object] = lambda value: value
    cache: ResponseCache | None = None
    fail_fast: bool = True
