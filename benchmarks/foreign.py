"""What a case costs beyond the agent's own work, by how the agent is hosted.

The same agent, which answers with the text that it was asked, as a hosted Python function, as a program that stays
(``stdio:``, in Python and, where ``rustc`` is found, in Rust) and as a command per case (``cmd:``). Cases go to the
agents in turns, one at a time, so that whatever else the machine does meets them alike. Printed is the median and the
99th percentile of the wall time of a case, seen from the caller, and the CPU time of the bench's own process.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from benchmarks.ratio_table import PYTHON, print_heading, print_table

from agentdyno.agents.resolve import make_agent
from agentdyno.contracts import Agent
from agentdyno.model import AgentUse, Case

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "agent-protocol.md"
FUNCTION = "def answer(text):\n    return text\n"
COMMAND = "import sys\nsys.stdout.write(sys.stdin.read())\n"


def agents(folder: Path) -> dict[str, Agent]:
    """Each way of hosting by its name; what needs a compiler is left out where there is none."""
    examples = dict(re.findall(r"this\s+as\s+`(agent\.\w+)`:\n\n```\w+\n(.*?)```", PAGE.read_text(), re.DOTALL))
    for name, text in {**examples, "function.py": FUNCTION, "command.py": COMMAND}.items():
        (folder / name).write_text(text)
    ways = {
        "hosted function (Python)": "function.py@answer",
        "stdio: (Python)": f"stdio:{PYTHON} agent.py",
        "cmd: (cat)": "cmd:cat",
        "cmd: (Python)": f"cmd:{PYTHON} command.py",
    }
    if shutil.which("rustc"):
        subprocess.run(["rustc", "-O", "agent.rs", "-o", "agent"], cwd=folder, check=True)
        ways["stdio: (Rust)"] = "stdio:./agent"
    return {name: make_agent(AgentUse(name, uses, base_dir=str(folder))) for name, uses in ways.items()}


async def measured(made: dict[str, Agent], cases: int) -> dict[str, list[tuple[float, float]]]:
    """Wall and own CPU seconds of every case, by agent."""
    seen: dict[str, list[tuple[float, float]]] = {name: [] for name in made}
    try:
        for agent in made.values():
            await agent.start()
        for number in range(cases):
            for name, agent in made.items():
                case = Case(str(number), f"question {number}")
                cpu_s, start = time.process_time(), time.perf_counter()
                response = await agent.run(case)
                wall_s, used_s = time.perf_counter() - start, time.process_time() - cpu_s
                assert str(response.output).strip() == case.input, response.output
                seen[name].append((wall_s, used_s))
    finally:
        for agent in made.values():
            await agent.close()
    return seen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=500)
    options = parser.parse_args()
    print_heading()
    with tempfile.TemporaryDirectory() as folder:
        seen = asyncio.run(measured(agents(Path(folder)), options.cases))
    hosted = float(np.median([wall for wall, _ in seen["hosted function (Python)"]]))
    rows = []
    for name, values in sorted(seen.items(), key=lambda item: float(np.median([wall for wall, _ in item[1]]))):
        wall, own = (np.array([value[part] for value in values]) for part in (0, 1))
        median = float(np.median(wall))
        rows.append(
            (
                name,
                f"{median * 1e6:,.0f} µs",
                f"{np.quantile(wall, 0.99) * 1e6:,.0f} µs",
                f"{np.median(own) * 1e6:,.0f} µs",
                f"{median / hosted:.2f}",
            )
        )
    print_table(
        f"{options.cases} cases each, in turns",
        ("agent", "median", "p99", "CPU of the bench", "against hosted"),
        rows,
    )


if __name__ == "__main__":
    main()
