"""Running a suite: put every case to every agent, record each answer at once, close."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from agentdyno.contracts import StopRule
from agentdyno.errors import RunError
from agentdyno.model import Progress, RunResult, RunStatus, RunWarning, Status
from agentdyno.model.identity import new_run_id
from agentdyno.reports import write_result
from agentdyno.runner.executors.cases import CaseExecutor
from agentdyno.runner.rules.budgets import cost_limit, token_limit
from agentdyno.runner.rules.deciding import UntilDecided
from agentdyno.runner.rules.stopping import FailureRate, FatalFailure, TimeBudget
from agentdyno.runner.schedule import Schedule
from agentdyno.runs.closing import teardown_warnings
from agentdyno.runs.environment import capture_environment, capture_vcs
from agentdyno.runs.pipeline import INTERRUPTED, make_folder, now_ms, planned_counts, run_folder
from agentdyno.runs.recording import Recording
from agentdyno.runs.suite.closing import Collected, close_run
from agentdyno.runs.suite.prepare import PreparedSuite
from agentdyno.store import Store

log = logging.getLogger("agentdyno.run")


@dataclass(slots=True)
class SuiteRunner:
    """Executes prepared suites into one store, as ``Runner`` does with experiments."""

    store: Store
    output_root: Path
    on_progress: Callable[[Progress], None] = lambda _: None
    clock: Callable[[], float] = field(default=time.monotonic)

    def start(self, prepared: PreparedSuite) -> RunResult:
        """A new run. Agents are started first: one that cannot work at all leaves no run behind."""
        executor = self._executor(prepared)
        run_id = new_run_id()
        output_dir = Path(prepared.settings.output_dir or self.output_root).expanduser().absolute()
        settings = replace(prepared.settings, output_dir=str(output_dir))
        header = RunResult(
            run_id=run_id,
            kind="suite",
            name=prepared.suite.name,
            status=RunStatus.RUNNING,
            started_at=now_ms(),
            finished_at=None,
            seed=settings.seed,
            spec=settings,
            environment=capture_environment(),
            vcs=capture_vcs(Path(prepared.suite.base_dir)),
            tags=settings.tags,
            notes=settings.notes,
            warnings=prepared.warnings,
            suite=prepared.suite,
            targets=prepared.targets,
            pricing=prepared.rates,
            workspace=prepared.workspace.name,
        )
        try:
            folder = run_folder(settings, run_id)
            make_folder(folder)
            self.store.begin_run(header, prepared.plan.arms, planned_counts(prepared.plan))
        except BaseException:
            executor.close()
            raise
        log.info("run %s begins: %d arms, %d calls", run_id, len(prepared.plan.arms), prepared.calls)
        return self._execute(header, prepared, executor, folder, {})

    def go_on(self, header: RunResult, prepared: PreparedSuite, *, retry_errors: bool = False) -> RunResult:
        """An unfinished run: only trials without an answer are executed (with ``retry_errors`` failed ones too)."""
        executor = self._executor(prepared)
        try:
            folder = run_folder(header.spec, header.run_id)
            make_folder(folder)
            self.store.reopen_run(header.run_id)
            Recording(self.store, header.run_id, folder).rescue()
            again = {Status.CANCELLED} | ({Status.ERROR, Status.TIMEOUT, Status.LIMIT} if retry_errors else set())
            recorded = self.store.recorded(header.run_id)
        except BaseException:
            executor.close()
            raise
        done = {key: status for key, status in recorded.items() if status not in again}
        header = replace(header, warnings=prepared.warnings)
        return self._execute(header, prepared, executor, folder, done)

    def _executor(self, prepared: PreparedSuite) -> CaseExecutor:
        names = {arm.arm_id: arm.name for arm in prepared.plan.arms}
        executor = CaseExecutor(prepared.jobs, prepared.conduct, names, prepared.judges)
        executor.open()
        return executor

    def _execute(
        self,
        header: RunResult,
        prepared: PreparedSuite,
        executor: CaseExecutor,
        folder: Path,
        done: Mapping[str, Status],
    ) -> RunResult:
        failing = FailureRate(prepared.settings.max_failure_rate)
        rules = self._rules(prepared, executor, failing)
        decision = None
        if prepared.settings.until_decided:
            decision = UntilDecided.of(prepared.suite, prepared.plan, given_up=failing.given_up)
            rules.append(decision)
        self._replay(header.run_id, rules, done.keys())
        schedule = Schedule(prepared.plan, executor, rules, done.keys(), prepared.conduct.concurrency)
        benchmarks = {arm.arm_id: arm.benchmark or "" for arm in prepared.plan.arms}
        collected = Collected(prepared.suite, benchmarks, len(prepared.plan.trials))
        recording = Recording(self.store, header.run_id, folder, self.on_progress, self.clock, True, collected.add)
        interrupted = recording.take(schedule, len(done))
        given_up = [arm.arm_id for arm in prepared.plan.arms if failing.given_up(arm.arm_id)]
        reason = INTERRUPTED if interrupted else schedule.stopped_because
        if decision is not None and reason == str(decision.outcome):
            saved, planned = decision.outcome.saved_calls, decision.outcome.planned_calls
            reason = f"{reason}; {saved:,} of {planned:,} calls saved"
        if reason is None and given_up:
            reason = f"{len(given_up)} of {len(prepared.plan.arms)} arms failed too often"
        extra = (*teardown_warnings(executor.facts.teardown_failures), *_given_up(given_up))
        closed = close_run(
            self.store,
            replace(
                header,
                warnings=(*header.warnings, *extra),
                stopped_because=reason,
                finished_at=now_ms(),
                pricing={**prepared.rates, **prepared.prices.snapshot(), "warmup_usd": executor.facts.extra_usd},
            ),
            observed=_observed(prepared, executor),
            collected=None if done else collected,
        )
        write_result(closed, folder / "result.json")
        self.store.finish_run(closed, folder=folder)
        log.info("run %s is %s, in %s", header.run_id, closed.status, folder)
        if executor.facts.fatal is not None:
            kept = any(status != Status.CANCELLED for arm in closed.arms for status in arm.statuses)
            error = executor.facts.fatal
            note = f"What was measured is kept: `dyno resume {header.run_id[:13]}` goes on." if kept else ""
            raise RunError(error.message, where=error.where, remedy=" ".join(filter(None, (error.remedy, note))))
        return closed

    def _rules(self, prepared: PreparedSuite, executor: CaseExecutor, failing: FailureRate) -> list[StopRule]:
        limits, settings = prepared.suite.constraints, prepared.settings
        rules: list[StopRule] = [FatalFailure(executor.facts), failing]
        dollars = [value for value in (prepared.options.max_cost_usd, limits.cost_limit_usd) if value is not None]
        if dollars:
            rules.append(cost_limit(min(dollars), prepared.expected.usd_per_call, lambda: executor.facts.extra_usd))
        if limits.token_limit is not None:
            rules.append(token_limit(limits.token_limit))
        seconds = [value for value in (settings.time_budget_s, limits.time_limit_s) if value is not None]
        if seconds:
            rules.append(TimeBudget(min(seconds), self.clock))
        return rules

    def _replay(self, run_id: str, rules: list[StopRule], done: Collection[str]) -> None:
        """What was spent and what failed before a resume counts."""
        if not done:
            return
        for sample in self.store.iter_samples(run_id, details=True):
            if sample.key in done:
                for rule in rules:
                    rule.observe(sample)


def _given_up(arm_ids: list[str]) -> list[RunWarning]:
    return [
        RunWarning(
            "given-up",
            "given up: too many of its calls failed (max_failure_rate)",
            "Mend it and run again, or raise max_failure_rate.",
            arm_id,
        )
        for arm_id in arm_ids
    ]


def _observed(prepared: PreparedSuite, executor: CaseExecutor) -> dict[str, dict[str, object]]:
    """What the other side says it is, with where the agent's code stands in its history."""
    observed: dict[str, dict[str, object]] = {}
    for arm_id, entrant in prepared.entrants.items():
        told = prepared.conduct.redact(executor.facts.observed.get(arm_id, {}))
        mine: dict[str, object] = dict(told) if isinstance(told, Mapping) else {}
        if entrant.version.commit is not None:
            mine["commit"] = entrant.version.commit + (" (dirty)" if entrant.version.dirty else "")
        observed[arm_id] = mine
    return observed
