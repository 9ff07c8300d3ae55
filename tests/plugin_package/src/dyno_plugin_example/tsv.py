"""A reporter."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agentdyno import Report


class TsvReporter:
    """Medians as tab-separated values (medians.tsv)."""

    def write(self, report: Report, output_dir: Path) -> Sequence[Path]:
        rows = [
            (arm.name, name, str(summary.n), repr(summary.median))
            for result in report.results
            for arm in result.arms
            for name, summary in arm.metrics.items()
        ]
        path = output_dir / "medians.tsv"
        path.write_text("".join("\t".join(row) + "\n" for row in [("arm", "metric", "n", "median"), *rows]))
        return [path]
