"""What boards and histories cost to read at a million executions, through the Python API.

    python benchmarks/bench_conclusions.py [--rows N] [--agents N] [--versions N] [--url URL] [--keep FILE]

50 agents, each in four versions one after the other, run the ten benchmarks of a suite over 90 days. The store is an
SQLite file of its own unless ``--url`` names an empty PostgreSQL database; ``--keep`` fills a file once and reads it
again later.
Every question is asked once to warm up, then 20 times: the median counts. Boards are made anew each time; a service
keeps them until something changes.
"""

from __future__ import annotations

import argparse
import contextlib
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from benchmarks.ratio_table import met, print_heading, print_table

from agentdyno.findings.board.ask import Boards
from agentdyno.findings.history.ask import Histories
from agentdyno.model import Benchmark, Case, Category, Suite
from agentdyno.store import Execution, Store

BENCHMARKS = 10
DAYS = 90
WINDOW_DAYS = 30
DAY_MS = 86_400_000
NOW_MS = 1_760_000_000_000
BATCH = 100_000
TIMES = 20
CASES = 20
GOAL_MS = 50.0
SUITE = Suite(
    "bench",
    tuple(
        Benchmark(f"task {number}", (Case("one", "?"),), category=list(Category)[number % 5])
        for number in range(BENCHMARKS)
    ),
)
AGENT = "agent-007"

Question = tuple[str, Callable[[], object]]


def questions(store: Store) -> list[Question]:
    """What is timed, by name."""
    before_ms = NOW_MS - WINDOW_DAYS * DAY_MS
    first = SUITE.benchmarks[0].benchmark_id
    return [
        ("leaderboard", lambda: Boards(store, now_ms=NOW_MS).leaderboard()),
        ("matrix", lambda: Boards(store, now_ms=NOW_MS).matrix()),
        ("regressions of an agent", lambda: Histories(store, now_ms=NOW_MS).regressions(AGENT)),
        ("  of an agent over 30 days", lambda: Histories(store, now_ms=NOW_MS).regressions(AGENT, days=WINDOW_DAYS)),
        ("leaderboard_rows", lambda: store.boards.leaderboard_rows(days=WINDOW_DAYS, now_ms=NOW_MS)),
        ("  of the window before", lambda: store.boards.leaderboard_rows(days=WINDOW_DAYS, now_ms=before_ms)),
        (
            "  of a category",
            lambda: store.boards.leaderboard_rows(days=WINDOW_DAYS, now_ms=NOW_MS, category="accuracy"),
        ),
        ("  of a suite", lambda: store.boards.leaderboard_rows(days=WINDOW_DAYS, now_ms=NOW_MS, suite=SUITE.digest)),
        ("matrix_rows", store.boards.matrix_rows),
        ("  of a category", lambda: store.boards.matrix_rows(category="accuracy")),
        ("series, newest 1,000", lambda: store.boards.series(AGENT)),
        ("  of a benchmark", lambda: store.boards.series(AGENT, benchmark=first)),
        ("agent_executions, newest 1,000", lambda: store.boards.agent_executions(AGENT)),
        ("agents", store.boards.agents),
        ("generation", store.boards.generation),
    ]


@dataclass(frozen=True, slots=True)
class Shape:
    """How many executions of how many agents, each in how many versions."""

    rows: int
    agents: int
    versions: int


def made(first: int, rows: int, shape: Shape) -> Iterator[Execution]:
    """Rows as an import has them, from number ``first`` on: in the order of time, run by run."""
    draw = Random(first)
    agent = 0
    oldest, step = NOW_MS - DAYS * DAY_MS, DAYS * DAY_MS / shape.rows
    digest = SUITE.digest
    names = [item.benchmark_id for item in SUITE.benchmarks]
    for number in range(first, first + rows):
        if number % BENCHMARKS == 0 or number == first:
            agent = draw.randrange(shape.agents)
        accuracy = min(1.0, max(0.0, draw.gauss(0.3 + 0.6 * agent / shape.agents, 0.05)))
        priced = agent % 3 > 0
        yield Execution(
            f"agent-{agent:03d}",
            f"1.{number * shape.versions // shape.rows}",
            digest,
            names[number % BENCHMARKS],
            oldest + round(number // BENCHMARKS * BENCHMARKS * step),
            "success" if draw.random() < 0.995 else "partial",
            accuracy=accuracy,
            speed=draw.random(),
            efficiency=draw.random(),
            cost=draw.random() if priced else None,
            reliability=draw.random(),
            overall=draw.random(),
            tokens_used=draw.randrange(100_000),
            api_calls=CASES,
            memory_peak_bytes=draw.randrange(1 << 30),
            cpu_s=draw.random(),
            duration_s=draw.random() * 60,
            correctness=accuracy,
            cost_usd=draw.random() / 100 if priced else None,
            cases=CASES,
            scored=CASES,
            case_mean=accuracy,
            case_variance=accuracy * (1 - accuracy),
            passed=round(accuracy * CASES),
            samples=CASES,
            attempts=CASES,
            accuracy_error=(accuracy * (1 - accuracy) / CASES) ** 0.5,
            speed_error=0.02,
            efficiency_error=0.02,
            cost_error=0.02 if priced else None,
            reliability_error=0.05,
        )


def fill(store: Store, shape: Shape) -> None:
    store.boards.add_suite(SUITE, now_ms=NOW_MS)
    for first in range(0, shape.rows, BATCH):
        store.boards.add_executions(made(first, min(BATCH, shape.rows - first), shape))


def timed_ms(work: Callable[[], object]) -> list[float]:
    work()
    spent = []
    for _ in range(TIMES):
        start = time.perf_counter()
        work()
        spent.append((time.perf_counter() - start) * 1e3)
    return spent


@contextlib.contextmanager
def opened(url: str | None, keep: Path | None, shape: Shape) -> Iterator[Store]:
    """The filled store."""
    with contextlib.ExitStack() as stack:
        place: str | Path
        if url is not None:
            place = url
        else:
            place = keep or Path(stack.enter_context(tempfile.TemporaryDirectory())) / "dyno.db"
        store = stack.enter_context(Store.open(place))
        if not store.boards.generation():
            start = time.perf_counter()
            fill(store, shape)
            print(f"{shape.rows:,} executions added in {time.perf_counter() - start:.0f} s", flush=True)
        yield store


def main() -> None:
    parser = argparse.ArgumentParser(description="What boards and histories cost to read.")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--agents", type=int, default=50)
    parser.add_argument("--versions", type=int, default=4, help="of each agent")
    parser.add_argument("--url", help="an empty database, such as postgresql://user@host/database")
    parser.add_argument("--keep", type=Path, help="an SQLite file that is filled unless it is there, and stays")
    arguments = parser.parse_args()
    shape = Shape(arguments.rows, arguments.agents, arguments.versions)
    print_heading()
    rows, slowest = [], 0.0
    with opened(arguments.url, arguments.keep, shape) as store:
        for name, work in questions(store):
            spent = timed_ms(work)
            median = statistics.median(spent)
            slowest = max(slowest, median)
            answer = work()
            size = f"{len(answer):,}" if isinstance(answer, list) else "-"
            rows.append((name, size, f"{median:.1f}", f"{min(spent):.1f}", f"{max(spent):.1f}"))
    title = f"{shape.agents} agents in {shape.versions} versions and {BENCHMARKS} benchmarks over {DAYS} days"
    note = f"slowest {slowest:.1f} ms, goal < {GOAL_MS:.0f} ms {met(slowest < GOAL_MS)}"
    print_table(title, ("question", "rows", "median ms", "fastest", "slowest"), rows, [note])


if __name__ == "__main__":
    main()
