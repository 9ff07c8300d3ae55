"""The end of a suite's run: figures from a single pass over its samples, however many there are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from agentdyno.analysis.cases import ArmFigures
from agentdyno.analysis.suite_close import close_suite
from agentdyno.model import RunResult, RunStatus, Sample, Status
from agentdyno.store import Store

KEPT_SAMPLES = 2_000
"""Samples in the result at hand, of all arms together; of more, evenly spaced ones. The store keeps them all."""
KEPT_TRAJECTORIES = 1_000
"""Above so many samples the result at hand has no trajectories; the store has."""


def close_run(store: Store, header: RunResult, *, observed: Mapping[str, Mapping[str, object]]) -> RunResult:
    """``header`` with the arms of the stored run, their figures, scores, warnings and the final status."""
    stored = store.load_run(header.run_id, samples=False)
    suite = header.suite
    assert suite is not None, "only runs of suites are closed here"
    arms = {
        arm.arm_id: replace(arm, observed={**arm.observed, **observed.get(arm.arm_id, {})}) for arm in stored.arms
    }
    figures = {arm.arm_id: ArmFigures(suite.benchmark(arm.benchmark or "")) for arm in stored.arms}
    total = len(store.recorded(header.run_id))
    stride = max(1, -(-total // KEPT_SAMPLES))
    kept: dict[str, list[Sample]] = {arm_id: [] for arm_id in arms}
    counts = dict.fromkeys(arms, 0)
    for position, sample in enumerate(store.iter_samples(header.run_id, details=True)):
        figures[sample.arm_id].add(sample)
        counts[sample.arm_id] += 1
        if position % stride == 0:
            kept[sample.arm_id].append(sample if total <= KEPT_TRAJECTORIES else _without_events(sample))
    filled = tuple(
        replace(arm, samples=tuple(kept[arm_id]), samples_total=counts[arm_id]) for arm_id, arm in arms.items()
    )
    closed = close_suite(replace(header, arms=filled), figures)
    return replace(closed, status=_status(closed))


def _without_events(sample: Sample) -> Sample:
    return replace(sample, details={key: value for key, value in sample.details.items() if key != "events"})


def _status(result: RunResult) -> RunStatus:
    """``failed`` without any answer, ``partial`` when planned calls are missing, else ``complete``."""
    answered = sum(arm.statuses.get(status, 0) for arm in result.arms for status in (Status.OK, Status.FAILED))
    if not answered:
        return RunStatus.FAILED
    recorded = sum(
        number for arm in result.arms for status, number in arm.statuses.items() if status != Status.CANCELLED
    )
    missing = recorded < sum(arm.planned for arm in result.arms)
    return RunStatus.PARTIAL if missing or result.stopped_because is not None else RunStatus.COMPLETE
