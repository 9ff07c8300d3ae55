"""Whether a change may pass: the policy, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from agentdyno.findings.duel.model import PairedRow
from agentdyno.model.case import CaseKey
from agentdyno.model.form import RunWarning
from agentdyno.model.policy import GatePolicy, GateRule


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
class Tries:
    """How often a case was put to an agent, and how often the answer was right."""

    passed: int = 0
    tries: int = 0

    @property
    def wrong(self) -> int:
        return self.tries - self.passed


class CaseStanding(StrEnum):
    """What became of one case. ``broken``: right in every try before, wrong in every one now. ``worse``: the baseline
    passes it and the candidate does not, and not all tries agree. ``refused``: a rule about cases blocks because of
    it. ``failing``: it does not pass, and did not before or was not asked before."""

    PASSING = "passing"
    BROKEN = "broken"
    WORSE = "worse"
    REFUSED = "refused"
    FAILING = "failing"
    QUARANTINED = "quarantined"


@dataclass(frozen=True, slots=True)
class GatedCase:
    """One case of the candidate, repeats included. ``reason`` is a sentence without its full stop."""

    key: CaseKey
    before: Tries
    after: Tries
    standing: CaseStanding
    reason: str = ""


@dataclass(frozen=True, slots=True)
class PolicyRow:
    """One rule about cases. ``rule`` is as the policy spells it; ``asked`` and ``found`` are short, ``reason`` is the
    sentence to read; ``cases`` are those because of which it is so."""

    rule: str
    asked: str
    found: str
    verdict: GateVerdict
    reason: str
    cases: tuple[CaseKey, ...] = ()


@dataclass(frozen=True, slots=True)
class QuarantinedCase:
    """A case that does not block until the end of a day."""

    key: CaseKey
    reason: str
    until: str


@dataclass(frozen=True, slots=True)
class BrokenCase:
    """A case that the baseline passes and the candidate does not, with what the candidate answered where known.

    The two are scores; the candidate's is ``None`` where every execution of the case ended in an error. ``steady``:
    right in every try before and wrong in every one now.
    """

    key: CaseKey
    baseline: float
    candidate: float | None
    want: str = ""
    got: str = ""
    why: str = ""
    before: Tries = Tries()
    after: Tries = Tries()

    @property
    def steady(self) -> bool:
        return self.before.tries > 0 and self.after.tries > 0 and not self.before.wrong and not self.after.passed


@dataclass(frozen=True, slots=True)
class GateReport:
    """``policies`` and ``rows`` decide: what was seen of single cases, and what it means for cases like them.
    ``benchmark_rows`` explain and do not decide. The exit code follows from the verdict.

    Of experiments, ``suite`` is the name of the spec and the ``benchmark`` of a row is an arm. ``paired``: both sides
    were measured in the same runs. ``summary`` is one sentence. ``fixed`` cases are those that only the candidate
    passes; those that changed most come first, as they do in ``broken`` after the steady ones. ``cases`` are all of
    the candidate's; quarantined ones count in nothing else. ``open_cases`` need further tries before the requirement
    of a pass rate is decided.
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
    policies: tuple[PolicyRow, ...] = ()
    quarantined: tuple[QuarantinedCase, ...] = ()
    cases: tuple[GatedCase, ...] = ()
    open_cases: tuple[CaseKey, ...] = ()
