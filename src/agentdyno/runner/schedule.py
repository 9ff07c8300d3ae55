"""The order of a run: the plan fixes it, the scheduler only skips or stops."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from agentdyno.contracts import StopRule
from agentdyno.model.plan import Plan, Trial
from agentdyno.model.sample import Failure, Sample
from agentdyno.settings.run import PARALLELISM


class Executor(Protocol):
    """Performs trials; how is its own affair."""

    observed: dict[str, dict[str, Any]]
    inner_loops: dict[str, int | None]
    overhead_s: float | None
    teardown_failures: list[tuple[str, Failure]]

    def submit(self, trial: Trial) -> None: ...

    def wait(self) -> Sample: ...

    def close(self) -> None: ...


@dataclass(slots=True)
class Schedule:
    """Iterating it runs the plan and yields samples. Afterwards it says how the run ended.

    ``skipped`` are trials that a stop rule made needless; ``stopped_because`` is set when a rule ended the run.
    Between two samples nothing is in flight unless ``parallelism`` is above one: the consumer of the iterator may
    do its own work there without disturbing a measurement.
    """

    plan: Plan
    executor: Executor
    rules: Sequence[StopRule] = ()
    done: Collection[str] = ()
    parallelism: int = PARALLELISM.default
    stopped_because: str | None = None
    skipped: int = 0

    def __iter__(self) -> Iterator[Sample]:
        waiting = deque(trial for trial in self.plan.trials if trial.key not in self.done)
        in_flight = 0
        try:
            while True:
                while in_flight < self.parallelism and (trial := self._next(waiting)) is not None:
                    self.executor.submit(trial)
                    in_flight += 1
                if not in_flight:
                    return
                sample = self.executor.wait()
                in_flight -= 1
                for rule in self.rules:
                    rule.observe(sample)
                yield sample
        finally:
            self.executor.close()

    def _next(self, waiting: deque[Trial]) -> Trial | None:
        if self.stopped_because is None:
            reasons = (rule.stop(self.plan) for rule in self.rules)
            self.stopped_because = next((reason for reason in reasons if reason), None)
        if self.stopped_because is not None:
            return None
        while waiting:
            trial = waiting.popleft()
            if not any(rule.skip(trial) for rule in self.rules):
                return trial
            self.skipped += 1
        return None
