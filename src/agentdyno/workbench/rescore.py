"""Judging stored answers again: another rubric, or the same one after its scorer was mended. No agent is called."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from agentdyno.agents.redaction import redactor_for
from agentdyno.contracts import Agent
from agentdyno.errors import SpecError
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
from agentdyno.model.identity import new_run_id, suite_arm_id
from agentdyno.model.suite import RunForm
from agentdyno.pricing import PriceBook
from agentdyno.reports import write_result
from agentdyno.runs.closing import refuse_misjudged, run_status
from agentdyno.runs.kind import Say
from agentdyno.runs.lineup import LocalServer, Maker
from agentdyno.runs.place import make_folder, now_ms, run_folder
from agentdyno.runs.suite.closing import close_run
from agentdyno.runs.suite.marking import JudgingAgents, Marking, load_imports, marking_for, stored_answer
from agentdyno.store import Store

COMMIT_EVERY = 500


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
        return _record(store, before, suite, _Jury(markings, runner, redact))


def _let_go(runner: asyncio.Runner, agent: Agent) -> None:
    runner.run(agent.close())


def _record(store: Store, before: RunResult, suite: Suite, jury: _Jury) -> Rescored:
    header, arms = _header(before, suite)
    folder = run_folder(header.spec, header.run_id)
    make_folder(folder)
    store.runs.begin(header, list(arms.values()), {arms[arm.arm_id].arm_id: arm.planned for arm in before.arms})
    tally = [0, 0, 0]
    for count, sample in enumerate(_judged(store, before, arms, jury, tally), 1):
        store.runs.append(header.run_id, sample)
        if count % COMMIT_EVERY == 0:
            store.runs.commit()
    store.runs.commit()
    observed = {arms[arm.arm_id].arm_id: dict(arm.observed) for arm in before.arms}
    closed = close_run(store, replace(header, finished_at=now_ms()), observed=observed)
    closed = replace(closed, status=run_status(closed))
    write_result(closed, folder / "result.json")
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


def _header(before: RunResult, suite: Suite) -> tuple[RunResult, dict[str, Arm]]:
    short = before.run_id[:13]
    header = replace(
        before,
        run_id=new_run_id(),
        status=RunStatus.RUNNING,
        started_at=now_ms(),
        finished_at=None,
        paused_ms=0,
        suite=suite,
        form=_form(before, suite),
        arms=(),
        tags=(*(tag for tag in before.tags if not tag.startswith("rescored:")), f"rescored:{short}"),
        warnings=(
            RunWarning("rescored", f"answers of run {short} judged again; times and costs are those of that run"),
        ),
    )
    arms = {arm.arm_id: _arm(arm, suite) for arm in before.arms}
    return header, arms


def _form(before: RunResult, suite: Suite) -> RunForm | None:
    """That of the run before; another rubric makes another version of the suite, whole or a part as before."""
    if before.form is None or before.suite is None or before.suite.digest == suite.digest:
        return before.form
    return replace(before.form, suite=suite.digest if before.form.whole else "")


def _arm(arm: ArmResult, suite: Suite) -> Arm:
    arm_id = suite_arm_id(suite.digest, arm.benchmark or "", arm.agent or "", arm.side)
    return Arm(arm_id, arm.name, arm.experiment, arm.params, arm.benchmark, arm.agent, arm.side)


def _judged(store: Store, before: RunResult, arms: dict[str, Arm], jury: _Jury, tally: list[int]) -> Iterator[Sample]:
    suite = before.suite
    assert suite is not None
    cases = {item.benchmark_id: {case.id: case for case in item.cases} for item in suite.benchmarks}
    for sample in store.runs.iter_samples(before.run_id, details=True):
        arm = arms[sample.arm_id]
        benchmark = suite.benchmark(arm.benchmark or "")
        moved = replace(sample, arm_id=arm.arm_id)
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
