"""What our adapter of a framework costs beyond the framework's own call: CPU time per task, in one process, in turn.

The task is a tool call and an answer, two requests to a simulated model without latency. Needs the environments of
``scripts/frameworks.sh``: frameworks whose environment is not there are left out, and named.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from benchmarks.ratio_table import met, print_heading, print_table

from agentdyno.servers.simulated.server import simulated_server
from agentdyno_workloads.frameworks.subjects.catalogue import SUBJECTS

ROOT = Path(__file__).resolve().parent.parent
TOOL = ROOT / "benchmarks" / "adapters_tool.py"
GOAL_MS = 1.0
TRIM = 0.1


def measure(name: str, python: Path, url: str, tasks: int) -> dict[str, list[float]]:
    sources = [ROOT / "src", ROOT / "packages" / "agentdyno-workloads" / "src"]
    environ = {
        **os.environ,
        "OPENAI_BASE_URL": url,
        "OPENAI_API_KEY": "none",
        "PYTHONPATH": os.pathsep.join(map(str, sources)),
        "OPENAI_AGENTS_DISABLE_TRACING": "1",
        "LITELLM_LOCAL_MODEL_COST_MAP": "True",
        "CREWAI_DISABLE_TELEMETRY": "true",
    }
    done = subprocess.run(
        [python, TOOL, name, str(tasks)], env=environ, capture_output=True, text=True, check=True, timeout=1200
    )
    line = next(line for line in done.stdout.splitlines() if line.startswith("told "))
    found: dict[str, list[float]] = json.loads(line.removeprefix("told "))
    return found


def beyond_ms(found: dict[str, list[float]]) -> tuple[float, float, float]:
    """The trimmed mean of the differences task by task, with its bootstrap interval."""
    differences = (np.array(found["adapter"]) - np.array(found["framework"])) * 1e3
    draw = np.random.default_rng(0)
    drawn = draw.choice(differences, (2000, len(differences)))
    low, high = np.quantile([_trimmed(row) for row in drawn], [0.025, 0.975])
    return _trimmed(differences), float(low), float(high)


def _trimmed(values: np.ndarray) -> float:
    cut = int(len(values) * TRIM)
    return float(np.sort(values)[cut : len(values) - cut].mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="20 tasks of each: shows that it works")
    parser.add_argument("--only", nargs="*", default=list(SUBJECTS), help="frameworks")
    options = parser.parse_args()
    tasks = 20 if options.quick else 200
    print_heading()
    rows, missing = [], []
    with simulated_server() as server:
        for name in [name for name in SUBJECTS if name not in ("bare", "openai-sdk") and name in options.only]:
            python = ROOT / ".venv-frameworks" / SUBJECTS[name].environment / "bin" / "python"
            if not python.exists():
                missing.append(name)
                continue
            found = measure(name, python, server.openai_url, tasks)
            mean, low, high = beyond_ms(found)
            own = _trimmed(np.array(found["framework"])) * 1e3
            goal = f"<= {GOAL_MS:g} ms {met(mean <= GOAL_MS)}"
            rows.append((name, f"{own:.2f}", f"{mean:+.3f}", f"{low:+.3f} to {high:+.3f}", goal))
    notes = [f"left out, not installed by scripts/frameworks.sh: {', '.join(missing)}"] if missing else []
    header = ("framework", "its own call, CPU ms", "adapter beyond it, ms", "95 % interval", "goal")
    print_table("Adapters beyond the framework's own call", header, rows, notes)


if __name__ == "__main__":
    main()
