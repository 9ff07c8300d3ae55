"""Running a load: each scenario against the target, every window recorded at once, then closed like any other run."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from agentdyno.errors import RunError
from agentdyno.findings.figures.summarise import status_counts, summarise
from agentdyno.findings.figures.window_readings import LOAD_METRICS, window_readings
from agentdyno.findings.run.ask import LOAD_KIND
from agentdyno.findings.stress.judge import stress_report
from agentdyno.load.driver import Driver, Levers
from agentdyno.load.running import run_scenario
from agentdyno.load.scenarios import Settings
from agentdyno.load.selfcheck import self_check
from agentdyno.model import ArmResult, Phase, RunResult, RunStatus, RunWarning, Sample, Status
from agentdyno.model.codec import to_plain
from agentdyno.model.identity import new_run_id
from agentdyno.model.load import LoadOptions, SelfCheck, Window
from agentdyno.reports import write_result
from agentdyno.runner.executor import TrialStep
from agentdyno.runs.closing import artifacts_dir, find_artifacts, labelled, run_status
from agentdyno.runs.environment import capture_environment, capture_vcs
from agentdyno.runs.load.drivers import driver_for, levers_for
from agentdyno.runs.load.prepare import LoadJob, PreparedLoad
from agentdyno.runs.pipeline import INTERRUPTED, make_folder, now_ms, run_folder
from agentdyno.runs.recording import Recording
from agentdyno.store import Store

log = logging.getLogger("agentdyno.load")


@dataclass(frozen=True, slots=True)
class LoadProgress:
    """Where a load run is: the scenario (``number`` of ``total``), and its last window with its readings.

    ``planned_s`` is how long the scenario will take, ``None`` where its answers decide that.
    """

    run_id: str
    scenario: str
    number: int
    total: int
    elapsed_s: float
    planned_s: float | None = None
    window: Window | None = None
    readings: Mapping[str, float] = field(default_factory=dict)


@dataclass(slots=True)
class LoadRunner:
    """Executes prepared load runs into one store, as ``Runner`` does with experiments.

    ``check_client`` measures the client's own error before the run.
    """

    store: Store
    output_root: Path
    on_progress: Callable[[LoadProgress], None] = lambda _: None
    clock: Callable[[], float] = field(default=time.monotonic)
    check_client: Callable[[LoadOptions], SelfCheck] = self_check

    def start(self, prepared: PreparedLoad) -> RunResult:
        """A new run. The target is asked once first: one that cannot answer leaves no run behind."""
        run_id = new_run_id()
        output_dir = Path(prepared.settings.output_dir or self.output_root).expanduser().absolute()
        settings = replace(prepared.settings, output_dir=str(output_dir))
        checked = self.check_client(prepared.load.options)
        with ExitStack() as stack:
            first = stack.enter_context(self._opened(prepared, prepared.jobs[0], None))
            header = RunResult(
                run_id=run_id,
                kind=LOAD_KIND,
                name=settings.name,
                status=RunStatus.RUNNING,
                started_at=now_ms(),
                finished_at=None,
                seed=settings.seed,
                spec=settings,
                environment=capture_environment(),
                vcs=capture_vcs(Path(settings.base_dir)),
                tags=settings.tags,
                notes=settings.notes,
                warnings=prepared.warnings,
                workspace=prepared.workspace.name,
            )
            first.driver.close()
        folder = run_folder(settings, run_id)
        make_folder(folder)
        self.store.begin_run(header, prepared.arms, dict.fromkeys((arm.arm_id for arm in prepared.arms), 0))
        log.info("load run %s begins: %s", run_id, prepared.announcement)
        return self._execute(header, prepared, folder, checked)

    def go_on(self, header: RunResult, prepared: PreparedLoad) -> RunResult:
        """The scenarios that an interrupted run had not begun; the one that was cut short stays as it is."""
        begun = {arm.arm_id for arm in self.store.load_run(header.run_id).arms if arm.samples}
        known = {arm.arm_id for arm in header.arms}
        left = tuple(job for job in prepared.jobs if job.arm.arm_id not in begun)
        if {job.arm.arm_id for job in prepared.jobs} - known:
            raise RunError(
                f"the target or the scenarios of run {header.run_id} have changed since",
                remedy="Start a new run; the windows of the old one stay as they are.",
            )
        if not left:
            raise RunError(
                f"every scenario of run {header.run_id} has been begun: a load is not continued in the middle",
                remedy="`dyno run` with its file, or `dyno load`, starts a new one.",
            )
        folder = run_folder(header.spec, header.run_id)
        make_folder(folder)
        self.store.reopen_run(header.run_id)
        checked = self.check_client(prepared.load.options)
        return self._execute(header, replace(prepared, jobs=left), folder, checked)

    def _execute(self, header: RunResult, prepared: PreparedLoad, folder: Path, checked: SelfCheck) -> RunResult:
        observed: dict[str, dict[str, object]] = {}
        reason: str | None = None
        for number, job in enumerate(prepared.jobs, start=1):
            try:
                observed[job.arm.arm_id] = self._scenario(header, prepared, job, (number, folder, checked))
            except KeyboardInterrupt:
                reason = INTERRUPTED
                break
        return self._close(header, folder, observed, reason, checked)

    def _scenario(
        self, header: RunResult, prepared: PreparedLoad, job: LoadJob, place: tuple[int, Path, SelfCheck]
    ) -> dict[str, object]:
        number, folder, checked = place
        own = artifacts_dir(folder, job.arm.arm_id)
        own.mkdir(parents=True, exist_ok=True)
        recording = Recording(self.store, header.run_id, folder)
        began, began_ms = self.clock(), now_ms()
        progress = LoadProgress(header.run_id, job.scenario.name, number, len(prepared.jobs), 0.0)
        self.on_progress(progress)
        with self._opened(prepared, job, own) as opened:
            settings = Settings(
                params=job.params,
                objectives=prepared.load.slo,
                options=opened.options,
                levers=opened.levers,
                seed=prepared.settings.seed,
                self_check=checked,
            )
            windows = run_scenario(job.scenario, opened.driver, settings)
            try:
                for window in windows:
                    readings = window_readings(window)
                    recording.record(TrialStep(_sample(job.arm.arm_id, window, readings, began_ms)))
                    elapsed_s = self.clock() - began
                    self.on_progress(replace(progress, elapsed_s=elapsed_s, window=window, readings=readings))
            finally:
                windows.close()  # type: ignore[attr-defined]
            return {
                **opened.driver.observed(),
                "simulated": opened.driver.simulated,
                "self_check": to_plain(checked),
            }

    @contextmanager
    def _opened(self, prepared: PreparedLoad, job: LoadJob, artifacts: Path | None) -> Iterator[_Opened]:
        options = job.scenario.options(prepared.load.options, job.params)
        with ExitStack() as stack:
            subject, levers = levers_for(prepared, job.scenario, stack)
            behind = prepared.subject.target.url if prepared.subject.target is not None else ""
            driver = driver_for(replace(prepared, subject=subject), options, artifacts, behind)
            driver.open()
            stack.callback(driver.close)
            yield _Opened(driver, levers, options)

    def _close(
        self,
        header: RunResult,
        folder: Path,
        observed: Mapping[str, Mapping[str, object]],
        reason: str | None,
        checked: SelfCheck,
    ) -> RunResult:
        stored = self.store.load_run(header.run_id)
        arms = []
        for arm in stored.arms:
            seen = observed.get(arm.arm_id) or {"self_check": to_plain(checked), **arm.observed}
            arms.append(_closed_arm(arm, seen, folder))
        closed = replace(stored, arms=tuple(arms), stopped_because=reason, finished_at=now_ms())
        closed = replace(closed, warnings=(*header.warnings, *_warnings(closed)))
        closed = replace(closed, status=run_status(closed, ended_early=reason is not None))
        write_result(closed, folder / "result.json")
        self.store.finish_run(closed, folder=folder)
        log.info("load run %s is %s, in %s", header.run_id, closed.status, folder)
        return closed


@dataclass(frozen=True, slots=True)
class _Opened:
    driver: Driver
    levers: Levers
    options: LoadOptions


def _sample(arm_id: str, window: Window, readings: Mapping[str, float], began_ms: int) -> Sample:
    return Sample(
        arm_id=arm_id,
        phase=Phase.MEASURED,
        iteration=window.index,
        status=Status.OK,
        started_at_ms=began_ms + round(window.starts_s * 1000),
        readings=readings,
        details={"window": to_plain(window)},
    )


def _closed_arm(arm: ArmResult, seen: Mapping[str, object], folder: Path) -> ArmResult:
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
        artifacts=find_artifacts(folder, arm),
    )


def _warnings(closed: RunResult) -> list[RunWarning]:
    """What its scenarios warn of, and which of them say nothing about the target."""
    found: list[RunWarning] = []
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
