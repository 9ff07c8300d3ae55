"""Two checkouts of this project in turns: is the other one, usually an older one, faster?

    python benchmarks/before_after.py ../older-checkout --pairs 15 [--only store --only evaluate]

Both need their .venv (``make test`` or ``scripts/install.sh dev``). Each pair runs every command once with either
checkout, in an order that changes; the first pair fills the caches and does not count. A ratio above 1 is a slow-down
of this checkout; its interval is a bootstrap of the median of pairs. The last rows are our side of evaluate.py,
store.py and load.py, as either checkout has it; a load is counted by the server, in CPU time for each request.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from benchmarks.load_throughput import CannedServer, canned_server
from benchmarks.ratio_table import Cost, print_heading, print_table, run_process

HERE = Path(__file__).resolve().parent.parent
CASES = 1_000
COMMANDS = {
    "dyno --help": ("--help",),
    "dyno run --help": ("run", "--help"),
    "dyno list": ("list",),
    f"suite of {CASES:,} cases": ("run", "suite.yaml", "--agent", "agent.py@answer"),
    "experiment, 300 samples": ("run", "spec.yaml"),
}
TOOLS = {
    "evaluate.py, 2,000 cases": ("evaluate_tool.py", "dyno", "2000"),
    "store.py, 5,000 samples": ("store_tool.py", "dyno", "5000"),
}
LOAD = "load.py, a request"
LOAD_SECONDS, CONNECTIONS = 2, 64


def write_project(folder: Path) -> None:
    """An agent with a suite of quick cases, and a quick experiment."""
    folder.mkdir()
    rows = [{"id": f"c{number}", "input": f"c{number}", "target": f"C{number}"} for number in range(CASES)]
    suite = {"name": "many", "dataset": {"cases": rows}, "scorer": "exact", "epochs": 1}
    (folder / "suite.yaml").write_text(json.dumps(suite))
    (folder / "agent.py").write_text("def answer(text):\n    return text.upper()\n")
    (folder / "bench.py").write_text("def work():\n    return sum(range(1000))\n")
    (folder / "spec.yaml").write_text("experiment: bench.py@work\niterations: 300\n")


@dataclass(frozen=True, slots=True)
class Checkout:
    """A checkout of the project, and a folder that it works in."""

    root: Path
    work: Path

    def dyno(self, arguments: tuple[str, ...]) -> Cost:
        bin_ = self.root / ".venv" / "bin"
        environ = {"XDG_CACHE_HOME": str(self.work / "cache")}
        return run_process([str(bin_ / "python"), str(bin_ / "dyno"), *arguments], environ, self.work)

    def tool(self, name: str, arguments: tuple[str, ...]) -> Cost:
        """A script of its ``benchmarks/``, in an empty folder."""
        script = str(self.root / "benchmarks" / name)
        return run_process([str(self.root / ".venv/bin/python"), script, *arguments], cwd=self.root)

    def stored(self, name: str, arguments: tuple[str, ...]) -> Cost:
        with tempfile.TemporaryDirectory(dir=self.work) as folder:
            return self.tool(name, (*arguments, folder, str(Path(folder) / "figures.json")))

    def load(self, server: CannedServer) -> Cost:
        """For each request that the server counted."""
        before = server.read().requests
        cost = self.tool("load_tool.py", (str(server.port), str(LOAD_SECONDS), str(CONNECTIONS)))
        count = server.read().requests - before
        return replace(cost, wall_s=cost.wall_s / count, cpu_s=cost.cpu_s / count)


def measure(
    roots: dict[str, Path], pairs: int, work: Path, only: Sequence[str] = ()
) -> dict[str, dict[str, list[Cost]]]:
    """Costs by command and checkout, pair by pair; of commands whose text has one of ``only`` in it, or of all."""
    checkouts = {name: Checkout(root, work / name) for name, root in roots.items()}
    for checkout in checkouts.values():
        write_project(checkout.work)
        folders = [path for path in (checkout.root / "src", checkout.root / "packages") if path.is_dir()]
        subprocess.run([checkout.root / ".venv/bin/python", "-m", "compileall", "-q", *folders], check=True)
    jobs: dict[str, Callable[[Checkout], Cost]] = {}
    for text, arguments in COMMANDS.items():
        jobs[text] = partial(Checkout.dyno, arguments=arguments)
    for text, (name, *rest) in TOOLS.items():
        jobs[text] = partial(Checkout.stored, name=name, arguments=tuple(rest))
    with canned_server(0) as server:
        jobs[LOAD] = partial(Checkout.load, server=server)
        jobs = {text: job for text, job in jobs.items() if not only or any(part in text for part in only)}
        found: dict[str, dict[str, list[Cost]]] = {text: {name: [] for name in roots} for text in jobs}
        for number in range(pairs + 1):
            names = list(checkouts) if number % 2 else list(reversed(checkouts))
            for text, job in jobs.items():
                for name in names:
                    cost = job(checkouts[name])
                    if number:
                        found[text][name].append(cost)
    return found


def ratio(after: list[float], before: list[float]) -> str:
    """The median ratio of pairs with its 95 % interval."""
    ratios = [mine / other for mine, other in zip(after, before, strict=True)]
    draw = random.Random(1)
    medians = sorted(statistics.median(draw.choices(ratios, k=len(ratios))) for _ in range(4_000))
    return f"{statistics.median(ratios):.3f} [{medians[100]:.3f}, {medians[3_899]:.3f}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", type=Path, help="the other checkout")
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--only", action="append", default=[], help="a part of the name of a row; may be repeated")
    asked = parser.parse_args()
    print_heading()
    with tempfile.TemporaryDirectory(prefix="dyno-before-after-") as name:
        found = measure({"before": asked.other.resolve(), "after": HERE}, asked.pairs, Path(name), asked.only)
    rows: list[tuple[str, ...]] = []
    for text, costs in found.items():
        cpu = {side: [cost.cpu_s for cost in costs[side]] for side in costs}
        wall = {side: [cost.wall_s for cost in costs[side]] for side in costs}
        shown = [f"{statistics.median(cpu[side]) * 1e3:.3g}" for side in ("before", "after")]
        rows.append((text, *shown, ratio(cpu["after"], cpu["before"]), ratio(wall["after"], wall["before"])))
    print_table(
        "Before and after", ("", "CPU before, ms", "CPU after, ms", "ratio of CPU", "ratio of wall time"), rows
    )


if __name__ == "__main__":
    main()
