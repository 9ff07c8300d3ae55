"""Sentences of the gate about single cases."""

from __future__ import annotations

from collections.abc import Sequence

from agentdyno.findings.gate.model import GateVerdict, PolicyRow, Tries
from agentdyno.model.case import CaseKey

MOST_NAMED = 5
"""Cases that a sentence names."""


def case_names(keys: Sequence[CaseKey], most: int = MOST_NAMED) -> str:
    """``q1, q4 and 3 more``; with the benchmark where there are several."""
    several = len({key.benchmark for key in keys}) > 1
    named = [f"{key.benchmark}/{key.case_id}" if several else key.case_id for key in keys[:most]]
    left = len(keys) - len(named)
    return ", ".join(named) + (f" and {left} more" if left else "")


def broke_words(keys: Sequence[CaseKey], most: int = MOST_NAMED) -> str:
    """``2 cases broke (right in every try before, wrong in every one now): q1, q4``; "" without any."""
    if not keys:
        return ""
    number = "1 case" if len(keys) == 1 else f"{len(keys):,} cases"
    return f"{number} broke (right in every try before, wrong in every one now): {case_names(keys, most)}"


def deciding_words(rows: Sequence[PolicyRow]) -> str:
    """Which rules about cases decide: the sentence of a single one, the names of several; "" without any."""
    if len(rows) == 1:
        return f"{rows[0].rule}: {rows[0].reason}"
    if not rows:
        return ""
    names = f"{', '.join(row.rule for row in rows[:-1])} and {rows[-1].rule}"
    return f"{'blocked' if rows[0].verdict is GateVerdict.BLOCK else 'left open'} by {names}"


def tries_words(found: Tries) -> str:
    """``4 of 5 tries``."""
    return f"{found.passed} of {found.tries} {'try' if found.tries == 1 else 'tries'}"
