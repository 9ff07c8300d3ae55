"""What limits a run of a million cases, and a load of 10,000 requests a second, on 100 nodes.

    python benchmarks/scale.py [--quick] [--cases 100000] [--only sqlite]

Costs per unit are measured here; what 100 nodes make of them is simulated. Prints the tables of
docs/concepts/scale.md. The simulated time is that of a cluster; the script itself takes minutes.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from benchmarks.ratio_table import print_heading, print_table
from benchmarks.scale_costs import (
    TRIALS_PER_BATCH,
    BatchCost,
    DriverCost,
    MergeCost,
    batch_cost,
    in_own_process,
    merge_cost,
)
from benchmarks.scale_model import Cluster, simulate, simulate_messages

from agentdyno.jobs.sharing import LOOK_S

NODES, SLOTS, CASE_S = 100, 8, 2.0
MILLION = 1_000_000
RATE = 10_000
FLUSH_S = 0.2
"""How often a client of a load tells what it has."""


def show_driver(costs: list[DriverCost]) -> None:
    rows = [
        (
            f"{cost.cases:,}",
            f"{cost.wall_s * 1e6:,.0f} µs",
            f"{cost.cpu_s * 1e6:,.0f} µs",
            f"{cost.saving_s * 1e6:,.0f} µs",
            f"{cost.begin_s:.1f} s",
            f"{cost.close_s:.1f} s",
            f"{cost.peak_bytes / 1e6:,.0f} MB",
            f"{cost.disk_bytes:,.0f}",
        )
        for cost in costs
    ]
    header = ("cases", "wall a case", "CPU", "of it saving", "begin", "close", "peak memory", "bytes on disk a case")
    print_table(f"The driver, {NODES} stations that answer at once, SQLite", header, rows)


def show_batches(costs: list[BatchCost]) -> None:
    rows = [
        (
            cost.database,
            f"{cost.holder_s * 1e3:.2f} ms",
            f"{cost.helper_s * 1e3:.2f} ms",
            f"{cost.look_s * 1e3:.1f} ms",
            f"{cost.look_s / LOOK_S:.0%}",
        )
        for cost in costs
    ]
    title = f"A batch of {TRIALS_PER_BATCH} cases between workers that share a run"
    header = (
        "store",
        "holder",
        "helper",
        f"a look at {costs[0].open_batches} batches",
        "of the time between two looks",
    )
    print_table(title, header, rows)


def show_merging(cost: MergeCost) -> None:
    per_message = cost.message_s + RATE / NODES * FLUSH_S * cost.row_s
    rows = []
    for name, every_s, service_s in (
        ("every request, five times a second", FLUSH_S, per_message),
        ("a window of histograms a second", 1.0, cost.window_s),
    ):
        found = simulate_messages(NODES, every_s, service_s, 600.0)
        rows.append((name, f"{service_s * 1e6:,.0f} µs", f"{found.busy:.0%}", f"{found.backlog_s * 1e3:,.0f} ms"))
    title = f"{RATE:,} requests/s from {NODES} clients, put together in one place (600 s simulated)"
    notes = (
        f"a message {cost.message_s * 1e6:,.0f} µs and a request in it {cost.row_s * 1e6:,.1f} µs;"
        f" a window is {cost.window_bytes / 1e3:.1f} kB of JSON",
    )
    print_table(title, ("what clients send", "a message", "of one core", "longest wait"), rows, notes)


def show_run(driver_s: float, cases: int) -> None:
    asked = [
        *((Cluster(nodes, SLOTS, CASE_S, driver_s), cases) for nodes in (1, 10, 50, 200, 400)),
        *((Cluster(NODES, SLOTS, case_s, driver_s), cases) for case_s in (0.1, 0.5, 10.0)),
        (Cluster(NODES, SLOTS, CASE_S, driver_s), cases),
    ]
    rows = []
    for cluster, count in asked:
        found = simulate(cluster, count)
        rows.append(
            (
                f"{cluster.nodes}",
                f"{cluster.case_s:g} s",
                f"{count:,}",
                f"{cluster.expected_per_s:,.0f}",
                f"{found.per_s:,.0f}",
                f"{found.busy:.0%}",
                f"{found.driver_busy:.0%}",
                f"{found.backlog_s:.2f} s",
                f"{found.duration_s / 60:.1f} min",
            )
        )
    header = (
        "nodes",
        "a case",
        "cases",
        "paper/s",
        "simulated/s",
        "slots busy",
        "driver busy",
        "longest wait",
        "takes",
    )
    print_table(f"{SLOTS} cases at once on a node, {driver_s * 1e6:,.0f} µs of the driver for each", header, rows)


def show_limits(small: DriverCost, large: DriverCost, batches: list[BatchCost]) -> None:
    more = large.cases - small.cases
    per_case = (large.peak_bytes - small.peak_bytes) / more
    peak = large.peak_bytes + per_case * (MILLION - large.cases)
    closing_s = large.close_s + (large.close_s - small.close_s) / more * (MILLION - large.cases)
    rows = [
        ("driver (decoding, judging, saving)", f"{1 / large.wall_s:,.0f} cases/s", "wall time, a commit each"),
        ("driver, its CPU time alone", f"{1 / large.cpu_s:,.0f} cases/s", "as if saving were not waited for"),
        ("store alone", f"{1 / large.saving_s:,.0f} cases/s", "append and commit, SQLite"),
    ]
    for cost in batches:
        rate = TRIALS_PER_BATCH / cost.holder_s
        rows.append((f"holder of a shared run, {cost.database}", f"{rate:,.0f} cases/s", "queues and drops batches"))
        rate /= 1.0 + cost.helper_s / cost.holder_s
        rows.append(
            (f"store of a shared run, {cost.database}", f"{rate:,.0f} cases/s", "if nothing is written at once")
        )
    rows += [
        ("memory of the driver", f"{peak / 1e9:.1f} GB", f"at 1,000,000 cases, {per_case:,.0f} bytes each"),
        ("disk", f"{large.disk_bytes * MILLION / 1e9:.1f} GB", "at 1,000,000 cases"),
        ("closing the run", f"{closing_s:,.0f} s", "at 1,000,000 cases, if it grows evenly"),
    ]
    wanted = NODES * SLOTS / CASE_S
    print_table(f"Limits; {NODES} nodes give {wanted:,.0f} cases/s of {CASE_S:g} s", ("what", "limit", "how"), rows)


def main() -> None:
    parser = argparse.ArgumentParser(description="What limits large runs, from costs that are measured here.")
    parser.add_argument("--quick", action="store_true", help="shows that the script works, nothing else")
    parser.add_argument("--cases", type=int, default=100_000, help="cases that the driver is measured with")
    parser.add_argument("--only", choices=("sqlite",), help="without PostgreSQL")
    arguments = parser.parse_args()
    cases, times = (400, 20) if arguments.quick else (arguments.cases, 200)
    print_heading()
    small, large = (in_own_process(count, NODES, SLOTS) for count in (max(1, cases // 10), cases))
    show_driver([small, large])
    databases = ["SQLite"] if arguments.only else ["SQLite", "PostgreSQL"]
    batches = [batch_cost(database, 2 * NODES, times) for database in databases]
    show_batches(batches)
    show_limits(small, large, batches)
    show_run(large.wall_s, MILLION // 100 if arguments.quick else MILLION)
    show_merging(merge_cost(NODES, round(RATE / NODES * FLUSH_S), times))


if __name__ == "__main__":
    main()
