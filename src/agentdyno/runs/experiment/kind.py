"""Experiments: code that is measured, arm by arm, in processes of its own or in this one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from agentdyno.errors import RunError
from agentdyno.model import Isolation, Plan, RunResult
from agentdyno.runs.kind import Announced, Ended, KindWords, Prepared, RunRequest, Source, Tools, is_remote

if TYPE_CHECKING:
    from agentdyno.contracts import StopRule
    from agentdyno.runner.bench.job import ArmJob
    from agentdyno.runner.executor import Executor
    from agentdyno.runs.experiment.prepare import PreparedExperiment
    from agentdyno.runs.place import Place


def _changed(header: RunResult, plan: Plan) -> RunError | None:
    if {arm.arm_id for arm in plan.arms} == {arm.arm_id for arm in header.arms}:
        return None
    return RunError(
        f"the experiments of run {header.run_id} have changed since: their parameters are no longer the same",
        where=header.spec.source or None,
        remedy="Start a new run; the samples of the old one stay as they are.",
    )


class ExperimentKind:
    """The kind of specs. The body of a request are parameters from the command line, if there are any."""

    name = "experiment"
    findings = ("comparison",)
    continuable = True
    words = KindWords("samples", _changed)

    def read(self, source: Source, changes: Mapping[str, object]) -> RunRequest:
        from agentdyno.specs import load_spec, params_of, parse_spec, spec_changes, spec_for

        given = dict(changes)
        against, bands = given.pop("against", None), given.pop("bands", False)
        overrides = spec_changes(**given)
        if source.path is not None:
            spec = load_spec(source.path, quick=source.quick, overrides=overrides)
        elif source.document is not None:
            document = {"source": "spec", "base_dir": Path.cwd(), "quick": source.quick}
            spec = parse_spec(source.document, overrides=overrides, **document)  # type: ignore[arg-type]
        else:
            spec = spec_for(source.name, base_dir=Path.cwd(), overrides=overrides)
        if against:
            spec = replace(spec, against=str(against))
        if bands:
            spec = replace(spec, bands=spec.bands or {})
        return RunRequest(self.name, spec, params_of(overrides))

    def again(self, header: RunResult, tools: Tools) -> RunRequest:  # noqa: ARG002
        return RunRequest(self.name, header.spec)

    @contextmanager
    def prepare(self, request: RunRequest, tools: Tools) -> Iterator[Prepared[PreparedExperiment]]:
        from agentdyno.runs.experiment.prepare import prepare

        overridden = request.body if isinstance(request.body, Mapping) else None
        ready = prepare(request.spec, overridden=overridden, say=tools.say)
        yield Prepared(
            request=replace(request, spec=ready.spec),
            plan=ready.plan,
            work=ready,
            warnings=ready.warnings,
            announced=Announced(_announcement(ready), len(ready.plan.trials)),
            parallelism=ready.spec.parallelism,
            samples_per_trial=None if ready.yields else 1,
        )

    def executor(self, prepared: Prepared[PreparedExperiment], place: Place) -> Executor:
        from agentdyno.runner.executors.inline import InlineExecutor
        from agentdyno.runner.executors.processes import ProcessExecutor
        from agentdyno.runs.closing import artifacts_dir

        jobs = {
            arm_id: replace(
                job, run_id=place.run_id, artifacts_dir=str(artifacts_dir(place.folder, arm_id).resolve())
            )
            for arm_id, job in prepared.work.jobs.items()
        }
        if is_remote(prepared.spec.executor):
            return _remote_executor(prepared, jobs, place)
        if prepared.spec.isolation is Isolation.INLINE:
            return InlineExecutor(jobs, prepared.work.targets, place.begun)
        return ProcessExecutor(jobs, place.begun)

    def rules(
        self,
        prepared: Prepared[PreparedExperiment],
        executor: Executor,
        tools: Tools,  # noqa: ARG002
        given_up: Callable[[str], bool],  # noqa: ARG002
    ) -> list[StopRule]:
        from agentdyno.runner.rules.stopping import PrecisionReached
        from agentdyno.stats import precise_enough

        autos = {arm_id: item.auto for arm_id, item in prepared.work.iterations.items() if item.auto is not None}
        rules: list[StopRule] = [PrecisionReached(autos, precise_enough, prepared.work.partners)] if autos else []
        if is_remote(prepared.spec.executor):
            from agentdyno.runner.farm.trials import FarmTrialExecutor

            assert isinstance(executor, FarmTrialExecutor), "made above"
            rules.append(executor.timing)
        return rules

    def close(self, header: RunResult, prepared: Prepared[PreparedExperiment], ended: Ended) -> RunResult:
        from agentdyno.runner.rules.stopping import PrecisionReached
        from agentdyno.runs.closing import close_result

        settled = {arm_id for rule in ended.rules if isinstance(rule, PrecisionReached) for arm_id in rule.settled}
        return close_result(
            ended.whole(header),
            metrics=prepared.work.metrics,
            observed=ended.facts.observed,
            folder=ended.folder,
            settled=settled,
        )


def _remote_executor(prepared: Prepared[PreparedExperiment], jobs: Mapping[str, ArmJob], place: Place) -> Executor:
    from agentdyno.runner.farm.trials import FarmTrialExecutor
    from agentdyno.runs.closing import artifacts_dir
    from agentdyno.runs.cluster.ray_farm import RayFarm
    from agentdyno.runs.experiment.ordering import comparisons, experiment_order

    def keep(arm_id: str, name: str, content: bytes) -> None:
        target = artifacts_dir(place.folder, arm_id) / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content)

    work, spec = prepared.work, prepared.spec
    farm = RayFarm(spec.executor, *experiment_order(work, jobs, place.begun), place.say)
    return FarmTrialExecutor(farm, comparisons(work), spec.parallelism, keep, place.say)


def _announcement(prepared: PreparedExperiment) -> str:
    """One line before anything is spent."""
    arms, trials = len(prepared.plan.arms), len(prepared.plan.trials)
    against = f", against {prepared.baseline.label}" if prepared.baseline is not None else ""
    order = f", {prepared.spec.order.value}" if arms > 1 else ""
    return f"{prepared.spec.name}: {arms} arm{'s' * (arms > 1)}, {trials} trials{order}{against}"
