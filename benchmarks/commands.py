"""``dyno time`` beside hyperfine on the same commands: what a reading holds beyond the command, what a run costs
beyond its reading, and how often two identical commands are called different beside other work.

hyperfine is the one on the path, the one that ``scripts/hyperfine.sh`` unpacks, or the program in ``HYPERFINE``.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from benchmarks.background_load import loaded
from benchmarks.ratio_table import BENCHMARKS, machine

from agentdyno.findings.run.ask import findings_for
from agentdyno.model import Verdict
from agentdyno.runs.commands.kind import CommandsKind
from agentdyno.runs.kind import Source, Tools
from agentdyno.runs.pipeline import start
from agentdyno.store import Store

DYNO = str(Path(sys.executable).with_name("dyno"))
SUBJECT = "awk BEGIN{{for(i=0;i<{turns};i++)x+=i}}"
"""A few milliseconds of work: a longer command does ``turns`` more of the same."""
TURNS, LONG_TURNS = 9_000, 600_000
"""Where power is measured, the work is long against the start of a process, which no change makes longer."""
RUNS = 15
SLOWER = (1.1, 1.2)
"""How much more work the longer of two commands does where power is measured."""
DIFFERENT = (Verdict.BETTER, Verdict.WORSE)
COUNTS = 3.0
"""Per cent from which hyperfine's ratio is taken for a difference, as ours is, when it is beyond its own error."""


@dataclass(frozen=True, slots=True)
class Tool:
    """``command`` runs a command ``{runs}`` times and writes the times as JSON to ``{file}``."""

    name: str
    command: tuple[str, ...]

    def times(self, subject: str, runs: int, folder: Path, *more: str) -> tuple[list[float], float]:
        """The readings, and the seconds that the tool took in all."""
        file = folder / f"{self.name}.json"
        words = [word.format(runs=runs, file=file) for word in self.command]
        begun = time.perf_counter()
        subprocess.run([*words, *more, subject], cwd=folder, check=True, capture_output=True)
        took_s = time.perf_counter() - begun
        return json.loads(file.read_text())["results"][0]["times"], took_s


def tools() -> tuple[Tool, Tool]:
    unpacked = shutil.which(str(BENCHMARKS.parent / ".venv-load" / "hyperfine" / "usr" / "bin" / "hyperfine"))
    found = os.environ.get("HYPERFINE") or shutil.which("hyperfine") or unpacked
    if found is None:
        print("hyperfine is not here: scripts/hyperfine.sh, or set HYPERFINE to the program")
        sys.exit(0)
    ours = Tool("dyno time", (DYNO, "time", "-r", "{runs}", "--export-json", "{file}"))
    return ours, Tool("hyperfine", (found, "-r", "{runs}", "--style", "none", "--export-json", "{file}"))


def overhead(rounds: int, runs: int, folder: Path) -> None:
    """Taking turns; the cost beyond the reading is from runs that are many against few, so that start-up cancels."""
    both = tools()
    for title, subject, more in (
        ("without a shell: true", "true", ("--shell=none",)),
        ("with a shell: /bin/true; /bin/true", "/bin/true; /bin/true", ("--shell=sh",)),
    ):
        readings: dict[str, list[float]] = {tool.name: [] for tool in both}
        fast: dict[str, list[float]] = {tool.name: [] for tool in both}
        beyond: dict[str, list[float]] = {tool.name: [] for tool in both}
        for turn in range(rounds):
            for tool in both if turn % 2 else reversed(both):
                few, few_s = tool.times(subject, runs // 10, folder, *more)
                many, many_s = tool.times(subject, runs, folder, *more)
                readings[tool.name].append(median(many))
                fast[tool.name].append(sorted(many)[len(many) // 10])
                extra_s = (many_s - few_s) - (sum(many) - sum(few))
                beyond[tool.name].append(extra_s / (len(many) - len(few)))
        ours, theirs = (tool.name for tool in both)
        ratios = sorted(a / b for a, b in zip(readings[ours], readings[theirs], strict=True) if b)
        quiet = [median(fast[name]) for name in (ours, theirs)]
        print(f"\n{title} ({rounds} rounds of {runs} runs)")
        print(f"  {'':12}{'reading':>12}{'fastest tenth':>15}{'beyond it':>12}")
        for tool in both:
            told = [median(rows[tool.name]) * 1e6 for rows in (readings, fast, beyond)]
            print(f"  {tool.name:12}{told[0]:9.0f} µs{told[1]:12.0f} µs{told[2]:9.0f} µs")
        verdict = "reached" if median(ratios) <= 1 else "MISSED"
        print(f"  reading, ours / hyperfine: {median(ratios):.3f} (worst {ratios[-1]:.3f}); at most 1: {verdict}")
        if quiet[1] > 0:
            print(f"  fastest tenth, which other work disturbs least: {quiet[0] / quiet[1]:.3f}")


def hyperfine_differs(runs: int, folder: Path, program: str) -> bool:
    """Whether it calls one of two identical commands faster by more than its own error: what it prints."""
    file = folder / "pair.json"
    words = [program, "-N", "-r", str(runs), "--style", "none", "--export-json", str(file), *commands(1.0)]
    subprocess.run(words, check=True, capture_output=True)
    first, second = sorted(json.loads(file.read_text())["results"], key=lambda row: float(row["mean"]))
    ratio = second["mean"] / first["mean"]
    error = ratio * ((first["stddev"] / first["mean"]) ** 2 + (second["stddev"] / second["mean"]) ** 2) ** 0.5
    return bool(ratio >= 1 + COUNTS / 100 and ratio - error > 1)


def hyperfine_ratio(folder: Path) -> float:
    """The ratio that it prints in its last line, slower to faster."""
    file = folder / "pair.json"
    results = json.loads(file.read_text())["results"]
    means = sorted(float(row["mean"]) for row in results)
    return means[1] / means[0]


def commands(ratio: float, turns: int = TURNS) -> list[str]:
    """Two commands, of which the second does ``ratio`` times the work of the first."""
    return [SUBJECT.format(turns=round(turns * times)) for times in (1.0, ratio)]


def ours_differs(
    pair: Sequence[str], runs: int, seed: int, store: Store, folder: Path, wanted: Sequence[Verdict] = DIFFERENT
) -> list[str]:
    """The metrics that are called so as ``wanted`` says."""
    kind = CommandsKind()
    asked = {"commands": list(pair), "runs": runs, "shell": "none", "seed": seed}
    with kind.prepare(kind.read(Source(document=asked), {}), Tools()) as prepared:
        result = start(kind, prepared, Tools(store, folder))
    comparison = findings_for(result, store).comparisons[0]
    rows = [row for arm in comparison.arms for row in arm.metrics]
    return [row.metric.name for row in rows if row.verdict in wanted]


def false_alarms(repeats: int, runs: int, seed: int, folder: Path) -> None:
    program = tools()[1].command[0]
    ours = theirs = misled = 0
    by_metric: Counter[str] = Counter()
    with Store.open(str(folder / "dyno.db")) as store, loaded(7):
        for repeat in range(repeats):
            told = ours_differs(commands(1.0), runs, seed + repeat, store, folder)
            ours += bool(told)
            by_metric.update(told)
            theirs += hyperfine_differs(runs, folder, program)
            misled += hyperfine_ratio(folder) >= 1 + COUNTS / 100
    print(f"\ntwo identical commands beside a bursty process ({repeats} times, {runs} runs each)")
    print(f"  dyno time calls them different      {ours:4} = {ours / repeats:6.1%}   goal at most 1 %: ", end="")
    print("reached" if ours / repeats <= 0.01 else "MISSED")
    if by_metric:
        print(f"    in {', '.join(f'{name} {times}' for name, times in by_metric.most_common())}")
    print(f"  hyperfine's ratio is {COUNTS:g} % or more    {misled:4} = {misled / repeats:6.1%}")
    print(f"  ... and beyond the ± beside it      {theirs:4} = {theirs / repeats:6.1%}")


def power(repeats: int, runs: int, seed: int, folder: Path) -> None:
    """How often a longer command is called slower, in its time or in its CPU time."""
    for beside in (False, True):
        where = "beside a bursty process" if beside else "as the machine is"
        print(
            f"\na command with more work, {where} ({repeats} times, {runs} runs each): time and CPU time told slower"
        )
        for ratio in SLOWER:
            found: Counter[str] = Counter()
            with (
                Store.open(str(folder / f"power-{ratio}-{beside}.db")) as store,
                loaded(7) if beside else nullcontext(),
            ):
                for repeat in range(repeats):
                    pair = commands(ratio, LONG_TURNS)
                    found.update(ours_differs(pair, runs, seed + repeat, store, folder, (Verdict.WORSE,)))
            shares = [found[name] / repeats for name in ("duration_s", "cpu_s")]
            print(f"  {ratio - 1:+.0%}  {shares[0]:6.1%} {shares[1]:6.1%}")


def main(arguments: Sequence[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="does it still work?")
    parser.add_argument("--repeats", type=int, default=400, help="pairs of identical commands")
    parser.add_argument(
        "--seed", type=int, default=0, help="of the first pair: parts of a long measurement go on with it"
    )
    parser.add_argument("--rounds", type=int, default=10, help="of the overhead")
    parser.add_argument("--only", choices=("overhead", "alarms", "power"))
    parser.add_argument("--runs", type=int, default=RUNS, help="of each command of a pair")
    asked = parser.parse_args(arguments)
    print(machine())
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if asked.only in (None, "overhead"):
            overhead(1 if asked.quick else asked.rounds, 100 if asked.quick else 500, folder)
        if asked.only in (None, "alarms"):
            false_alarms(5 if asked.quick else asked.repeats, asked.runs, asked.seed, folder)
        if asked.only in (None, "power"):
            power(2 if asked.quick else asked.repeats // 4, asked.runs, asked.seed, folder)


if __name__ == "__main__":
    main(sys.argv[1:])
