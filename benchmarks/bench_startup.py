"""How long a command line takes to answer: ``dyno --help`` and ``dyno list`` beside ``pyperf --help``; then one
question to an agent, and two cases of a suite beside inspect_ai and pydantic-evals doing the same two.

    python benchmarks/bench_startup.py [--quick] [--only-cases] [--peers-python OTHER/bin/python]

``dyno list`` keeps what it has found out about the installed packages in a cache; the row "no cache" is the first
call after an installation. Only ours starts a process for the agent, and keeps the answers in a store; inspect_ai
writes its log, pydantic-evals nothing. What counts is CPU time, children included.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from benchmarks.ratio_table import PYTHON, Cost, met, print_heading, print_table, run_process

PEER = "pyperf --help"
COLD = "dyno list (no cache)"
COMMANDS = ("dyno --help", "dyno list", COLD, PEER)
GOAL = 1.0
TRY, RUN = "dyno try", "dyno run, two cases"
HALF_S = {TRY: 0.55, RUN: 1.0}
"""Half of what either took on the machine of the tests before both were made lean, in seconds of CPU."""
SUITE = """name: two
epochs: 1
warmup: 0
scorer: exact
dataset: {cases: [{id: a, input: a, target: A}, {id: b, input: b, target: B}]}
"""
AGENT = "def answer(text):\n    return text.upper()\n"
INSPECT = """
from agent import answer
from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput
from inspect_ai.scorer import exact
from inspect_ai.solver import solver

@solver
def upper():
    async def solve(state, generate):
        state.output = ModelOutput.from_content("none", answer(state.input_text))
        return state
    return solve

samples = [Sample(id="a", input="a", target="A"), Sample(id="b", input="b", target="B")]
(log,) = eval(Task(MemoryDataset(samples), solver=upper(), scorer=exact()), model="mockllm/model", display="none")
assert log.status == "success"
"""
PYDANTIC_EVALS = """
from agent import answer
from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import EqualsExpected

cases = [Case(name="a", inputs="a", expected_output="A"), Case(name="b", inputs="b", expected_output="B")]
Dataset(name="two", cases=cases, evaluators=[EqualsExpected()]).evaluate_sync(answer, progress=False).print()
"""


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


def measure_cases(runs: int, peers: str) -> dict[str, list[Cost]]:
    """A question, and two cases by each tool, in an order that changes; the first round does not count."""
    dyno = [PYTHON, str(Path(PYTHON).parent / "dyno")]
    commands = {
        TRY: [*dyno, "try", "agent.py@answer", "hello"],
        RUN: [*dyno, "run", "suite.yaml", "--agent", "agent.py@answer"],
    }
    for module, script in (("inspect_ai", "with_inspect.py"), ("pydantic_evals", "with_pydantic_evals.py")):
        if subprocess.run([peers, "-c", f"import {module}"], capture_output=True, check=False).returncode:
            print(f"{module} is not in {peers}: left out; --peers-python names an interpreter that has it")
        else:
            commands[f"{module}, two cases"] = [peers, script]
    costs: dict[str, list[Cost]] = {name: [] for name in commands}
    with tempfile.TemporaryDirectory(prefix="dyno-startup-") as text:
        folder = Path(text)
        files = {"agent.py": AGENT, "suite.yaml": SUITE}
        files |= {"with_inspect.py": INSPECT, "with_pydantic_evals.py": PYDANTIC_EVALS}
        for name, content in files.items():
            (folder / name).write_text(content)
        environ = {"XDG_CACHE_HOME": f"{folder}/cache", "DYNO_STATE": f"{folder}/state"}
        names = list(commands)
        for number in range(runs + 1):
            for name in (*names[number % len(names) :], *names[: number % len(names)]):
                cost = run_process(commands[name], environ, folder)
                if number:
                    costs[name].append(cost)
    return costs


def print_cases(costs: dict[str, list[Cost]], runs: int) -> None:
    rows = []
    for name, found in costs.items():
        cpu = statistics.median(cost.cpu_s for cost in found)
        least, most = (pick(cost.cpu_s for cost in found) for pick in (min, max))
        half = HALF_S.get(name)
        goal = "" if half is None else f"<= {half:.2f} s {met(cpu <= half)}"
        rows.append((name, f"{cpu:.2f}", f"{least:.2f}", f"{most:.2f}", goal))
    header = ("what", "user+sys s", "least", "most", "goal")
    print_table(f"medians of {runs} interleaved runs", header, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="5 runs of each: shows that it works")
    parser.add_argument("--only-cases", action="store_true", help="the second table alone")
    parser.add_argument(
        "--peers-python", default=PYTHON, help="an interpreter that has inspect_ai and pydantic-evals"
    )
    asked = parser.parse_args()
    print_heading()
    if not asked.only_cases:
        print_commands(5 if asked.quick else 40)
    runs = 5 if asked.quick else 15
    print_cases(measure_cases(runs, asked.peers_python), runs)


def print_commands(runs: int) -> None:
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
