"""What a run came to: its status, its warnings, and of a suite's whether it was a whole one.

Like is compared with like. A board, a history or a baseline is made of whole runs: every case of the suite's version,
to the end of the plan. What is something else (a quick run, a few of the cases, a run that was cut short) is kept and
says what it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

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


class RunStatus(StrEnum):
    """``partial``: interrupted or stopped early, what was measured is kept. ``failed``: no usable sample."""

    RUNNING = "running"
    COMPLETE = "complete"
    PARTIAL = "partial"
    FAILED = "failed"


RESCORED = "rescored"
"""The code of the warning of a run whose answers are those of another one; a tag that begins so names that one."""
NOT_CREDIBLE = "not-credible"
"""The code of the warning about values of an agent's that cannot be true."""


@dataclass(frozen=True, slots=True)
class RunWarning:
    """A typed warning with its remedy; ``arm_id`` where it concerns one arm."""

    code: str
    message: str
    remedy: str = ""
    arm_id: str | None = None
