"""Whether a change may pass: the policy, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from agentdyno.findings.duel.model import PairedRow
from agentdyno.model.case import CaseKey
from agentdyno.model.policy import GatePolicy, GateRule
from agentdyno.model.result import RunWarning


class GateVerdict(StrEnum):
    PASS = "PASS"
    WARN = "WARN"
    BLOCK = "BLOCK"
    INCONCLUSIVE = "INCONCLUSIVE"


@dataclass(frozen=True, slots=True)
class GateRow:
    """One metric judged. Two separate questions: is it worse by more than the tolerance (``exceeded``), and is it
    worse beyond chance (``significant``)? ``None`` where a question cannot be answered. ``p_worse`` is one-sided,
    corrected within its family."""

    rule: GateRule
    row: PairedRow
    exceeded: bool | None
    significant: bool | None
    p_worse: float | None
    verdict: GateVerdict
    reason: str


@dataclass(frozen=True, slots=True)
class BrokenCase:
    """A case that the baseline passes and the candidate does not, with what the candidate answered where known.

    The two are scores; the candidate's is ``None`` where every execution of the case ended in an error.
    """

    key: CaseKey
    baseline: float
    candidate: float | None
    want: str = ""
    got: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True)
class GateReport:
    """``rows`` decide; ``benchmark_rows`` explain and do not decide. The exit code follows from the verdict.

    Of experiments, ``suite`` is the name of the spec and the ``benchmark`` of a row is an arm. ``paired``: both sides
    were measured in the same runs. ``summary`` is one sentence. ``fixed`` cases are those that only the candidate
    passes; those that changed most come first, as they do in ``broken``.
    """

    baseline: str
    candidate: str
    suite: str
    verdict: GateVerdict
    summary: str
    rows: tuple[GateRow, ...]
    benchmark_rows: tuple[PairedRow, ...] = ()
    broken: tuple[BrokenCase, ...] = ()
    fixed: tuple[CaseKey, ...] = ()
    policy: GatePolicy = field(default_factory=GatePolicy)
    paired: bool = False
    warnings: tuple[RunWarning, ...] = ()
