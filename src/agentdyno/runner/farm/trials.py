"""The ``Executor`` of experiments whose trials run on other machines."""

from __future__ import annotations

import queue
import time
from collections.abc import Callable, Mapping
from dataclasses import replace

from agentdyno.model.codec import from_plain
from agentdyno.model.plan import Trial
from agentdyno.model.result import Environment
from agentdyno.model.sample import Failure, FailureKind, Sample, Status
from agentdyno.runner.bench.arm import make_sample
from agentdyno.runner.executor import Facts, TrialStep
from agentdyno.runner.farm.assignments import MOST_LOSSES, Assignments
from agentdyno.runner.farm.driver import Farm, FarmDriver, Hearing, Item, MoreRoom, Say
from agentdyno.runner.farm.hosts import TimingHosts


class FarmTrialExecutor:
    """``comparison_of`` names the comparison that an arm belongs to: all of it is measured by one machine, as long as
    that is there. ``parallelism`` trials run at once on a machine."""

    def __init__(
        self,
        farm: Farm,
        comparison_of: Mapping[str, str],
        parallelism: int,
        keep: Callable[[str, str, bytes], None],
        say: Say = lambda _: None,
    ) -> None:
        """``keep(arm_id, name, content)`` takes a file that an arm left where it was measured."""
        self._farm, self._arms, self._keep = farm, comparison_of, keep
        self.timing = TimingHosts(comparison_of.__getitem__)
        self._finished: queue.SimpleQueue[tuple[TrialStep, str] | BaseException] = queue.SimpleQueue()
        hearing = Hearing(self._on_item, self._on_given_up, self._finished.put, self._on_joined, say)
        assignments = Assignments(lambda trial: comparison_of[trial.arm_id], parallelism)
        self._driver = FarmDriver(farm, assignments, hearing)
        self._closed = False
        self.facts = Facts()

    @property
    def window(self) -> int:
        return self._driver.window

    @property
    def environment(self) -> Environment | None:
        return self._farm.environment

    def open(self) -> None:
        self._driver.open()

    def submit(self, trial: Trial) -> None:
        self._driver.submit(trial)

    def wait(self) -> TrialStep:
        found = self._finished.get()
        if isinstance(found, MoreRoom):
            return TrialStep(None, ended=False)
        if isinstance(found, BaseException):
            raise found
        return self._marked(*found)

    def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        self._driver.close()
        while not self._finished.empty():
            found = self._finished.get()
            if not isinstance(found, BaseException):
                self.facts.leftover.append(self._marked(*found))
        for arm_id, host in self.timing.observed(self._arms).items():
            self.facts.observed.setdefault(arm_id, {})["host_id"] = host

    def _marked(self, step: TrialStep, host_id: str) -> TrialStep:
        return step if step.sample is None else replace(step, sample=self.timing.marked(step.sample, host_id))

    # In the driver's thread.

    def _on_item(self, trial: Trial, host_id: str, item: Item) -> None:
        observed, sample, files = item.get("observed"), item.get("sample"), item.get("files")
        if isinstance(observed, Mapping):
            self.facts.observed.setdefault(trial.arm_id, {}).update(observed)
        overhead_s = item.get("overhead_s")
        if self.facts.overhead_s is None and isinstance(overhead_s, float):
            self.facts.overhead_s = overhead_s
        if isinstance(files, Mapping):
            for name, content in files.items():
                self._keep(trial.arm_id, name, bytes.fromhex(content))
        told = None if sample is None else from_plain(Sample, sample)
        self._finished.put((TrialStep(told, bool(item.get("ended", True)), trial), host_id))

    def _on_joined(self) -> None:
        self._finished.put(MoreRoom())

    def _on_given_up(self, trial: Trial) -> None:
        failure = Failure(FailureKind.SIGNAL, f"{MOST_LOSSES} machines were lost while they worked on it")
        sample = make_sample(trial, Status.ERROR, time.time_ns() // 1_000_000, failure=failure)
        self._finished.put((TrialStep(sample), ""))
