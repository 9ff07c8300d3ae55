"""A/A: comparing this machine with itself, to know how much it changes when nothing does."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from agentdyno.findings.engine.measure_samples import SampleJudging, compare_arms
from agentdyno.findings.figures.summarise import summarise
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
from agentdyno.runs.place import now_ms
from agentdyno.specs import make_plan
from agentdyno.stats import quantile

CODE = CodeReference("busy", module="agentdyno.workloads.calibration.work")
SAMPLES = 30
LIMITS = Limits(timeout_s=60)


def calibrate(comparisons: int, on_step: Callable[[int, int], None] = lambda _i, _n: None) -> Calibration:
    """Compares two equal arms ``comparisons`` times, each time in fresh processes.

    The noise floor is the 95th percentile of the changes found; a false alarm is a verdict better or worse.
    """
    environment = capture_environment()
    changes, alarms = [], 0
    for index in range(comparisons):
        on_step(index, comparisons)
        ratio, verdict = _compare_with_itself(seed=index)
        changes.append(abs(math.expm1(abs(math.log(ratio)))))
        alarms += verdict in (Verdict.BETTER, Verdict.WORSE)
    return Calibration(
        machine_id=environment.machine_id,
        measured_at=now_ms(),
        comparisons=comparisons,
        samples_per_side=SAMPLES,
        noise_floor=quantile(changes, 0.95),
        false_alarms=alarms,
    )


def _compare_with_itself(seed: int) -> tuple[float, Verdict | None]:
    iterations = Iterations(warmup=3, measured=SAMPLES)
    spec = Spec(name="A/A", entries=(Entry("busy", iterations=iterations),), seed=seed)
    arms = [Arm(side.value, side.value, "busy", side=side) for side in Side]
    plan = make_plan(spec, [(arm, iterations) for arm in arms], [])
    samples: dict[str, list[Sample]] = {arm.arm_id: [] for arm in arms}
    with tempfile.TemporaryDirectory(prefix="dyno-calibrate-") as folder:
        job = ArmJob("", "", CODE, {}, seed=seed, warmup=3, cpu=choose_cpu(), artifacts_dir=folder, limits=LIMITS)
        job = replace(job, launch=Launch(cwd=str(Path.cwd())))
        jobs = {arm.arm_id: replace(job, arm_id=arm.arm_id) for arm in arms}
        executor = ProcessExecutor(jobs)
        executor.open()
        for sample in Schedule(plan, executor):
            samples[sample.arm_id].append(sample)
    sides = [
        ArmResult(
            arm.arm_id,
            arm.name,
            arm.experiment,
            samples=tuple(samples[arm.arm_id]),
            metrics=summarise(samples[arm.arm_id]),
        )
        for arm in arms
    ]
    rows = compare_arms(sides[0], sides[1], SampleJudging(paired=True))
    row = next(row for row in rows if row.metric.name == "duration_s")
    assert row.ratio is not None
    return row.ratio, row.verdict
