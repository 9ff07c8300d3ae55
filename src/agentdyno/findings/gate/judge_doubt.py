"""What a judge that is not trusted may decide: nothing that blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from agentdyno.findings.gate.model import GateRow, GateVerdict, PolicyRow
from agentdyno.model.form import RunWarning

JUDGED_METRICS = ("accuracy", "reliability", "pass_hat_3", "overall", "efficiency")
"""Metrics that rest on which answers are right."""
EXPIRED = "quarantine"
"""The rule whose rows are about days, and not about answers."""


def without_blocks(rows: Sequence[GateRow], doubt: str) -> tuple[GateRow, ...]:
    """The rows; where the judge is in ``doubt``, those that it decides warn instead of blocking. An agent that did
    not answer at all is blocked by whoever judges."""
    return tuple(
        replace(row, verdict=GateVerdict.WARN, reason=f"{row.reason}; does not block: {doubt}")
        if doubt
        and row.verdict is GateVerdict.BLOCK
        and row.rule.metric in JUDGED_METRICS
        and not row.reason.startswith("nothing was answered")
        else row
        for row in rows
    )


def policies_without_blocks(rows: Sequence[PolicyRow], doubt: str) -> tuple[PolicyRow, ...]:
    """The same for rules about single cases."""
    return tuple(
        replace(row, verdict=GateVerdict.WARN, reason=f"{row.reason}; does not block: {doubt}")
        if doubt and row.verdict is GateVerdict.BLOCK and row.rule != EXPIRED
        else row
        for row in rows
    )


def doubt_warnings(doubt: str) -> tuple[RunWarning, ...]:
    """One, where there is a doubt."""
    if not doubt:
        return ()
    remedy = (
        "`dyno judge sheet` draws answers to label, `dyno judge calibrate LABELS` holds the judge against them; "
        "`gate: {uncalibrated: allow}` in dyno.yaml lets it block as it is."
    )
    return (RunWarning("judge-not-trusted", f"what the judge decides does not block: {doubt}", remedy),)
