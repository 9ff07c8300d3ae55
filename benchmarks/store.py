"""A million executions in the store: how fast they go in, how large they are, and what a board costs to read.

    python benchmarks/store.py [--rows N] [--only sqlite|postgresql]

Boards come from summaries that are kept up to date in the transaction that adds the rows; beside them, the same board
worked out from all rows. PostgreSQL is started by the script, with its data on this disk and ``fsync`` on.
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
from tests.postgres import running_postgres

from agentdyno.model import Benchmark, Case, Category, Suite
from agentdyno.store import Execution, Store

AGENTS = 50
BENCHMARKS = 20
DAYS = 90
DAY_MS = 86_400_000
NOW_MS = 1_760_000_000_000
BATCH = 100_000
QUERY_GOAL_MS = 10.0
SUITE = Suite(
    "bench",
    tuple(
        Benchmark(f"task {number}", (Case("one", "?"),), category=list(Category)[number % 5])
        for number in range(BENCHMARKS)
    ),
)
RAW_MATRIX = """
WITH newest AS (
    SELECT agent, benchmark, accuracy, speed, efficiency, cost, reliability,
        ROW_NUMBER() OVER (PARTITION BY agent, benchmark ORDER BY created_at DESC, id DESC) AS n
    FROM executions WHERE status = 'success' AND simulated = 0
)
SELECT agent, benchmark, accuracy, speed, efficiency, cost, reliability FROM newest WHERE n = 1
"""
RAW_LEADERBOARD = f"""
SELECT b.category, e.agent, count(*), count(DISTINCT e.benchmark), max(e.created_at),
    avg(e.accuracy), avg(e.speed), avg(e.efficiency), avg(e.cost), avg(e.reliability), avg(e.overall)
FROM executions e JOIN benchmarks b ON b.id = e.benchmark
WHERE e.status = 'success' AND e.simulated = 0 AND e.created_at >= {(NOW_MS // DAY_MS - 29) * DAY_MS}
GROUP BY b.category, e.agent
"""


@dataclass(frozen=True, slots=True)
class Figures:
    """Seconds, bytes and milliseconds of one database."""

    database: str
    rows: int
    adding_s: float
    size_bytes: int
    matrix_ms: float
    raw_matrix_ms: float
    board_ms: float
    raw_board_ms: float
    generation_ms: float
    rebuild_s: float
    identical: bool


def made(first: int, rows: int, total: int) -> list[Execution]:
    """Rows as an import has them, from number ``first`` on: all agents and benchmarks mixed, one after the other."""
    draw = Random(first)
    oldest, step = NOW_MS - DAYS * DAY_MS, DAYS * DAY_MS / total
    digest = SUITE.digest
    names = [item.benchmark_id for item in SUITE.benchmarks]
    found = []
    for number in range(first, first + rows):
        agent = draw.randrange(AGENTS)
        accuracy, cases = draw.random(), 20
        found.append(
            Execution(
                f"agent-{agent:02d}",
                "1.0",
                digest,
                names[draw.randrange(BENCHMARKS)],
                oldest + round(number * step),
                "success" if draw.random() < 0.95 else "partial",
                accuracy=accuracy,
                speed=draw.random(),
                efficiency=draw.random(),
                cost=draw.random() if agent % 3 else None,
                reliability=draw.random(),
                overall=draw.random(),
                tokens_used=draw.randrange(100_000),
                api_calls=cases,
                memory_peak_bytes=draw.randrange(1 << 30),
                cpu_s=draw.random(),
                duration_s=draw.random() * 60,
                correctness=accuracy,
                cost_usd=draw.random() / 100 if agent % 3 else None,
                cases=cases,
                scored=cases,
                case_mean=accuracy,
                case_variance=accuracy * (1 - accuracy),
                passed=round(accuracy * cases),
                samples=cases,
                attempts=cases,
            )
        )
    return found


def timed_ms(work: Callable[[], object], times: int) -> float:
    """The median of some calls, after one that warms up."""
    work()
    spent = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        spent.append((time.perf_counter() - start) * 1e3)
    return statistics.median(spent)


def summaries(store: Store) -> list[tuple[object, ...]]:
    with store.session as link:
        return [
            (table, *row)
            for table in ("latest", "agg_day")
            for row in sorted(map(tuple, link.connection.exec_driver_sql(f"SELECT * FROM {table}")))
        ]


def raw(store: Store, sql: str) -> int:
    with store.session as link:
        return len(link.connection.exec_driver_sql(sql).all())


def measure(database: str, url: str, rows: int, size: Callable[[], int]) -> Figures:
    adding_s = 0.0
    with Store.open(url) as store:
        store.boards.add_suite(SUITE, now_ms=NOW_MS)
        for first in range(0, rows, BATCH):
            batch = made(first, min(BATCH, rows - first), rows)
            start = time.perf_counter()
            store.boards.add_executions(batch)
            adding_s += time.perf_counter() - start
            del batch
        matrix_ms = timed_ms(store.boards.matrix_rows, 20)
        board_ms = timed_ms(lambda: store.boards.leaderboard_rows(days=30, now_ms=NOW_MS), 20)
        generation_ms = timed_ms(store.boards.generation, 20)
        raw_matrix_ms = timed_ms(lambda: raw(store, RAW_MATRIX), 3)
        raw_board_ms = timed_ms(lambda: raw(store, RAW_LEADERBOARD), 3)
        kept = summaries(store)
        start = time.perf_counter()
        store.boards.rebuild_summaries()
        rebuild_s = time.perf_counter() - start
        identical = summaries(store) == kept
    return Figures(
        database,
        rows,
        adding_s,
        size(),
        matrix_ms,
        raw_matrix_ms,
        board_ms,
        raw_board_ms,
        generation_ms,
        rebuild_s,
        identical,
    )


@contextlib.contextmanager
def place(database: str) -> Iterator[tuple[str, Callable[[], int]]]:
    """Where a store goes, and how many bytes it has on disk when it is closed."""
    if database == "sqlite":
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "dyno.db"
            yield f"sqlite:///{file}", lambda: file.stat().st_size
        return
    with running_postgres(
        fsync="on", full_page_writes="on", autovacuum="on", shared_buffers="128MB", max_wal_size="1GB"
    ) as server:
        name = server.create_database()
        yield (
            server.url(name),
            lambda: int(str(server.execute("SELECT pg_database_size(current_database())", name)[0][0])),
        )


def line(figures: Figures) -> tuple[str, ...]:
    return (
        figures.database,
        f"{figures.rows:,}",
        f"{figures.rows / figures.adding_s:,.0f}",
        f"{figures.size_bytes / 1e6:,.0f}",
        f"{figures.size_bytes / figures.rows:,.0f}",
        f"{figures.matrix_ms:.1f}",
        f"{figures.raw_matrix_ms:,.0f}",
        f"{figures.raw_matrix_ms / figures.matrix_ms:,.0f}x",
        f"{figures.board_ms:.1f}",
        f"{figures.raw_board_ms:,.0f}",
        f"{figures.raw_board_ms / figures.board_ms:,.0f}x",
        f"{figures.generation_ms:.2f}",
        f"{figures.rebuild_s:.1f}",
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Executions in the store: adding them, and boards over them.")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--only", choices=("sqlite", "postgresql"))
    arguments = parser.parse_args()
    print_heading()
    measured = []
    for database in [arguments.only] if arguments.only else ["sqlite", "postgresql"]:
        with place(database) as (url, size):
            measured.append(measure(database, url, arguments.rows, size))
    header = (
        "database",
        "rows",
        "rows/s",
        "MB",
        "bytes/row",
        "matrix ms",
        "raw ms",
        "faster",
        "board ms",
        "raw ms",
        "faster",
        "generation ms",
        "rebuild s",
    )
    notes = []
    for figures in measured:
        slowest = max(figures.matrix_ms, figures.board_ms)
        notes.append(
            f"{figures.database}: boards from summaries in {slowest:.1f} ms, goal < {QUERY_GOAL_MS:.0f} ms "
            f"{met(slowest < QUERY_GOAL_MS)}; summaries built anew are identical: {met(figures.identical)}"
        )
    title = f"executions of {AGENTS} agents and {BENCHMARKS} benchmarks over {DAYS} days, added {BATCH:,} at a time"
    print_table(title, header, [line(figures) for figures in measured], notes)


if __name__ == "__main__":
    main()
