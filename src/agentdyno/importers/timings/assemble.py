"""What an importer found, put together as a closed run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from agentdyno.errors import ImportFailed
from agentdyno.findings.figures.summarise import status_counts, summarise
from agentdyno.findings.run.judge_cautions import cautions
from agentdyno.importers.document import WRITE_AGAIN, ImportedDocument, printable
from agentdyno.model import (
    ArmResult,
    Entry,
    Iterations,
    Metric,
    MetricSummary,
    Phase,
    RunResult,
    RunStatus,
    RunWarning,
    Sample,
    Spec,
    Status,
    Vcs,
)
from agentdyno.model.identity import digest, experiment_arm_id, imported_run_id
from agentdyno.model.result import Environment
from agentdyno.version import __version__

MOST_LOOPS = 2**53
"""More calls than this in one sample are written as this many."""


@dataclass(frozen=True, slots=True)
class TimingSeries:
    """One benchmark with one set of parameters. ``samples`` get their arm id, and their time where it is 0, later.

    ``aggregates`` are figures of a tool that kept no raw values; they stand where samples give none.
    """

    experiment: str
    name: str
    params: Mapping[str, object] = field(default_factory=dict)
    samples: Sequence[Sample] = ()
    metrics: Mapping[str, Metric] = field(default_factory=dict)
    aggregates: Mapping[str, MetricSummary] = field(default_factory=dict)
    observed: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ImportedArm:
    """The content of one file. Times are UTC milliseconds; ``started_at`` is ``None`` where the file has no date."""

    tool: str
    version: str
    name: str
    series: Sequence[TimingSeries]
    machine: Machine
    started_at: int | None
    finished_at: int | None = None
    vcs: Vcs | None = None
    warnings: Sequence[RunWarning] = ()
    notes: str = ""


def measured(iteration: int, readings: Mapping[str, float], *, inner_loops: int = 1, at_ms: int = 0) -> Sample:
    """A sample of the timed work: readings per call of ``inner_loops`` calls, at UTC ms (0: when the run began)."""
    return Sample(
        "", Phase.MEASURED, iteration, Status.OK, at_ms, {**readings}, inner_loops=min(inner_loops, MOST_LOOPS)
    )


def assemble(found: ImportedArm, document: ImportedDocument) -> RunResult:
    """A complete run of kind ``experiment``, figures filled in; its id follows from the content of the file."""
    file = printable(document.path.name)
    if not found.series:
        raise ImportFailed("the file holds no benchmark", where=file, remedy=WRITE_AGAIN)
    started_at = document.modified_at if found.started_at is None else found.started_at
    arms = _arms(found.series, started_at)
    if not any(arm.metrics for arm in arms):
        raise ImportFailed("no benchmark in the file has a value", where=file, remedy=WRITE_AGAIN)
    # Without a date inside, the id must not depend on when the file was copied.
    stamp = int(document.content[:12], 16) if found.started_at is None else found.started_at
    return RunResult(
        run_id=imported_run_id(stamp, [found.tool, document.content]),
        kind="experiment",
        name=found.name,
        status=RunStatus.COMPLETE,
        started_at=started_at,
        finished_at=None if found.finished_at is None else max(found.finished_at, started_at),
        seed=0,
        spec=_spec(found.name, arms, file),
        environment=found.machine.environment(),
        vcs=found.vcs,
        notes=found.notes,
        warnings=(*found.warnings, *_doubts(found), *_cautions(arms)),
        arms=arms,
        origin={"tool": found.tool, "version": found.version, "file": file, "sha256": document.sha256},
    )


def _arms(series: Sequence[TimingSeries], started_at: int) -> tuple[ArmResult, ...]:
    seen: set[str] = set()
    arms = []
    for item in series:
        params, name = dict(item.params), item.name
        arm_id = experiment_arm_id(item.experiment, params)
        occurrence = 1
        while arm_id in seen:  # one file measured the same thing more than once
            occurrence += 1
            params["occurrence"] = occurrence
            arm_id, name = experiment_arm_id(item.experiment, params), f"{item.name} ({occurrence})"
        seen.add(arm_id)
        samples = tuple(
            replace(sample, arm_id=arm_id, started_at_ms=sample.started_at_ms or started_at)
            for sample in item.samples
        )
        arms.append(
            ArmResult(
                arm_id,
                name,
                item.experiment,
                params,
                observed=item.observed,
                metrics={**item.aggregates, **summarise(samples, item.metrics)},
                statuses=status_counts(samples),
                planned=sum(sample.phase is Phase.MEASURED for sample in samples),
                samples_total=len(samples),
                samples=samples,
            )
        )
    return tuple(arms)


def _spec(name: str, arms: Sequence[ArmResult], file: str) -> Spec:
    entries = [
        Entry(
            arm.experiment,
            arm.params,
            iterations=Iterations(warmup=0, measured=max(1, arm.planned), instrumented=0),
        )
        for arm in arms
    ]
    return Spec(name, tuple(entries), source=file, seed=0)


def _doubts(found: ImportedArm) -> list[RunWarning]:
    """What the file does not tell and a reader of the result should know."""
    doubts = []
    if found.started_at is None:
        doubts.append(
            RunWarning(
                "undated",
                f"{found.tool} writes no date into its files: the time of the run is when the file was last changed",
                "Import files as the tool left them, not copies with a new time.",
            )
        )
    if found.machine.machine_id == UNKNOWN_MACHINE:
        doubts.append(
            RunWarning(
                "unknown-machine",
                f"{found.tool} does not say what machine it ran on",
                "Compare it only with files that you know to be of the same machine.",
            )
        )
    bare = sum(not item.samples and bool(item.aggregates) for item in found.series)
    if bare:
        doubts.append(
            RunWarning(
                "aggregates-only",
                f"{bare} of {len(found.series)} benchmarks have figures and no raw values: they cannot be tested "
                "against others",
                "Let the tool save its raw data, where it can.",
            )
        )
    return doubts


def _cautions(arms: Sequence[ArmResult]) -> list[RunWarning]:
    """As at the end of a run made here, less the advice to measure more often: that is for the other tool."""
    measured = [arm for arm in arms if arm.samples]
    return [warning for warning in cautions(measured, None) if warning.code != "few-samples"]


@dataclass(frozen=True, slots=True)
class Aggregate:
    """What is known of ``n`` values without having them, in the unit of the metric. ``None`` is unknown."""

    n: int
    mean: float
    median: float | None = None
    std: float | None = None
    minimum: float | None = None
    maximum: float | None = None

    def summary(self, metric: Metric) -> MetricSummary:
        """What is not known stays null."""
        return MetricSummary(
            unit=metric.unit,
            direction=metric.direction,
            provenance=metric.provenance,
            n=self.n,
            mean=self.mean,
            median=self.median,
            p95=None,
            p99=None,
            ci=None,
            std=self.std,
            cv=self.std / self.mean if self.std is not None and self.mean > 0 else None,
            minimum=self.minimum,
            maximum=self.maximum,
            machine_dependent=metric.machine_dependent,
        )


UNKNOWN = "unknown"
UNKNOWN_MACHINE = "imported-unknown"


@dataclass(frozen=True, slots=True)
class Machine:
    """What a file says of the machine and the interpreter; empty and 0 are unknown. ``memory_bytes`` is all there is.

    ``os`` is the system and the architecture, such as ``Linux x86_64``; ``marks`` is anything else that tells
    machines apart and stays the same, such as the sizes of caches.
    """

    os: str = ""
    kernel: str = ""
    cpu_model: str = ""
    cpu_count: int = 0
    memory_bytes: int = 0
    python: str = ""
    implementation: str = ""
    packages: Mapping[str, str] = field(default_factory=dict)
    details: Mapping[str, object] = field(default_factory=dict)
    marks: object = None

    @property
    def machine_id(self) -> str:
        """The id that the same machine has in runs made here, where enough is known; else one of what is known."""
        parts = [self.cpu_model, self.cpu_count, round(self.memory_bytes / 1024**3), self.os]
        if all(parts):
            return digest(parts, 16)
        known = [*parts, self.marks] if self.marks else parts
        return f"imported-{digest(known, 16)}" if any(known) else UNKNOWN_MACHINE

    def environment(self) -> Environment:
        return Environment(
            machine_id=self.machine_id,
            os=self.os or UNKNOWN,
            kernel=self.kernel or UNKNOWN,
            cpu_model=self.cpu_model or UNKNOWN,
            cpu_count=self.cpu_count,
            memory_bytes=self.memory_bytes,
            python=self.python or UNKNOWN,
            implementation=self.implementation or UNKNOWN,
            agentdyno=__version__,
            packages=dict(self.packages),
            details=dict(self.details),
        )
