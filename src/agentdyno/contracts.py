"""The seams: what a part must offer to be put on the bench, to watch it, or to report on it."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, runtime_checkable

from agentdyno.model.plan import Phase

if TYPE_CHECKING:
    from agentdyno.model.findings import Findings
    from agentdyno.model.metric import Metric
    from agentdyno.model.plan import Plan, Trial
    from agentdyno.model.result import RunResult
    from agentdyno.model.sample import Sample


@dataclass(slots=True)
class ExperimentContext:
    """What an experiment is told about the execution it is in.

    ``rng`` is seeded anew for every trial; the same trial of every arm gets the same seed. ``artifacts_dir``
    is a folder of this run for files worth keeping; what is in it when the run closes is listed in the result.
    """

    run_id: str = ""
    arm_id: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    phase: Phase = Phase.MEASURED
    iteration: int = 0
    seed: int = 0
    rng: random.Random = field(default_factory=random.Random)
    artifacts_dir: Path = field(default_factory=Path)
    observed: dict[str, Any] = field(default_factory=dict)

    def observe(self, **configuration: Any) -> None:
        """Records the configuration that is really in force: the pragma read back, the model that answered.

        A run compares what its arms observed and warns when two arms turn out to be the same thing.
        """
        self.observed.update(configuration)


class Experiment:
    """Code that can be measured. Only ``execute_once`` is timed.

    Parameters are what ``__init__`` declares; ``self.params`` holds their values. ``execute_once`` returns a
    dict (numbers become metrics named ``result.<key>``) or ``None``. Each method may be ``async``.

    ``metrics`` declares returned numbers so that they can be judged:
    ``metrics = {"rows_per_s": Metric("rows_per_s", "/s", Direction.HIGHER)}``.
    """

    param_schema: ClassVar[Mapping[str, Any] | None] = None
    metrics: ClassVar[Mapping[str, Metric]] = {}

    def __init__(self, parameters: Mapping[str, Any] | None = None) -> None:
        self.params: dict[str, Any] = dict(parameters or {})

    def setup(self, context: ExperimentContext) -> Any:
        """Runs once before the first execution in a process; not timed."""

    def execute_once(self, context: ExperimentContext) -> Any:
        """One execution: the timed work."""
        raise NotImplementedError(f"{type(self).__name__} must define execute_once(context)")

    def teardown(self, context: ExperimentContext) -> Any:
        """Runs once at the end, whatever happened before."""


class Instrument:
    """Watches an execution and writes readings into a dict.

    ``perturbs`` says whether watching changes what is watched; such an instrument gets executions of its own
    and never shares one with the clock. Numbers become metrics named ``<instrument>.<key>``; anything else is
    kept as detail. Files go to ``artifacts_dir``.
    """

    name: str = ""
    perturbs: bool = True

    def watch(self, readings: dict[str, Any], artifacts_dir: Path) -> AbstractContextManager[None]:
        """A context manager around one timed block (of one or more calls)."""
        return _nothing()


@contextmanager
def _nothing() -> Iterator[None]:
    yield


@dataclass(frozen=True, slots=True)
class Report:
    """What a reporter receives: one or more results and what analysis concluded about them."""

    results: tuple[RunResult, ...]
    findings: Findings


@runtime_checkable
class Reporter(Protocol):
    """Writes a report into a folder and returns the files it wrote."""

    def write(self, report: Report, output_dir: Path) -> Sequence[Path]: ...


class StopRule(Protocol):
    """Decides between trials whether the run, or one arm, has seen enough."""

    def observe(self, sample: Sample) -> None:
        """Takes note of a finished sample."""

    def skip(self, trial: Trial) -> bool:
        """Whether this trial need not run (its arm is settled)."""

    def stop(self, plan: Plan) -> str | None:
        """Why the whole run should end now, or ``None``."""
