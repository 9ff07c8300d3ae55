"""Where a run stands among others: the runs before and after it, and its agents against their baselines."""

from __future__ import annotations

from dataclasses import dataclass

from agentdyno.errors import NotComparable, StoreError
from agentdyno.findings.change.ask_sides import RealRecords, baseline_runs, version_before
from agentdyno.findings.change.judge import judge_change
from agentdyno.findings.change.model import NO_BASELINE, ChangeVerdict
from agentdyno.findings.record.ask import Records
from agentdyno.findings.record.ask_names import is_outage
from agentdyno.findings.record.ask_spread import known_spread
from agentdyno.model import RunStatus
from agentdyno.model.case import CaseKey
from agentdyno.model.policy import GatePolicy
from agentdyno.model.record import AgentRecord
from agentdyno.model.result import form_of
from agentdyno.store import Store


@dataclass(frozen=True, slots=True)
class RunVerdict:
    """An agent of a run against its baseline: the one that was set, else the version before, "" where there is none.

    ``summary`` is the sentence to read; ``broken`` cases only the baseline got right, ``fixed`` ones only this run.
    """

    agent: str
    suite_id: str
    baseline: str
    verdict: ChangeVerdict
    summary: str
    baseline_run_id: str = ""
    broken: tuple[CaseKey, ...] = ()
    fixed: tuple[CaseKey, ...] = ()


@dataclass(frozen=True, slots=True)
class RunPlace:
    """The ids of the runs before and after, of the same kind and name; ``verdicts`` of a suite's agents.

    ``form`` says what a suite's run turned out to be (``full``, ``quick``, ``limited``…), "" for other kinds.
    """

    run_id: str
    previous_run_id: str | None
    next_run_id: str | None
    verdicts: tuple[RunVerdict, ...] = ()
    form: str = ""


def place_of(store: Store, run_id: str, policy: GatePolicy, workspace: str = "default") -> RunPlace:
    """Of a run by its full id. A run that goes on has no verdicts yet."""
    before, after = store.runs.neighbours(run_id)
    header = store.runs.load(run_id, samples=False)
    form = "" if header.suite is None else form_of(header).value
    if header.suite is None or header.status is RunStatus.RUNNING:
        return RunPlace(run_id, before, after, form=form)
    suite_id, verdicts = header.suite.suite_id, []
    for record in Records(store).of_run(run_id):
        if any(case.scored for case in record.cases):
            verdicts.append(_verdict(store, record, suite_id, policy, workspace))
    return RunPlace(run_id, before, after, tuple(verdicts), form)


def _verdict(store: Store, record: AgentRecord, suite_id: str, policy: GatePolicy, workspace: str) -> RunVerdict:
    name, _, version = record.agent.rpartition("@")
    chosen = [row for row in store.boards.baselines(workspace) if (row.agent, row.suite_id) == (name, suite_id)]
    rows = store.boards.agent_executions(name, None, suite_id)
    usable = (row.version for row in rows if row.run_id and row.status == "success" and not row.simulated)
    against = chosen[0].version if chosen else version_before(version, usable)
    if not against:
        told = f"{name} has no earlier version here, and no baseline is set."
        return RunVerdict(record.agent, suite_id, "", NO_BASELINE, told)
    baseline = f"{name}@{against}"
    if baseline == record.agent:
        return RunVerdict(record.agent, suite_id, baseline, NO_BASELINE, f"{baseline} is the baseline itself.")
    try:
        before = RealRecords(store, baseline_runs(chosen)).newest(baseline, suite_id)
        judged = judge_change(before, record, known_spread(store, before, record), policy)
    except (NotComparable, StoreError) as error:
        if isinstance(error, StoreError) and is_outage(error):
            raise
        return RunVerdict(record.agent, suite_id, baseline, NO_BASELINE, f"{error.message}.")
    run_id = next((item.run_id for item in before.benchmarks), "")
    return RunVerdict(
        record.agent, suite_id, baseline, judged.verdict, judged.summary, run_id, judged.broken, judged.fixed
    )
