"""How far normalised figures of two interpreters agree: each subject's CPU time in readings of the reference.

Both interpreters take turns, each time in a fresh process. If normalising took an interpreter out of a time, the two
columns of a subject would be equal.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "src")]
SUBJECTS = ("loop", "text", "json_text", "sqlite")
TRIES = 25


def measured() -> list[float]:
    """Of each subject the lower quartile of its CPU time, in lower quartiles of the reference between its tries."""
    from benchmarks.separate_subjects import KINDS

    from agentdyno.findings.figures.normalised import least_disturbed
    from agentdyno.workers.reference import interpreted_s

    found = []
    for name in SUBJECTS:
        subject, times, readings = KINDS[name], [], []
        subject(100)
        for _ in range(TRIES):
            before = time.thread_time_ns()
            subject(100)
            times.append((time.thread_time_ns() - before) / 1e9)
            readings.append(interpreted_s())
        found.append(least_disturbed(times) / least_disturbed(readings))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("interpreters", nargs="*", help="two or more, such as /usr/bin/python3.11")
    parser.add_argument("--processes", type=int, default=6, help="fresh processes of each")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(*measured())
        return
    from benchmarks.ratio_table import print_heading, print_table

    print_heading()
    runs: dict[str, list[list[float]]] = {name: [] for name in options.interpreters}
    for _ in range(options.processes):
        for name, own in runs.items():
            done = subprocess.run([name, __file__, "--measure"], capture_output=True, text=True, check=True)
            own.append([float(word) for word in done.stdout.split()])
    figures = {name: [median(column) for column in zip(*own, strict=True)] for name, own in runs.items()}
    first = next(iter(figures.values()))
    rows = [
        (subject, *(f"{own[place]:.1f} ({own[place] / first[place] - 1:+.0%})" for own in figures.values()))
        for place, subject in enumerate(SUBJECTS)
    ]
    print_table("CPU time in readings of the reference", ("subject", *figures), rows)


if __name__ == "__main__":
    main()
