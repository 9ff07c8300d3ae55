"""Running a spec: plan, measure, record each sample at once, close."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from agentdyno.errors import RunError
from agentdyno.model import Isolation, Phase, Plan, Progress, RunResult, RunStatus, RunWarning, Spec, Status
from agentdyno.model.identity import new_run_id
from agentdyno.reports import write_result
from agentdyno.runner.executor import Executor
from agentdyno.runner.executors.inline import InlineExecutor
from agentdyno.runner.executors.processes import ProcessExecutor
from agentdyno.runner.rules.stopping import FailureRate, PrecisionReached, TimeBudget
from agentdyno.runner.schedule import Schedule
from agentdyno.runs.closing import artifacts_dir, close_result, run_status, teardown_warnings
from agentdyno.runs.environment import capture_environment, capture_vcs
from agentdyno.runs.experiment.prepare import Prepared
from agentdyno.runs.recording import Recording
from agentdyno.stats import precise_enough
from agentdyno.store import Store

log = logging.getLogger("agentdyno.run")
INTERRUPTED = "interrupted"


@dataclass(slots=True)
class Runner:
    """Executes prepared runs into one store. ``on_progress`` is called between trials, never during one.

    ``output_root`` is where runs go whose spec names no ``output_dir``.
    """

    store: Store
    output_root: Path
    on_progress: Callable[[Progress], None] = lambda _: None
    clock: Callable[[], float] = field(default=time.monotonic)

    def start(self, prepared: Prepared) -> RunResult:
        """A new run, from its header to its closed result."""
        run_id = new_run_id()
        output_dir = Path(prepared.spec.output_dir or self.output_root).expanduser().absolute()
        prepared = replace(prepared, spec=replace(prepared.spec, output_dir=str(output_dir)))
        folder = run_folder(prepared.spec, run_id)
        make_folder(folder)
        header = RunResult(
            run_id=run_id,
            kind="experiment",
            name=prepared.spec.name,
            status=RunStatus.RUNNING,
            started_at=now_ms(),
            finished_at=None,
            seed=prepared.spec.seed,
            spec=prepared.spec,
            environment=capture_environment(),
            vcs=capture_vcs(Path(prepared.spec.base_dir)),
            tags=prepared.spec.tags,
            notes=prepared.spec.notes,
            warnings=prepared.warnings,
        )
        self.store.begin_run(header, prepared.plan.arms, planned_counts(prepared.plan))
        log.info("run %s begins: %d arms, %d trials", run_id, len(prepared.plan.arms), len(prepared.plan.trials))
        return self._execute(header, prepared, folder, {})

    def go_on(self, header: RunResult, prepared: Prepared, *, retry_errors: bool = False) -> RunResult:
        """An unfinished run: only trials without a sample are executed (with ``retry_errors`` failed ones too)."""
        folder = run_folder(prepared.spec, header.run_id)
        make_folder(folder)
        self.store.reopen_run(header.run_id)
        self._recording(header.run_id, folder).rescue()
        again = {Status.CANCELLED}
        if retry_errors:
            again |= {Status.ERROR, Status.TIMEOUT, Status.LIMIT}
        recorded = self.store.recorded(header.run_id)
        done = {key: status for key, status in recorded.items() if status not in again}
        header = replace(header, warnings=prepared.warnings)
        return self._execute(header, prepared, folder, done)

    def _execute(self, header: RunResult, prepared: Prepared, folder: Path, done: Mapping[str, Status]) -> RunResult:
        executor = self._executor(header, prepared, folder)
        executor.open()
        failing = FailureRate(prepared.spec.max_failure_rate)
        schedule = self._schedule(prepared, executor, failing, done.keys())
        earlier = self.store.load_run(header.run_id).arms if done else ()
        for arm in earlier:
            for sample in arm.samples:
                if sample.key in done:
                    for rule in schedule.rules:
                        rule.observe(sample)
        interrupted = self._recording(header.run_id, folder).take(schedule, len(done))
        extra = teardown_warnings(executor.facts.teardown_failures)
        given_up = [arm.arm_id for arm in prepared.plan.arms if failing.given_up(arm.arm_id)]
        extra += [
            RunWarning(
                "given-up",
                "given up: too many of its samples failed (max_failure_rate)",
                "Mend it and run again, or raise max_failure_rate.",
                arm_id,
            )
            for arm_id in given_up
        ]
        reason = INTERRUPTED if interrupted else schedule.stopped_because
        if reason is None and given_up:
            reason = f"{len(given_up)} of {len(prepared.plan.arms)} arms failed too often"
        stored = replace(
            self.store.load_run(header.run_id),
            warnings=(*header.warnings, *extra),
            overhead_s=executor.facts.overhead_s,
            stopped_because=reason,
            finished_at=now_ms(),
        )
        settled = {arm_id for rule in schedule.rules if isinstance(rule, PrecisionReached) for arm_id in rule.settled}
        closed = close_result(
            stored, metrics=prepared.metrics, observed=executor.facts.observed, folder=folder, settled=settled
        )
        closed = replace(closed, status=run_status(closed, ended_early=reason is not None))
        write_result(closed, folder / "result.json")
        self.store.finish_run(closed, folder=folder)
        log.info("run %s is %s, in %s", header.run_id, closed.status, folder)
        return closed

    def _recording(self, run_id: str, folder: Path) -> Recording:
        return Recording(self.store, run_id, folder, self.on_progress, self.clock)

    def _executor(self, header: RunResult, prepared: Prepared, folder: Path) -> Executor:
        jobs = {}
        for arm_id, job in prepared.jobs.items():
            own = artifacts_dir(folder, arm_id)
            own.mkdir(parents=True, exist_ok=True)
            jobs[arm_id] = replace(job, run_id=header.run_id, artifacts_dir=str(own.resolve()))
        if prepared.spec.isolation is Isolation.INLINE:
            return InlineExecutor(jobs, prepared.targets)
        return ProcessExecutor(jobs)

    def _schedule(
        self, prepared: Prepared, executor: Executor, failing: FailureRate, done: Collection[str]
    ) -> Schedule:
        spec = prepared.spec
        autos = {arm_id: item.auto for arm_id, item in prepared.iterations.items() if item.auto is not None}
        rules: list[FailureRate | TimeBudget | PrecisionReached] = [failing]
        if autos:
            rules.append(PrecisionReached(autos, precise_enough, prepared.partners))
        if spec.time_budget_s is not None:
            rules.append(TimeBudget(spec.time_budget_s, self.clock))
        return Schedule(prepared.plan, executor, rules, done, spec.parallelism)


def planned_counts(plan: Plan) -> dict[str, int]:
    """Measured samples that the plan holds for each arm."""
    counts = dict.fromkeys((arm.arm_id for arm in plan.arms), 0)
    for trial in plan.trials:
        counts[trial.arm_id] += trial.phase is Phase.MEASURED
    return counts


def run_folder(spec: Spec, run_id: str) -> Path:
    """``<output_dir>/<run_id>``; a started run's ``output_dir`` is absolute."""
    return Path(spec.output_dir or ".") / run_id


def make_folder(folder: Path) -> None:
    """Creates the run's folder and proves that files can be written there, before anything is measured."""
    try:
        (folder / "artifacts").mkdir(parents=True, exist_ok=True)
        probe = folder / ".writable"
        probe.write_bytes(b"")
        probe.unlink()
    except OSError as error:
        raise RunError(
            f"cannot write there: {error.strerror}",
            where=f"output_dir {folder.parent}",
            remedy="Choose another with `output_dir:` or --output-dir.",
        ) from None


def now_ms() -> int:
    return time.time_ns() // 1_000_000
