"""What a case costs on a cluster beside this machine alone and beside plain Ray tasks, and how throughput grows.

Two nodes of a real Ray cluster run on this machine, so no network is in these figures.
Usage: python benchmarks/cluster.py [CASES]      20,000 without it
"""

from __future__ import annotations

import json
import os
import secrets
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from agentdyno.runs.cluster.ray_cluster import ALWAYS, TOKEN
from agentdyno.runs.kind import Choices, Source, Tools
from agentdyno.runs.kinds import SUITE, kind_named
from agentdyno.runs.pipeline import start
from agentdyno.store import Store

AGENTS = """
import time

def nothing(text):
    return text

def sleeps(text):
    time.sleep(0.1)
    return text
"""


def run(folder: Path, agent: str, cases: int, executor: str, concurrency: int) -> float:
    """Seconds from the first trial to the last sample in the store."""
    rows = [{"id": f"c{number}", "input": "x", "target": "x"} for number in range(cases)]
    document = {
        **{"name": "cost", "dataset": {"cases": rows}, "scorer": "exact", "epochs": 1, "warmup": 2},
        **{"concurrency": concurrency, "executor": executor},
    }
    began: list[float] = []
    kind = kind_named(SUITE)
    with Store.open(folder / f"{executor}-{agent}-{cases}.db") as store:
        on_progress = lambda _: began.append(time.perf_counter())  # noqa: E731
        choices = Choices(agents=(f"agents.py@{agent}",))
        tools = Tools(store, folder / "runs", on_progress=on_progress, choices=choices)
        with kind.prepare(kind.read(Source(document=document), {}), tools) as prepared:
            start(kind, prepared, tools)
    return began[-1] - began[1]


def plain_tasks(cases: int) -> float:
    """Seconds for so many tasks of Ray's that do nothing, at most 512 of them under way."""
    import ray

    task: Any = ray.remote(num_cpus=1)(lambda text: text)
    ray.get([task.remote("x") for _ in range(8)])
    started = time.perf_counter()
    waiting: list[Any] = []
    for _ in range(cases):
        if len(waiting) >= 512:
            ready, waiting = ray.wait(waiting, num_returns=1)
            ray.get(ready)
        waiting.append(task.remote("x"))
    ray.get(waiting)
    return time.perf_counter() - started


def main() -> None:
    cases = int(sys.argv[1]) if len(sys.argv) > 1 else 20_000
    os.environ.update(ALWAYS)
    os.environ[TOKEN] = secrets.token_hex(32)
    import ray
    from ray.cluster_utils import Cluster

    given: dict[str, Any] = {"num_cpus": 2, "include_dashboard": False, "object_store_memory": 100 << 20}
    cluster = Cluster(initialize_head=True, head_node_args=given)
    os.environ["RAY_ADDRESS"] = cluster.address
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.chdir(folder)
        (folder / "agents.py").write_text(AGENTS)
        local = run(folder, "nothing", cases, "local", 4)
        one = run(folder, "sleeps", 200, "ray", 4)
        ours = run(folder, "nothing", cases, "ray", 4)
        ray.init(cluster.address, log_to_driver=False)
        tasks = plain_tasks(cases)
        ray.shutdown()
        cluster.add_node(**given)
        two = run(folder, "sleeps", 400, "ray", 4)
        both = run(folder, "nothing", cases, "ray", 4)
    cluster.shutdown()  # type: ignore[no-untyped-call]
    rows = [
        (f"{cases:,} cases that do nothing, this machine alone", local, cases),
        ("  the same, one node", ours, cases),
        ("  the same, two nodes", both, cases),
        ("  plain Ray tasks, one node", tasks, cases),
        ("200 cases that sleep 0.1 s, one node", one, 200),
        ("400 cases that sleep 0.1 s, two nodes", two, 400),
    ]
    print(f"{'':56}{'seconds':>9}{'per case':>12}")
    for text, seconds, count in rows:
        print(f"{text:56}{seconds:9.2f}{1e6 * seconds / count:9.0f} µs")
    print(f"overhead beside this machine alone: {ours / local:.2f}x; beside plain Ray tasks: {ours / tasks:.2f}x")
    print(f"throughput of sleeping cases, two nodes to one: {2 * one / two:.2f}x")
    print(json.dumps({"local_s": local, "ray_s": ours, "two_s": both, "tasks_s": tasks, "growth": 2 * one / two}))


if __name__ == "__main__":
    main()
