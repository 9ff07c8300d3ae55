"""The pytest plugin: what it costs a session that does not use it, beside pytest without it; and whether tests that
were written for pytest-benchmark run with the name of the fixture changed.

The second part fetches the source archive of pytest-benchmark with pip, takes the examples among its tests, and
changes ``benchmark`` to ``dyno`` and ``benchmark_weave`` to ``dyno_weave`` in them; marks stay as they are. Where it
cannot be fetched, that is said.
"""

from __future__ import annotations

import argparse
import random
import re
import statistics
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from benchmarks.ratio_table import PYTHON, Cost, met, print_heading, print_table, run_process

GOAL_MS = 20.0
PEER = "pytest-benchmark==5.3.1"
EXAMPLES = ("test_normal", "test_pedantic", "test_sample", "test_skip", "test_with_testcase", "test_with_weaver")
LOADED = "with the plugin, unused"
BARE = "without it (-p no:agentdyno)"
_LEFT_OUT = ("-p", "no:xdist", "-p", "no:hypothesispytest", "-p", "no:schemathesis", "-p", "no:cacheprovider")


def unused_cost(folder: Path, runs: int) -> dict[str, list[Cost]]:
    """One empty test, with the plugin and without it, in random order; the first of each fills the caches."""
    (folder / "test_empty.py").write_text("def test_empty():\n    pass\n")
    command = [PYTHON, "-m", "pytest", "-q", *_LEFT_OUT, "--rootdir", str(folder), str(folder / "test_empty.py")]
    commands = {LOADED: command, BARE: [*command, "-p", "no:agentdyno"]}
    costs: dict[str, list[Cost]] = {name: [] for name in commands}
    turns = random.Random(7)
    for number in range(runs + 1):
        for name in turns.sample(sorted(commands), 2):
            cost = run_process(commands[name], cwd=folder)
            if number:
                costs[name].append(cost)
    return costs


def fetch(folder: Path) -> Path | None:
    """The tests of pytest-benchmark, or ``None`` where its archive cannot be had."""
    pip = [PYTHON, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:", "-d", str(folder), PEER]
    if subprocess.run(pip, capture_output=True, check=False).returncode:
        return None
    archive = next(folder.glob("pytest_benchmark*.tar.gz"))
    with tarfile.open(archive) as content:
        content.extractall(folder, filter="data")
    return folder / archive.name.removesuffix(".tar.gz") / "tests"


def renamed(text: str) -> str:
    """The fixture's name changed; marks keep theirs."""
    changed = re.sub(r"\bbenchmark(_weave)?\b", r"dyno\1", text)
    return changed.replace("pytest.mark.dyno", "pytest.mark.benchmark")


def run_examples(folder: Path) -> list[tuple[str, str, str]]:
    """Each example with what pytest says of it, under ours and under pytest-benchmark."""
    tests = fetch(folder)
    if tests is None:
        return []
    rows = []
    for name in EXAMPLES:
        source = (tests / f"{name}.py").read_text()
        said = []
        for form, text in (("ours", renamed(source)), ("theirs", source)):
            place = folder / form
            place.mkdir(exist_ok=True)
            (place / f"{name}.py").write_text(text)
            command = [PYTHON, "-m", "pytest", "-q", *_LEFT_OUT, "--rootdir", str(place), f"{name}.py"]
            done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
            said.append(re.sub(r" in [\d.]+s.*| \(.*", "", done.stdout.strip().splitlines()[-1]).strip("= "))
        rows.append((name, said[0], said[1]))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="5 runs of each: shows that it works")
    runs = 5 if parser.parse_args().quick else 40
    print_heading()
    with tempfile.TemporaryDirectory(prefix="dyno-pytest-") as name:
        costs = unused_cost(Path(name), runs)
        examples = run_examples(Path(name))
    cpu = {key: statistics.median(cost.cpu_s for cost in found) * 1e3 for key, found in costs.items()}
    least = {key: min(cost.cpu_s for cost in found) * 1e3 for key, found in costs.items()}
    more = cpu[LOADED] - cpu[BARE]
    rows = [
        (BARE, f"{cpu[BARE]:.1f}", f"{least[BARE]:.1f}", "", ""),
        (
            LOADED,
            f"{cpu[LOADED]:.1f}",
            f"{least[LOADED]:.1f}",
            f"{more:+.1f}",
            f"<= {GOAL_MS:.0f} {met(more <= GOAL_MS)}",
        ),
    ]
    header = ("one empty test", "CPU ms", "least", "more", "goal")
    print_table(f"A session that does not use the plugin, median of {runs}", header, rows)
    if not examples:
        print(f"\n{PEER} cannot be fetched here: its examples were not run.")
        return
    print_table("Examples of pytest-benchmark", ("file", "dyno fixture", "pytest-benchmark"), examples)


if __name__ == "__main__":
    main()
