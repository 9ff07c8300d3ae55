"""What was seen of single cases: right in every try before, wrong in every one now. A fact, and no inference."""

from __future__ import annotations

from agentdyno.findings.engine.pairing import PairedSide, Pairing
from agentdyno.model.case import CaseKey

STEADY_TRIES = 3
"""Tries a side from which a break counts as steady for a policy."""


def steady_breaks(pairing: Pairing, least: int = 1) -> tuple[CaseKey, ...]:
    """Cases that the baseline got right in every try and the candidate in none, with ``least`` tries a side.

    Cases that are judged by other rules now, or that were not judged, are left out; an error is no right answer.
    """
    return _always_and_never(pairing, pairing.first, pairing.second, least)


def steady_repairs(pairing: Pairing) -> tuple[CaseKey, ...]:
    """Cases that the candidate got right in every try and the baseline in none."""
    return _always_and_never(pairing, pairing.second, pairing.first, 1)


def _always_and_never(pairing: Pairing, right: PairedSide, wrong: PairedSide, least: int) -> tuple[CaseKey, ...]:
    return tuple(
        always.key
        for always, never, alike in zip(right.cases, wrong.cases, pairing.judged_alike, strict=True)
        if alike
        and min(always.tries, never.tries) >= max(1, least)
        and always.passed == always.tries
        and never.passed == 0
        and (never.scored > 0 or never.errors == never.tries)
    )
