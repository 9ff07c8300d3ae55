"""Executing the trials of a suite: agents in one event loop, judges in another, samples in the caller's thread.

Where calls overlap, the loop that the agents run in stamps bytes as they arrive and does nothing else: scoring,
pricing and saving have threads of their own. One call at a time needs no threads: all happens in the caller's.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import queue
from collections.abc import Mapping, Sequence
from dataclasses import replace

from agentdyno.contracts import Agent
from agentdyno.errors import DynoError, RunError
from agentdyno.model.case import Case
from agentdyno.model.plan import TRACING, Phase, Trial
from agentdyno.model.sample import Failure, FailureKind, Sample, Status
from agentdyno.runner.cases.call import CaseCall, CaseJob, CaseJudgement, Conduct, make_call
from agentdyno.runner.cases.loops import CLOSE_S, DrivenLoop, Loop, LoopThread, Outbox, is_running_here
from agentdyno.runner.cases.sample import make_case_sample, past_a_limit, priced
from agentdyno.runner.cases.throttle import Throttle
from agentdyno.runner.executor import Facts, TrialStep

JUDGE_S = 2.0
"""How long judges may take to finish what they have begun when a run ends early."""


class CaseExecutor:
    """The ``Executor`` of suites. ``open`` first: it raises where an agent cannot work at all.

    ``facts.fatal`` is set when an agent met something that would meet every case alike; ``facts.extra_usd`` is what
    warm-up calls have cost.
    """

    def __init__(
        self,
        jobs: Mapping[str, CaseJob],
        conduct: Conduct,
        names: Mapping[str, str],
        judges: Sequence[Agent] = (),
        traced: Mapping[str, CaseJob] | None = None,
    ) -> None:
        """``names`` are those of the arms, for messages; ``judges`` are agents that the jobs' judges ask.

        ``traced`` are the jobs of trials with tracing, by arm id. They are done one at a time, and none begins while
        a timed one is under way.
        """
        self._jobs = dict(jobs)
        self._traced = dict(traced or {})
        self._conduct = conduct
        self._names = dict(names)
        self._judges = list(judges)
        timed = {id(job.agent): job.agent for job in jobs.values()}
        apart = {id(job.agent): job.agent for job in self._traced.values()}
        self._agents = [*timed.values(), *apart.values()]
        self._throttles = {key: Throttle(conduct.concurrency) for key in timed} | dict.fromkeys(apart, Throttle(1))
        self._timed: set[asyncio.Task[None]] = set()
        self._warm: dict[str, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._judging: set[asyncio.Task[None]] = set()
        self._alone = False
        self._finished: queue.SimpleQueue[Sample | BaseException] | Outbox[Sample | BaseException]
        self._agent_loop: Loop
        self._judge_loop: Loop
        if conduct.concurrency == 1 and not is_running_here():
            driven = DrivenLoop()
            self._alone = True
            self._agent_loop = self._judge_loop = driven
            self._finished = Outbox(driven)
        else:
            self._agent_loop = LoopThread("dyno-agents")
            self._judge_loop = LoopThread("dyno-judges")
            self._finished = queue.SimpleQueue()
        self._closed = False
        self.facts = Facts()

    def open(self) -> None:
        """Starts every agent; a ``DynoError`` of one of them is raised here and everything is closed again."""
        gc.freeze()  # cases and trials live as long as the run: they need not be scanned again and again
        try:
            for loop, agents in ((self._agent_loop, self._agents), (self._judge_loop, self._judges)):
                for agent in agents:
                    try:
                        loop.call(agent.start())
                    except DynoError as error:
                        raise explain_start(error, f"agent {agent.name}") from error
        except BaseException:
            self.close()
            raise

    def submit(self, trial: Trial) -> None:
        if self._alone:
            self._begin(trial)  # the loop is this thread's
        else:
            self._agent_loop.start(lambda: self._begin(trial))

    def wait(self) -> TrialStep:
        sample = self._finished.get()
        if isinstance(sample, BaseException):
            raise sample
        return TrialStep(sample)

    def close(self) -> None:
        """Ends what is under way and lets the agents go; more than once is fine."""
        if self._closed:
            return
        self._closed = True
        with contextlib.suppress(TimeoutError):
            self._agent_loop.call(self._stop(), CLOSE_S * 2)
        with contextlib.suppress(TimeoutError):
            self._judge_loop.call(self._stop_judging(), CLOSE_S * 2)
        self._judge_loop.close()
        self._agent_loop.close()
        while not self._finished.empty():
            item = self._finished.get()
            if isinstance(item, Sample):
                self.facts.leftover.append(TrialStep(item))
        gc.unfreeze()

    # In the agents' loop.

    def _begin(self, trial: Trial) -> None:
        task = self._agent_loop.loop.create_task(self._execute(trial))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        if trial.instrument != TRACING:
            self._timed.add(task)
            task.add_done_callback(self._timed.discard)

    def _job(self, trial: Trial) -> CaseJob:
        return (self._traced if trial.instrument == TRACING else self._jobs)[trial.arm_id]

    async def _execute(self, trial: Trial) -> None:
        job = self._job(trial)
        case = job.cases[trial.case_id]
        try:
            while trial.instrument == TRACING and self._timed:
                await asyncio.wait(self._timed)
            cache = self._conduct.cache if trial.instrument != TRACING else None
            kept = cache.get(trial.arm_id, case, trial.iteration) if cache is not None else None
            if kept is not None:
                call = CaseCall(trial, 0, kept, cached=True)
            else:
                await self._warmed(trial, case)
                throttle = self._throttles[id(job.agent)]
                call = await make_call(trial, case, job, self._conduct, throttle, alone=self._alone)
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001  (a defect of ours must not leave the caller waiting)
            self._finished.put(error)
            return
        if call.fatal is not None and self.facts.fatal is None:
            self.facts.fatal = self._explain(call)
        if self._alone:
            await self._finish(call, job, case)
        else:
            self._judge_loop.start(lambda: self._judge(call, job, case))

    async def _warmed(self, trial: Trial, case: Case) -> None:
        job = self._jobs[trial.arm_id]
        if not job.warmup or trial.phase is not Phase.MEASURED:
            return
        task = self._warm.get(trial.arm_id)
        if task is None:
            task = self._warm[trial.arm_id] = asyncio.create_task(self._warm_up(trial, case))
        await asyncio.shield(task)

    async def _warm_up(self, trial: Trial, case: Case) -> None:
        """Failures show themselves in the measured calls."""
        job = self._jobs[trial.arm_id]
        throttle = self._throttles[id(job.agent)]
        for _ in range(job.warmup):
            # What is done for practice is not to be found done when it counts.
            conduct = replace(self._conduct, folder=None)
            call = await make_call(trial, case, job, conduct, throttle, alone=self._alone)
            self.facts.extra_usd += priced(call, job).spent_usd or 0.0
            if call.fatal is not None:
                return

    def _explain(self, call: CaseCall) -> RunError:
        name = self._names.get(call.trial.arm_id, call.trial.arm_id)
        message = call.fatal.message if call.fatal is not None else ""
        remedy = getattr(call.fatal, "remedy", "") or None
        redact = self._conduct.redact
        return RunError(str(redact(message)), where=name, remedy=remedy)

    async def _stop(self) -> None:
        for task in [*self._tasks, *self._warm.values()]:
            task.cancel()
        await asyncio.gather(*self._tasks, *self._warm.values(), return_exceptions=True)
        for agent in self._agents:
            await self._let_go(agent)

    async def _let_go(self, agent: Agent) -> None:
        try:
            async with asyncio.timeout(CLOSE_S):
                await agent.close()
        except Exception as error:  # noqa: BLE001  (teardown always goes on)
            failure = Failure(FailureKind.EXCEPTION, f"{type(error).__name__}: {error}", where="teardown")
            for arm_id, job in self._jobs.items():
                if job.agent is agent:
                    self.facts.teardown_failures.append((arm_id, failure))
                    break

    # In the judges' loop.

    async def _stop_judging(self) -> None:
        """Answers that are there already get a moment to be judged: they have been paid for."""
        if self._judging:
            await asyncio.wait(self._judging, timeout=JUDGE_S)
        for task in list(self._judging):
            task.cancel()
        await asyncio.gather(*self._judging, return_exceptions=True)
        for agent in self._judges:
            await self._let_go(agent)

    def _judge(self, call: CaseCall, job: CaseJob, case: Case) -> None:
        task = self._judge_loop.loop.create_task(self._finish(call, job, case))
        self._judging.add(task)
        task.add_done_callback(self._judging.discard)

    async def _finish(self, call: CaseCall, job: CaseJob, case: Case) -> None:
        try:
            price = priced(call, job)
            past_a_limit(call, price, job)
            judgement: CaseJudgement | None = None
            if call.status is Status.OK and call.response is not None:
                judgement = await job.judge(case, call.response)
                cache = self._conduct.cache if call.trial.instrument != TRACING else None
                if cache is not None and not call.cached:
                    cache.put(call.trial.arm_id, case, call.trial.iteration, call.response)
            sample = make_case_sample(call, price, judgement, job, self._conduct)
            self._note(call)
            self._finished.put(sample)
        except asyncio.CancelledError:
            raise
        except BaseException as error:  # noqa: BLE001  (a defect of ours must not leave the caller waiting)
            self._finished.put(error)

    def _note(self, call: CaseCall) -> None:
        """What the other side says it is, once per arm and as it was seen last."""
        response = call.response
        if response is None:
            return
        seen = self.facts.observed.setdefault(call.trial.arm_id, {})
        seen.update(response.observed)
        if response.model is not None:
            seen["model"] = response.model
        if response.simulated:
            seen["simulated"] = True


def explain_start(error: DynoError, agent: str) -> DynoError:
    """The error of an agent that cannot start, with its name where nothing else says which one it was."""
    return error if error.where else type(error)(error.message, where=agent, remedy=error.remedy)
