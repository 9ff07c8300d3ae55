"""Which conclusions there are, in the order in which a report shows them: what decides first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import TYPE_CHECKING, cast

from agentdyno.model.findings import Findings
from agentdyno.model.form import RunWarning
from agentdyno.show.section import Section

if TYPE_CHECKING:
    from agentdyno.findings.conclusions import Conclusions

SLICES = {
    "gate": ("gates",),
    "board": ("leaderboards", "matrices", "coverages"),
    "success": ("successes",),
    "duel": ("duels", "tournaments"),
    "history": ("regressions", "histories"),
    "cost": ("costs",),
    "reliability": ("reliabilities",),
    "stress": ("stress",),
    "profile": ("profiles", "profile_comparisons"),
    "bands": ("bands",),
}
"""Folders of ``findings`` whose ``tables`` has ``sections``, and the fields of ``Conclusions`` that they show."""


def sections(findings: Findings) -> tuple[Section, ...]:
    """One per conclusion; none of findings of another kind. A slice without one is not loaded."""
    found = _conclusions(findings)
    return () if found is None else tuple(_sections(found))


def appendix(findings: Findings) -> tuple[Section, ...]:
    """What the report of a run shows after its results: the profiles of its agents, where they were asked for."""
    return () if _conclusions(findings) is not None else tuple(_sections(findings))


def _sections(found: Findings) -> Iterator[Section]:
    for name, fields in SLICES.items():
        if any(getattr(found, field, ()) for field in fields):
            tables = import_module(f"agentdyno.findings.{name}.tables")
            yield from cast("Callable[[Findings], Iterator[Section]]", tables.sections)(found)


def conclusion_warnings(findings: Findings) -> list[RunWarning]:
    """The warnings of comparisons; the tables of other conclusions name their own."""
    concluded = _conclusions(findings)
    if concluded is None:
        return []
    found = [warning for item in concluded.duels for warning in item.warnings]
    return found + [warning for item in concluded.tournaments for warning in item.warnings]


def _conclusions(findings: Findings) -> Conclusions | None:
    # Told by a field of its own: importing the class would load the models of every slice for a report of one run.
    return cast("Conclusions", findings) if hasattr(findings, "leaderboards") else None
