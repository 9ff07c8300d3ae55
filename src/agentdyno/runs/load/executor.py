"""Performing load scenarios: a trial is a scenario, its samples are the windows that come out while it runs."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, cast

from agentdyno.findings.figures.window_readings import window_readings
from agentdyno.load.driver import Driver, Levers
from agentdyno.load.running import run_scenario
from agentdyno.load.scenarios import ScenarioSettings
from agentdyno.model import Phase, Sample, Status, Trial
from agentdyno.model.codec import to_plain
from agentdyno.model.load import LoadOptions, SelfCheck, Window
from agentdyno.runner.executor import Facts, TrialStep
from agentdyno.runs.closing import artifacts_dir
from agentdyno.runs.load.drivers import driver_for, levers_for
from agentdyno.runs.load.prepare import LoadJob, PreparedLoad
from agentdyno.runs.place import now_ms

if TYPE_CHECKING:
    from agentdyno.load.clients.fleet import Fleet

CheckClient = Callable[[LoadOptions], SelfCheck]
"""Measures the client's own error before the run."""


@dataclass(frozen=True, slots=True)
class _Opened:
    driver: Driver
    levers: Levers
    options: LoadOptions


@dataclass(frozen=True, slots=True)
class _Running:
    """The scenario in flight; closing ``stack`` stops it and lets its driver go."""

    trial: Trial
    driver: Driver
    windows: Iterator[Window]
    began_ms: int
    stack: ExitStack


class LoadExecutor:
    """The ``Executor`` of load runs, one scenario at a time.

    ``open`` asks the target once, so that one that cannot answer leaves no run behind. What was observed of an arm
    is the check of the client alone until its scenario has ended; then it also says whether the target is simulated.
    """

    def __init__(self, prepared: PreparedLoad, folder: Path, check_client: CheckClient) -> None:
        self._prepared = prepared
        self._jobs = {job.arm.arm_id: job for job in prepared.jobs}
        self._folder = folder
        self._check_client = check_client
        self._checked: SelfCheck | None = None
        self._running: _Running | None = None
        self._fleet: Fleet | None = None
        self._elsewhere = ExitStack()
        self.facts = Facts()

    def open(self) -> None:
        options = self._prepared.load.options
        if self._prepared.load.clients:
            from agentdyno.runs.load.clients import open_fleet

            self._fleet = open_fleet(self._prepared, self._elsewhere)
            self._checked = self._fleet.check(options)
        else:
            self._checked = self._check_client(options)
        self.facts.observed.update((arm_id, {"self_check": to_plain(self._checked)}) for arm_id in self._jobs)
        with self._opened(self._prepared.jobs[0], None):
            pass

    def submit(self, trial: Trial) -> None:
        assert self._running is None, "one scenario at a time"
        job, began_ms = self._jobs[trial.arm_id], now_ms()
        own = artifacts_dir(self._folder, trial.arm_id)
        own.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            opened = stack.enter_context(self._opened(job, own))
            settings = ScenarioSettings(
                params=job.params,
                objectives=self._prepared.load.slo,
                options=opened.options,
                levers=opened.levers,
                seed=self._prepared.settings.seed,
                self_check=self._checked,
            )
            windows = run_scenario(job.scenario, opened.driver, settings)
            stack.callback(cast(Generator[Window], windows).close)
            self._running = _Running(trial, opened.driver, windows, began_ms, stack.pop_all())

    def wait(self) -> TrialStep:
        running = self._running
        assert running is not None, "nothing is in flight"
        window = next(running.windows, None)
        if window is not None:
            return TrialStep(_sample(running, window), ended=False)
        self.facts.observed[running.trial.arm_id] = {
            **running.driver.observed(),
            "simulated": running.driver.simulated,
            "self_check": to_plain(self._checked),
        }
        self._end_scenario()
        return TrialStep(None, trial=running.trial)

    def close(self) -> None:
        with self._elsewhere:
            self._end_scenario()

    def _end_scenario(self) -> None:
        running, self._running = self._running, None
        if running is not None:
            running.stack.close()

    @contextmanager
    def _opened(self, job: LoadJob, artifacts: Path | None) -> Iterator[_Opened]:
        prepared = self._prepared
        options = job.scenario.options(prepared.load.options, job.params)
        with ExitStack() as stack:
            subject, levers = levers_for(prepared, job.scenario, stack)
            driver = driver_for(
                replace(prepared, subject=subject), options, artifacts, prepared.subject.address, self._fleet
            )
            driver.open()
            stack.callback(driver.close)
            yield _Opened(driver, levers, options)


def _sample(running: _Running, window: Window) -> Sample:
    """Windows count on from the trial's own iteration, as they did before a trial could have several samples."""
    return Sample(
        arm_id=running.trial.arm_id,
        phase=Phase.MEASURED,
        iteration=window.index,
        status=Status.OK,
        started_at_ms=running.began_ms + round(window.starts_s * 1000),
        readings=window_readings(window),
        details={"window": to_plain(window)},
    )
