"""Every table that agentdyno shows, by name: ``tables.summary(result)``, ``tables.runs(rows)``…"""

from agentdyno.findings.comparison.tables import comparison, unjudged
from agentdyno.findings.run.tables import configuration, declared, details, failures, summary
from agentdyno.findings.run.tables_profiles import instrument_tables
from agentdyno.findings.standing.tables import suite_tables
from agentdyno.show.listings import Described, RunRow, calibration, checks, listing, runs
from agentdyno.show.table import Align, Cell, Column, Table, Tone

__all__ = [
    "Align",
    "Cell",
    "Column",
    "Described",
    "RunRow",
    "Table",
    "Tone",
    "calibration",
    "checks",
    "comparison",
    "configuration",
    "declared",
    "details",
    "failures",
    "instrument_tables",
    "listing",
    "runs",
    "suite_tables",
    "summary",
    "unjudged",
]
