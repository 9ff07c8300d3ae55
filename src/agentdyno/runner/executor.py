"""What performs trials: the contract that a schedule drives, whatever a trial is and wherever it runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from agentdyno.errors import RunError
from agentdyno.model.plan import Trial
from agentdyno.model.result import Environment
from agentdyno.model.sample import Failure, Sample


@dataclass(frozen=True, slots=True)
class TrialStep:
    """Something that a trial gave: a sample, its end, or both at once, as trials of a single sample do.

    ``sample`` is a window, an evaluation, a step; ``None`` where a trial ends without another one, and ``trial`` then
    says which trial that was. Only what has ``ended`` is no longer in flight. Where neither is there, nothing was
    given: an ``ElasticExecutor`` has room for more.
    """

    sample: Sample | None
    ended: bool = True
    trial: Trial | None = None


@dataclass(slots=True)
class Facts:
    """What an executor has learned besides samples; it is complete once the executor is closed.

    ``observed`` tells per arm what was measured, as it said of itself. ``extra_usd`` are dollars that no sample
    holds, those of warm-up calls. ``leftover`` are steps that were finished and that nobody has waited for when the
    run was interrupted. ``fatal`` is set when something happened that every further trial would meet alike.
    """

    observed: dict[str, dict[str, Any]] = field(default_factory=dict)
    overhead_s: float | None = None
    teardown_failures: list[tuple[str, Failure]] = field(default_factory=list)
    extra_usd: float = 0.0
    leftover: list[TrialStep] = field(default_factory=list)
    fatal: RunError | None = None


class Executor(Protocol):
    """Performs trials; how is its own affair. Several may be submitted before one is waited for."""

    @property
    def facts(self) -> Facts: ...

    def open(self) -> None:
        """Starts what trials need, and raises where that cannot work at all; nothing has to be closed then."""
        ...

    def submit(self, trial: Trial) -> None: ...

    def wait(self) -> TrialStep:
        """The next thing that one of the trials in flight gives."""
        ...

    def close(self) -> None:
        """Ends what is in flight and lets everything go; more than once is fine."""
        ...


@runtime_checkable
class ElasticExecutor(Protocol):
    """One that knows itself how many trials are worth having in flight: machines join it and leave it.

    ``environment`` is where its times are measured, where that is not here.
    """

    @property
    def window(self) -> int: ...

    @property
    def environment(self) -> Environment | None: ...
