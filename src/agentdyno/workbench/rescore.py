"""Judging stored answers again: another rubric, or the same one after its scorer was mended. No agent is called."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from agentdyno.agents.redaction import redactor_for
from agentdyno.contracts import Agent
from agentdyno.errors import RunError, SpecError
from agentdyno.model import (
    Arm,
    ArmResult,
    Benchmark,
    Case,
    RunResult,
    RunStatus,
    RunWarning,
    Sample,
    ScorerUse,
    Status,
    Suite,
    Workspace,
)
from agentdyno.model.form import INTERRUPTED, RESCORED
from agentdyno.model.identity import new_run_id, suite_arm_id
from agentdyno.model.suite import RunForm
from agentdyno.pricing import PriceBook
from agentdyno.runs.closing import refuse_misjudged, run_status, written
from agentdyno.runs.kind import Say
from agentdyno.runs.lineup import LocalServer, Maker
from agentdyno.runs.ownership import closed_by_signals, owned
from agentdyno.runs.place import make_folder, now_ms, run_folder
from agentdyno.runs.recording import Recording, copied_where_gone
from agentdyno.runs.suite.closing import close_run
from agentdyno.runs.suite.marking import JudgingAgents, Marking, load_imports, marking_for, stored_answer
from agentdyno.store import Store

_FROM = f"{RESCORED}:"
"""How the tag begins that names the run whose answers are judged."""


@dataclass(frozen=True, slots=True)
class _Jury:
    """Who judges each benchmark, where, and what takes secrets out of what is said."""

    markings: Mapping[str, Marking]
    runner: asyncio.Runner
    redact: Callable[[object], object]


@dataclass(frozen=True, slots=True)
class Rescored:
    """The new run, and how many answers were judged otherwise than before."""

    result: RunResult
    judged: int
    now_right: int
    now_wrong: int


@dataclass(frozen=True, slots=True)
class _Rescoring:
    """A run that judges the answers of another one, ``before``; ``done`` are the keys of trials that it has."""

    header: RunResult
    before: RunResult
    suite: Suite
    done: frozenset[str] = frozenset()

    @property
    def arms(self) -> dict[str, Arm]:
        """By the arm ids of the run before."""
        return {arm.arm_id: _arm(arm, self.suite) for arm in self.before.arms}


def rescore(
    store: Store,
    run_id: str,
    workspace: Workspace,
    scorers: Sequence[ScorerUse] = (),
    say: Say = lambda _: None,
) -> Rescored:
    """A new run with the answers of an old one and new judgements; the old run stays as it is.

    Raises ``SpecError`` where a scorer raised on every answer.
    """
    before = store.runs.load(run_id, samples=False)
    if before.suite is None:
        raise SpecError("it measured an experiment; there are no answers to judge", where=f"run {run_id[:13]}")
    suite = _with_scorers(before.suite, scorers)
    work = _Rescoring(_header(before, suite), before, suite)
    folder = run_folder(work.header.spec, work.header.run_id)
    with _jury(suite, workspace, say) as jury, closed_by_signals():
        make_folder(folder)
        with (
            owned(folder, work.header.run_id, leased=store.leased),
            copied_where_gone(store, folder, work.header.run_id),
        ):
            planned = {work.arms[arm.arm_id].arm_id: arm.planned for arm in before.arms}
            store.runs.begin(work.header, list(work.arms.values()), planned)
            return _record(store, work, jury, folder)


def resume_rescoring(store: Store, run_id: str, workspace: Workspace, say: Say = lambda _: None) -> Rescored:
    """Judges the answers that a run of ``rescore`` had not come to when it ended. No agent is called."""
    header = store.runs.load(run_id, samples=False)
    folder = run_folder(header.spec, run_id)
    with (
        closed_by_signals(),
        owned(folder, run_id, leased=store.leased),
        copied_where_gone(store, folder, run_id),
    ):
        header = store.runs.load(run_id, samples=False)  # once it is ours: whoever had it may have closed it
        if header.status is RunStatus.COMPLETE:
            raise RunError(
                f"run {run_id} is complete: there is nothing to resume",
                remedy="`dyno rescore RUN` judges the answers of a run again.",
            )
        (source,) = {tag.removeprefix(_FROM) for tag in header.tags if tag.startswith(_FROM)}
        before = store.runs.load(store.runs.find(source), samples=False)
        suite = header.suite
        assert suite is not None, "only runs of suites are judged again"
        with _jury(suite, workspace, say) as jury:
            make_folder(folder)
            Recording(store, run_id, folder).rescue()
            paused_ms = store.runs.reopen(run_id, now_ms=now_ms())
            header = replace(header, arms=(), paused_ms=paused_ms, warnings=(_told(source),))
            done = frozenset(store.runs.recorded(run_id))
            return _record(store, _Rescoring(header, before, suite, done), jury, folder)


@contextmanager
def _jury(suite: Suite, workspace: Workspace, say: Say) -> Iterator[_Jury]:
    with ExitStack() as stack:
        load_imports(suite)
        base_dir = Path(suite.base_dir)
        judging = JudgingAgents(workspace, base_dir, Maker(1), LocalServer(1, stack, say))
        prices = PriceBook(workspace.prices, workspace.compute_price_per_cpu_hour)
        markings = {
            item.benchmark_id: marking_for(item, base_dir, judging.named, prices) for item in suite.benchmarks
        }
        redact = redactor_for((*suite.agents, *judging.uses), os.environ).value
        runner = stack.enter_context(asyncio.Runner())
        for agent in judging.made.values():
            runner.run(agent.start())
            stack.callback(_let_go, runner, agent)
        yield _Jury(markings, runner, redact)


def _let_go(runner: asyncio.Runner, agent: Agent) -> None:
    runner.run(agent.close())


def _record(store: Store, work: _Rescoring, jury: _Jury, folder: Path) -> Rescored:
    """From the first answer to the closed run; interrupted, it is closed with what was judged."""
    header, tally, stopped = work.header, [0, 0, 0], _reason(work.before)
    try:
        Recording(store, header.run_id, folder, shares_commits=True).keep(_judged(store, work, jury, tally))
    except KeyboardInterrupt:
        stopped = INTERRUPTED
    arms = work.arms
    observed = {arms[arm.arm_id].arm_id: dict(arm.observed) for arm in work.before.arms}
    header = replace(header, finished_at=now_ms(), stopped_because=stopped)
    closed = close_run(store, header, observed=observed)
    closed = written(replace(closed, status=run_status(closed)), folder)
    store.runs.finish(closed, folder=folder)
    refuse_misjudged(closed)
    return Rescored(closed, *tally)


def _with_scorers(suite: Suite, scorers: Sequence[ScorerUse]) -> Suite:
    if not scorers:
        return suite
    base_dir = Path(suite.base_dir)
    scorers = [replace(use, name=_seen_from(base_dir, use.name)) for use in scorers]
    benchmarks = tuple(
        replace(item, rubric=replace(item.rubric, scorers=tuple(scorers))) for item in suite.benchmarks
    )
    return replace(suite, benchmarks=benchmarks)


def _seen_from(base_dir: Path, name: str) -> str:
    """``judge.py@polite`` of the current folder, as the suite would spell it."""
    file, at, attribute = name.partition("@")
    if not at or not Path(file).is_file() or base_dir.resolve() == Path.cwd():
        return name
    return f"{os.path.relpath(file, base_dir)}@{attribute}"


def _header(before: RunResult, suite: Suite) -> RunResult:
    short = before.run_id[:13]
    return replace(
        before,
        run_id=new_run_id(),
        status=RunStatus.RUNNING,
        started_at=now_ms(),
        finished_at=None,
        paused_ms=0,
        suite=suite,
        form=_form(before, suite),
        arms=(),
        stopped_because=_reason(before),
        tags=(*(tag for tag in before.tags if not tag.startswith(_FROM)), f"{_FROM}{short}"),
        warnings=(_told(short),),
    )


def _reason(before: RunResult) -> str | None:
    """Why answers are missing. It is not this run that was interrupted then."""
    reason = before.stopped_because
    return reason if reason != INTERRUPTED else f"run {before.run_id[:13]} was interrupted"


def _told(source: str) -> RunWarning:
    return RunWarning(RESCORED, f"answers of run {source} judged again; times and costs are those of that run")


def _form(before: RunResult, suite: Suite) -> RunForm | None:
    """That of the run before; another rubric makes another version of the suite, whole or a part as before."""
    if before.form is None or before.suite is None or before.suite.digest == suite.digest:
        return before.form
    return replace(before.form, suite=suite.digest if before.form.whole else "")


def _arm(arm: ArmResult, suite: Suite) -> Arm:
    arm_id = suite_arm_id(suite.digest, arm.benchmark or "", arm.agent or "", arm.side)
    return Arm(arm_id, arm.name, arm.experiment, arm.params, arm.benchmark, arm.agent, arm.side)


def _judged(store: Store, work: _Rescoring, jury: _Jury, tally: list[int]) -> Iterator[Sample]:
    suite, arms = work.suite, work.arms
    cases = {item.benchmark_id: {case.id: case for case in item.cases} for item in suite.benchmarks}
    for sample in store.runs.iter_samples(work.before.run_id, details=True):
        arm = arms[sample.arm_id]
        benchmark = suite.benchmark(arm.benchmark or "")
        moved = replace(sample, arm_id=arm.arm_id)
        if moved.key in work.done:
            continue
        if sample.status in (Status.OK, Status.FAILED):
            case = cases[benchmark.benchmark_id][sample.case_id]
            moved = jury.runner.run(_again(moved, case, jury, benchmark))
            tally[0] += 1
            tally[1] += sample.status is Status.FAILED and moved.status is Status.OK
            tally[2] += sample.status is Status.OK and moved.status is Status.FAILED
        yield moved


async def _again(sample: Sample, case: Case, jury: _Jury, benchmark: Benchmark) -> Sample:
    judgement = await jury.markings[benchmark.benchmark_id](case, stored_answer(sample))
    status = judgement.status(benchmark.rubric.pass_threshold)
    details = {**sample.details, "scoring": jury.redact(list(judgement.scoring))}
    details.pop("judge_cost_usd", None)
    if judgement.cost_usd != 0.0:
        details["judge_cost_usd"] = judgement.cost_usd
    return replace(sample, status=status, scores=judgement.scores, details=details)
