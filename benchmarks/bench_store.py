"""What a run of many samples costs: time per sample, of which saving, the file's size, and the memory of the runner.

Beside it bare ``sqlite3`` with a commit per row, the floor for saving, and ``pyperf`` keeping as many values of the
same empty function. pyperf writes its file once at the end: killed before, it has nothing.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from benchmarks.ratio_table import BENCHMARKS, PYTHON, met, print_heading, print_table, run_process

MEMORY_GOAL = 1.1
"""Peak memory at ten times the samples, at most times that of the smaller run."""


def run_tool(tool: str, samples: int) -> dict[str, float]:
    """The figures of one run in a process of its own; a tool leaves out what it has not."""
    with tempfile.TemporaryDirectory(prefix="dyno-store-") as name:
        folder = Path(name)
        file = folder / "figures.json"
        if tool == "pyperf":
            command = [PYTHON, str(BENCHMARKS / "overhead_tool.py"), "pyperf", "nothing", "--quiet", "--processes=1"]
            cost = run_process([*command, f"--values={samples}", "--warmups=1", "--loops=1", "-o", str(file)])
            return {"file_bytes": file.stat().st_size, "peak_rss_bytes": cost.peak_rss_bytes}
        run_process([PYTHON, str(BENCHMARKS / "store_tool.py"), tool, str(samples), name, str(file)])
        figures: dict[str, float] = json.loads(file.read_text())
        return figures


def shown(figures: dict[str, float], name: str, scale: float, form: str) -> str:
    return format(figures[name] / scale, form) if name in figures else "-"


def growth(when: str, peaks: list[float], sizes: tuple[int, int], goal: float | None = None) -> str:
    """How memory grows with the samples; closing a run loads them all, so that only measuring has a goal."""
    ratio = peaks[1] / peaks[0]
    per_sample = (peaks[1] - peaks[0]) / (sizes[1] - sizes[0]) / 1e3
    judged = f", goal <= {goal}x {met(ratio <= goal)}" if goal is not None else ""
    return (
        f"memory of the runner {when}, {sizes[1]:,} against {sizes[0]:,} samples: {ratio:.2f}x "
        f"({per_sample:+.1f} kB per sample){judged}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="100 and 1,000 samples: shows that it works")
    quick = parser.parse_args().quick
    sizes = (100, 1_000) if quick else (1_000, 10_000)
    print_heading()
    rows = []
    measuring, peaks = [], []
    for tool, label in (("dyno", "agentdyno, dyno run"), ("sqlite3", "bare sqlite3"), ("pyperf", "pyperf")):
        for samples in sizes:
            figures = run_tool(tool, samples)
            if tool == "dyno":
                measuring.append(figures["measuring_rss_bytes"])
                peaks.append(figures["peak_rss_bytes"])
            rows.append(
                (
                    label,
                    f"{samples:,}",
                    shown(figures, "sample_us", 1, ".0f"),
                    shown(figures, "save_us", 1, ".0f"),
                    shown(figures, "closing_s", 1, ".2f"),
                    shown(figures, "file_bytes", 1e6, ".2f"),
                    shown({**figures, "per": figures["file_bytes"] / samples}, "per", 1, ".0f"),
                    shown(figures, "measuring_rss_bytes", 1e6, ".0f"),
                    shown(figures, "peak_rss_bytes", 1e6, ".0f"),
                )
            )
    header = (
        "tool",
        "samples",
        "wall us/sample",
        "save us/sample",
        "closing s",
        "file MB",
        "bytes/sample",
        "RSS MB measuring",
        "closed",
    )
    notes = [
        growth("while measuring", measuring, sizes, MEMORY_GOAL),
        growth("up to the closed result", peaks, sizes),
    ]
    print_table("an empty function, one call per sample", header, rows, notes)


if __name__ == "__main__":
    main()
