"""The end of a suite's run: figures from a single pass over its samples, however many there are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from agentdyno.findings.figures.cases import ArmFigures
from agentdyno.findings.figures.suite_figures import ArmBefore, close_suite
from agentdyno.model import ArmResult, RunResult, Sample, Suite
from agentdyno.model.form import WHOLE
from agentdyno.model.result import form_of
from agentdyno.runs.suite.broken import Baselines, broken_warnings

if TYPE_CHECKING:
    from agentdyno.store import Store

KEPT_SAMPLES = 2_000
"""Samples in the result at hand, of all arms together; of more, evenly spaced ones. The store keeps them all."""
MOST_BEFORE = 11
"""Earlier runs of the same cases that are read to tell how far several runs can be trusted together."""
KEPT_TRAJECTORIES = 1_000
"""Above so many samples the result at hand has no trajectories; the store has."""


class Collected:
    """Figures of every arm, and some of the samples, gathered while samples pass by in any order."""

    def __init__(self, suite: Suite, arms: Mapping[str, str], planned: int) -> None:
        """``arms`` gives the benchmark of each arm id; ``planned`` is how many samples may come."""
        self.figures = {arm_id: ArmFigures(suite.benchmark(benchmark)) for arm_id, benchmark in arms.items()}
        self._kept: dict[str, list[Sample]] = {arm_id: [] for arm_id in arms}
        self._counts = dict.fromkeys(arms, 0)
        self._stride = max(1, -(-planned // KEPT_SAMPLES))
        self._whole = planned <= KEPT_TRAJECTORIES
        self._seen = 0

    def add(self, sample: Sample) -> None:
        self.figures[sample.arm_id].add(sample)
        self._counts[sample.arm_id] += 1
        if self._seen % self._stride == 0:
            self._kept[sample.arm_id].append(sample if self._whole else _without_events(sample))
        self._seen += 1

    def fill(self, arm: ArmResult) -> ArmResult:
        """The arm with the samples that were kept, in the order in which a store gives them."""
        kept = sorted(self._kept[arm.arm_id], key=lambda sample: (sample.iteration, sample.case_id))
        return replace(arm, samples=tuple(kept), samples_total=self._counts[arm.arm_id])


def close_run(
    store: Store,
    header: RunResult,
    *,
    observed: Mapping[str, Mapping[str, object]],
    collected: Collected | None = None,
    baselines: Baselines | None = None,
) -> RunResult:
    """``header`` with the arms of the stored run, their figures, scores and warnings; the status stays.

    ``collected`` has seen every sample of the run; without it they are read from the store, once. ``baselines`` are
    what the run is to be held against: a scorer that copes with their answers is not broken.
    """
    stored = store.runs.load(header.run_id, samples=False)
    suite = header.suite
    assert suite is not None, "only runs of suites are closed here"
    if collected is None:
        benchmarks = {arm.arm_id: arm.benchmark or "" for arm in stored.arms}
        collected = Collected(suite, benchmarks, sum(arm.planned for arm in stored.arms))
        for sample in store.runs.iter_samples(header.run_id, details=True):
            collected.add(sample)
    arms = tuple(
        collected.fill(replace(arm, observed={**arm.observed, **observed.get(arm.arm_id, {})})) for arm in stored.arms
    )
    if header.form is not None and header.form.proxied:
        header = replace(
            header, form=replace(header.form, proxied=any(own.proxied for own in collected.figures.values()))
        )
    before = _before(store, header, arms) if form_of(header) in WHOLE else {}
    closed = close_suite(replace(header, arms=arms), collected.figures, before)
    broken = broken_warnings(header, collected.figures, store, baselines)
    return replace(closed, warnings=(*broken, *closed.warnings))


def _before(store: Store, header: RunResult, arms: Sequence[ArmResult]) -> dict[str, list[ArmBefore]]:
    """By arm what the same agent did in its whole runs before this one, the last first, as far as that is quickly
    read: of few cases all of them count, of many the last one says enough."""
    suite = header.suite
    assert suite is not None, "only runs of suites are closed here"
    found: dict[str, list[ArmBefore]] = {}
    for arm in arms:
        if arm.agent is None or arm.benchmark is None or arm.planned > KEPT_SAMPLES:
            continue
        most = min(MOST_BEFORE, KEPT_SAMPLES // max(1, arm.planned))
        places = store.runs.whole_before(arm.agent, suite.digest, arm.benchmark, header.run_id, most)
        for run_id, arm_id in places:
            samples = store.runs.iter_samples(run_id, arm_id=arm_id, details=True)
            figures = ArmFigures.of(suite.benchmark(arm.benchmark), samples, prints=False)
            earlier = store.runs.load(run_id, samples=False).arms
            own = next((one for one in earlier if one.arm_id == arm_id), None)
            known = ArmBefore(figures) if own is None else ArmBefore(figures, own.spread, own.scores)
            found.setdefault(arm.arm_id, []).append(known)
    return found


def _without_events(sample: Sample) -> Sample:
    return replace(sample, details={key: value for key, value in sample.details.items() if key != "events"})
