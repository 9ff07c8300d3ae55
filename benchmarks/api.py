"""What the service answers at 200 requests a second over a million executions; its memory, and its dashboard.

    python benchmarks/api.py [--rows N] [--rate N] [--seconds S] [--requests N] [--quick] [--keep FILE]

``dyno serve`` runs in a process of its own on loopback; this process asks for the leaderboard, the results of an
agent and a comparison, in turn. The load is open: a request is due at its time whether or not the ones before it were
answered, and its latency counts from then, so a service that stalls cannot hide it. Then ``--requests`` more are
sent, and the memory of the server (RSS) before and after them is compared. Before all that, a browser opens the
landing page of the dashboard.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import cycle, islice
from pathlib import Path
from urllib.parse import urlsplit

import psutil

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from benchmarks.api_paint import Paint, visits
from benchmarks.bench_conclusions import BATCH, NOW_MS, SUITE, Shape, made
from benchmarks.ratio_table import PYTHON, met, print_heading, print_table

from agentdyno.model import Case, Workspace
from agentdyno.runs.kind import Choices, Tools
from agentdyno.runs.kinds import SUITE as SUITE_KIND
from agentdyno.runs.kinds import kind_named
from agentdyno.runs.pipeline import start
from agentdyno.runs.suite.prepare import suite_request
from agentdyno.specs import parse_suite
from agentdyno.store import Store

AGENTS, VERSIONS = 50, 4
CASES = 200
CONNECTIONS = 32
SOAK_RATE = 500
"""Requests a second of the soak: the service allows 600 to who asks without a key."""
WARM_UP = 3_000
"""Requests at that rate before memory is looked at: until every thread of the server has its connection."""
TIMEOUT_S = 30.0
GOAL_P50_MS, GOAL_P99_MS = 20.0, 100.0
GOAL_GROWTH = 0.05
GOAL_PAINT_MS = 1_000.0
VISITS = 5
MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Question:
    name: str
    raw: bytes


@dataclass(slots=True)
class Load:
    """What became of the requests; latencies in ms by the name of the question, counted from when each was due."""

    latencies: dict[str, list[float]] = field(default_factory=dict)
    statuses: Counter[str] = field(default_factory=Counter)
    wall_s: float = 0.0
    server_cpu_s: float = 0.0

    @property
    def all_ms(self) -> list[float]:
        return [value for values in self.latencies.values() for value in values]

    @property
    def errors(self) -> int:
        return self.statuses.total() - self.statuses["200"]


@dataclass(frozen=True, slots=True)
class Half:
    """Answers about the target of every case, except each ``wrong``-th."""

    name: str
    wrong: int
    version: str = "1.0"

    def run(self, case: Case) -> object:
        return "no" if int(case.id[1:]) % self.wrong == 0 else case.target


def fill(path: Path, rows: int, now_ms: int) -> None:
    """Executions up to ``now_ms``, and a run of two agents that have cases to compare."""
    shape = Shape(rows, AGENTS, VERSIONS)
    with Store.open(path) as store:
        store.boards.add_suite(SUITE, now_ms=now_ms)
        for first in range(0, rows, BATCH):
            batch = made(first, min(BATCH, rows - first), shape)
            store.boards.add_executions(replace(row, created_at=row.created_at + now_ms - NOW_MS) for row in batch)
        cases = [{"id": f"c{number}", "input": str(number), "target": str(number)} for number in range(CASES)]
        document = {"name": "duel", "scorer": "exact", "epochs": 1, "warmup": 0, "dataset": {"cases": cases}}
        choices = Choices((Half("left", 4), Half("right", 7)))
        tools = Tools(store, path.parent / "runs", Workspace(), choices=choices)
        kind = kind_named(SUITE_KIND)
        with kind.prepare(suite_request(parse_suite(document, base_dir=path.parent)), tools) as prepared:
            start(kind, prepared, tools)


def questions(host: str) -> list[Question]:
    """One turn; each agent's results are asked for once in ``AGENTS`` turns."""
    compare = json.dumps({"agent_ids": ["left", "right"], "suite_id": "duel"}).encode()
    found = []
    for number in range(AGENTS):
        found += [
            Question("leaderboard", _raw("GET", "/benchmarks/leaderboard", host)),
            Question("results", _raw("GET", f"/benchmarks/agents/agent-{number:03d}/results?timeframe=30d", host)),
            Question("compare", _raw("POST", "/benchmarks/compare", host, compare)),
        ]
    return found


def _raw(method: str, path: str, host: str, body: bytes = b"") -> bytes:
    kind = "Content-Type: application/json\r\n" if body else ""
    return f"{method} {path} HTTP/1.1\r\nHost: {host}\r\n{kind}Content-Length: {len(body)}\r\n\r\n".encode() + body


class Client:
    """One kept-alive connection; opened anew after an error."""

    def __init__(self, host: str, port: int) -> None:
        self._host, self._port = host, port
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, raw: bytes) -> str:
        """The status, or what went wrong."""
        try:
            async with asyncio.timeout(TIMEOUT_S):
                return await self._ask(raw)
        except (OSError, TimeoutError, asyncio.IncompleteReadError) as error:
            self.close()
            return type(error).__name__

    async def _ask(self, raw: bytes) -> str:
        if self._streams is None:
            self._streams = await asyncio.open_connection(self._host, self._port, limit=MIB)
        reader, writer = self._streams
        writer.write(raw)
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = next(line for line in head.splitlines() if line.startswith("content-length:"))
        await reader.readexactly(int(length.partition(":")[2]))
        return head.split(" ", 2)[1]

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
        self._streams = None


async def load(
    address: tuple[str, int], asked: Sequence[Question], rate: float, count: int, *, waits: bool = False
) -> Load:
    """``count`` requests, one each ``1/rate`` seconds; with ``waits`` later where no connection is free."""
    found = Load()
    clients: asyncio.Queue[Client] = asyncio.Queue()
    every = [Client(*address) for _ in range(CONNECTIONS)]
    for client in every:
        clients.put_nowait(client)
    loop = asyncio.get_running_loop()
    start = loop.time() + 0.1

    async def one(question: Question, due: float, free: Client | None) -> None:
        client = free or await clients.get()
        status = await client.ask(question.raw)
        clients.put_nowait(client)
        found.statuses[status] += 1
        found.latencies.setdefault(question.name, []).append((loop.time() - due) * 1e3)

    running: set[asyncio.Task[None]] = set()
    for number, question in enumerate(islice(cycle(asked), count)):
        due = start + number / rate
        if (wait := due - loop.time()) > 0:
            await asyncio.sleep(wait)
        free = await clients.get() if waits else None
        task = asyncio.create_task(one(question, due, free))
        running.add(task)
        task.add_done_callback(running.discard)
    await asyncio.gather(*running)
    found.wall_s = loop.time() - start
    for client in every:
        client.close()
    return found


@contextlib.contextmanager
def serving(store: Path) -> Iterator[tuple[str, psutil.Process]]:
    """The address of ``dyno serve`` on a free port, and its process."""
    start = "from agentdyno.cli.main import main; main()"
    options = ["--port", "0", "--workers", "0", "--store", f"sqlite:///{store}"]
    command = [PYTHON, "-c", start, "serve", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=store.parent)
    try:
        assert process.stdout is not None
        address = process.stdout.readline().decode().strip()
        if not address:
            raise RuntimeError(f"dyno serve ended with {process.wait()}")
        yield address, psutil.Process(process.pid)
    finally:
        process.terminate()
        process.wait(20)


@contextlib.contextmanager
def growing(store: Path) -> Iterator[None]:
    """Adds an execution a second, as running jobs do: with each, every kept answer is out of date."""
    ended = threading.Event()

    def add() -> None:
        with Store.open(store) as opened:
            while not ended.wait(1.0):
                (row,) = made(0, 1, Shape(1, AGENTS, VERSIONS))
                opened.boards.add_executions([replace(row, created_at=time.time_ns() // 1_000_000)])

    thread = threading.Thread(target=add)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


@contextlib.contextmanager
def cpu_of(process: psutil.Process) -> Iterator[list[float]]:
    """The seconds of CPU that a process used meanwhile, in the list when the block has ended."""
    used: list[float] = []
    before = process.cpu_times()
    yield used
    after = process.cpu_times()
    used.append(after.user + after.system - before.user - before.system)


def quantile(values: Sequence[float], part: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]


def row(name: str, values: Sequence[float]) -> tuple[str, ...]:
    figures = (quantile(values, 0.5), quantile(values, 0.99), max(values))
    return (name, f"{len(values):,}", *(f"{value:.1f}" for value in figures))


def told(found: Load) -> str:
    return ", ".join(f"{count:,} x {status}" for status, count in found.statuses.most_common())


def print_paint(painted: Sequence[Paint]) -> None:
    slowest = max(visit.first_ms for visit in painted)
    names = ["first visit after the start", *(f"visit {number}" for number in range(2, len(painted) + 1))]
    print_table(
        "the dashboard's landing page in headless Chromium, nothing in its cache",
        ("", "first paint ms", "rows shown ms", "rows"),
        [
            (name, f"{visit.first_ms:.0f}", f"{visit.rows_ms:.0f}", str(visit.rows))
            for name, visit in zip(names, painted, strict=True)
        ],
        [f"slowest first paint {slowest:.0f} ms, goal < {GOAL_PAINT_MS:g} ms {met(slowest < GOAL_PAINT_MS)}"],
    )


def print_load(title: str, found: Load, rate: float, *notes: str) -> None:
    reached = found.statuses.total() / found.wall_s
    p50, p99 = quantile(found.all_ms, 0.5), quantile(found.all_ms, 0.99)
    print_table(
        title,
        ("question", "requests", "p50 ms", "p99 ms", "slowest"),
        [*(row(name, values) for name, values in sorted(found.latencies.items())), row("all", found.all_ms)],
        [
            f"p50 {p50:.1f} ms, goal < {GOAL_P50_MS:g} ms {met(p50 < GOAL_P50_MS)}",
            f"p99 {p99:.1f} ms, goal < {GOAL_P99_MS:g} ms {met(p99 < GOAL_P99_MS)}",
            f"errors {found.errors} ({told(found)}), goal 0 {met(not found.errors)}",
            f"{reached:.0f} requests/s reached, goal {rate:g} {met(reached > 0.98 * rate)}",
            f"the server used {found.server_cpu_s / found.wall_s:.2f} of a core",
            *notes,
        ],
    )


def measure(store: Path, arguments: argparse.Namespace) -> None:
    with serving(store) as (address, process):
        place = urlsplit(address)
        assert place.hostname is not None
        assert place.port is not None
        at = (place.hostname, place.port)
        asked = questions(place.netloc)
        painted = visits(address, VISITS)
        first = asyncio.run(load(at, asked[:3], 1.0, 3))
        asyncio.run(load(at, asked, arguments.rate, len(asked)))
        count = round(arguments.rate * arguments.seconds)
        with cpu_of(process) as cpu:
            found = asyncio.run(load(at, asked, arguments.rate, count))
        found.server_cpu_s = cpu[0]
        with growing(store), cpu_of(process) as cpu:
            changing = asyncio.run(load(at, asked, arguments.rate, count))
        changing.server_cpu_s = cpu[0]
        asyncio.run(load(at, asked, SOAK_RATE, WARM_UP, waits=True))
        before = process.memory_info().rss
        soak = asyncio.run(load(at, asked, SOAK_RATE, arguments.requests, waits=True))
        after = process.memory_info().rss
    print_paint(painted)
    told_first = ", ".join(f"{name} {values[0]:.0f} ms" for name, values in first.latencies.items())
    title = f"{arguments.rows:,} executions, {arguments.rate:g} requests/s for {arguments.seconds:g} s"
    print_load(title, found, arguments.rate, f"first answers: {told_first}")
    print_load(f"{title}, one execution added each second", changing, arguments.rate)
    growth = after / before - 1
    print_table(
        f"memory of the server over {arguments.requests:,} more requests",
        ("before MiB", "after MiB", "growth", "requests/s"),
        [(f"{before / MIB:.1f}", f"{after / MIB:.1f}", f"{growth:+.1%}", f"{arguments.requests / soak.wall_s:.0f}")],
        [
            f"growth {growth:+.1%}, goal < {GOAL_GROWTH:.0%} {met(growth < GOAL_GROWTH)}",
            f"errors {soak.errors} ({told(soak)}), goal 0 {met(not soak.errors)}",
        ],
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="What the service answers under load, and its memory.")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rate", type=float, default=200.0, help="requests a second")
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--requests", type=int, default=100_000, help="sent between the two looks at the memory")
    parser.add_argument("--keep", type=Path, help="an SQLite file that is filled unless it is there, and stays")
    parser.add_argument("--quick", action="store_true", help="5 s and 2,000 requests at most")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.seconds, arguments.requests = min(5.0, arguments.seconds), min(2_000, arguments.requests)
    print_heading()
    with tempfile.TemporaryDirectory() as folder:
        store = (arguments.keep or Path(folder) / "dyno.db").resolve()
        if not store.exists():
            start = time.perf_counter()
            fill(store, arguments.rows, time.time_ns() // 1_000_000)
            print(f"{arguments.rows:,} executions added in {time.perf_counter() - start:.0f} s", flush=True)
        measure(store, arguments)


if __name__ == "__main__":
    main()
