"""What the commands that conclude share: the findings as tables or JSON, and the reports asked for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from agentdyno.cli.shared import LISTED, print_json, print_tables, reports_folder_option, say

if TYPE_CHECKING:
    from agentdyno.findings.conclusions import Conclusions

F = TypeVar("F", bound=Callable[..., Any])


def report_options(function: F) -> F:
    function = click.option("--format", "formats", **LISTED, help="Reports to write: md,html,csv,json,png.")(function)
    return reports_folder_option(function)


def suite_option(function: F) -> F:
    return click.option("--suite", metavar="SUITE", help="Only this suite, by its id.")(function)


def show(findings: Conclusions, formats: str | None, output_dir: str, *, as_json: bool, shown: object = None) -> None:
    """Prints the findings (as JSON what is ``shown``, or all of them) and writes the reports."""
    from agentdyno.cli.outcome import shown as shown_path
    from agentdyno.contracts import Report
    from agentdyno.workbench.reporting import check_formats, write_reports

    names = check_formats(formats)
    report = Report((), findings)
    if as_json:
        print_json(findings if shown is None else shown)
    else:
        print_tables(report)
    for path in write_reports(report, names, Path(output_dir)):
        say(f"Wrote {shown_path(path)}")
