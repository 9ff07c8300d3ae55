"""``metrics.json`` and ``comparison_report.md``: for the run, and for each language and phase of it.

Beside the two of the whole run, Python's are in ``python/PHASE/``, Rust's in ``rust/PHASE/data/metrics.json`` and
``rust/PHASE/reports/comparison_report.md``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from agentdyno import Report, RunResult
from agentdyno_workloads.llm.report import Configuration, comparison_text, configurations
from agentdyno_workloads.polyglot.judging import LanguageRow, language_rows
from agentdyno_workloads.polyglot.programs import PYTHON, RUST
from agentdyno_workloads.polyglot.words import NAMES, sentence, shown

EXPERIMENTS = ("polyglot_single", "polyglot_multi")
PLACES = {
    PYTHON: ("metrics.json", "comparison_report.md"),
    RUST: ("data/metrics.json", "reports/comparison_report.md"),
}
"""Where the two files of a language lie, below the folder of their phase."""
ALL = "all"
"""The folder of a phase without a name."""


class PolyglotReporter:
    """Writes the files of a run of the polyglot workload."""

    def write(self, report: Report, output_dir: Path) -> Sequence[Path]:
        written: list[Path] = []
        for result in report.results:
            found = [item for item in configurations(result) if item.experiment in EXPERIMENTS]
            rows = language_rows(result)
            whole = output_dir / "metrics.json", output_dir / "comparison_report.md"
            whole[0].write_text(_metrics(result, found, rows), encoding="utf-8")
            whole[1].write_text(whole_text(result, found, rows), encoding="utf-8")
            written += whole
            for language, phase in dict.fromkeys((_language(item), item.phase) for item in found):
                own = [item for item in found if (_language(item), item.phase) == (language, phase)]
                paths = [output_dir / language / (phase or ALL) / place for place in PLACES[language]]
                for path in paths:
                    path.parent.mkdir(parents=True, exist_ok=True)
                paths[0].write_text(_metrics(result, own, []), encoding="utf-8")
                paths[1].write_text(comparison_text(result, own), encoding="utf-8")
                written += paths
        return written


def whole_text(result: RunResult, found: Sequence[Configuration], rows: Sequence[LanguageRow]) -> str:
    """The configurations on models side by side, those without latency, then Python against Rust."""
    parts = [[item for item in found if item.simulated is simulated] for simulated in (False, True)]
    texts = [comparison_text(result, part) for part in parts if part]
    if rows:
        texts.append("\n".join(language_lines(rows)) + "\n")
    return "\n".join(texts)


def language_lines(rows: Sequence[LanguageRow]) -> list[str]:
    """The table of both languages, and a sentence for each of its rows."""
    lines = ["## Python against Rust", ""]
    for phase, setting in dict.fromkeys((row.phase, row.setting) for row in rows):
        own = [row for row in rows if (row.phase, row.setting) == (phase, setting)]
        lines += [f"### {phase or 'All'}: {setting}", ""]
        lines += ["| figure | Python | Rust | Rust over Python | verdict on Rust |", "|---|---|---|---|---|"]
        for row in own:
            cells = (
                shown(row.metric, row.python),
                shown(row.metric, row.rust),
                _ratio(row),
                row.verdict or "not judged",
            )
            lines.append(f"| {NAMES[row.metric]} | {' | '.join(cells)} |")
        lines += ["", *(f"- {sentence(row)}" for row in own), ""]
    lines += [
        "Medians; ratios with the interval of the test that gave the verdict; differences with 95 % bootstrap",
        "intervals.",
        "All figures are taken by the bench and its proxy; a program says only which runtime it runs on.",
    ]
    return lines


def _metrics(result: RunResult, found: Sequence[Configuration], rows: Sequence[LanguageRow]) -> str:
    document = {
        "run_id": result.run_id,
        "name": result.name,
        "machine_id": result.environment.machine_id,
        "configurations": [
            {
                "name": item.name,
                "language": _language(item),
                "phase": item.phase or None,
                "experiment": item.experiment,
                "params": dict(item.params),
                "observed": dict(item.observed),
                "simulated": item.simulated,
                "metrics": {name: one.plain() for name, one in sorted(item.figures.items())},
            }
            for item in found
        ],
    }
    if rows:
        document["languages"] = [{**asdict(row), "sentence": sentence(row)} for row in rows]
    return json.dumps(document, indent=2, allow_nan=False) + "\n"


def _language(item: Configuration) -> str:
    return str(item.params.get("language", PYTHON))


def _ratio(row: LanguageRow) -> str:
    if row.ratio is None:
        return "-"
    ends = "" if row.interval is None else f" [{row.interval[0]:.3g}, {row.interval[1]:.3g}]"
    return f"{row.ratio:.3g}{ends}"
