"""The order of a run: the plan fixes it, the scheduler only skips or stops."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

from agentdyno.contracts import StopRule
from agentdyno.model.plan import Plan, Trial
from agentdyno.model.sample import Sample
from agentdyno.runner.executor import ElasticExecutor, Executor, TrialStep
from agentdyno.settings.run import PARALLELISM


@dataclass(slots=True)
class Schedule:
    """Iterating it runs the plan and yields samples; ``steps`` also tells which of them ended a trial. Afterwards it
    says how the run ended.

    ``skipped`` are trials that a stop rule made needless; ``stopped_because`` is set when a rule ended the run.
    Between two trials nothing is in flight unless ``parallelism`` is above one: the consumer of the iterator may
    do its own work there without disturbing a measurement. The executor is open already, and is closed at the end.
    """

    plan: Plan
    executor: Executor
    rules: Sequence[StopRule] = ()
    done: Collection[str] = ()
    parallelism: int = PARALLELISM.default
    stopped_because: str | None = None
    skipped: int = 0

    def __iter__(self) -> Iterator[Sample]:
        with closing(self.steps()) as steps:
            for step in steps:
                if step.sample is not None:
                    yield step.sample

    def steps(self) -> Generator[TrialStep]:
        """Runs the plan step by step; closing the generator ends what is in flight."""
        waiting = deque(trial for trial in self.plan.trials if trial.key not in self.done)
        in_flight = 0
        elastic = self.executor if isinstance(self.executor, ElasticExecutor) else None
        try:
            while True:
                while (
                    in_flight < (elastic.window if elastic else self.parallelism)
                    and (trial := self._next(waiting)) is not None
                ):
                    self.executor.submit(trial)
                    in_flight += 1
                if not in_flight:
                    return
                step = self.executor.wait()
                if step.sample is None and step.trial is None:  # there is room for more now
                    continue
                in_flight -= step.ended
                if step.sample is not None:
                    for rule in self.rules:
                        rule.observe(step.sample)
                yield step
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
