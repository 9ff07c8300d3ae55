"""How long a command line takes to answer: ``dyno --help`` and ``dyno list`` beside ``pyperf --help``.

``dyno list`` keeps what it has found out about the installed packages in a cache; the row "no cache" is the first
call after an installation.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from benchmarks.ratio_table import PYTHON, Cost, met, print_heading, print_table, run_process

PEER = "pyperf --help"
COLD = "dyno list (no cache)"
COMMANDS = ("dyno --help", "dyno list", COLD, PEER)
GOAL = 1.0


def measure(runs: int) -> dict[str, list[Cost]]:
    """Every command in turn, in an order that changes from round to round; the first round fills the caches."""
    costs: dict[str, list[Cost]] = {command: [] for command in COMMANDS}
    folder = Path(PYTHON).parent
    with tempfile.TemporaryDirectory(prefix="dyno-startup-") as name:
        for number in range(runs + 1):
            shift = number % len(COMMANDS)
            for command in (*COMMANDS[shift:], *COMMANDS[:shift]):
                program, *arguments = command.removesuffix(" (no cache)").split()
                cache = f"{name}/{number}" if command == COLD else f"{name}/cache"
                cost = run_process([PYTHON, str(folder / program), *arguments], {"XDG_CACHE_HOME": cache}, Path(name))
                if number:
                    costs[command].append(cost)
    return costs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="5 runs of each: shows that it works")
    quick = parser.parse_args().quick
    runs = 5 if quick else 40
    print_heading()
    costs = measure(runs)
    wall = {command: statistics.median(cost.wall_s for cost in found) for command, found in costs.items()}
    cpu = {command: statistics.median(cost.cpu_s for cost in found) for command, found in costs.items()}
    rows = []
    for command in COMMANDS:
        ratio = wall[command] / wall[PEER]
        rows.append(
            (
                command,
                f"{wall[command] * 1e3:.1f}",
                f"{cpu[command] * 1e3:.1f}",
                f"{ratio:.2f}x",
                f"{cpu[command] / cpu[PEER]:.2f}x",
                "" if command in (PEER, COLD) else f"<= {GOAL:.1f}x {met(ratio <= GOAL)}",
            )
        )
    header = ("command", "wall ms", "user+sys ms", "wall ratio", "CPU ratio", "goal")
    print_table(f"medians of {runs} interleaved runs", header, rows)


if __name__ == "__main__":
    main()
