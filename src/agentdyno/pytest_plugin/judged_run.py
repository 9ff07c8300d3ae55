"""The gate for a run that has been made: the same judgement as ``dyno check``, and nothing is measured but cases in
doubt."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from agentdyno.errors import NotComparable
from agentdyno.findings.gate.model import GateReport
from agentdyno.findings.record.ask import Records
from agentdyno.model import RunResult, Side
from agentdyno.model.record import AgentRecord
from agentdyno.runs.suite.prepare import candidates_of
from agentdyno.workbench.check import SuiteCheck
from agentdyno.workbench.check_cases import find_named


def judge_run(check: SuiteCheck, result: RunResult) -> dict[str, GateReport]:
    """One report for each agent, by its label; baselines of the run have none.

    Without ``check.against`` the rules about cases decide alone: least values, cases that must pass, pass rates.
    """
    check.named = find_named(check.policy.cases, check.loaded.suite, check.workspace, check.today)
    entrants = {item.label: item for item in candidates_of(check.loaded.suite, check.workspace, check.tools.choices)}
    if check.against is None:
        check.policy = replace(check.policy, rules=())
    reports = {}
    for before, now in _pairs(check, result):
        try:
            reports[now.arm_agent] = check.judge(before, now, [result], entrants[now.arm_agent]).reports[0]
        except NotComparable:
            if not result.stopped_because:
                raise
    return reports


def _pairs(check: SuiteCheck, result: RunResult) -> Iterator[tuple[AgentRecord, AgentRecord]]:
    """Baseline and candidate; an agent is its own baseline where nothing is compared."""
    records = {record.arm_agent: record for record in Records(check.store).of_run(result.run_id)}
    sides = {arm.agent: arm.side for arm in result.arms if arm.agent}
    old = {records[label].name: records[label] for label, side in sides.items() if side is Side.BASELINE}
    recorded = check.recorded_baseline(check.against) if check.against is not None and not old else None
    entrants = candidates_of(check.loaded.suite, check.workspace, check.tools.choices)
    for entrant in entrants:
        now = records.get(entrant.label)
        if now is None:  # left out of the run: nothing of it has changed
            continue
        if old:
            yield old.get(now.name, next(iter(old.values()))), now
        elif recorded is not None:
            yield recorded(entrant), now
        else:
            yield now, now
