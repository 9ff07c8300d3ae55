"""The simulation's experiments beside what others offer, on one machine.

1. Agent memory in Redis: our figures beside redis-benchmark, by turns, on the same server (one connection each).
2. Batched searches in discs: the hash grid beside SciPy's cKDTree, by turns, from 100 to 100,000 points.
3. What a step of the simulation costs from 100 to 100,000 agents at constant density.

redis-benchmark comes from the system's packages (apt-get install redis-tools); without it its column stays empty.
"""

from __future__ import annotations

import argparse
import csv
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

import numpy as np
from scipy.spatial import cKDTree

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from benchmarks.ratio_table import met, print_heading, print_table

from agentdyno import ExperimentContext
from agentdyno_workloads.simulation.config import SimulationConfig
from agentdyno_workloads.simulation.simulate import simulate
from agentdyno_workloads.simulation.spatial.experiments import SpatialPerformanceAnalyzer
from agentdyno_workloads.simulation.storage.redis_memory import RedisMemory
from agentdyno_workloads.simulation.storage.redis_server import RedisServer
from agentdyno_workloads.simulation.timing import growth

BATCH = 100
RATIO_GOAL, EXPONENT_GOAL = 2.0, 1.1
OPERATIONS = (
    ("write: SET and ZADD, in one round trip", "write_per_s", "SET"),
    ("read: GET", "read_per_s", "GET"),
    ("search in a disc", "search_per_s", ""),
    (f"write, {BATCH} pipelined", "write_pipelined_per_s", f"SET {BATCH}"),
    (f"read, {BATCH} pipelined", "read_pipelined_per_s", f"GET {BATCH}"),
    (f"search, {BATCH} pipelined", "search_pipelined_per_s", ""),
)


def peer_rates(program: str, server: RedisServer, entry_bytes: int, requests: int) -> dict[str, float]:
    """SET and GET a second by redis-benchmark, with one connection, one at a time and pipelined."""
    found = {}
    for pipeline, suffix in ((1, ""), (BATCH, f" {BATCH}")):
        count = requests * (10 if pipeline > 1 else 1)
        done = subprocess.run(
            [
                *(program, "-h", "127.0.0.1", "-p", str(server.port), "-t", "set,get", "-c", "1", "-r", "5000"),
                *("-n", str(count), "-d", str(entry_bytes), "-P", str(pipeline), "--csv", "-a", server.password),
            ],
            capture_output=True,
            text=True,
            check=True,
            timeout=120,
        )
        for row in csv.reader(done.stdout.splitlines()):
            if row and row[0] in ("SET", "GET"):
                found[row[0] + suffix] = float(row[1])
    return found


def print_redis(rounds: int, quick: bool) -> None:
    program = shutil.which("redis-benchmark")
    server = RedisServer()
    cpus = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(server.pid, {cpus[-1]})
    experiment = RedisMemory(agents=20 if quick else 100, entries=50, searches=200, batch=BATCH, url=server.url)
    context = ExperimentContext()
    ours: dict[str, list[float]] = defaultdict(list)
    peer: dict[str, list[float]] = defaultdict(list)
    try:
        os.sched_setaffinity(0, {cpus[0]})
        experiment.setup(context)
        size = round(statistics.mean(map(len, experiment.texts)))
        for number in range(rounds + 1):
            figures = experiment.execute_once(context)
            rates = peer_rates(program, server, size, 500 if quick else 10_000) if program else {}
            # The first round warms both up.
            if number:
                for name, value in figures.items():
                    ours[name].append(value)
                for name, value in rates.items():
                    peer[name].append(value)
    finally:
        os.sched_setaffinity(0, cpus)
        experiment.teardown(context)
        server.stop()
    rows = []
    for label, name, other in OPERATIONS:
        own = statistics.median(ours[name])
        against = statistics.median(peer[other]) if peer[other] else None
        cells = ("", "") if against is None else (f"{against:,.0f}", f"{own / against:.2f}x")
        rows.append((label, f"{own:,.0f}", *cells))
    notes = [
        f"Redis {context.observed['redis']}, {size} bytes an entry, client and server on a core each, median of "
        f"{rounds} turns; redis-benchmark is written in C and checks no answer, ours is Python and checks all.",
    ]
    if not program:
        notes.append("redis-benchmark is not here, so its column is empty: apt-get install redis-tools.")
    header = ("agent memory in Redis, a second", "agentdyno", "redis-benchmark", "ours over it")
    print_table("Redis, one connection", header, rows, notes)


def print_spatial(rounds: int, sizes: list[int]) -> None:
    experiment, context = SpatialPerformanceAnalyzer("radius", sizes=sizes), ExperimentContext()
    experiment.setup(context)
    trees = {size: cKDTree(np.column_stack([task.x, task.y])) for size, task in experiment.tasks.items()}
    figures: dict[str, list[float]] = defaultdict(list)
    for number in range(rounds + 1):
        turn = experiment.execute_once(context)
        for size, task in experiment.tasks.items():
            began = time.perf_counter()
            trees[size].query_ball_point(np.column_stack([task.ask_x, task.ask_y]), task.radius)
            turn[f"bare_{size}_s"] = time.perf_counter() - began
        if number:
            for name, value in turn.items():
                figures[name].append(value)
    rows = []
    for size in sizes:
        grid, scipy = (statistics.median(figures[f"{name}_{size}_s"]) for name in ("hash_grid", "scipy"))
        ratio = statistics.median(figures[f"grid_over_scipy_{size}"])
        others = (statistics.median(figures[f"{name}_{size}_s"]) / scipy for name in ("kd_tree", "quad_tree"))
        bare = statistics.median(
            a / b for a, b in zip(figures[f"hash_grid_{size}_s"], figures[f"bare_{size}_s"], strict=True)
        )
        rows.append(
            (
                *(f"{size:,}", f"{grid * 1e3:.3f}", f"{scipy * 1e3:.3f}", f"{ratio:.2f}x", f"{bare:.2f}x"),
                *(f"{other:.2f}x" for other in others),
                met(ratio <= RATIO_GOAL and bare <= RATIO_GOAL),
            )
        )
    exponents = []
    for name in ("hash_grid", "kd_tree", "quad_tree", "scipy"):
        law = growth(sizes, [statistics.median(figures[f"{name}_{size}_s"]) for size in sizes])
        interval = "" if law.interval is None else f" [{law.interval[0]:.2f}, {law.interval[1]:.2f}]"
        exponents.append(f"{name} {law.exponent:.2f}{interval}")
    header = (
        *("points", "hash grid ms", "cKDTree ms", "grid over it", "over the bare call", "kd_tree", "quad_tree"),
        f"grid <= {RATIO_GOAL:g}x",
    )
    notes = [
        f"Every point asks, in one batch; median of {rounds} turns; answers are equal. cKDTree's time includes",
        "putting its lists into the arrays that all indexes answer with; the bare call is query_ball_point alone.",
        *exponents,
    ]
    print_table("batched searches in discs", header, rows, notes)


def print_steps(rounds: int, sizes: list[int]) -> None:
    rows, seconds = [], []
    for agents in sizes:
        config = SimulationConfig(agents=agents, steps=10)
        simulate(config)
        took = [statistics.mean(simulate(config).step_s) for _ in range(rounds)]
        seconds.append(statistics.median(took))
        rows.append((f"{agents:,}", f"{seconds[-1] * 1e3:.3f}", f"{seconds[-1] / agents * 1e6:.2f}"))
    law = growth(sizes, seconds)
    interval = "" if law.interval is None else f" [{law.interval[0]:.2f}, {law.interval[1]:.2f}]"
    notes = [
        f"exponent {law.exponent:.2f}{interval}, goal at most {EXPONENT_GOAL}: {met(law.exponent <= EXPONENT_GOAL)}"
    ]
    print_table("the step loop at constant density", ("agents", "a step, ms", "an agent, µs"), rows, notes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small and few: shows that it works")
    parser.add_argument("--only", default="", help="redis, spatial or steps; several with commas")
    given = parser.parse_args()
    rounds = 2 if given.quick else 9
    sizes = [100, 1000] if given.quick else [100, 1000, 10_000, 100_000]
    parts = {
        "redis": lambda: print_redis(rounds, given.quick),
        "spatial": lambda: print_spatial(rounds, sizes),
        "steps": lambda: print_steps(max(2, rounds // 2), sizes),
    }
    print_heading()
    for name in given.only.split(",") if given.only else parts:
        parts[name]()


if __name__ == "__main__":
    main()
