"""A version of an agent held against an earlier one, by every detector that knows two versions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from agentdyno.errors import NotComparable
from agentdyno.findings.duel.judge import duel_cautions
from agentdyno.findings.engine.pairing import pair_records
from agentdyno.findings.engine.steady import steady_breaks
from agentdyno.findings.gate.words import broke_words
from agentdyno.findings.history.judge_small_drops import several_small_drops
from agentdyno.findings.history.judge_versions import judge_rows, not_comparable, version_rows
from agentdyno.findings.history.model_regression import Regression
from agentdyno.model import RunWarning
from agentdyno.model.policy import GatePolicy
from agentdyno.model.record import AgentRecord, RunSpread


@dataclass(frozen=True, slots=True)
class VersionsHeld:
    """What became worse and better from one version to another, and what is to be kept in mind about it."""

    worse: list[Regression]
    better: list[Regression]
    cautions: list[RunWarning]


def judge_versions(
    before: AgentRecord, current: AgentRecord, spread: RunSpread, policy: GatePolicy, threshold: Mapping[str, float]
) -> VersionsHeld:
    """Raises ``NotComparable`` where both have no case in common."""
    rows = version_rows(before, current, spread, policy)
    if not any(row.cases for row in rows):
        remedy = "Run both versions on one version of the suite."
        raise NotComparable(f"{before.agent} and {current.agent} have no case in common", remedy=remedy)
    worse, better = judge_rows(rows, before, current, threshold)
    worse += several_small_drops(rows, before, current, thresholds=threshold, found=worse)
    pairing = pair_records(before, current)
    seen = broke_words(steady_breaks(pairing))
    cautions = [
        *([RunWarning("broken-cases", seen)] if seen else []),
        *not_comparable([row for row in rows if not row.benchmark]),
        *duel_cautions(pairing),
    ]
    return VersionsHeld(worse, better, cautions)
