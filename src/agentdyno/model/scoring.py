"""What a scorer said of one answer, as it is stored: an item of ``scoring`` in a sample's details.

An item has ``scorer``, ``weight`` and ``values``, and where there is more to say ``explanation`` and ``details``.
What kept the scorer from judging is ``problem`` in those details: a ``code`` and a ``message``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

RAISED = "scorer_raised"
"""The scorer raised: the answer has 0 from it. Runs of earlier versions have ``scorer_failed``, and no value."""
UNSCORABLE = "unscorable"
"""The scorer raised ``Unscorable``: it has no verdict about this answer."""

SCORER_BROKEN = "scorer-broken"
"""The warning of a run in which a scorer raised on every answer of every agent."""


def scoring_items(details: Mapping[str, object]) -> Iterator[tuple[int, Mapping[str, object]]]:
    """What each scorer said, with its place in the rubric; items that were too long to keep whole are left out."""
    scoring = details.get("scoring")
    for place, item in enumerate(scoring if isinstance(scoring, (list, tuple)) else ()):
        if isinstance(item, Mapping):
            yield place, item


def problem_code(item: Mapping[str, object]) -> str:
    """What kept a scorer from judging, "" where nothing did."""
    details = item.get("details")
    problem = details.get("problem") if isinstance(details, Mapping) else None
    return str(problem.get("code", "")) if isinstance(problem, Mapping) else ""


def raised_reasons(details: Mapping[str, object]) -> list[str]:
    """Why scorers raised on the answer, one sentence each."""
    return [str(item.get("explanation", "")) for _, item in scoring_items(details) if problem_code(item) == RAISED]
