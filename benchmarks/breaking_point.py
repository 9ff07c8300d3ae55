"""How well the breaking point of a server with a known capacity is found.

A simulated server has ``slots`` requests in service at once, each for a fixed time: its capacity is slots / time. For
each seed a server is drawn, the search runs in steps of three seconds, and what it found is set against the truth.
Then once more with a client that is throttled on purpose (stopped for 12 of every 16 ms): that is to be called
client-limited, and no breaking server. Busy processes on its core would not throttle it: who wakes seldom goes first.

Then, as a user runs it: the throughput that is reported of endpoints and agents of known capacity, in open loop (half
as much again as they can serve) and in closed loop, which must not be above the capacity; and ``--find-limit`` on an
agent behind an address.

Run: ``python benchmarks/breaking_point.py [--seeds 10] [--step 3] [--only search|peaks]``
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from benchmarks.peak_servers import endpoint, http_agent, python_agent

from agentdyno.findings.stress.judge_course import Course
from agentdyno.findings.stress.judge_searches import read_limit
from agentdyno.findings.stress.judge_steps import split_steps
from agentdyno.findings.stress.model import LimitedBy
from agentdyno.load.client.driver import HttpDriver
from agentdyno.load.running import run_scenario
from agentdyno.load.scenarios import FIND_LIMIT, ScenarioSettings, resolve_params
from agentdyno.model.load import Dialect, LoadOptions, LoadTarget
from agentdyno.servers.simulated.behaviour import Behaviour
from agentdyno.servers.simulated.server import simulated_server

TOKENS = 4
STOPPED_S, GOES_S = 0.012, 0.004


@dataclass(frozen=True)
class Case:
    """A server: ``slots`` at once, ``ttft_s`` to the first of four tokens, ``itl_s`` between two."""

    slots: int
    ttft_s: float
    itl_s: float

    @property
    def capacity(self) -> float:
        return self.slots / (self.ttft_s + self.itl_s * (TOKENS - 1))


def drawn(seed: int) -> Case:
    """A server of 60 to 300 requests a second, whose answers take 40 to 130 ms."""
    draw = random.Random(seed)
    ttft_s, itl_s = draw.uniform(0.03, 0.1), draw.uniform(0.003, 0.01)
    capacity = draw.uniform(60.0, 300.0)
    return Case(max(round(capacity * (ttft_s + itl_s * (TOKENS - 1))), 2), ttft_s, itl_s)


@contextmanager
def stopping(pids: Sequence[int]) -> Iterator[None]:
    """Stops processes again and again."""
    over = threading.Event()

    def stop_and_go() -> None:
        while not over.wait(GOES_S):
            for told, then_s in ((signal.SIGSTOP, STOPPED_S), (signal.SIGCONT, 0.0)):
                for pid in pids:
                    os.kill(pid, told)
                time.sleep(then_s)

    thread = threading.Thread(target=stop_and_go)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def search(
    case: Case, seed: int, step_s: float, *, throttled: bool = False
) -> tuple[float | None, tuple[float, float] | None, str, float, int]:
    """Best guess, interval, what limited it, seconds that it took, steps."""
    behaviour = Behaviour(ttft_s=case.ttft_s, itl_s=case.itl_s, output_tokens=TOKENS, slots=case.slots)
    values = resolve_params(FIND_LIMIT, "standard", {"step_seconds": step_s, "start_rate": 10.0, "max_rate": 2000.0})
    options = FIND_LIMIT.options(LoadOptions(keep_requests=False, timeout_s=20.0), values)
    began = time.monotonic()
    with simulated_server(behaviour) as server:
        driver = HttpDriver(LoadTarget("simulated", Dialect.OPENAI, server.openai_url, "m"), options)
        driver.open()
        try:
            with stopping(driver.pids) if throttled else nullcontext():
                windows = list(run_scenario(FIND_LIMIT, driver, ScenarioSettings(values, options=options, seed=seed)))
        finally:
            driver.close()
    steps = split_steps(windows)
    reading = read_limit(Course("find_limit", values, steps))
    point = reading.point
    took = time.monotonic() - began
    if point is None:
        return None, None, f"{reading.limited_by}: {reading.evidence}", took, len(steps)
    return point.value, point.interval, str(reading.limited_by), took, len(steps)


def print_peaks(seconds: float) -> bool:
    """Whether no throughput is more than 5 % above the capacity, and the agent's limit is found within 10 %."""
    print("target                    capacity/s  loop    reported/s   ratio")
    good = True
    for making in (endpoint(1, 0.05), endpoint(8, 0.04), http_agent(), python_agent()):
        with making as target:
            wanted = target.capacity * 1.5
            opened = target.load("--rate", f"{wanted:g}", "--duration", f"{seconds:g}", "--timeout", "60")
            steps = ("--profile", "quick", "-p", f"step_seconds={seconds / 4:g}", "-p", "max_concurrency=32")
            closed = target.load("--scenario", "concurrent_requests", *steps)
            found = {
                "open": opened.headline["throughput_per_s"],
                "closed": closed.figures["peak_throughput_per_s"],
            }
            if target.arguments == ("desk",):
                limit = target.load("--find-limit", "--slo", "latency_p95<300ms").breaking_point
                found["limit"] = None if limit is None else limit.value
        for loop, seen in found.items():
            ratio = (seen or 0.0) / target.capacity
            good &= 0.9 <= ratio <= 1.1 if loop == "limit" else ratio <= 1.05
            print(
                f"{target.kind:24}  {target.capacity:10.0f}  {loop:6}  {seen or 0.0:10.1f}  {ratio:6.3f}", flush=True
            )
    print(f"none is more than 5 % above, the limit within 10 %: {'met' if good else 'MISSED'}")
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--step", type=float, default=3.0)
    parser.add_argument("--only", default="", choices=["", "search", "peaks"])
    arguments = parser.parse_args()
    peaks = arguments.only == "search" or print_peaks(max(arguments.step, 1.0) * 2)
    if arguments.only == "peaks":
        return 0 if peaks else 1
    return 0 if print_searches(arguments) and peaks else 1


def print_searches(arguments: argparse.Namespace) -> bool:
    print("seed  slots  answer ms  capacity/s  found/s   ratio  interval          limited by   steps  seconds")
    good = 0
    for seed in range(arguments.first, arguments.first + arguments.seeds):
        case = drawn(seed)
        value, interval, limited, took, steps = search(case, seed, arguments.step)
        answer_ms = case.slots / case.capacity * 1e3
        start = f"{seed:4}  {case.slots:5}  {answer_ms:9.1f}  {case.capacity:10.1f}"
        if value is None:
            print(f"{start}  not found: {limited} ({steps} steps, {took:.0f} s)", flush=True)
            continue
        ratio = value / case.capacity
        good += abs(ratio - 1.0) <= 0.10
        shown = f"{interval[0]:.1f}-{interval[1]:.1f}" if interval else "-"
        print(
            f"{start}  {value:7.1f}  {ratio:6.3f}  {shown:16}  {limited:11}  {steps:5}  {took:7.0f}",
            flush=True,
        )
    print(f"within 10 % in {good} of {arguments.seeds}", flush=True)
    value, _, limited, _, _ = search(drawn(0), 0, arguments.step, throttled=True)
    throttled = value is None and limited.startswith(LimitedBy.CLIENT)
    said = limited if throttled else f"NOT told from the server: {limited}, found {value} of {drawn(0).capacity:.0f}"
    print(f"throttled client: {said}")
    return good >= 0.9 * arguments.seeds and throttled


if __name__ == "__main__":
    sys.exit(main())
