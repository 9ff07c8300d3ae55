"""From the gate's report to one outcome for each test.

Without rules about cases every case has to pass. Where dyno.yaml has some (``minimum``, ``must_pass``, ``pass_rate``,
``max_broken``), these decide, and other wrong answers are expected failures. Set against a baseline, what is not
worse does not fail.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from agentdyno.findings.gate.model import CaseStanding, GatedCase, GateReport, GateVerdict
from agentdyno.findings.gate.words import tries_words
from agentdyno.findings.record.ask import Records
from agentdyno.findings.standing.judge import failed_cases
from agentdyno.findings.standing.model import FailedCase
from agentdyno.model import RunResult
from agentdyno.model.case import CaseKey
from agentdyno.pytest_plugin.marks import FAILED, PASSED, SKIPPED, TOLERATED
from agentdyno.store import Store


@dataclass(frozen=True, slots=True)
class CaseVerdict:
    """``passed`` of ``tries`` answers were right; ``message`` is what the test says where it does not pass."""

    outcome: str
    message: str = ""
    passed: int = 0
    tries: int = 0


@dataclass(frozen=True, slots=True)
class AgentVerdicts:
    """Of one agent: of each case, of all together, and of a case that the run did not come to."""

    gate: CaseVerdict
    missing: CaseVerdict
    cases: Mapping[CaseKey, CaseVerdict] = field(default_factory=dict)

    def of(self, key: CaseKey | None) -> CaseVerdict:
        return self.gate if key is None else self.cases.get(key, self.missing)

    def plain(self) -> dict[str, object]:
        """As JSON; ``of_plain`` reads it."""
        cases = [[key.benchmark, key.case_id, *_row(item)] for key, item in self.cases.items()]
        return {"gate": _row(self.gate), "missing": _row(self.missing), "cases": cases}

    @classmethod
    def of_plain(cls, plain: Mapping[str, Sequence[object]]) -> AgentVerdicts:
        rows: Sequence[Sequence[object]] = plain["cases"]  # type: ignore[assignment]
        cases = {CaseKey(str(row[0]), str(row[1])): _verdict(row[2:]) for row in rows}
        return cls(_verdict(plain["gate"]), _verdict(plain["missing"]), cases)


def _row(item: CaseVerdict) -> list[object]:
    return [item.outcome, item.message, item.passed, item.tries]


def _verdict(row: Sequence[object]) -> CaseVerdict:
    outcome, message, passed, tries = row
    return CaseVerdict(str(outcome), str(message), int(str(passed)), int(str(tries)))


def unmeasured(told: str) -> AgentVerdicts:
    """Of an agent that was not put to the suite."""
    skipped = CaseVerdict(SKIPPED, told)
    return AgentVerdicts(skipped, skipped)


def verdicts_of(
    reports: Mapping[str, GateReport], store: Store, result: RunResult, *, compared: bool
) -> dict[str, AgentVerdicts]:
    """By the agent's label. ``compared``: the reports are against a baseline."""
    stopped = result.stopped_because or "it is not in the run"
    missing = CaseVerdict(FAILED, f"the case was not put to the agent: {stopped}")
    answers = _answers(store, result)
    found = {}
    for label, report in reports.items():
        blocked = report.verdict is GateVerdict.BLOCK
        gate = CaseVerdict(FAILED if blocked else PASSED, report.summary)
        cases = {
            case.key: _case_verdict(case, report, answers.get((label, case.key)), compared=compared)
            for case in report.cases
        }
        found[label] = AgentVerdicts(gate, missing, cases)
    for label in {arm.agent for arm in result.arms if arm.agent} - found.keys():
        found[label] = AgentVerdicts(missing, missing)
    return found


def _case_verdict(case: GatedCase, report: GateReport, answer: FailedCase | None, *, compared: bool) -> CaseVerdict:
    tried = (case.after.passed, case.after.tries)
    if case.standing is CaseStanding.PASSING:
        return CaseVerdict(PASSED, "", *tried)
    if case.standing is CaseStanding.QUARANTINED:
        right = case.after.passed == case.after.tries
        return CaseVerdict(PASSED, "", *tried) if right else CaseVerdict(TOLERATED, case.reason, *tried)
    reason = case.reason if compared else _alone(case, report)
    told = _told(case.key, reason, answer)
    if case.standing is CaseStanding.REFUSED:
        return CaseVerdict(FAILED, told, *tried)
    if compared:
        if report.verdict is GateVerdict.BLOCK and case.standing in (CaseStanding.BROKEN, CaseStanding.WORSE):
            return CaseVerdict(FAILED, f"{told}\n  {report.summary}", *tried)
        return CaseVerdict(TOLERATED, f"wrong, and not worse than {report.baseline}: {case.reason}", *tried)
    if not report.policies:
        return CaseVerdict(FAILED, told, *tried)
    if _is_rated(report):
        return CaseVerdict(PASSED, "", *tried)
    refusing = [row for row in report.policies if row.verdict is GateVerdict.BLOCK and not row.cases]
    if refusing:
        return CaseVerdict(FAILED, f"{told}\n  {refusing[0].rule}: {refusing[0].reason}", *tried)
    return CaseVerdict(TOLERATED, f"wrong, and the rules of gate allow it: {reason}", *tried)


def _is_rated(report: GateReport) -> bool:
    """Whether a rule says how often each single case has to be right."""
    return report.policy.cases.pass_rate is not None


def _alone(case: GatedCase, report: GateReport) -> str:
    """The reason without a baseline."""
    rules = [row.rule for row in report.policies if row.verdict is GateVerdict.BLOCK and case.key in row.cases]
    return ": ".join((*rules[:1], f"right in {tries_words(case.after)}"))


def _told(key: CaseKey, reason: str, answer: FailedCase | None) -> str:
    lines = [f"{key.case_id}: {reason}"]
    if answer is not None:
        parts = (("want", answer.want), ("got", answer.got), ("why", answer.why))
        lines += [f"  {name:<4}  {text}" for name, text in parts if text]
    return "\n".join(lines)


def _answers(store: Store, result: RunResult) -> dict[tuple[str, CaseKey], FailedCase]:
    """What agents answered to the cases that they did not always pass."""
    records = Records(store)
    return {
        (arm.agent, CaseKey(item.benchmark, item.case_id)): item
        for arm in result.arms
        if arm.agent
        for item in failed_cases(arm, records.figures(result.run_id, arm.arm_id))
    }
