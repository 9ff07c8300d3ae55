"""What a run of a suite was asked to be, and whether it came to that: like is compared with like.

A board, a history or a baseline is made of whole runs: every case of the suite's version, to the end of the plan.
What is something else (a quick run, a few of the cases, a run that was cut short) is kept and says what it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from agentdyno.model.suite import Constraints

INTERRUPTED = "interrupted"
"""``RunResult.stopped_because`` of a run that somebody cancelled."""
CUT_SHORT = "the run was ended from outside, and what it was at was cut short"
"""The reason of a run whose trial cannot be taken up again: a load."""
GIVEN_UP = "arms failed too often"
"""How ``RunResult.stopped_because`` ends where arms were given up: those are failed, the others are whole."""


class Form(StrEnum):
    """``unknown``: the run was recorded before forms were, or came from another tool."""

    FULL = "full"
    QUICK = "quick"
    LIMITED = "limited"
    CANCELLED = "cancelled"
    CAPPED = "capped"
    DECIDED = "decided"
    UNKNOWN = "unknown"


WHOLE = (Form.FULL, Form.UNKNOWN)
"""Forms that boards, histories and baselines take unless they are asked for more."""


@dataclass(frozen=True, slots=True)
class RunForm:
    """What was asked for. ``suite`` is the digest of the whole suite's version, "" where it could not be read.

    ``cases`` of ``suite_cases`` were chosen; ``selection`` is a digest of their ids, "" for all of them. ``whole`` is
    False where the choice or the limits of a case differ from the suite's own. ``quick``: what the suite says under
    ``quick:`` was applied. ``limits`` are of the whole run. ``proxied``: calls went through a recording proxy.
    """

    suite: str
    cases: int
    suite_cases: int
    epochs: int
    suite_epochs: int
    whole: bool = True
    quick: bool = False
    selection: str = ""
    limits: Constraints = field(default_factory=Constraints)
    proxied: bool = False
