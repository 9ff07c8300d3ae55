"""What one unit of a large run costs on this machine; started by ``scale.py``.

Nothing here needs a cluster: the driver is the real one, and its stations answer at once from memory, so what is
left is the driver's own work for a case. No network is in any of these figures.
"""

from __future__ import annotations

import contextlib
import json
import queue
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from benchmarks.store_tool import TimedRuns, peak_rss_bytes
from tests.postgres import running_postgres

from agentdyno.findings.stress.judge_steps import merge_windows
from agentdyno.load.windows.collect import WindowBuilder
from agentdyno.load.windows.records import RECORD, Records
from agentdyno.model import Environment, Phase, Progress, Trial
from agentdyno.model.case import Response, Usage
from agentdyno.model.codec import encode, from_plain, to_plain
from agentdyno.model.job import Job, JobStatus
from agentdyno.model.load import Stage, Step, Window
from agentdyno.runner.farm.driver import Joined, News, Told
from agentdyno.runs.cluster.order import WorkOrder
from agentdyno.runs.environment import capture_environment
from agentdyno.runs.kind import Choices, Source, Tools
from agentdyno.runs.kinds import SUITE, kind_named
from agentdyno.runs.pipeline import start
from agentdyno.store import Store

ANSWER = "The invoice of March was paid on the 14th, and nothing is open. " * 6
CASE_S = 2.0
"""What the stations say that a case took: long enough for a commit of its own, as answers of models are."""
LEASE_MS = 10**9
TRIALS_PER_BATCH = 16


@dataclass(slots=True)
class MemoryFarm:
    """A farm whose stations have every answer at once."""

    stations: int
    environment: Environment | None = None
    _told: queue.SimpleQueue[tuple[str, bytes]] = field(default_factory=queue.SimpleQueue)

    def open(self) -> list[Joined]:
        self.environment = capture_environment()
        return [Joined(f"node-{number}", f"host-{number}") for number in range(self.stations)]

    def send(self, station: str, trials: Sequence[Trial]) -> None:
        json.dumps([to_plain(trial) for trial in trials]).encode()  # the driver's part of a message
        self._told.put((station, encode([answered(trial) for trial in trials]).encode()))

    def receive(self, timeout_s: float) -> list[News]:
        found: list[News] = []
        with contextlib.suppress(queue.Empty):
            found.append(_news(*self._told.get(timeout=timeout_s)))
            while True:
                found.append(_news(*self._told.get_nowait()))
        return found

    def close(self) -> None:
        pass


def _news(station: str, message: bytes) -> Told:
    return Told(station, json.loads(message))


def answered(trial: Trial) -> dict[str, object]:
    """What a station says of a case that was answered."""
    response = Response(ANSWER, Usage(input_tokens=900, output_tokens=90), readings={"ttft_s": 0.4})
    call = {"started_at_ms": time.time_ns() // 10**6, "duration_s": CASE_S, "status": "ok"}
    return {"key": trial.key, "took_s": CASE_S, "call": {**call, "response": to_plain(response)}}


@dataclass(frozen=True, slots=True)
class DriverCost:
    """What the driver spends on a case. ``wall_s`` is from the first sample to the
    last, ``saving_s`` the part of it in the store (append, commit), ``begin_s`` and ``close_s`` what comes before and
    after, of the run as a whole."""

    cases: int
    wall_s: float
    cpu_s: float
    saving_s: float
    begin_s: float
    close_s: float
    peak_bytes: int
    disk_bytes: float


def driver_cost(cases: int, stations: int, slots: int) -> DriverCost:
    """A suite whose cases are answered by stations in memory: sent, decoded, judged, saved, and closed. As
    cases are slow, each has a commit of its own."""
    rows = [{"id": f"c{number}", "input": "When was it paid?", "target": "14th"} for number in range(cases)]
    settings = {"epochs": 1, "warmup": 0, "concurrency": slots}
    document = {"name": "scale", "dataset": {"cases": rows}, "scorer": "includes", **settings}
    seen: list[tuple[float, float]] = []

    def on_progress(progress: Progress) -> None:
        if progress.done in (1, cases):
            seen.append((time.perf_counter(), time.process_time()))

    def farm(_order: WorkOrder) -> MemoryFarm:
        return MemoryFarm(stations)

    kind = kind_named(SUITE)
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        folder = Path(name)
        (folder / "agents.py").write_text("def asked(text):\n    return text\n")
        with Store.open(folder / "dyno.db") as store:
            store.runs = runs = TimedRuns(store.session)
            choices = Choices(agents=("agents.py@asked",), share=farm)
            tools = Tools(store, folder / "runs", on_progress=on_progress, choices=choices)
            began = time.perf_counter()
            with kind.prepare(kind.read(Source(document=document), {}), tools) as prepared:
                result = start(kind, prepared, tools)
            ended = time.perf_counter()
        if result.arms[0].samples_total != cases:
            raise RuntimeError(f"{result.arms[0].samples_total} of {cases} cases were recorded")
        disk = (folder / "dyno.db").stat().st_size
    (first_s, first_cpu), (last_s, last_cpu) = seen[0], seen[-1]
    each = max(1, cases - 1)
    return DriverCost(
        cases,
        (last_s - first_s) / each,
        (last_cpu - first_cpu) / each,
        runs.spent_s / cases,
        first_s - began,
        ended - last_s,
        peak_rss_bytes(),
        disk / cases,
    )


@dataclass(frozen=True, slots=True)
class BatchCost:
    """Seconds of one batch in the store: ``holder_s`` by the holder of the run (queue, drop), ``helper_s`` by whoever
    does it (lease, heartbeat, end), and ``look_s`` of one look at ``open_batches`` that are there."""

    database: str
    holder_s: float
    helper_s: float
    look_s: float
    open_batches: int


def batch_cost(database: str, open_batches: int, times: int) -> BatchCost:
    trials = [to_plain(Trial("arm", Phase.MEASURED, 0, f"c{number}")) for number in range(TRIALS_PER_BATCH)]
    items = [answered(Trial("arm", Phase.MEASURED, 0, f"c{number}")) for number in range(TRIALS_PER_BATCH)]
    offers = {("agent", "suite")}
    holder: list[float] = []
    helper: list[float] = []
    looks: list[float] = []
    with _url(database) as url, Store.open(url) as store:
        service = store.service
        service.add_job(Job("job", "agent", "agent", "suite", "suite", 1))
        job = service.lease_job("holder", offers, now_ms=2, lease_ms=LEASE_MS)
        assert job is not None, "queued above"
        for number in range(times):
            name = f"job.1.{number}"
            holder.append(_timed(partial(service.add_batch, job, name, trials, 3)))
            began = time.perf_counter()
            batch = service.lease_job("other", offers, now_ms=4, lease_ms=LEASE_MS, batches=True)
            assert batch is not None, "queued above"
            mine = (batch.job_id, batch.attempt)
            service.heartbeat_job(*mine, now_ms=5, lease_ms=LEASE_MS, progress={"items": items})
            service.finish_job(*mine, JobStatus.SUCCEEDED, now_ms=6)
            helper.append(time.perf_counter() - began)
            holder[-1] += _timed(partial(service.drop_batches, job, [name]))
        for number in range(open_batches):
            service.add_batch(job, f"job.2.{number}", trials, 7)
        for _ in range(max(5, times // 10)):
            looks.append(_timed(lambda: service.batches(job)))
    return BatchCost(database, _middle(holder), _middle(helper), _middle(looks), open_batches)


@contextlib.contextmanager
def _url(database: str) -> Iterator[str]:
    if database == "SQLite":
        with tempfile.TemporaryDirectory() as name:
            yield f"sqlite:///{name}/dyno.db"
        return
    with running_postgres(fsync="on", full_page_writes="on", autovacuum="on") as server:
        yield server.url(server.create_database())


@dataclass(frozen=True, slots=True)
class MergeCost:
    """Seconds at the place where load is put together. A client sends rows every 0.2 s: ``message_s`` for each
    message and ``row_s`` for each request in it. ``window_s`` is what a client's window of histograms costs instead,
    read from JSON and added to the others."""

    message_s: float
    row_s: float
    window_s: float
    window_bytes: int


def merge_cost(clients: int, rows: int, times: int) -> MergeCost:
    """``rows`` are those of one client in one message."""
    step = Step("step", (Stage("steady", 10_000.0, rate=100.0),))
    luck = np.random.default_rng(7)

    def adding(count: int) -> float:
        builder = WindowBuilder(step, 1.0)
        taken = []
        for number in range(times):
            given = requests(luck, count, number * 200_000_000)
            gaps = luck.integers(10**6, 10**8, int(given["gaps"].sum()))
            taken.append(_timed(partial(builder.add, given, gaps)))
        return _middle(taken)

    few, many = adding(rows), adding(rows * 20)
    row_s = max(0.0, (many - few) / (rows * 19))
    windows = [one_window(step, luck, rows * 5) for _ in range(clients)]
    told = [encode(to_plain(window)) for window in windows]
    merging = [
        _timed(lambda: merge_windows([from_plain(Window, json.loads(text)) for text in told]))
        for _ in range(max(3, times // 20))
    ]
    return MergeCost(max(0.0, few - rows * row_s), row_s, _middle(merging) / clients, len(told[0]))


def one_window(step: Step, luck: np.random.Generator, count: int) -> Window:
    builder = WindowBuilder(step, 1.0)
    given = requests(luck, count, 0)
    builder.add(given, luck.integers(10**6, 10**8, int(given["gaps"].sum())))
    return builder.finish(stopped_ns=10**9)[0]


def requests(luck: np.random.Generator, count: int, begin_ns: int) -> Records:
    """Answers of 20 chunks that took about a second."""
    rows = np.zeros(count, RECORD)
    rows["due"] = begin_ns + luck.integers(0, 200_000_000, count)
    rows["sent"] = rows["due"] + luck.integers(10_000, 500_000, count)
    rows["first_byte"] = rows["first_content"] = rows["sent"] + luck.lognormal(19.0, 0.5, count).astype(np.int64)
    rows["last_content"] = rows["first_content"] + luck.lognormal(20.5, 0.4, count).astype(np.int64)
    rows["done"] = rows["last_content"] + 100_000
    rows["bytes"], rows["input_tokens"], rows["output_tokens"] = 4_000, 200, 20
    rows["chunks"], rows["gaps"], rows["status"] = 20, 19, 200
    return rows


def _timed(act: Callable[[], object]) -> float:
    began = time.perf_counter()
    act()
    return time.perf_counter() - began


def _middle(values: Sequence[float]) -> float:
    return float(np.median(values))


def in_own_process(cases: int, stations: int, slots: int) -> DriverCost:
    """``driver_cost`` where nothing else has used memory before."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        return pool.submit(driver_cost, cases, stations, slots).result()
