"""A/A: comparing this machine with itself, to know how much it changes when nothing does, in and between runs."""

from __future__ import annotations

import math
import tempfile
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median, stdev

from agentdyno.findings.engine.measure_samples import SampleJudging, compare_arms
from agentdyno.findings.figures.summarise import summarise
from agentdyno.findings.record.judge_spread import FINEST, QUANTITIES
from agentdyno.model import (
    Arm,
    ArmResult,
    Calibration,
    Entry,
    Iterations,
    Limits,
    Sample,
    Side,
    Spec,
    Verdict,
)
from agentdyno.runner.bench.affinity import choose_cpu
from agentdyno.runner.bench.job import ArmJob, CodeReference, Launch
from agentdyno.runner.executors.processes import ProcessExecutor
from agentdyno.runner.schedule import Schedule
from agentdyno.runs.environment import capture_environment
from agentdyno.runs.host_state import CalibratedSpread, HostState, ReferenceStandard, keep_spread, keep_standard
from agentdyno.runs.normalising import Normaliser, interpreter_key
from agentdyno.runs.place import now_ms
from agentdyno.specs import make_plan
from agentdyno.stats import quantile
from agentdyno.workers.reference import ALLOWANCE_S, READING, REFERENCES

CODE = CodeReference("busy", module="agentdyno.workloads.calibration.work")
SAMPLES = 30
LIMITS = Limits(timeout_s=60)


@dataclass(frozen=True, slots=True)
class HostCalibration:
    """What calibrating shows: comparing with itself, the reference standard, and the spread between processes."""

    comparing: Calibration
    standard: ReferenceStandard
    spread: CalibratedSpread

    def keep(self) -> None:
        """Keeps what belongs to this host and to this interpreter; the rest is for a store."""
        keep_standard(interpreter_key(), self.standard)
        keep_spread(interpreter_key(), self.spread)


def calibrate(comparisons: int, on_step: Callable[[int, int], None] = lambda _i, _n: None) -> HostCalibration:
    """Compares two equal arms ``comparisons`` times, each time in fresh processes.

    The noise floor is the 95th percentile of the changes found; a false alarm is a verdict better or worse. Each
    first side is a run for the spread between runs; the standard is the median of all reference readings.
    """
    environment = capture_environment()
    changes, alarms, runs = [], 0, []
    for index in range(comparisons):
        on_step(index, comparisons)
        baseline, candidate = _two_equal_sides(seed=index)
        ratio, verdict = _compare(baseline, candidate)
        changes.append(abs(math.expm1(abs(math.log(ratio)))))
        alarms += verdict in (Verdict.BETTER, Verdict.WORSE)
        runs.append(baseline)
    comparing = Calibration(
        machine_id=environment.machine_id,
        measured_at=now_ms(),
        comparisons=comparisons,
        samples_per_side=SAMPLES,
        noise_floor=quantile(changes, 0.95),
        false_alarms=alarms,
    )
    standard = reference_standard(runs)
    return HostCalibration(comparing, standard, spread_between(runs, standard))


def reference_standard(runs: Sequence[Sequence[Sample]]) -> ReferenceStandard:
    """The median of what each reference took over these runs."""
    readings = {
        name: [sample.readings[READING + name] for run in runs for sample in run if READING + name in sample.readings]
        for name in REFERENCES
    }
    return ReferenceStandard(
        {name: median(values) for name, values in readings.items() if values}, "calibrated", now_ms()
    )


def spread_between(runs: Sequence[Sequence[Sample]], standard: ReferenceStandard) -> CalibratedSpread:
    """How far the medians of equal runs lie apart, by quantity."""
    state = HostState({interpreter_key(): standard})
    logs: defaultdict[str, list[float]] = defaultdict(list)
    for run in runs:
        normaliser = Normaliser(state=lambda: state, keep=lambda _key, known: known)
        taken = [normaliser.take(item) for item in run]
        arm = ArmResult(run[0].arm_id, "run", "busy", samples=tuple(taken), metrics=summarise(taken))
        medians = {name: item.median for name, item in normaliser.added_to_arm(arm, whole=True).metrics.items()}
        for quantity in QUANTITIES:
            if value := medians.get(quantity):
                logs[quantity].append(math.log(value))
    known = {name: max(stdev(values), FINEST) for name, values in logs.items() if len(values) == len(runs) > 1}
    return CalibratedSpread(known, len(runs), now_ms())


def _two_equal_sides(seed: int) -> tuple[list[Sample], list[Sample]]:
    iterations = Iterations(warmup=3, measured=SAMPLES)
    spec = Spec(name="A/A", entries=(Entry("busy", iterations=iterations),), seed=seed)
    arms = [Arm(side.value, side.value, "busy", side=side) for side in Side]
    plan = make_plan(spec, [(arm, iterations) for arm in arms], [])
    samples: dict[str, list[Sample]] = {arm.arm_id: [] for arm in arms}
    with tempfile.TemporaryDirectory(prefix="dyno-calibrate-") as folder:
        job = ArmJob("", "", CODE, {}, seed=seed, warmup=3, cpu=choose_cpu(), artifacts_dir=folder, limits=LIMITS)
        job = replace(job, launch=Launch(cwd=str(Path.cwd())), reference_s=ALLOWANCE_S / len(arms))
        jobs = {arm.arm_id: replace(job, arm_id=arm.arm_id) for arm in arms}
        executor = ProcessExecutor(jobs)
        executor.open()
        for sample in Schedule(plan, executor):
            samples[sample.arm_id].append(sample)
    return samples[arms[0].arm_id], samples[arms[1].arm_id]


def _compare(baseline: list[Sample], candidate: list[Sample]) -> tuple[float, Verdict | None]:
    sides = [
        ArmResult(side.value, side.value, "busy", samples=tuple(own), metrics=summarise(own))
        for side, own in zip(Side, (baseline, candidate), strict=True)
    ]
    rows = compare_arms(sides[0], sides[1], SampleJudging(paired=True))
    row = next(row for row in rows if row.metric.name == "duration_s")
    assert row.ratio is not None
    return row.ratio, row.verdict
