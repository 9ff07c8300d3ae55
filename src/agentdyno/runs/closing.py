"""The end of a run: figures, warnings, status."""

from __future__ import annotations

import mimetypes
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

from agentdyno.errors import RunError, SpecError
from agentdyno.findings.figures.summarise import status_counts, summarise, whole_trials
from agentdyno.findings.run.judge_cautions import cautions
from agentdyno.model import (
    ArmResult,
    Artifact,
    Failure,
    Metric,
    MetricSummary,
    Phase,
    Provenance,
    RunResult,
    RunStatus,
    RunWarning,
    Status,
)
from agentdyno.model.sample import SCORER_BROKEN
from agentdyno.reports import write_result


def close_result(
    stored: RunResult,
    *,
    metrics: Mapping[str, Metric],
    observed: Mapping[str, Mapping[str, object]],
    folder: Path,
    settled: Collection[str] = (),
) -> RunResult:
    """``stored`` (header and all samples) with figures, artifacts and what was observed.

    ``settled`` arms were measured precisely enough before their plan ended: they are complete as they are.
    """
    arms = []
    for arm in stored.arms:
        seen = {**arm.observed, **observed.get(arm.arm_id, {})}
        arms.append(
            replace(
                arm,
                observed=seen,
                metrics=labelled(
                    summarise(whole_trials(arm.samples), metrics), simulated=seen.get("simulated") is True
                ),
                statuses=status_counts(arm.samples),
                planned=sum(s.phase is Phase.MEASURED for s in arm.samples) if arm.arm_id in settled else arm.planned,
                samples_total=len(arm.samples),
                artifacts=find_artifacts(folder, arm),
            )
        )
    given_up = {warning.arm_id for warning in stored.warnings if warning.code == "given-up"}
    found = [
        warning
        for warning in cautions(
            [replace(arm, samples=tuple(whole_trials(arm.samples))) for arm in arms], stored.overhead_s
        )
        if not (warning.code == "failures" and warning.arm_id in given_up)
    ]
    return replace(stored, arms=tuple(arms), warnings=(*stored.warnings, *found))


def labelled(metrics: Mapping[str, MetricSummary], *, simulated: bool) -> Mapping[str, MetricSummary]:
    """Figures of an arm that observed a simulated server say so, each of them."""
    if not simulated:
        return metrics
    return {name: replace(item, provenance=Provenance.SIMULATED) for name, item in metrics.items()}


def refuse_misjudged(closed: RunResult) -> None:
    """Raises ``SpecError`` for a run in which a scorer judged nothing, once all that was answered is safe."""
    for warning in closed.warnings:
        if warning.code == SCORER_BROKEN:
            raise SpecError(warning.message, where=f"run {closed.run_id[:13]}", remedy=warning.remedy)


def written(closed: RunResult, folder: Path) -> RunResult:
    """Writes the result file. A run whose file cannot be written is closed in the store all the same, and says so."""
    try:
        write_result(closed, folder / "result.json")
    except RunError as error:
        message = f"{error.where}: {error.message}; the run is closed in the store"
        remedy = f"Then write it anew: `dyno report {closed.run_id[:13]} --format json`."
        return replace(closed, warnings=(*closed.warnings, RunWarning("no-result-file", message, remedy)))
    return closed


def run_status(result: RunResult) -> RunStatus:
    """``failed`` without any usable sample, and where a scorer judged nothing; ``partial`` when planned samples are
    missing, else ``complete``."""
    if result.misjudged:
        return RunStatus.FAILED
    counts = Counter[str]()
    for arm in result.arms:
        counts.update(arm.statuses)
    if not counts[Status.OK] + counts[Status.FAILED]:
        return RunStatus.FAILED
    recorded = counts.total() - counts[Status.CANCELLED]
    missing = recorded < sum(arm.planned for arm in result.arms)
    return RunStatus.PARTIAL if missing or result.stopped_because is not None else RunStatus.COMPLETE


def teardown_warnings(failures: list[tuple[str, Failure]]) -> list[RunWarning]:
    """One warning per arm whose teardown failed."""
    return [
        RunWarning(
            "teardown-failed",
            f"teardown failed: {failure.message}",
            "The samples stand; something may be left behind.",
            arm_id,
        )
        for arm_id, failure in failures
    ]


def artifacts_dir(folder: Path, arm_id: str) -> Path:
    """Where an arm's files go."""
    return folder / "artifacts" / arm_id


def find_artifacts(folder: Path, arm: ArmResult) -> tuple[Artifact, ...]:
    """The files that the arm or its instruments left; an empty folder is removed."""
    own = artifacts_dir(folder, arm.arm_id)
    if not own.is_dir():
        return ()
    files = sorted(path for path in own.rglob("*") if path.is_file())
    if not files:
        own.rmdir()
    return tuple(
        Artifact(
            path.relative_to(own).as_posix(),
            path.relative_to(folder).as_posix(),
            path.stat().st_size,
            mimetypes.guess_type(path.name)[0] or "application/octet-stream",
        )
        for path in files
    )
