"""The files that users of other agent benchmarks look for: ``benchmark_results.html`` and ``benchmark_results.json``.

The same page and the same document as ``html`` and ``json`` write, under these names: several kinds of results can
then share one folder (``algorithm_comparison.json`` of trainings, ``framework_comparison.json`` of frameworks).
"""

from __future__ import annotations

from pathlib import Path

from agentdyno.contracts import Report
from agentdyno.reports.files import write_text
from agentdyno.reports.html_page import render_html
from agentdyno.reports.json_files import render_json

STEM = "benchmark_results"


class ResultsHtmlReporter:
    """The page of a run as benchmark_results.html."""

    name = "results_html"

    def write(self, report: Report, output_dir: Path) -> list[Path]:
        return [write_text(output_dir / f"{STEM}.html", render_html(report))]


class ResultsJsonReporter:
    """Results and findings as benchmark_results.json."""

    name = "results_json"

    def write(self, report: Report, output_dir: Path) -> list[Path]:
        return [write_text(output_dir / f"{STEM}.json", render_json(report))]
