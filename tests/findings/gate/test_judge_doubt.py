"""What a judge that is not trusted may decide."""

from __future__ import annotations

from agentdyno.findings.gate.judge import CaseKnowledge, judge_gate
from agentdyno.findings.gate.model import GateVerdict
from agentdyno.model.policy import CasePolicy, GatePolicy
from agentdyno.model.record import AgentRecord

from ..gate_records import case, record

DOUBT = CaseKnowledge(doubt="judge gpt@1: it is not calibrated")


def answered(broken: int, count: int = 40) -> AgentRecord:
    return record([case(f"c{i:02}", 0 if i < broken else 5) for i in range(count)], f"mine@{broken}")


def test_a_drop_that_an_untrusted_judge_sees_warns_and_says_why() -> None:
    assert judge_gate(answered(0), answered(10), GatePolicy()).verdict is GateVerdict.BLOCK
    report = judge_gate(answered(0), answered(10), GatePolicy(), known=DOUBT)
    assert report.verdict is GateVerdict.WARN
    accuracy = next(row for row in report.rows if row.rule.metric == "accuracy")
    assert "does not block: judge gpt@1: it is not calibrated" in accuracy.reason
    (warning,) = (item for item in report.warnings if item.code == "judge-not-trusted")
    assert warning.remedy is not None
    assert "uncalibrated: allow" in warning.remedy


def test_rules_about_single_cases_do_not_block_either() -> None:
    policy = GatePolicy(rules=(), cases=CasePolicy(max_broken=0, minimum={"accuracy": 0.99}))
    assert judge_gate(answered(0), answered(1), policy).verdict is GateVerdict.BLOCK
    assert judge_gate(answered(0), answered(1), policy, known=DOUBT).verdict is GateVerdict.WARN


def test_errors_and_silence_block_whoever_judges() -> None:
    silent = record([case(f"c{i:02}", 0, errors=5) for i in range(40)], "mine@2")
    assert judge_gate(answered(0), silent, GatePolicy(), known=DOUBT).verdict is GateVerdict.BLOCK
