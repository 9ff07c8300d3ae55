"""Which conclusions there are, in the order in which a report shows them: what decides first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import cast

from agentdyno.findings.conclusions import Conclusions
from agentdyno.model.findings import Findings
from agentdyno.model.result import RunWarning
from agentdyno.show.section import Section

SLICES = {
    "gate": ("gates",),
    "board": ("leaderboards", "matrices", "coverages"),
    "duel": ("duels", "tournaments"),
    "history": ("regressions", "histories"),
    "cost": ("costs",),
    "reliability": ("reliabilities",),
    "stress": ("stress",),
}
"""Folders of ``findings`` whose ``tables`` has ``sections``, and the fields of ``Conclusions`` that they show."""


def sections(findings: Findings) -> tuple[Section, ...]:
    """One per conclusion; none of findings of another kind. A slice without one is not loaded."""
    if not isinstance(findings, Conclusions):
        return ()
    return tuple(_sections(findings))


def _sections(found: Conclusions) -> Iterator[Section]:
    for name, fields in SLICES.items():
        if any(getattr(found, field) for field in fields):
            tables = import_module(f"agentdyno.findings.{name}.tables")
            yield from cast("Callable[[Conclusions], Iterator[Section]]", tables.sections)(found)


def conclusion_warnings(findings: Findings) -> list[RunWarning]:
    """The warnings of comparisons; the tables of other conclusions name their own."""
    if not isinstance(findings, Conclusions):
        return []
    found = [warning for item in findings.duels for warning in item.warnings]
    return found + [warning for item in findings.tournaments for warning in item.warnings]
