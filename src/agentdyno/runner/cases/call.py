"""One call of an agent with everything around it: the clock, the time limit, repeats, the server's CPU."""

from __future__ import annotations

import asyncio
import errno
import random
import time
import traceback
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Protocol

from agentdyno.contracts import CASE_CLOCK, CASE_FOLDER, CASE_LEFT, MAY_BLOCK_S, Agent, CaseFailed
from agentdyno.errors import DynoError
from agentdyno.model.case import Case, Response
from agentdyno.model.identity import digest
from agentdyno.model.plan import Trial
from agentdyno.model.sample import DISTURBED, Failure, FailureKind, Status
from agentdyno.model.suite import Constraints, slug
from agentdyno.runner.cases.credible import credible
from agentdyno.runner.cases.throttle import CpuShare, Throttle, wait_before
from agentdyno.settings.judging import PASS_THRESHOLD
from agentdyno.settings.suite import CASE_TIME_LIMIT, CONCURRENCY, RETRIES
from agentdyno.workers.pauses import PauseWatch

TRACEBACK_CHARACTERS = 8_000
LEFT_OVER_S = 15.0
"""How long it may take to learn what an agent had done when its time was up."""


@dataclass(slots=True)
class CaseCall:
    """What came of one trial. ``duration_s`` is that of the last attempt; ``dropped`` are values of the agent's that
    cannot be true."""

    trial: Trial
    started_at_ms: int
    response: Response | None = None
    duration_s: float | None = None
    server_cpu_s: float | None = None
    status: Status = Status.OK
    failure: Failure | None = None
    attempts: list[Mapping[str, object]] = field(default_factory=list)
    fatal: CaseFailed | DynoError | None = None
    cached: bool = False
    dropped: tuple[str, ...] = ()


async def make_call(
    trial: Trial, case: Case, job: CaseJob, conduct: Conduct, throttle: Throttle, *, alone: bool = False
) -> CaseCall:
    """Calls the agent until it answers, its failure is its own, or the infrastructure has failed too often.

    ``alone``: nothing else happens in this event loop, so that the agent may block it.
    """
    CASE_FOLDER.set(None if conduct.folder is None else partial(_folder_of, trial, conduct.folder))
    MAY_BLOCK_S.set((job.constraints.time_limit_s or DEFAULT_TIME_LIMIT_S) if alone else None)
    call = CaseCall(trial, time.time_ns() // 1_000_000)
    waited_s, attempt = 0.0, 1
    while True:
        closed_s = throttle.closed_for_s()
        if waited_s + closed_s > conduct.patience_s:
            message = f"the other side wants no call for {closed_s:,.0f} s more (patience: {conduct.patience_s:g} s)"
            _give_up(call, CaseFailed(FailureKind.RATE_LIMITED, message))
            return call
        await throttle.acquire()
        began_s = time.time()
        try:
            failed = await _attempt(call, case, job)
        finally:
            await throttle.release()
        if failed is None:
            throttle.served()
        paused_s = 0.0 if conduct.pauses is None else conduct.pauses.seconds_between(began_s, time.time())
        if paused_s and attempt <= conduct.retries and not job.agent.paid:
            # The bench stood still: neither the time nor a failure is the agent's. What is free is asked again.
            told = f"the bench itself stood still for {paused_s:.1f} s"
            call.attempts.append({"kind": DISTURBED, "message": told, "waited_s": 0.0})
            call.started_at_ms = time.time_ns() // 1_000_000
            call.response = None
            attempt += 1
            continue
        if failed is None:
            return call
        limited = failed.kind is FailureKind.RATE_LIMITED
        luck = random.Random(trial.seed + attempt).random()
        wait_s = wait_before(attempt + 1, failed.retry_after_s, luck)
        if limited:
            throttle.refused(wait_s)
        may_repeat = waited_s + wait_s <= conduct.patience_s if limited else attempt <= conduct.retries
        if not failed.retryable or failed.fatal or not may_repeat:
            _give_up(call, failed)
            return call
        call.attempts.append({"kind": failed.kind.value, "message": failed.message, "waited_s": wait_s})
        waited_s += wait_s
        attempt += 1
        await asyncio.sleep(wait_s)


def _folder_of(trial: Trial, root: Path) -> Path:
    """Where files of one try of a case are kept, the same for every attempt at it."""
    case = f"{slug(trial.case_id)[:60]}-{digest(trial.case_id, 6)}"  # ids may differ in what a slug leaves out
    return root / f"{trial.arm_id}/{case}-{trial.iteration + 1}"


class CaseClock:
    """The clock of one attempt at a case, which stands still while the bench restarts what the agent runs in.

    Starts at once, with the clock ``now_ns``. ``deadline`` is the time limit of the attempt.
    """

    def __init__(self, deadline: asyncio.Timeout, now_ns: Callable[[], int]) -> None:
        self._deadline = deadline
        self._now_ns = now_ns
        self._ours_ns = 0
        self._started_ns = now_ns()

    def seconds(self) -> float:
        """The time so far that is the agent's."""
        return max(0, self._now_ns() - self._started_ns - self._ours_ns) / 1e9

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Neither the time nor the limit goes on inside. Not to be entered twice at the same time."""
        began_ns, when = self._now_ns(), self._deadline.when()
        self._limit(None)
        try:
            yield
        finally:
            passed_ns = self._now_ns() - began_ns
            self._ours_ns += passed_ns
            self._limit(None if when is None else when + passed_ns / 1e9)

    def _limit(self, when: float | None) -> None:
        if not self._deadline.expired():  # then it is over, and cannot be moved
            self._deadline.reschedule(when)


async def _attempt(
    call: CaseCall, case: Case, job: CaseJob, clock_ns: Callable[[], int] = time.perf_counter_ns
) -> CaseFailed | None:
    """One execution of the agent; ``None`` when it answered.

    The clock is that from before any agent was loaded: one that runs in this process may put another into ``time``.
    """
    limit_s = job.constraints.time_limit_s or DEFAULT_TIME_LIMIT_S
    token = object()
    if job.server is not None:
        job.server.enter(token)
    deadline = asyncio.timeout(limit_s)
    left: list[Callable[[], Awaitable[Response]]] = []
    noting = CASE_LEFT.set(left.append)
    clock = CaseClock(deadline, clock_ns)
    stopping = CASE_CLOCK.set(clock.stopped)
    try:
        async with deadline:
            call.response = await job.agent.run(case)
        failed = None
    except TimeoutError as error:
        # An agent's own TimeoutError is its own affair.
        if deadline.expired():
            message = f"took longer than {limit_s:g} s (time limit of a case)"
            failed = CaseFailed(FailureKind.TIMEOUT, message, status=Status.TIMEOUT)
        else:
            failed = _raised(error)
    except CaseFailed as error:
        failed = error
    except DynoError as error:
        failed = CaseFailed(FailureKind.EXCEPTION, error.message, fatal=True, remedy=error.remedy or "")
    except Exception as error:  # noqa: BLE001  (whatever an agent raises is a record)
        failed = _raised(error)
    finally:
        # The clock first: what follows is ours.
        call.duration_s = clock.seconds()
        call.server_cpu_s = job.server.leave(token) if job.server is not None else None
        CASE_LEFT.reset(noting)
        CASE_CLOCK.reset(stopping)
    if failed is not None and failed.response is None and left:
        failed.response = await _left_over(left[-1])
    if failed is not None and failed.response is not None:
        call.response = failed.response
    if call.response is not None:
        call.response, call.dropped = credible(call.response)
    return failed


async def _left_over(known: Callable[[], Awaitable[Response]]) -> Response | None:
    """What an agent whose time was up had done; ``None`` where that is not known."""
    try:
        async with asyncio.timeout(LEFT_OVER_S):
            return await known()
    except TimeoutError:
        return None
    except CaseFailed as unknown:
        return unknown.response


def _raised(error: BaseException) -> CaseFailed:
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        # Nobody's answer: what an agent's process raises does not come here as it is.
        message = f"{error.filename or 'a file of the bench'}: {error.strerror}"
        return CaseFailed(FailureKind.EXCEPTION, message, fatal=True, remedy="Make room on that disk.")
    text = "".join(traceback.format_exception(error))[-TRACEBACK_CHARACTERS:]
    message = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return CaseFailed(FailureKind.EXCEPTION, message, traceback=text)


def _give_up(call: CaseCall, failed: CaseFailed) -> None:
    if failed.fatal:
        call.fatal = failed
        call.status = Status.CANCELLED
    else:
        call.status = failed.status
    call.failure = Failure(failed.kind, failed.message, traceback=failed.traceback, output_tail=failed.output_tail)


DEFAULT_TIME_LIMIT_S = CASE_TIME_LIMIT.default


@dataclass(frozen=True, slots=True)
class CaseJudgement:
    """``scores`` by name, with ``score`` the one that decides; ``scoring`` what each scorer said.

    ``cost_usd`` is what judging itself cost; ``None`` where that is unknown. ``raised`` where a scorer that counts
    could not cope with the answer.
    """

    scores: Mapping[str, float | None]
    scoring: tuple[Mapping[str, object], ...] = ()
    cost_usd: float | None = 0.0
    raised: bool = False

    def status(self, pass_threshold: float) -> Status:
        """``failed`` below the threshold, and where a scorer raised, whatever the others say."""
        main = self.scores.get("score")
        wrong = self.raised or (main is not None and main < pass_threshold)
        return Status.FAILED if wrong else Status.OK


@dataclass(frozen=True, slots=True)
class Priced:
    """Dollars, ``None`` where unknown, and how they are known: priced, derived, free, reported or unknown.

    ``reported_usd`` is what the agent says. It counts against spending limits, and as the cost of nothing.
    """

    usd: float | None
    source: str
    reported_usd: float | None = None

    @property
    def spent_usd(self) -> float | None:
        """For limits of spending: the dearer of what is known and what the agent says."""
        known = [value for value in (self.usd, self.reported_usd) if value is not None]
        return max(known, default=None)


class ResponseCache(Protocol):
    """Answers from before. They are reused on request only and never count as a measurement."""

    def get(self, arm_id: str, case: Case, epoch: int) -> Response | None: ...

    def put(self, arm_id: str, case: Case, epoch: int, response: Response) -> None: ...


@dataclass(frozen=True, slots=True)
class CaseJob:
    """One arm. Calls of arms that share an ``agent`` share its allowance of calls at once."""

    agent: Agent
    cases: Mapping[str, Case]
    judge: Callable[[Case, Response], Awaitable[CaseJudgement]]
    price: Callable[[Response, float | None], Priced]
    warmup: int
    constraints: Constraints = field(default_factory=Constraints)
    pass_threshold: float = PASS_THRESHOLD.default
    server: CpuShare | None = None


@dataclass(frozen=True, slots=True)
class Conduct:
    """How calls are made: how many at once, how often again, how long a rate limit is waited for.

    ``redact`` takes secrets out of everything that is kept. Below ``folder`` agents may keep files of a case.
    ``pauses`` knows when the bench stood still.
    """

    concurrency: int = CONCURRENCY.default
    retries: int = RETRIES.default
    patience_s: float = 120.0
    redact: Callable[[object], object] = lambda value: value
    cache: ResponseCache | None = None
    folder: Path | None = None
    pauses: PauseWatch | None = None
