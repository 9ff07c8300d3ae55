"""The ``Executor`` of suites whose cases are answered on other machines; judging, pricing and saving stay here."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace

from agentdyno.contracts import Agent
from agentdyno.model.case import Response
from agentdyno.model.codec import from_plain
from agentdyno.model.plan import Trial
from agentdyno.model.result import Environment
from agentdyno.model.sample import Failure, FailureKind, Sample, Status
from agentdyno.runner.cases.call import CaseCall, CaseJob, Conduct
from agentdyno.runner.executor import TrialStep
from agentdyno.runner.executors.cases import CaseExecutor
from agentdyno.runner.farm.assignments import MOST_LOSSES, Assignments
from agentdyno.runner.farm.calls import call_in
from agentdyno.runner.farm.driver import Farm, FarmDriver, Hearing, Item, MoreRoom, Say
from agentdyno.runner.farm.hosts import TimingHosts


def block_of(trial: Trial) -> str:
    """All agents answer a case one after the other, on one machine."""
    return f"{trial.iteration}/{trial.case_id}"


class FarmCaseExecutor(CaseExecutor):
    """Answers from the cache are used here; everything else is put to agents where a station is.

    ``jobs`` judge and price; their agents are not started.
    """

    def __init__(
        self,
        farm: Farm,
        jobs: Mapping[str, CaseJob],
        conduct: Conduct,
        names: Mapping[str, str],
        judges: Sequence[Agent] = (),
        say: Say = lambda _: None,
    ) -> None:
        super().__init__(jobs, replace(conduct, concurrency=max(2, conduct.concurrency)), names, judges)
        self._agents = []
        self._farm = farm
        self.timing = TimingHosts(lambda _arm: "")
        self._where: dict[str, str] = {}
        hearing = Hearing(self._on_item, self._on_given_up, self._finished.put, self._on_joined, say)
        self._driver = FarmDriver(farm, Assignments(block_of, conduct.concurrency), hearing)

    @property
    def window(self) -> int:
        return self._driver.window

    @property
    def environment(self) -> Environment | None:
        """Of the machine whose times count."""
        return self._farm.environment

    def open(self) -> None:
        """Raises where no machine can work, or a judge cannot start."""
        super().open()
        try:
            self._driver.open()
        except BaseException:
            super().close()
            raise
        found = self._farm.environment
        self.timing.first = "" if found is None else found.host_id

    def submit(self, trial: Trial) -> None:
        job, cache = self._jobs[trial.arm_id], self._conduct.cache
        kept = None if cache is None else cache.get(trial.arm_id, job.cases[trial.case_id], trial.iteration)
        if kept is None:
            self._driver.submit(trial)
        else:
            self._judged(CaseCall(trial, 0, kept, cached=True))

    def wait(self) -> TrialStep:
        try:
            step = super().wait()
        except MoreRoom:
            return TrialStep(None, ended=False)
        return step if step.sample is None else replace(step, sample=self._marked(step.sample))

    def close(self) -> None:
        if self._closed:
            return
        self._driver.close()
        super().close()
        self.facts.leftover[:] = [
            step if step.sample is None else replace(step, sample=self._marked(step.sample))
            for step in self.facts.leftover
        ]
        for arm_id, host in self.timing.observed(self._jobs).items():
            self.facts.observed.setdefault(arm_id, {})["host_id"] = host

    def _marked(self, sample: Sample) -> Sample:
        host = self._where.pop(sample.key, None)
        return sample if host is None else self.timing.marked(sample, host)

    # In the driver's thread.

    def _on_item(self, trial: Trial, host_id: str, item: Item) -> None:
        for arm_id, response, cpu_s in item.get("warmed", ()):  # type: ignore[attr-defined]
            price = self._jobs[arm_id].price(from_plain(Response, response), cpu_s)
            self.facts.extra_usd += price.spent_usd or 0.0
        call = call_in(item["call"], trial)  # type: ignore[arg-type]
        self._where[trial.key] = host_id
        if call.fatal is not None and self.facts.fatal is None:
            self.facts.fatal = self._explain(call)
        self._judged(call)

    def _on_joined(self) -> None:
        self._finished.put(MoreRoom())

    def _on_given_up(self, trial: Trial) -> None:
        message = f"{MOST_LOSSES} machines were lost while they worked on it"
        failure = Failure(FailureKind.SIGNAL, message)
        now = time.time_ns() // 1_000_000
        self._judged(CaseCall(trial, now, status=Status.ERROR, failure=failure))

    def _judged(self, call: CaseCall) -> None:
        job = self._jobs[call.trial.arm_id]
        self._judge_loop.start(lambda: self._judge(call, job, job.cases[call.trial.case_id]))
