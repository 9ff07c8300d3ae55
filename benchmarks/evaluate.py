"""What putting a case to an agent costs beyond the agent: 10,000 cases, an agent that gives its input back.

Ours saves every answer in a store that survives kill -9; inspect_ai writes its log, pydantic-evals keeps all in
memory. Each in a process of its own, one after the other, in turns.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from benchmarks.ratio_table import BENCHMARKS, PYTHON, met, print_heading, print_table, run_process

TOOLS = ("dyno", "pydantic_evals", "inspect_ai")
FAST = ("dyno", "pydantic_evals")
"""Tools that are measured in every turn; the other takes minutes, and one is enough to tell."""
TURNS = 5
MEMORY_GOAL = 1.3
"""Peak memory at ten times the cases, at most times that of the smaller run."""


def run_tool(tool: str, cases: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="dyno-evaluate-") as name:
        out = Path(name) / "figures.json"
        run_process([PYTHON, str(BENCHMARKS / "evaluate_tool.py"), tool, str(cases), name, str(out)])
        figures: dict[str, float] = json.loads(out.read_text())
        return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="100 and 1,000 cases, once: shows that it works")
    quick = parser.parse_args().quick
    few, many = (100, 1_000) if quick else (1_000, 10_000)
    print_heading()
    measured: dict[str, list[tuple[dict[str, float], dict[str, float]]]] = {tool: [] for tool in TOOLS}
    for turn in range(1 if quick else TURNS):
        for tool in TOOLS if turn == 0 else FAST:
            measured[tool].append((run_tool(tool, few), run_tool(tool, many)))
    rows, per_case, growth = [], {}, {}
    for tool in TOOLS:
        small, large = zip(*measured[tool], strict=True)
        per_case[tool] = statistics.median(item["wall_s"] for item in large) / many
        cpu = statistics.median(item["cpu_s"] for item in large) / many
        peaks = [statistics.median(item["peak_rss_bytes"] for item in side) for side in (small, large)]
        growth[tool] = peaks[1] / peaks[0]
        rows.append(
            [
                tool,
                f"{per_case[tool] * 1e6:,.0f} µs",
                f"{cpu * 1e6:,.0f} µs",
                f"{per_case[tool] / per_case['dyno']:.2f}x",
                *(f"{peak / 1e6:,.0f} MB" for peak in peaks),
                f"{growth[tool]:.2f}x",
            ]
        )
    header = ["tool", "per case", "CPU", "to ours", f"peak, {few:,} cases", f"peak, {many:,}", "growth"]
    lowest = min(per_case, key=lambda tool: per_case[tool])
    notes = [
        f"goal: ours the lowest per case: {met(lowest == 'dyno')}",
        f"goal: our memory grows at most {MEMORY_GOAL}x from {few:,} to {many:,} cases: "
        f"{met(growth['dyno'] <= MEMORY_GOAL)}",
    ]
    print_table(f"{many:,} cases, an agent that does nothing", header, rows, notes)


if __name__ == "__main__":
    main()
