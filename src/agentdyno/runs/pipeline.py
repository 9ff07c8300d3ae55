"""The one way in which runs are made: start, resume, and what both do from the first trial to the result file.

What differs between kinds of runs is theirs to say (``RunKind``); everything here is the same for all of them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Generic, TypeVar

from agentdyno.contracts import StopRule
from agentdyno.errors import RunError
from agentdyno.model import Environment, Phase, Plan, RunResult, RunStatus, Status
from agentdyno.model.form import CUT_SHORT, GIVEN_UP, INTERRUPTED
from agentdyno.model.identity import new_run_id
from agentdyno.model.result import is_rescored
from agentdyno.runner.executor import ElasticExecutor, Executor, Facts
from agentdyno.runner.rules.stopping import CommonRules, given_up_warnings
from agentdyno.runner.schedule import Schedule
from agentdyno.runs.closing import refuse_misjudged, run_status, teardown_warnings, written
from agentdyno.runs.disturbance import disturbed
from agentdyno.runs.environment import capture_environment, capture_vcs
from agentdyno.runs.kind import Ended, NothingLeft, Prepared, RunKind, RunRequest, Tools
from agentdyno.runs.kinds import kind_named
from agentdyno.runs.learning import known_ways, learn_ways
from agentdyno.runs.normalising import Normaliser
from agentdyno.runs.ownership import closed_by_signals, owned
from agentdyno.runs.place import Place, make_folder, now_ms, run_folder
from agentdyno.runs.recording import Recording, copied_where_gone

log = logging.getLogger("agentdyno.run")
W = TypeVar("W")


def start(kind: RunKind[W], prepared: Prepared[W], tools: Tools) -> RunResult:
    """A new run, from its header to its closed result.

    What it runs with is opened first: a target or an agent that cannot work at all leaves no run behind.
    """
    output_dir = Path(prepared.spec.output_dir or tools.output_root).expanduser().absolute()
    spec = replace(prepared.spec, output_dir=str(output_dir))
    prepared = replace(prepared, request=replace(prepared.request, spec=spec))
    run_id = new_run_id()
    place = Place(run_id, run_folder(spec, run_id), say=tools.say)
    executor, store = kind.executor(prepared, place), tools.kept_in
    with closed_by_signals():
        executor.open()
        with _closed_on_error(executor):
            make_folder(place.folder)
            header = _header(kind.name, run_id, prepared, executor)
        with owned(place.folder, run_id, leased=store.leased), copied_where_gone(store, place.folder, run_id):
            with _closed_on_error(executor):
                store.runs.begin(header, prepared.plan.arms, planned_samples(prepared))
            log.info("run %s begins: %d arms, %d trials", run_id, len(prepared.plan.arms), len(prepared.plan.trials))
            return _Run(kind, prepared, executor, place, tools).execute(header, {})


def resume(
    reference: str,
    tools: Tools,
    *,
    retry_errors: bool = False,
    moved: Callable[[RunResult], RunResult] = lambda header: header,
) -> RunResult:
    """Goes on with an unfinished run: plans what was stored again and executes the trials that have not ended.

    With ``retry_errors`` those that failed are executed, too. ``moved`` puts the places of this machine into the
    header of a run that was begun on another.
    """
    store = tools.kept_in
    run_id = store.runs.find(reference)
    folder = run_folder(moved(store.runs.load(run_id, samples=False)).spec, run_id)
    with (
        closed_by_signals(),
        owned(folder, run_id, leased=store.leased),
        copied_where_gone(store, folder, run_id),
    ):
        # Read once it is ours: whoever had it may have closed it in the meantime.
        header = store.runs.load(run_id, samples=False)
        if header.status is RunStatus.COMPLETE and not retry_errors:
            raise RunError(
                f"run {run_id} is complete: there is nothing to resume",
                remedy="`dyno run` starts a new one; --retry-errors repeats failed samples.",
            )
        if is_rescored(header):
            raise RunError(
                f"run {run_id} judges answers of another run: no agent is called for it",
                remedy=f"`dyno resume {run_id[:13]}` judges those that are left.",
            )
        return _resume_owned(moved(header), tools, retry_errors)


def _resume_owned(header: RunResult, tools: Tools, retry_errors: bool) -> RunResult:
    store, run_id, kind = tools.kept_in, header.run_id, kind_named(header.kind)
    left_open = header.status is RunStatus.RUNNING
    if tools.choices.executor:
        header = replace(header, spec=replace(header.spec, executor=tools.choices.executor))
    try:
        request = kind.again(header, tools)
    except NothingLeft:
        if not left_open:
            raise
        return _closed_as_it_is(kind, header, tools)
    with kind.prepare(request, tools) as prepared:
        problem = kind.words.changed(header, prepared.plan)
        if problem is not None:
            raise problem
        place = Place(run_id, run_folder(header.spec, run_id), say=tools.say)
        Recording(store, run_id, place.folder).rescue()
        begun = store.runs.unfinished(run_id)
        if kind.continuable:
            place = replace(place, begun=begun)
        executor = kind.executor(prepared, place)
        executor.open()
        with _closed_on_error(executor):
            make_folder(place.folder)
            paused_ms = store.runs.reopen(run_id, now_ms=now_ms())
            again = {Status.CANCELLED} | ({Status.ERROR, Status.TIMEOUT, Status.LIMIT} if retry_errors else set())
            recorded = store.runs.recorded(run_id)
            done = {key: status for key, status in recorded.items() if status not in again}
            if not kind.continuable:
                done |= dict.fromkeys(begun, Status.OK)
        header = replace(header, warnings=prepared.warnings, paused_ms=paused_ms)
        cut_short = left_open and bool(begun) and not kind.continuable
        run = _Run(kind, prepared, executor, place, tools, recorded.keys() - done.keys(), cut_short)
        return run.execute(header, done)


def _closed_as_it_is(kind: RunKind[Any], header: RunResult, tools: Tools) -> RunResult:
    """A run that was killed, with nothing left that could be begun: closed as partial, without asking its target."""
    store, folder = tools.kept_in, run_folder(header.spec, header.run_id)
    make_folder(folder)
    Recording(store, header.run_id, folder).rescue()
    paused_ms = store.runs.note_pause(header.run_id, now_ms=now_ms())
    header = replace(header, stopped_because=CUT_SHORT, finished_at=now_ms(), paused_ms=paused_ms)
    prepared: Prepared[Any] = Prepared(RunRequest(kind.name, header.spec), Plan((), ()), None)
    closed = kind.close(header, prepared, Ended(Facts(), (), folder, store, resumed=True))
    closed = written(replace(closed, status=run_status(closed)), folder)
    store.runs.finish(closed, folder=folder)
    return closed


@contextmanager
def _closed_on_error(executor: Executor) -> Iterator[None]:
    try:
        yield
    except BaseException:
        executor.close()
        raise


def _where_measured(executor: Executor) -> Environment | None:
    """The machine that an executor measures on, where that is not this one."""
    return executor.environment if isinstance(executor, ElasticExecutor) else None


def _header(kind: str, run_id: str, prepared: Prepared[W], executor: Executor) -> RunResult:
    spec, parts = prepared.spec, prepared.parts
    return RunResult(
        run_id=run_id,
        kind=kind,
        name=spec.name,
        status=RunStatus.RUNNING,
        started_at=now_ms(),
        finished_at=None,
        seed=spec.seed,
        spec=spec,
        environment=_where_measured(executor) or capture_environment(),
        vcs=capture_vcs(Path(parts.code_dir or spec.base_dir)),
        tags=spec.tags,
        notes=spec.notes,
        warnings=prepared.warnings,
        suite=parts.suite,
        targets=parts.targets,
        pricing=parts.pricing,
        workspace=parts.workspace,
        form=parts.form,
    )


def planned_counts(plan: Plan) -> dict[str, int]:
    """Measured trials that the plan holds for each arm."""
    counts = dict.fromkeys((arm.arm_id for arm in plan.arms), 0)
    for trial in plan.trials:
        counts[trial.arm_id] += trial.phase is Phase.MEASURED
    return counts


def planned_samples(prepared: Prepared[W]) -> dict[str, int]:
    """Measured samples that each arm will have; 0 where nobody knows beforehand."""
    each = prepared.samples_per_trial or 0
    return {arm_id: count * each for arm_id, count in planned_counts(prepared.plan).items()}


@dataclass(frozen=True, slots=True)
class _Run(Generic[W]):
    """A run that has been begun and whose executor is open. ``repeated`` trials had ended and are performed anew;
    ``cut_short`` where one was not brought to its end and cannot be any more."""

    kind: RunKind[W]
    prepared: Prepared[W]
    executor: Executor
    place: Place
    tools: Tools
    repeated: AbstractSet[str] = frozenset()
    cut_short: bool = False

    def execute(self, header: RunResult, done: Mapping[str, Status]) -> RunResult:
        """Performs the trials that are not ``done``, records each sample at once, closes."""
        prepared, executor, store = self.prepared, self.executor, self.tools.kept_in
        with _closed_on_error(executor):
            ended = {trial.key for trial in prepared.plan.trials if trial.key in done} if done else set()
            common = CommonRules.of(prepared.spec, executor.facts, self.tools.clock)
            own = self.kind.rules(prepared, executor, self.tools, common.failing.given_up)
            rules = (*common.rules, *own)
            self._replay(rules, ended | self.place.begun.keys())
            schedule = Schedule(prepared.plan, executor, rules, ended, prepared.parallelism)
            normaliser = Normaliser(known_ways(prepared.plan.arms), executor.facts.observed)
            self.place.pauses.start()
            try:
                interrupted = self._recording(normaliser).take(schedule, len(ended))
            finally:
                self.place.pauses.stop()
        given_up = common.given_up(prepared.plan)
        reason = INTERRUPTED if interrupted else schedule.stopped_because
        if reason is None and given_up:
            reason = f"{len(given_up)} of {len(prepared.plan.arms)} {GIVEN_UP}"
        if reason is None and self.cut_short:
            reason = CUT_SHORT
        facts = executor.facts
        extra = (
            *teardown_warnings(facts.teardown_failures),
            *given_up_warnings(given_up, self.kind.words.tried),
        )
        header = replace(
            header,
            warnings=(*header.warnings, *extra),
            overhead_s=facts.overhead_s,
            stopped_because=reason,
            finished_at=now_ms(),
        )
        outcome = Ended(facts, rules, self.place.folder, store, resumed=bool(done))
        closed = self.kind.close(header, prepared, outcome)
        closed = normaliser.added_to(closed, whole=not done)
        closed = replace(closed, status=run_status(closed))
        closed = written(closed, self.place.folder)
        store.runs.finish(closed, folder=self.place.folder)
        learn_ways(store, closed)
        log.info("run %s is %s, in %s", header.run_id, closed.status, self.place.folder)
        self._raise_fatal(closed)
        refuse_misjudged(closed)
        return closed

    def _recording(self, normaliser: Normaliser) -> Recording:
        return Recording(
            self.tools.kept_in,
            self.place.run_id,
            self.place.folder,
            self.tools.on_progress,
            self.tools.clock,
            self.prepared.shares_commits,
            self.prepared.on_sample,
            lambda sample: normaliser.take(disturbed(sample, self.place.pauses)),
            set(self.repeated),
        )

    def _replay(self, rules: tuple[StopRule, ...], recorded: set[str]) -> None:
        """What was spent and what failed before a resume counts."""
        if not recorded:
            return
        for sample in self.tools.kept_in.runs.iter_samples(self.place.run_id, details=True):
            if sample.key in recorded:
                for rule in rules:
                    rule.observe(sample)

    def _raise_fatal(self, closed: RunResult) -> None:
        """What every further trial would have met is an error of the run, once all that was measured is safe."""
        error = self.executor.facts.fatal
        if error is None:
            return
        kept = any(status != Status.CANCELLED for arm in closed.arms for status in arm.statuses)
        note = f"What was measured is kept: `dyno resume {closed.run_id[:13]}` goes on." if kept else ""
        raise RunError(error.message, where=error.where, remedy=" ".join(filter(None, (error.remedy, note))))
