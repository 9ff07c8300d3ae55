"""From a spec to everything a run needs, checked before anything is measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from agentdyno.errors import SpecError
from agentdyno.findings.figures.summarise import declared_metrics
from agentdyno.model import (
    Affinity,
    Arm,
    ExperimentInfo,
    Isolation,
    Iterations,
    Metric,
    Plan,
    RunWarning,
    Side,
    Spec,
)
from agentdyno.registry import registered
from agentdyno.runner.bench.affinity import choose_cpu
from agentdyno.runner.bench.describe import describe_experiment, instrument_perturbs
from agentdyno.runner.bench.job import ArmJob, CodeReference, InstrumentJob, Launch
from agentdyno.runs.baseline import Baseline, baseline_for, here
from agentdyno.runs.experiment.resolve import experiment_code, instrument_jobs, short_name
from agentdyno.runs.kind import Say, is_remote
from agentdyno.settings.run import PROCESSES_PER_SIDE, SAMPLES_PER_SIDE
from agentdyno.specs import build_arms, entry_where, expand, fit_overrides, interleaving_warning, make_plan
from agentdyno.workers.reference import ALLOWANCE_S, INTERLEAVED_ALLOWANCE_S


@dataclass(frozen=True, slots=True)
class PreparedExperiment:
    """A run that is ready to start. ``targets`` holds experiments that only this process has (inline)."""

    spec: Spec
    plan: Plan
    iterations: Mapping[str, Iterations]
    jobs: Mapping[str, ArmJob]
    metrics: Mapping[str, Metric]
    targets: Mapping[str, Any]
    partners: Mapping[str, str]
    warnings: tuple[RunWarning, ...] = ()
    baseline: Baseline | None = None
    yields: bool = False
    """Whether an experiment gives several samples a trial, and only it knows how many."""


@dataclass(frozen=True, slots=True)
class _Lane:
    """One side: where it runs and how its code and parameters differ from what the spec says."""

    side: Side | None
    launch: Launch
    baseline: Baseline | None = None


def prepare(
    spec: Spec, *, overridden: Mapping[str, object] | None = None, say: Say = lambda _: None
) -> PreparedExperiment:
    """Loads and describes every experiment in a process of its own, expands sweeps, fixes the order.

    ``overridden`` are parameters from the command line, which apply to the experiments that have them.
    """
    is_remote(spec.executor)  # a name that is none is told before anything is started
    launch = here(Path(spec.base_dir))
    baseline = baseline_for(spec.against, launch, Path(spec.base_dir), say) if spec.against else None
    if baseline is not None:
        if spec.isolation is Isolation.INLINE:
            raise SpecError(
                "--against needs processes of its own", where=spec.source, remedy="Remove `isolation: inline`."
            )
        spec = replace(spec, against=baseline.spelled, processes=spec.processes or PROCESSES_PER_SIDE)
        if baseline.experiment and len(spec.entries) > 1:
            raise SpecError(
                f"{len(spec.entries)} experiments cannot run against one",
                where="--against",
                remedy="Name one with --only, or run file.py@name against it.",
            )
        if baseline.moved is not None:
            launch = replace(launch, code_root=str(baseline.moved[0]))
    codes = {entry.experiment: experiment_code(entry.experiment, spec) for entry in spec.entries}
    infos = {name: _describe(name, code, launch, spec) for name, code in codes.items()}
    if overridden:
        spec = fit_overrides(spec, overridden, infos)
    instruments = instrument_jobs(spec.instruments, spec)
    perturbing = [job.name for job in instruments if instrument_perturbs(job, launch)]
    lanes = [_Lane(None, launch)]
    if baseline is not None:
        lanes = [_Lane(Side.BASELINE, baseline.launch, baseline), _Lane(Side.CANDIDATE, launch)]
    arms: list[tuple[Arm, Iterations]] = []
    jobs: dict[str, ArmJob] = {}
    for lane in lanes:
        for index, _ in enumerate(spec.entries):
            for arm, iterations, job in _lane_arms(spec, index, lane, codes, infos, instruments):
                arms.append((arm, iterations))
                jobs[arm.arm_id] = job
    plan = make_plan(spec, arms, perturbing)
    jobs = _with_references(jobs, spec)
    warning = interleaving_warning(plan)
    return PreparedExperiment(
        spec=spec,
        plan=plan,
        iterations={arm.arm_id: iterations for arm, iterations in arms},
        jobs=jobs,
        metrics=declared_metrics(spec, infos.values()),
        targets=_targets(spec, arms, codes, infos),
        partners=_partners(plan),
        warnings=(warning,) if warning is not None else (),
        baseline=baseline,
        yields=any(info.yields for info in infos.values()),
    )


def _describe(reference: str, code: CodeReference, launch: Launch, spec: Spec) -> ExperimentInfo:
    local = registered("experiments").get(reference)
    if local is not None and spec.isolation is Isolation.INLINE:
        from agentdyno.registry.describe import describe

        return describe(code.name, local.target)
    return describe_experiment(short_name(reference), code, launch)


def _lane_arms(
    spec: Spec,
    index: int,
    lane: _Lane,
    codes: Mapping[str, CodeReference],
    infos: Mapping[str, ExperimentInfo],
    instruments: tuple[InstrumentJob, ...],
) -> list[tuple[Arm, Iterations, ArmJob]]:
    entry = spec.entries[index]
    code, info = codes[entry.experiment], infos[entry.experiment]
    other = lane.baseline.experiment if lane.baseline is not None else ""
    if other:
        code = experiment_code(other, spec)
        info = describe_experiment(short_name(other), code, lane.launch)
        entry = replace(entry, experiment=other, name="")
    combos = expand(entry, info, seed=spec.seed, where=entry_where(spec, index))
    if lane.baseline is not None and not other:
        code = lane.baseline.code(code)
        info = describe_experiment(info.name, code, lane.launch)
        combos = _with_params(combos, info, lane.baseline.params)
    iterations = entry.iterations
    if iterations.assumed:
        wanted = SAMPLES_PER_SIDE if lane.side is not None else iterations.measured
        iterations = replace(iterations, measured=info.iterations or wanted)
    found = []
    for arm in build_arms(entry, info, combos, lane.side):
        job = ArmJob(
            run_id="",
            arm_id=arm.arm_id,
            code=code,
            params=arm.params,
            seed=spec.seed,
            warmup=iterations.warmup,
            inner_loops=spec.inner_loops,
            gc=spec.gc,
            cpu=pinned_cpu(spec),
            instruments=instruments,
            limits=spec.limits,
            launch=lane.launch,
        )
        found.append((arm, iterations, job))
    return found


def _with_references(jobs: dict[str, ArmJob], spec: Spec) -> dict[str, ArmJob]:
    """Each process gets its part of what a run may spend on reference readings in any case."""
    whole_s = ALLOWANCE_S if spec.against is None else INTERLEAVED_ALLOWANCE_S
    each_s = whole_s / (len(jobs) * (spec.processes or 1))
    return {arm_id: replace(job, reference_s=each_s) for arm_id, job in jobs.items()}


def pinned_cpu(spec: Spec) -> int | None:
    """The one CPU on which trials take turns; none where trials overlap or run in this process."""
    alone = spec.parallelism == 1 and spec.isolation is Isolation.PROCESS
    return choose_cpu() if alone and spec.affinity is Affinity.AUTO else None


def _with_params(
    combos: list[dict[str, object]], info: ExperimentInfo, params: Mapping[str, object]
) -> list[dict[str, object]]:
    """The combinations with the baseline's parameters, validated; what becomes equal is measured once."""
    for name, value in params.items():
        parameter = info.parameter(name)
        problem = parameter.problem(value) if parameter is not None else None
        if problem or (parameter is None and not info.open):
            from agentdyno.errors import nearest

            names = [item.name for item in info.parameters]
            raise SpecError(
                problem or f"{info.name} has no parameter {name!r}",
                where=f"--against: {name}",
                remedy=nearest(name, names) if parameter is None else "Give a value of that type.",
            )
    merged: list[dict[str, object]] = []
    for combo in combos:
        changed = {**combo, **params}
        if changed not in merged:
            merged.append(changed)
    return merged


def _targets(
    spec: Spec,
    arms: list[tuple[Arm, Iterations]],
    codes: Mapping[str, CodeReference],
    infos: Mapping[str, ExperimentInfo],
) -> dict[str, Any]:
    if spec.isolation is not Isolation.INLINE:
        return {}
    local = registered("experiments")
    by_name = {infos[ref].name: local[ref].target for ref in codes if ref in local}
    return {arm.arm_id: by_name[arm.experiment] for arm, _ in arms if arm.experiment in by_name}


def _partners(plan: Plan) -> dict[str, str]:
    """Each arm of a two-sided run to the arm it is compared with, where that is one and the same configuration."""
    partners: dict[str, str] = {}
    across = not {arm.experiment for arm in plan.arms if arm.side is Side.BASELINE} & {
        arm.experiment for arm in plan.arms if arm.side is Side.CANDIDATE
    }
    for arm in plan.arms:
        others = [
            other
            for other in plan.arms
            if other.side is not arm.side
            and (across or other.experiment == arm.experiment)
            and other.params == arm.params
        ]
        if arm.side is not None and len(others) == 1:
            partners[arm.arm_id] = others[0].arm_id
    return partners
