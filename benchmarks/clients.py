"""How true the figures of a load are that comes from four clients, each at a worker of its own that listens.

1. The error of each request, to its first token and of the whole answer, against the log of a server whose arrivals
   the kernel stamps (stamped_server.py). Each line is the worst round.
2. The clocks: all run on one machine here, so that the true offset is 0 and what pings say can be held against it.
3. The windows of four clients beside those of all rows put together at once.
4. Requests a second with one, two and four clients, where there are at least four cores: of a server in C that
   answers at once, 16 tokens in 19 events, so that the clients are what is measured. Needs ``cc``.

Usage: python benchmarks/clients.py [--quick] [--only-growth]
"""

from __future__ import annotations

import argparse
import os
import secrets
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from benchmarks.load_throughput import CONNECTIONS, canned_server
from benchmarks.ratio_table import met, print_heading, print_table
from benchmarks.stamped_server import ITL_NS, TOKENS, TTFT_NS, LogLine, token_server
from benchmarks.stamps import StampedJudge, in_ms, matched

from agentdyno.load.client.driver import HttpDriver
from agentdyno.load.clients.fleet import Fleet
from agentdyno.load.clients.handshake import TOKEN, connect
from agentdyno.load.plan.requests import build_requests
from agentdyno.load.windows.collect import WindowBuilder
from agentdyno.load.windows.records import NAME, Records, read_raw
from agentdyno.model.load import Arrivals, Dialect, LoadOptions, LoadTarget, PromptLengths, Stage, Step, Window
from agentdyno.runs.load.clients import greeted

CLIENTS = 4
P50_GOAL_MS, P99_GOAL_MS = 0.3, 3.0
LEAST_CORES = 4
STREAMS = 100
RATE = STREAMS * 1e9 / (TTFT_NS + (TOKENS - 1) * ITL_NS)


@contextmanager
def workers(count: int) -> Iterator[Fleet]:
    """Clients at as many `dyno worker --listen` as are asked for, each a process of its own."""
    token = secrets.token_hex(16)
    command = [str(Path(sys.executable).parent / "dyno"), "worker", "--listen", "127.0.0.1:0"]
    started = [
        subprocess.Popen(command, env={**os.environ, TOKEN: token}, stderr=subprocess.PIPE, text=True)
        for _ in range(count)
    ]
    try:
        links = []
        for number, process in enumerate(started):
            assert process.stderr is not None, "a pipe"
            address = process.stderr.readline().split(" at ")[1].partition(". ")[0]
            links.append(greeted(connect(address, token, "--clients"), f"worker {number}"))
        fleet = Fleet(links)
        try:
            yield fleet
        finally:
            fleet.close()
    finally:
        for process in started:
            process.terminate()
            process.wait()


def load(
    fleet: Fleet, url: str, stage: Stage, folder: Path, longest: int = 1500
) -> tuple[LoadTarget, LoadOptions, list[Window], Step]:
    """One step, whose rows are in ``folder``, with prompts of 10 to ``longest`` words."""
    options = LoadOptions(prompts=PromptLengths("uniform", low=10, high=longest), connections=1000)
    target = LoadTarget("judge", Dialect.OPENAI, url, model="judge")
    step = Step("streams", (stage,), Arrivals.POISSON if stage.rate else Arrivals.CLOSED)
    driver = HttpDriver(target, options, artifacts=folder, source=fleet)
    driver.open()
    windows = list(driver.run(step))
    driver.close()
    return target, options, windows, step


def answer_errors_ns(path: Path, log: list[LogLine], keys: Sequence[int]) -> NDArray[np.int64]:
    """The whole answer as the client had it, less as the server sent it, of requests known by their length."""
    unique = {key for key, count in Counter(keys).items() if count == 1}
    true: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for key, received_ns, _, last_ns in log:
        true[key].append((received_ns, last_ns - received_ns))
    seen: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for row in read_raw(path):
        if keys[row["request"]] in unique and row["done"] >= 0:
            seen[keys[row["request"]]].append((int(row["sent"]), int(row["done"] - row["sent"])))
    errors = [
        ours - theirs
        for key, found in seen.items()
        if len(found) == len(true[key])
        for (_, ours), (_, theirs) in zip(sorted(found), sorted(true[key]), strict=True)
    ]
    return np.array(errors, dtype=np.int64)


def same_windows(windows: Sequence[Window], rows: Records, step: Step) -> bool:
    """Whether all rows together, in whatever order, make the same counts and histograms."""
    together = WindowBuilder(step, LoadOptions().window_s)
    together.add(rows, np.zeros(int(rows["gaps"].sum()), np.int64))
    names = ("asked", "sent", "completed", "outcomes", "latency", "service", "ttft", "queued_ttft", "tpot", "lag")
    return all(
        getattr(one, name) == getattr(other, name)
        for one, other in zip(windows, together.finish(), strict=True)
        for name in names
    )


def print_errors(fleet: Fleet, seconds: float, rounds: int) -> None:
    first, whole, alike, requests = [], [], [], 0
    stage = Stage("open", seconds, rate=RATE)
    with token_server() as stamped:
        judge = StampedJudge(stamped)
        for _ in range(rounds):
            with tempfile.TemporaryDirectory() as name:
                judge.log()
                target, options, windows, step = load(fleet, judge.openai_url, stage, Path(name))
                log, keys, path = judge.log(), judge.keys(build_requests(target, options, 0)), Path(name) / NAME
                sent, content, received, token = np.array(matched(path, log, keys), dtype=np.int64).T
                first.append(in_ms((content - sent) - (token - received)))
                whole.append(in_ms(answer_errors_ns(path, log, keys)))
                requests += len(sent)
                alike.append(same_windows(windows, read_raw(path), step))
    rows = []
    for what, found in (("to the first token", first), ("the whole answer", whole)):
        p50, p99 = (max(one[which] for one in found) for which in (0, 1))
        reached = met(p50 <= P50_GOAL_MS and p99 <= P99_GOAL_MS)
        rows.append((what, f"{requests:,}", f"{p50:.3f}", f"{p99:.3f}", reached))
    print_table(
        f"{CLIENTS} clients, about {STREAMS} streams with Poisson arrivals: error against the server's own log",
        ("time", "n", "p50 ms", "p99 ms", f"p50 <= {P50_GOAL_MS}, p99 <= {P99_GOAL_MS:g}"),
        rows,
        [
            f"The worst of {rounds} rounds.",
            f"Windows of {CLIENTS} clients equal to those of all rows together: {sum(alike)} of {len(alike)} rounds.",
        ],
    )


def print_clocks(fleet: Fleet, times: int) -> None:
    offsets, errors = [], []
    for _ in range(times):
        fleet.set_clocks()
        for link in fleet.links:
            assert link.clock is not None, "just set"
            offsets.append(abs(link.clock.offset_ns) / 1e6)
            errors.append(link.clock.error_ns / 1e6)
    inside = sum(offset <= error for offset, error in zip(offsets, errors, strict=True))
    print_table(
        "clocks of workers on this machine: what pings say, where the truth is 0",
        ("readings", "offset p50 ms", "max ms", "error said p50 ms", "max ms", "true within it"),
        [
            (
                *(f"{len(offsets)}", f"{np.median(offsets):.4f}", f"{max(offsets):.4f}"),
                *(f"{np.median(errors):.4f}", f"{max(errors):.4f}", f"{inside} of {len(offsets)}"),
            )
        ],
        [],
    )


def print_growth(seconds: float) -> None:
    cores = len(os.sched_getaffinity(0))
    if cores < LEAST_CORES:
        print(f"growth of the rate with clients: not measured on {cores} cores, it takes at least {LEAST_CORES}")
        return
    rates = {}
    for count in (1, 2, 4):
        stage = Stage("closed", seconds, concurrency=CONNECTIONS * count)
        with canned_server(0) as server, workers(count) as fleet, tempfile.TemporaryDirectory() as name:
            _, _, windows, _ = load(fleet, f"http://127.0.0.1:{server.port}/v1", stage, Path(name), longest=20)
        rates[count] = sum(window.completed for window in windows) / seconds
    rows = [(str(count), f"{rate:,.0f}", f"{rate / rates[1]:.2f}x") for count, rate in rates.items()]
    print_table(
        f"answers a second of a server in C, closed loop, {CONNECTIONS} requests at once for each client",
        ("clients", "per s", "beside one"),
        rows,
        [],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only-growth", action="store_true", help="the last table alone")
    parser.add_argument("--quick", action="store_true", help="one round of 1 s: shows that it works")
    given = parser.parse_args()
    seconds, rounds = (1.0, 1) if given.quick else (10.0, 3)
    print_heading()
    print(f"load at the start: {', '.join(f'{value:.2f}' for value in os.getloadavg())}")
    if not given.only_growth:
        with workers(CLIENTS) as fleet:
            print_errors(fleet, seconds, rounds)
            print_clocks(fleet, 5 if given.quick else 50)
    print_growth(seconds)
    print(f"load at the end: {', '.join(f'{value:.2f}' for value in os.getloadavg())}")


if __name__ == "__main__":
    main()
