"""What the kernel's receive stamps are worth in the load client: with and without them, against servers' logs.

Streams of 50 ms to the first token and 10 ms a token are held in a closed loop, all at once, and sent with Poisson
arrivals. Rounds with and without kernel stamps take turns on the same server, which notes with the same clock when a
request came and when it sent the first token. "TTFT" is the reported time to first token less that of the log,
whatever its sign. It is the sum of two: "to the server", from the client's sending to the server's note, and
"arrival", from the server's sending of the first token to the client's stamp of it. Each line is the worst round.

The simulated server notes a request when it reads it: what requests that come at once wait in its queue is in "to the
server". The other judge (stamped_server.py) has the kernel's stamp of requests, and no such queue in its log.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from benchmarks.ratio_table import met, print_heading, print_table
from benchmarks.stamped_server import ITL_NS, TOKENS, TTFT_NS, LogLine, RunningTokenServer, token_server

from agentdyno.load.client.driver import HttpDriver
from agentdyno.load.plan.requests import RequestSet, build_requests
from agentdyno.load.windows.records import NAME, read_raw
from agentdyno.model.load import Arrivals, Dialect, LoadOptions, LoadTarget, PromptLengths, Stage, Step
from agentdyno.servers.simulated.server import Behaviour, RunningServer, simulated_server

P50_GOAL_MS, P99_GOAL_MS = 0.3, 3.0
KINDS = {"reading": False, "kernel": True}


@dataclass(frozen=True, slots=True)
class StampErrors:
    """Of one round, in ms; ``core`` is the client's share of its core."""

    requests: int
    ttft: tuple[float, float]
    to_server: tuple[float, float]
    arrival: tuple[float, float]
    core: float


def one_round(judge: SimulatedJudge | StampedJudge, stage: Stage, kernel_stamps: bool, cpu: int) -> StampErrors:
    options = LoadOptions(prompts=PromptLengths("uniform", low=10, high=1500), cpus=(cpu,), connections=1000)
    target = LoadTarget("sim", Dialect.OPENAI, judge.openai_url, model="judge")
    step = Step("streams", (stage,), Arrivals.POISSON if stage.rate else Arrivals.CLOSED)
    with tempfile.TemporaryDirectory() as folder:
        driver = HttpDriver(target, options, artifacts=Path(folder), kernel_stamps=kernel_stamps)
        driver.open()
        judge.log()
        windows = list(driver.run(step))
        driver.close()
        pairs = matched(Path(folder) / NAME, judge.log(), judge.keys(build_requests(target, options, 0)))
    began_ns = driver.began_ns or 0
    sent, first, received, token = np.array(pairs, dtype=np.int64).T
    return StampErrors(
        len(pairs),
        ttft=in_ms((first - sent) - (token - received)),
        to_server=in_ms(received - began_ns - sent),
        arrival=in_ms(first + began_ns - token),
        core=float(np.mean([window.client_cpu or 0.0 for window in windows])),
    )


def in_ms(errors_ns: NDArray[np.int64]) -> tuple[float, float]:
    """The median and the 99th percentile of their sizes."""
    p50, p99 = np.quantile(np.abs(errors_ns) / 1e6, (0.5, 0.99))
    return float(p50), float(p99)


def matched(path: Path, log: list[LogLine], keys: Sequence[int]) -> list[tuple[int, int, int, int]]:
    """Sent and first content of the client, received and first token of the server: of requests whose key (a length)
    no other has, in the order in which each was repeated."""
    unique = {key for key, count in Counter(keys).items() if count == 1}
    true: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for key, received_ns, token_ns, _ in log:
        true[key].append((received_ns, token_ns))
    seen: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for record in read_raw(path):
        key = keys[record["request"]]
        if key in unique and record["first_content"] >= 0:
            seen[key].append((int(record["sent"]), int(record["first_content"])))
    return [
        (*ours, *theirs)
        for key, found in seen.items()
        if len(found) == len(true[key])
        for ours, theirs in zip(sorted(found), sorted(true[key]), strict=True)
    ]


class SimulatedJudge:
    """The simulated server; it knows a request by its words."""

    def __init__(self, server: RunningServer) -> None:
        self.openai_url, self._server = server.openai_url, server

    def keys(self, requests: RequestSet) -> Sequence[int]:
        return requests.input_words

    def log(self) -> list[LogLine]:
        """Since it was asked last."""
        found = [
            (entry.input_tokens, entry.received_ns, entry.token_ns[0], entry.token_ns[-1])
            for entry in self._server.log()
            if entry.input_tokens is not None and entry.token_ns
        ]
        self._server.reset()
        return found


class StampedJudge:
    """The server whose requests are stamped by the kernel; it knows a request by its bytes."""

    def __init__(self, server: RunningTokenServer) -> None:
        self.openai_url, self.log = server.openai_url, server.log

    def keys(self, requests: RequestSet) -> Sequence[int]:
        return [len(data) for data in requests.wire]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="one round of 2 s each: shows that it works")
    parser.add_argument("--cpus", default="0,1", help="the client's core and the server's")
    given = parser.parse_args()
    client, server_cpu = (int(number) for number in given.cpus.split(","))
    seconds, rounds = (2.0, 1) if given.quick else (4.0, 3)
    print_heading()
    behaviour = Behaviour(ttft_s=TTFT_NS / 1e9, itl_s=ITL_NS / 1e9, output_tokens=TOKENS)
    with simulated_server(behaviour) as simulated:
        os.sched_setaffinity(simulated.pid, {server_cpu})
        print_errors("the simulated server", SimulatedJudge(simulated), seconds, rounds, client)
    with token_server() as stamped:
        os.sched_setaffinity(stamped.pid, {server_cpu})
        print_errors("a server that stamps arrivals", StampedJudge(stamped), seconds, rounds, client)
    print(f"load at the end: {', '.join(f'{value:.2f}' for value in os.getloadavg())}")


def print_errors(name: str, judge: SimulatedJudge | StampedJudge, seconds: float, rounds: int, cpu: int) -> None:
    """``cpu`` is the client's core."""
    stages = {f"closed, {number}": Stage("closed", seconds, concurrency=number) for number in (50, 200, 500)}
    stages["Poisson, about 200"] = Stage("open", seconds, rate=200e9 / (TTFT_NS + (TOKENS - 1) * ITL_NS))
    rows = []
    for streams, stage in stages.items():
        found: dict[str, list[StampErrors]] = {kind: [] for kind in KINDS}
        for _ in range(rounds):
            for kind, kernel_stamps in KINDS.items():
                found[kind].append(one_round(judge, stage, kernel_stamps, cpu))
        rows += [(streams, kind, *line(errors)) for kind, errors in found.items()]
    header = (
        *("streams", "stamps", "n", "TTFT p50 ms", "p99 ms", "to the server p50 ms", "p99 ms"),
        *("arrival p50 ms", "p99 ms", "client core", "goal"),
    )
    notes = [f"The worst of {rounds} rounds in turns. Goal: TTFT p50 <= {P50_GOAL_MS}, p99 <= {P99_GOAL_MS:g} ms."]
    print_table(f"error against the log of {name}: stamps of reading, and of the kernel", header, rows, notes)


def line(errors: list[StampErrors]) -> tuple[str, ...]:
    """The worst of each figure."""
    worst = [
        max(getattr(one, part)[which] for one in errors)
        for part in ("ttft", "to_server", "arrival")
        for which in (0, 1)
    ]
    core = f"{max(one.core for one in errors):.0%}"
    reached = met(worst[0] <= P50_GOAL_MS and worst[1] <= P99_GOAL_MS)
    return f"{sum(one.requests for one in errors):,}", *(f"{value:.3f}" for value in worst), core, reached


if __name__ == "__main__":
    main()
