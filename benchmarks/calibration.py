"""How often a head-to-head is wrong: simulated agents whose true difference is known, in numbers, without a model.

Identical agents must seldom have a winner, intervals must hold the truth, and a real difference should be seen.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

# Matrices here are small: threads that share the work would only wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from benchmarks.calibration_tool import Setting, Skill, draw_pair, true_changes
from benchmarks.ratio_table import met, print_heading, print_table

from agentdyno.findings.duel.judge import ROWS, duel
from agentdyno.findings.duel.model import Duel

SETTINGS = tuple(
    Setting(cases, epochs, group, 1 if cases < 60 else 2)
    for cases in (30, 60, 120)
    for epochs, group in ((1, 1), (3, 1), (5, 1), (3, 5 if cases > 30 else 3))
)
IDENTICAL = Skill()
BETTER = Skill(gain=0.3, time=0.9, cost=0.85)
ALARM_GOAL, COVERAGE_GOAL = 0.05, 0.93


@dataclass(slots=True)
class Counts:
    """Of one setting and skill: comparisons, those with a winner or with anything decided, and per row what held."""

    comparisons: int = 0
    winners: int = 0
    decided: int = 0
    categories: int = 0
    seen: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    covered: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    intervals: defaultdict[str, int] = field(default_factory=lambda: defaultdict(int))
    took_s: float = 0.0

    def add(self, found: Duel, truth: dict[str, float]) -> None:
        self.comparisons += 1
        self.winners += found.winner is not None
        self.decided += any(row.verdict in ("better", "worse") for row in found.rows)
        self.categories += any(found.category_winners.values())
        for row in found.rows:
            self.seen[row.metric] += row.verdict in ("better", "worse")
            if row.interval is not None:
                self.intervals[row.metric] += 1
                self.covered[row.metric] += row.interval[0] <= truth[row.metric] <= row.interval[1]

    def __iadd__(self, other: Counts) -> Counts:
        self.comparisons += other.comparisons
        self.winners += other.winners
        self.decided += other.decided
        self.categories += other.categories
        self.took_s += other.took_s
        for name in ROWS:
            self.seen[name] += other.seen[name]
            self.covered[name] += other.covered[name]
            self.intervals[name] += other.intervals[name]
        return self

    def coverage(self, name: str) -> float | None:
        return self.covered[name] / self.intervals[name] if self.intervals[name] else None


def compare(setting: Setting, skill: Skill, comparisons: int, seed: int) -> Counts:
    """That many comparisons of fresh agents on fresh cases."""
    counts = Counts()
    truth = dict.fromkeys(ROWS, 0.0) if skill == IDENTICAL else true_changes(setting, skill, seed)
    random = np.random.default_rng([seed, setting.cases, setting.epochs, setting.group, skill != IDENTICAL])
    for number in range(comparisons):
        first, second = draw_pair(setting, skill, random)
        start = time.perf_counter()
        found = duel(first, second, seed=number)
        counts.took_s += time.perf_counter() - start
        counts.add(found, truth)
    return counts


def run(comparisons: int, skill: Skill, seed: int) -> dict[Setting, Counts]:
    """The comparisons shared out over the settings."""
    shares = [comparisons // len(SETTINGS) + (i < comparisons % len(SETTINGS)) for i in range(len(SETTINGS))]
    return {
        setting: compare(setting, skill, share, seed)
        for setting, share in zip(SETTINGS, shares, strict=True)
        if share
    }


def print_identical(found: dict[Setting, Counts]) -> None:
    total = _sum(found)
    rows = [
        [*_named(setting), f"{counts.comparisons:,}", _share(counts.winners, counts), _share(counts.decided, counts)]
        for setting, counts in [*found.items(), (None, total)]
    ]
    share, decided = total.winners / total.comparisons, total.decided / total.comparisons
    notes = [
        f"goal: identical agents have a winner in at most {ALARM_GOAL:.0%}: {met(share <= ALARM_GOAL)}",
        f"goal: some row is decided in at most {ALARM_GOAL:.0%}: {met(decided <= ALARM_GOAL)}",
        "decided: " + ", ".join(f"{name} {_share(total.seen[name], total)}" for name in ROWS),
        f"a category was won in {_share(total.categories, total)}; "
        f"{1000 * total.took_s / total.comparisons:.0f} ms per comparison",
    ]
    print_table(
        "Identical agents", ["cases", "tries", "groups of", "comparisons", "winner", "any row decided"], rows, notes
    )


def print_coverage(title: str, found: dict[Setting, Counts]) -> None:
    total = _sum(found)
    rows = [
        [*_named(setting), *(_cover(counts.coverage(name)) for name in ROWS)]
        for setting, counts in [*found.items(), (None, total)]
    ]
    low = min(value for name in ROWS if (value := total.coverage(name)) is not None)
    note = (
        f"goal: every metric's intervals hold the truth in {COVERAGE_GOAL:.0%} or more: {met(low >= COVERAGE_GOAL)}"
    )
    print_table(f"Coverage of 95 % intervals, {title}", ["cases", "tries", "groups of", *ROWS], rows, [note])


def print_power(found: dict[Setting, Counts]) -> None:
    rows = [
        [*_named(setting), *(_share(counts.seen[name], counts) for name in ROWS), _share(counts.winners, counts)]
        for setting, counts in [*found.items(), (None, _sum(found))]
    ]
    note = "share of comparisons in which the row is decided after Holm's correction within its family"
    print_table(
        f"Power: {100 * BETTER.gain:.0f} % of wrong answers put right, time x {BETTER.time}, cost x {BETTER.cost}",
        ["cases", "tries", "groups of", *ROWS, "winner"],
        rows,
        [note],
    )


def _sum(found: dict[Setting, Counts]) -> Counts:
    total = Counts()
    for counts in found.values():
        total += counts
    return total


def _named(setting: Setting | None) -> list[str]:
    return ["all", "", ""] if setting is None else [str(setting.cases), str(setting.epochs), str(setting.group)]


def _share(number: int, counts: Counts) -> str:
    return f"{100 * number / counts.comparisons:.1f} %" if counts.comparisons else "-"


def _cover(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--comparisons", type=int, default=2_000, help="of identical agents (half as many of others)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="few comparisons: does it still work?")
    options = parser.parse_args()
    comparisons = 120 if options.quick else max(len(SETTINGS), options.comparisons)
    print_heading()
    identical = run(comparisons, IDENTICAL, options.seed)
    print_identical(identical)
    print_coverage("identical agents", identical)
    different = run(max(len(SETTINGS), comparisons // 2), BETTER, options.seed)
    print_coverage("agents that differ", different)
    print_power(different)


if __name__ == "__main__":
    main()
