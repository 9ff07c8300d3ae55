"""A load run before its first request: the target found, the scenarios with their parameters, what they need."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from agentdyno.errors import SpecError
from agentdyno.load.journeys.runner import Journey, load_journey
from agentdyno.load.plan.dataset import CaseSet
from agentdyno.load.plan.schedule import ramp, sawtooth, soak, spike, steps
from agentdyno.load.plan.trace import Trace
from agentdyno.load.scenarios import (
    FAULTS,
    FIND_LIMIT,
    PROCESS_FAULTS,
    SCENARIOS,
    Scenario,
    custom,
    fault_names,
    planned_seconds,
    resolve_params,
    scenario_named,
    share_params,
)
from agentdyno.model import Arm, RunWarning, Spec, Workspace
from agentdyno.model.codec import to_plain
from agentdyno.model.identity import digest
from agentdyno.model.load import Arrivals, Dialect, LoadSpec, Stage
from agentdyno.runs.kind import Say
from agentdyno.runs.lineup import LocalServer, Maker
from agentdyno.runs.load.target import Subject, find_subject
from agentdyno.specs.load.build import LoadedLoad

ALL = "all"


@dataclass(frozen=True, slots=True)
class LoadJob:
    """One scenario against the target: an arm of the run."""

    arm: Arm
    scenario: Scenario
    params: Mapping[str, object]
    planned_s: float | None = None
    """How long it takes; ``None`` where it is a search."""


@dataclass(frozen=True, slots=True)
class PreparedLoad:
    """Everything that a load run needs; what was started for it ends with the block that prepared it."""

    load: LoadSpec
    settings: Spec
    subject: Subject
    jobs: tuple[LoadJob, ...]
    maker: Maker
    workspace: Workspace
    environ: Mapping[str, str]
    warnings: tuple[RunWarning, ...] = ()
    trace: Trace | None = None
    cases: CaseSet | None = None
    journey: Journey | None = None

    @property
    def arms(self) -> tuple[Arm, ...]:
        return tuple(job.arm for job in self.jobs)

    @property
    def key(self) -> str | None:
        """The secret that goes with every request; ``None`` where none is needed or set."""
        target = self.subject.target
        return (self.environ.get(target.key_env) or None) if target is not None and target.key_env else None

    @property
    def announcement(self) -> str:
        """One line before anything is sent."""
        names = ", ".join(job.scenario.name for job in self.jobs)
        how = (
            "through its contract" if self.subject.target is None else f"{self.subject.target.dialect.value} protocol"
        )
        return f"{self.subject.label} ({how}) under load: {names}."

    def plan_lines(self) -> list[str]:
        """What each scenario will do, one line a parameter."""
        lines = []
        for job in self.jobs:
            lines.append(f"{job.scenario.name}: {job.scenario.description}")
            lines += [f"    {name}: {value}" for name, value in job.params.items()]
            if job.scenario.name == "custom":
                lines += [f"    {_said(stage)}" for stage in _stages(self.load)]
        return lines


@dataclass(frozen=True, slots=True)
class _Chosen:
    scenario: Scenario
    params: Mapping[str, object] = field(default_factory=dict)


@contextmanager
def preparing_load(
    loaded: LoadedLoad,
    workspace: Workspace,
    *,
    say: Say = lambda _: None,
    start: bool = True,
    environ: Mapping[str, str] = os.environ,
) -> Iterator[PreparedLoad]:
    """Finds the target and the scenarios; starts the bundled model where it is the target, if ``start``."""
    spec = loaded.load
    subject = find_subject(spec, workspace, Path(loaded.settings.base_dir))
    if spec.key_env and not spec.clients and not environ.get(spec.key_env):
        raise SpecError(
            f"the variable {spec.key_env} is not set",
            where="load.api_key_env",
            remedy="Set it to the target's key, or leave it out where the target wants none.",
        )
    trace, cases = _trace(spec), _cases(spec)
    chosen, warnings = _possible(_choose(spec, trace), subject, spec)
    arms = [
        Arm(
            arm_id=digest(["load", subject.label, item.scenario.name, to_plain(_arm_params(item, spec))], 16),
            name=item.scenario.name,
            experiment=item.scenario.name,
            params={"target": subject.label, **_arm_params(item, spec)},
            agent=subject.label,
        )
        for item in chosen
    ]
    jobs = tuple(
        LoadJob(arm, item.scenario, item.params, planned_seconds(item.scenario, item.params))
        for arm, item in zip(arms, chosen, strict=True)
    )
    maker = Maker(spec.options.connections if subject.target is None else 1, environ)
    with ExitStack() as stack:
        if subject.wants_local_model and start:
            url = LocalServer(4, stack, say).url
            maker = replace(maker, local_url=url)
            subject = subject.at(url)
        yield PreparedLoad(
            load=spec,
            settings=loaded.settings,
            subject=subject,
            jobs=jobs,
            maker=replace(maker, workers=min(maker.workers, os.cpu_count() or 1) if start else 1),
            workspace=workspace,
            environ=environ,
            warnings=tuple(warnings),
            trace=trace,
            cases=cases,
            journey=load_journey(spec.journey, Path(loaded.settings.base_dir)) if spec.journey else None,
        )


def _choose(spec: LoadSpec, trace: Trace | None) -> list[_Chosen]:
    """The scenarios asked for, each with a value for every parameter; all eight where nothing was said."""
    if trace is not None:
        return [_Chosen(custom(trace.stages(), Arrivals.TRACE))]
    if spec.stages or spec.shape is not None:
        _refuse_params(spec)
        return [_Chosen(custom(_stages(spec), spec.arrivals, spec.gamma_shape))]
    if spec.find_limit:
        return [_Chosen(FIND_LIMIT, resolve_params(FIND_LIMIT, spec.profile, spec.params, spec.rate))]
    names = list(spec.scenarios) or [ALL]
    scenarios = list(SCENARIOS.values()) if ALL in names else [scenario_named(name) for name in dict.fromkeys(names)]
    given = share_params(scenarios, spec.params)
    return [_Chosen(item, resolve_params(item, spec.profile, given[item.name], spec.rate)) for item in scenarios]


def _possible(chosen: list[_Chosen], subject: Subject, spec: LoadSpec) -> tuple[list[_Chosen], list[RunWarning]]:
    """Leaves out what this target does not allow, and says so; an error where nothing is left."""
    left, warnings = [], []
    for item in chosen:
        item = _fitting(item, subject, spec)
        reason = _obstacle(item, subject, spec)
        if reason:
            warnings.append(RunWarning("scenario-left-out", f"{item.scenario.name} was left out: {reason}"))
        else:
            left.append(item)
    if not left:
        raise SpecError(
            "; ".join(warning.message for warning in warnings),
            where="load.scenarios",
            remedy="Choose another scenario.",
        )
    return left, warnings


def _fitting(item: _Chosen, subject: Subject, spec: LoadSpec) -> _Chosen:
    """The faults that this target can have, where none were named."""
    named = {"faults", f"{item.scenario.name}.faults"} & spec.params.keys()
    if "proxy" not in item.scenario.needs or named or not subject.has_own_processes:
        return item
    return replace(item, params={**item.params, "faults": list(PROCESS_FAULTS)})


def _fault_obstacle(params: Mapping[str, object], subject: Subject) -> str:
    possible = FAULTS if subject.address else PROCESS_FAULTS if subject.has_own_processes else ()
    if not possible:
        return "the agent lives in this very process, which is not to fail"
    wrong = [name for name in fault_names(params["faults"]) if name not in possible]
    return f"{', '.join(wrong)} cannot be done to it; what can is {', '.join(possible)}" if wrong else ""


def _obstacle(item: _Chosen, subject: Subject, spec: LoadSpec) -> str:
    scenario = item.scenario
    if "proxy" in scenario.needs and spec.clients:
        return "its faults are made by a proxy on this machine, which clients on others do not go through"
    if "proxy" in scenario.needs:
        return _fault_obstacle(item.params, subject)
    if "process" in scenario.needs and not subject.has_process_here:
        return "the target has no process here whose memory could be limited"
    if "words" in scenario.needs and subject.target is not None and subject.target.dialect is Dialect.HTTP:
        return "a plain request has no input that could grow"
    return ""


def _arm_params(item: _Chosen, spec: LoadSpec) -> dict[str, object]:
    """What makes an arm: two runs with the same are compared with each other."""
    params: dict[str, object] = dict(item.params)
    if item.scenario.name == "custom":
        params["shape"] = [_said(stage) for stage in _stages(spec)] or ["trace"]
        params["arrivals"] = spec.arrivals.value
    if spec.dataset:
        params["dataset"] = Path(spec.dataset).name
    if spec.journey:
        params["journey"] = Path(spec.journey).name
    return params


def _stages(spec: LoadSpec) -> tuple[Stage, ...]:
    shape = spec.shape
    if shape is None:
        return spec.stages
    if shape.name == "soak":
        return soak(shape.level, shape.duration_s, closed=shape.closed)
    if shape.name == "ramp":
        return ramp(shape.level, shape.to, shape.duration_s, closed=shape.closed)
    if shape.name == "step":
        return steps(shape.level, shape.to, shape.count, shape.duration_s, closed=shape.closed)
    if shape.name == "sawtooth":
        return sawtooth(shape.level, shape.to, shape.count, shape.duration_s, closed=shape.closed)
    third = shape.duration_s / 3
    return spike(shape.level, shape.to, third, third, third, closed=shape.closed)


def _refuse_params(spec: LoadSpec) -> None:
    if spec.params:
        name = next(iter(spec.params))
        raise SpecError(
            f"{name!r} is a parameter of a scenario, and none was chosen",
            where=f"load.params.{name}",
            remedy="Add --scenario, or leave it out.",
        )


def _trace(spec: LoadSpec) -> Trace | None:
    if not spec.trace:
        return None
    from agentdyno.load.plan.trace import read_trace

    return read_trace(Path(spec.trace))


def _cases(spec: LoadSpec) -> CaseSet | None:
    if not spec.dataset:
        return None
    from agentdyno.specs.load.cases import read_weighted_cases

    return CaseSet(*read_weighted_cases(Path(spec.dataset)))


def _said(stage: Stage) -> str:
    to: float | None
    if stage.concurrency or stage.concurrency_to is not None:
        level, to, unit = f"{stage.concurrency}", stage.concurrency_to, "in flight"
    else:
        level, to, unit = f"{stage.rate:g}", stage.rate_to, "requests/s"
    return f"{stage.label}: {level}{f' to {to:g}' if to is not None else ''} {unit} for {stage.duration_s:g} s"
