"""Every table that agentdyno shows, by name: ``tables.summary(result)``, ``tables.runs(rows)``…"""

from agentdyno.reports.comparison_tables import comparison, unjudged
from agentdyno.reports.listings import Described, RunRow, calibration, checks, listing, runs
from agentdyno.reports.profiles import instrument_tables
from agentdyno.reports.run_tables import configuration, declared, details, failures, summary
from agentdyno.reports.suite_tables import suite_tables
from agentdyno.reports.table import Align, Cell, Column, Table, Tone

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
