"""``algorithm_comparison``, ``framework_comparison``, ``grpo_benchmark_results_*``: trainings side by side."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from agentdyno import Report, RunResult
from agentdyno_workloads.rl.results import algorithms, frameworks
from agentdyno_workloads.rl.results.figures import trained_arms


class RlReporter:
    """Writes the files of each run of trainings, under the names that users of such benchmarks know."""

    def write(self, report: Report, output_dir: Path) -> Sequence[Path]:
        written: list[Path] = []
        for result in report.results:
            if trained_arms(result):
                written += self._algorithms(result, output_dir)
            if frameworks.framework_arms(result):
                written.append(_write_json(output_dir / "framework_comparison.json", frameworks.document(result)))
                written.append(_write(output_dir / "framework_comparison.md", frameworks.page(result)))
        return written

    def _algorithms(self, result: RunResult, folder: Path) -> list[Path]:
        document = algorithms.document(result)
        written = [
            _write_json(folder / "algorithm_comparison.json", document),
            _write(folder / "algorithm_comparison.md", algorithms.page(result)),
        ]
        started = datetime.fromtimestamp(result.started_at / 1000, UTC)
        if any(arm.algorithm == "grpo" for arm in trained_arms(result)):
            name = f"grpo_benchmark_results_{started:%Y%m%d_%H%M%S}.json"
            written.append(_write_json(folder / name, algorithms.document(result, only="grpo")))
        return written + algorithms.pictures(result, folder)


def _write_json(path: Path, document: object) -> Path:
    return _write(path, json.dumps(document, indent=2, allow_nan=False) + "\n")


def _write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path
