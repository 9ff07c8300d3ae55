"""Findings to console, Markdown, HTML, CSV, JSON, PNG and JUnit.

Each name is loaded when it is first used, so that a command which prints one table pays for nothing else.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agentdyno.reports.console import render_console
    from agentdyno.reports.csv_files import CsvReporter
    from agentdyno.reports.html_page import HtmlReporter
    from agentdyno.reports.json_files import JsonReporter, write_result
    from agentdyno.reports.junit import JunitReporter
    from agentdyno.reports.markdown import MarkdownReporter
    from agentdyno.reports.png import PngReporter

__all__ = [
    "CsvReporter",
    "HtmlReporter",
    "JsonReporter",
    "JunitReporter",
    "MarkdownReporter",
    "PngReporter",
    "render_console",
    "write_result",
]

_HOMES = {
    "CsvReporter": "csv_files",
    "HtmlReporter": "html_page",
    "JsonReporter": "json_files",
    "JunitReporter": "junit",
    "MarkdownReporter": "markdown",
    "PngReporter": "png",
    "render_console": "console",
    "write_result": "json_files",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
