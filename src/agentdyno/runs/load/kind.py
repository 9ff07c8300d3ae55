"""Loads: scenarios against one target, window by window."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from agentdyno.errors import RunError
from agentdyno.model import ArmResult, Phase, Plan, RunResult, RunWarning, Trial
from agentdyno.model.load import LoadOptions, LoadSpec, Outcome, SelfCheck
from agentdyno.model.sample import DISTURBED
from agentdyno.runs.kind import (
    Announced,
    Ended,
    HeaderParts,
    KindWords,
    NothingLeft,
    Prepared,
    RunRequest,
    Source,
    Tools,
)

if TYPE_CHECKING:
    from agentdyno.contracts import StopRule
    from agentdyno.runner.executor import Executor
    from agentdyno.runs.load.prepare import PreparedLoad
    from agentdyno.runs.place import Place


def _changed(header: RunResult, plan: Plan) -> RunError | None:
    """A scenario that the target no longer allows is left out; anything else is another run."""
    if not {arm.arm_id for arm in plan.arms} - {arm.arm_id for arm in header.arms}:
        return None
    return RunError(
        f"the target or the scenarios of run {header.run_id} have changed since",
        remedy="Start a new run; the windows of the old one stay as they are.",
    )


def _self_check(options: LoadOptions) -> SelfCheck:
    from agentdyno.load.selfcheck import self_check

    return self_check(options)


_WORDS = KindWords("windows", _changed)


@dataclass(frozen=True, slots=True)
class LoadKind:
    """The kind of loads. The body of a request is the ``LoadSpec``. A trial is a scenario: one that was cut short
    stays as it is. ``check_client`` measures the client's own error before the run."""

    check_client: Callable[[LoadOptions], SelfCheck] = _self_check
    name = "load"
    findings: tuple[str, ...] = ("stress",)
    continuable: bool = False
    words: KindWords = _WORDS

    def read(self, source: Source, changes: Mapping[str, object]) -> RunRequest:
        from agentdyno.specs.load.build import load_load, parse_load

        if source.path is not None:
            loaded = load_load(source.path, quick=source.quick, overrides=changes)
        else:
            where = {"source": "load", "base_dir": Path.cwd(), "quick": source.quick}
            loaded = parse_load(source.document or {}, overrides=changes, **where)  # type: ignore[arg-type]
        return RunRequest(self.name, loaded.settings, loaded.load)

    def again(self, header: RunResult, tools: Tools) -> RunRequest:  # noqa: ARG002
        from agentdyno.specs.load.build import load_of

        if all(arm.samples_total for arm in header.arms):
            raise NothingLeft(
                f"every scenario of run {header.run_id} has been begun: a load is not continued in the middle",
                remedy="`dyno run` with its file, or `dyno load`, starts a new one.",
            )
        return RunRequest(self.name, header.spec, load_of(header.spec))

    @contextmanager
    def prepare(self, request: RunRequest, tools: Tools) -> Iterator[Prepared[PreparedLoad]]:
        from agentdyno.runs.load.prepare import preparing_load
        from agentdyno.specs.load.build import LoadedLoad

        assert isinstance(request.body, LoadSpec), "the request of a load"
        with preparing_load(
            LoadedLoad(request.body, request.spec),
            tools.project,
            say=tools.say,
            start=tools.store is not None,
            environ=tools.environ,
        ) as ready:
            yield Prepared(
                request=request,
                plan=Plan(ready.arms, tuple(Trial(arm.arm_id, Phase.MEASURED, 0) for arm in ready.arms)),
                work=ready,
                parts=HeaderParts(workspace=ready.workspace.name),
                warnings=ready.warnings,
                announced=Announced(ready.announcement),
                samples_per_trial=None,
            )

    def executor(self, prepared: Prepared[PreparedLoad], place: Place) -> Executor:
        from agentdyno.runs.load.executor import LoadExecutor

        return LoadExecutor(prepared.work, place.folder, self.check_client)

    def rules(
        self,
        prepared: Prepared[PreparedLoad],  # noqa: ARG002
        executor: Executor,  # noqa: ARG002
        tools: Tools,  # noqa: ARG002
        given_up: Callable[[str], bool],  # noqa: ARG002
    ) -> list[StopRule]:
        """None: the limits of a load are in its scenarios."""
        return []

    def close(self, header: RunResult, prepared: Prepared[PreparedLoad], ended: Ended) -> RunResult:  # noqa: ARG002
        stored = ended.whole(header)
        arms = tuple(_closed_arm(arm, ended) for arm in stored.arms)
        closed = replace(stored, arms=arms)
        return replace(closed, warnings=(*header.warnings, *_warnings(closed)))


def _closed_arm(arm: ArmResult, ended: Ended) -> ArmResult:
    from agentdyno.findings.figures.summarise import status_counts, summarise
    from agentdyno.findings.figures.window_readings import LOAD_METRICS
    from agentdyno.runs.closing import find_artifacts, labelled

    told = ended.facts.observed.get(arm.arm_id, {})
    seen = told if "simulated" in told else {**told, **arm.observed}
    simulated = seen.get("simulated") is True or any(
        isinstance(window := sample.details.get("window"), Mapping) and window.get("simulated") is True
        for sample in arm.samples
    )
    return replace(
        arm,
        observed={**arm.observed, **seen, "simulated": simulated},
        metrics=labelled(summarise(arm.samples, LOAD_METRICS), simulated=simulated),
        statuses=status_counts(arm.samples),
        planned=len(arm.samples),
        samples_total=len(arm.samples),
        artifacts=find_artifacts(ended.folder, arm),
    )


def _warnings(closed: RunResult) -> list[RunWarning]:
    """What its scenarios warn of, and which of them say nothing about the target."""
    from agentdyno.findings.stress.judge import stress_report

    found = [item for arm in closed.arms for item in (*_failed_checks(arm), *_disturbed(arm))]
    ids = {arm.experiment: arm.arm_id for arm in closed.arms}
    for item in stress_report(closed).scenarios:
        for warning in item.warnings:
            message = warning.message.removeprefix(f"{item.scenario}: ")
            found.append(replace(warning, message=message, arm_id=ids.get(item.scenario)))
        if item.client_limited and not any(warning.code == "client-limited" for warning in item.warnings):
            found.append(
                RunWarning(
                    "client-limited",
                    item.client_reason,
                    "Use more --processes or another machine: this says nothing about the target.",
                    ids.get(item.scenario),
                )
            )
    return found


def _disturbed(arm: ArmResult) -> list[RunWarning]:
    if not any(DISTURBED in sample.details for sample in arm.samples):
        return []
    from agentdyno.findings.run.judge_disturbed import disturbed_windows

    return disturbed_windows(arm)


def _failed_checks(arm: ArmResult) -> list[RunWarning]:
    """The first reason why a call of a journey counts as failed."""
    windows = [sample.details.get("window") for sample in arm.samples]
    counts = [window["outcomes"].get(Outcome.CHECK_FAILED, 0) for window in windows if isinstance(window, Mapping)]
    texts = [window["examples"].get(Outcome.CHECK_FAILED) for window in windows if isinstance(window, Mapping)]
    first = next((text for text in texts if text), None)
    if first is None:
        return []
    message = f"{sum(counts):,} calls failed a check of the journey, as in: {first}"
    return [RunWarning("check-failed", message, "Their times are in no figure.", arm.arm_id)]
