"""Agents that another tool has evaluated, put together as a closed run of a suite."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from agentdyno.errors import ImportFailed
from agentdyno.findings.figures.cases import ArmFigures
from agentdyno.findings.figures.dimensions import OVERALL, Quantities, dimension_scores
from agentdyno.findings.figures.suite_figures import close_suite
from agentdyno.importers.document import WRITE_AGAIN, ImportedDocument, printable
from agentdyno.importers.timings.assemble import Aggregate, Machine
from agentdyno.model import (
    AgentUse,
    ArmResult,
    Benchmark,
    CaseFigures,
    Category,
    Phase,
    Provenance,
    RunResult,
    RunStatus,
    RunWarning,
    Sample,
    Spec,
    Status,
    Suite,
    Vcs,
    known_metric,
)
from agentdyno.model.identity import digest, imported_run_id, suite_arm_id
from agentdyno.model.suite import slug

PASS_THRESHOLD = 0.5
_VERSION_DIGITS = 10
_HERE = frozenset({"no-answers", "given-up", "all-errors", "all-failed", "unscored", "not-judged"})
"""Warnings whose remedy is a command of ours that cannot run an agent of another tool."""


@dataclass(frozen=True, slots=True)
class EvaluatedTotals:
    """What is known of an agent on a benchmark without its cases.

    ``mean`` is of ``cases`` case scores (``None``: it is no share of 1), ``error`` its standard error, ``named`` are
    further scores by name; all in 0..1.
    """

    cases: int
    mean: float | None
    error: float | None = None
    named: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Tested:
    """One agent on one benchmark. ``samples`` get their arm id later; ``totals`` stand where there are none."""

    benchmark: str
    agent: AgentUse
    samples: Sequence[Sample] = ()
    planned: int = 0
    observed: Mapping[str, object] = field(default_factory=dict)
    totals: EvaluatedTotals | None = None
    simulated: bool = False


@dataclass(frozen=True, slots=True)
class Evaluation:
    """The content of one log. Times are UTC milliseconds; ``started_at`` is ``None`` where the log has no date.

    ``content`` is what the id of the run follows from, beside the log itself: files that lie beside it.
    """

    tool: str
    version: str
    name: str
    benchmarks: Sequence[Benchmark]
    tested: Sequence[Tested]
    started_at: int | None
    finished_at: int | None = None
    suite_version: str = ""
    epochs: int = 1
    ended_early: str | None = None
    vcs: Vcs | None = None
    machine: Machine = field(default_factory=Machine)
    warnings: Sequence[RunWarning] = ()
    content: Sequence[str] = ()


def version_of(*parts: object) -> str:
    """A short version for what is known of an agent by its configuration alone."""
    return digest(list(parts), _VERSION_DIGITS)


def evaluated(found: Evaluation, document: ImportedDocument) -> RunResult:
    """A run of kind ``suite`` with its figures; its id follows from the content of the log."""
    file = printable(document.path.name)
    if not found.tested:
        raise ImportFailed("the file holds no evaluation", where=file, remedy=WRITE_AGAIN)
    started_at = document.modified_at if found.started_at is None else found.started_at
    suite = _suite(found, file)
    arms = _arms(found, suite, started_at)
    # Without a date inside, the id must not depend on when the file was copied.
    stamp = int(document.content[:12], 16) if found.started_at is None else found.started_at
    result = RunResult(
        run_id=imported_run_id(stamp, [found.tool, document.content, *found.content]),
        kind="suite",
        name=found.name,
        status=_status(found),
        started_at=started_at,
        finished_at=None if found.finished_at is None else max(found.finished_at, started_at),
        seed=0,
        spec=Spec(found.name, (), source=file, seed=0),
        environment=found.machine.environment(),
        vcs=found.vcs,
        warnings=(*found.warnings, *_doubts(found)),
        arms=arms,
        stopped_because=found.ended_early,
        suite=suite,
        origin={"tool": found.tool, "version": found.version, "file": file, "sha256": document.sha256},
    )
    figures = {
        arm.arm_id: ArmFigures.of(suite.benchmark(arm.benchmark or ""), arm.samples) for arm in arms if arm.samples
    }
    closed = close_suite(result, figures)
    again = f"Run it again with {found.tool} and import the new log."
    return replace(
        closed,
        warnings=tuple(replace(item, remedy=again) if item.code in _HERE else item for item in closed.warnings),
    )


def _suite(found: Evaluation, file: str) -> Suite:
    return Suite(
        name=found.name,
        benchmarks=tuple(found.benchmarks),
        suite_id=f"{found.tool}-{slug(found.name)}",
        category=Category.ACCURACY,
        version=found.suite_version,
        epochs=found.epochs,
        warmup=0,
        agents=tuple({f"{item.agent.name}@{item.agent.version}": item.agent for item in found.tested}.values()),
        source=file,
    )


def _arms(found: Evaluation, suite: Suite, started_at: int) -> tuple[ArmResult, ...]:
    content = suite.digest
    versions = len({item.agent.version for item in found.tested})
    names = len({item.agent.name for item in found.tested})
    arms = []
    for item in found.tested:
        label = f"{item.agent.name}@{item.agent.version}"
        arm_id = suite_arm_id(content, item.benchmark, label)
        # In the order in which a store gives them back.
        samples = tuple(
            replace(sample, arm_id=arm_id, started_at_ms=sample.started_at_ms or started_at)
            for sample in sorted(item.samples, key=lambda sample: (sample.iteration, sample.case_id))
        )
        arm = ArmResult(
            arm_id,
            f"{item.benchmark} · {label if versions > names else item.agent.name}",
            f"{suite.suite_id}/{item.benchmark}",
            dict(item.agent.config),
            benchmark=item.benchmark,
            agent=label,
            observed=item.observed,
            planned=max(item.planned, len(samples)),
            samples_total=len(samples),
            samples=samples,
        )
        arms.append(_without_cases(arm, item) if not samples and item.totals is not None else arm)
    return tuple(arms)


def _without_cases(arm: ArmResult, item: Tested) -> ArmResult:
    """An arm that has only the tool's own figures."""
    totals = item.totals
    assert totals is not None
    variance = None if totals.error is None else totals.error**2 * totals.cases
    metrics = {}
    for name, mean in {"score": totals.mean, **totals.named}.items():
        if mean is not None:
            metric = replace(known_metric("score"), name=name)
            if item.simulated:
                metric = replace(metric, provenance=Provenance.SIMULATED)
            std = None if name != "score" or variance is None else variance**0.5
            metrics[name] = Aggregate(totals.cases, mean, std=std).summary(metric)
    return replace(
        arm,
        metrics=metrics,
        scores=dimension_scores(Quantities(totals.mean, used={}), {}),
        # Accuracy is all that the overall score rests on.
        score_errors={} if totals.error is None else {"accuracy": totals.error, OVERALL: totals.error},
        # How many of them were right is not said where a score may lie between 0 and 1.
        case_figures=CaseFigures(totals.cases, totals.cases, totals.mean, variance, 0, 0)
        if totals.mean is not None
        else None,
        planned=0,
    )


def _status(found: Evaluation) -> RunStatus:
    measured = [sample for item in found.tested for sample in item.samples]
    usable = any(sample.status in (Status.OK, Status.FAILED) for sample in measured)
    if not usable and not any(item.totals is not None and not item.samples for item in found.tested):
        return RunStatus.FAILED
    planned = sum(item.planned for item in found.tested)
    short = any(item.samples for item in found.tested) and len(measured) < planned
    return RunStatus.PARTIAL if short or found.ended_early is not None else RunStatus.COMPLETE


def _doubts(found: Evaluation) -> list[RunWarning]:
    """What the log does not tell and a reader of the result should know."""
    doubts = []
    if found.started_at is None:
        doubts.append(
            RunWarning(
                "undated",
                f"the {found.tool} log has no date: the time of the run is when the file was last changed",
                "Import files as the tool left them, not copies with a new time.",
            )
        )
    bare = [item for item in found.tested if not item.samples and item.totals is not None]
    if bare:
        doubts.append(
            RunWarning(
                "aggregates-only",
                f"{len(bare)} of {len(found.tested)} results are totals without cases: they cannot be tested against "
                "others case by case",
                "Let the tool log its samples, and keep those files beside the results.",
            )
        )
    simulated = [item.agent.name for item in bare if item.simulated]
    if simulated:
        doubts.append(
            RunWarning(
                "simulated",
                f"answers of {', '.join(dict.fromkeys(simulated))} come from a simulated model: their figures "
                "measure no real one",
                "They never enter a leaderboard. Run the evaluation with a real model for that.",
            )
        )
    return doubts


def answered(
    case_id: str,
    iteration: int,
    *,
    status: Status,
    at_ms: int = 0,
    readings: Mapping[str, float] | None = None,
    scores: Mapping[str, float | None] | None = None,
) -> Sample:
    """One execution of a case (``iteration`` counts from 0), at UTC ms (0: when the run began)."""
    return Sample(
        "",
        Phase.MEASURED,
        iteration,
        status,
        at_ms,
        dict(readings or {}),
        case_id=case_id,
        scores=dict(scores or {}),
    )


def judged(score: float | None, threshold: float = PASS_THRESHOLD) -> Status:
    """``failed`` below the threshold; an answer that nobody judged is no wrong one."""
    return Status.FAILED if score is not None and score < threshold else Status.OK
