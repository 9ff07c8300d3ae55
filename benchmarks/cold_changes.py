"""What changed, of 50 agents in two versions, when nothing is kept: the first page of the dashboard in the morning.

    python benchmarks/cold_changes.py [--agents 50] [--cases 100] [--epochs 2] [--times 5] [--keep FILE]

The runs are real ones of a suite, with answers, durations and tokens of their own; most agents have other cases wrong
in the second version. Each time is a process of its own, which opens the store and asks as the service does at its
start: the CPU time is that of the question alone, without starting Python and loading the code.
"""

from __future__ import annotations

import argparse
import contextlib
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from benchmarks.ratio_table import met, print_heading, print_table

from agentdyno.model import Case, Response, Usage, Workspace
from agentdyno.runs.kind import Choices, Tools
from agentdyno.runs.kinds import SUITE as SUITE_KIND
from agentdyno.runs.kinds import kind_named
from agentdyno.runs.pipeline import start
from agentdyno.runs.suite.prepare import suite_request
from agentdyno.specs import parse_suite
from agentdyno.store import Store

GOAL_S = 1.0
ASK = """
import sys, time
from agentdyno.findings.change.ask import Changing
import agentdyno.findings.change.ask_runs, agentdyno.findings.figures.cases, agentdyno.findings.record.judge
import agentdyno.findings.engine.measure_scoreboard, agentdyno.findings.record.ask_spread
import agentdyno.store.boards.repository
from agentdyno.garbage import look_at_new_things_alone
from agentdyno.store import Store

look_at_new_things_alone()
with Store.open(sys.argv[1], must_exist=True) as store:
    began = time.process_time()
    changes = Changing(store).changes()
    print(time.process_time() - began, len(changes.rows), sum(row.verdict == "worse" for row in changes.rows))
"""


@dataclass(frozen=True, slots=True)
class Guess:
    """Answers about the target of every case, except every ``wrong``-th; ``tokens`` tell the versions apart."""

    name: str
    version: str
    wrong: int
    tokens: int

    def run(self, case: Case) -> Response:
        number = int(case.id[1:])
        output = "no" if number % self.wrong == 0 else case.target
        return Response(output, usage=Usage(input_tokens=self.tokens + number, output_tokens=self.tokens // 4))


def fill(path: Path, agents: int, cases: int, epochs: int) -> None:
    """A run of all agents in the first version, and one in the second."""
    rows = [{"id": f"c{number}", "input": str(number), "target": f"t{number}"} for number in range(cases)]
    document = {"name": "duel", "scorer": "exact", "epochs": epochs, "warmup": 0, "dataset": {"cases": rows}}
    with Store.open(path) as store:
        for version in (1, 2):
            crew = tuple(
                Guess(
                    f"agent-{number:03d}",
                    f"{version}.0",
                    wrong=(4, 5, 6, 7)[(number + (version if number % 3 else 0)) % 4],
                    tokens=100 + number + 5 * version,
                )
                for number in range(agents)
            )
            tools = Tools(store, path.parent / "runs", Workspace(), choices=Choices(crew))
            kind = kind_named(SUITE_KIND)
            with kind.prepare(suite_request(parse_suite(document, base_dir=path.parent)), tools) as prepared:
                start(kind, prepared, tools)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--agents", type=int, default=50)
    parser.add_argument("--cases", type=int, default=100)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--times", type=int, default=5)
    parser.add_argument("--keep", type=Path, help="a file to keep the store in, or to find it")
    asked = parser.parse_args()
    print_heading()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        path = asked.keep or folder / "dyno.db"
        if not path.exists():
            fill(path, asked.agents, asked.cases, asked.epochs)
        told = [
            subprocess.run([sys.executable, "-c", ASK, str(path)], check=True, capture_output=True, text=True).stdout
            for _ in range(asked.times)
        ]
    taken = sorted(float(line.split()[0]) for line in told)
    _, rows, worse = told[0].split()
    least, median, most = taken[0], taken[len(taken) // 2], taken[-1]
    print_table(
        f"changes of {asked.agents} agents in two versions, {asked.cases} cases × {asked.epochs} epochs",
        ("rows", "worse", "CPU s, least", "median", "most", f"at most {GOAL_S:g} s"),
        [(rows, worse, f"{least:.2f}", f"{median:.2f}", f"{most:.2f}", met(median <= GOAL_S))],
    )


if __name__ == "__main__":
    main()
