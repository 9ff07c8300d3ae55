"""What was seen of single cases: right in every try before, wrong in every one now. A fact, and no inference."""

from __future__ import annotations

from agentdyno.findings.engine.pairing import Pairing
from agentdyno.model.case import CaseKey

STEADY_TRIES = 3
"""Tries a side from which a break counts as steady for a policy."""


def steady_breaks(pairing: Pairing, least: int = 1) -> tuple[CaseKey, ...]:
    """Cases that the baseline got right in every try and the candidate in none, with ``least`` tries a side.

    Cases that are judged by other rules now, or that were not judged, are left out; an error is no right answer.
    """
    return tuple(
        before.key
        for before, after, alike in zip(pairing.first.cases, pairing.second.cases, pairing.judged_alike, strict=True)
        if alike
        and min(before.tries, after.tries) >= max(1, least)
        and before.passed == before.tries
        and after.passed == 0
        and (after.scored > 0 or after.errors == after.tries)
    )
