"""One run of many samples in this process: ``store_tool.py TOOL SAMPLES FOLDER FILE``; figures as JSON to FILE.

Started by ``bench_store.py``. The measured function is empty and called once per sample, so that what is left is the
path itself.
"""

from __future__ import annotations

import json
import resource
import sqlite3
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from agentdyno.model import Progress, Sample
from agentdyno.runs.kind import RunRequest, Tools
from agentdyno.runs.kinds import EXPERIMENT, kind_named
from agentdyno.runs.pipeline import start
from agentdyno.specs import parse_spec
from agentdyno.store import Store
from agentdyno.store.runs.repository import RunRepository


class TimedRuns(RunRepository):
    """Adds up the seconds spent in ``append`` and ``commit``."""

    spent_s = 0.0

    def append(self, run_id: str, sample: Sample, *, replace: bool = False, ended: bool = True) -> None:
        start = time.perf_counter()
        super().append(run_id, sample, replace=replace, ended=ended)
        self.spent_s += time.perf_counter() - start

    def commit(self) -> None:
        start = time.perf_counter()
        super().commit()
        self.spent_s += time.perf_counter() - start


def peak_rss_bytes() -> int:
    """Of this process alone, since it started."""
    try:
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def with_dyno(samples: int, folder: Path) -> dict[str, float]:
    """``dyno run`` without the command line: worker process, a commit per sample, closing, result file."""
    document = {
        "experiment": f"{Path(__file__).with_name('subjects.py')}@nothing",
        "iterations": {"warmup": 0, "measured": samples},
        "inner_loops": 1,
        "output_dir": str(folder / "runs"),
    }
    spec = parse_spec(document, source="bench_store", base_dir=folder)
    file = folder / "dyno.db"
    first_s = last_s = 0.0
    measured_peak = 0

    def mark(progress: Progress) -> None:
        nonlocal first_s, last_s, measured_peak
        if progress.done == 1:  # by then the worker has started
            first_s = time.perf_counter()
        elif progress.done == samples:
            last_s = time.perf_counter()
            measured_peak = peak_rss_bytes()

    with Store.open(f"sqlite:///{file}") as store:
        store.runs = runs = TimedRuns(store.session)
        kind, tools = kind_named(EXPERIMENT), Tools(store, folder / "runs", on_progress=mark)
        with kind.prepare(RunRequest(EXPERIMENT, spec), tools) as prepared:
            begun = time.perf_counter()
            result = start(kind, prepared, tools)
            wall_s = time.perf_counter() - begun
        spent_s = runs.spent_s
    if result.arms[0].samples_total != samples:
        raise RuntimeError(f"{result.arms[0].samples_total} of {samples} samples were recorded")
    return {
        "sample_us": (last_s - first_s) / (samples - 1) * 1e6,
        "save_us": spent_s / samples * 1e6,
        "closing_s": begun + wall_s - last_s,
        "file_bytes": file.stat().st_size,
        "measuring_rss_bytes": measured_peak,
        "peak_rss_bytes": peak_rss_bytes(),
    }


def with_sqlite(samples: int, folder: Path) -> dict[str, float]:
    """The floor: the same number of rows of similar size through bare ``sqlite3``, one commit each."""
    file = folder / "bare.db"
    readings = json.dumps({"involuntary_switches": 0.0, "peak_rss_bytes": 2.5e7, "rss_bytes": 2.5e7})
    with sqlite3.connect(file, isolation_level=None) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute(
            "CREATE TABLE samples (id INTEGER PRIMARY KEY, arm INTEGER, phase TEXT, iteration INTEGER, status TEXT,"
            " started_at_ms INTEGER, duration_s REAL, cpu_s REAL, seed INTEGER, readings TEXT,"
            " UNIQUE (arm, phase, iteration))"
        )
        start = time.perf_counter()
        for index in range(samples):
            row = (1, "measured", index, "ok", time.time_ns() // 10**6, 1e-7, 1e-6, index * 7919, readings)
            connection.execute("BEGIN IMMEDIATE")
            connection.execute(f"INSERT INTO samples VALUES (NULL{', ?' * len(row)})", row)
            connection.execute("COMMIT")
        spent_s = time.perf_counter() - start
    connection.close()
    return {"save_us": spent_s / samples * 1e6, "file_bytes": file.stat().st_size}


def main(arguments: list[str]) -> None:
    tool, samples, folder, file = arguments[0], int(arguments[1]), Path(arguments[2]), Path(arguments[3])
    tools = {"dyno": with_dyno, "sqlite3": with_sqlite}
    file.write_text(json.dumps(tools[tool](samples, folder)))


if __name__ == "__main__":
    main(sys.argv[1:])
