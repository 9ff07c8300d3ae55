"""One tool timing one subject in this process: ``overhead_tool.py TOOL SUBJECT SAMPLES LOOPS FILE``.

Writes ``{"values": [seconds per call, …]}`` to FILE. Started by ``bench_overhead.py``, which adds up what this
process and its children took.
"""

from __future__ import annotations

import json
import statistics
import sys
import tempfile
import timeit
from collections.abc import Callable
from pathlib import Path
from time import perf_counter_ns, process_time_ns
from typing import TypeVar

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from benchmarks.subjects import SUBJECTS

UNROLLED = 1000
T = TypeVar("T")


def bare_call_s(call: Callable[[], None], repeats: int) -> list[float]:
    """Seconds of CPU per call: a thousand calls written one after the other, so that no loop is left to count."""
    lines = "\n".join(["    call()"] * UNROLLED)
    scope: dict[str, Callable[[Callable[[], None]], None]] = {}
    exec(f"def thousand(call):\n{lines}", scope)
    thousand = scope["thousand"]
    blocks = _blocks(lambda: thousand(call))
    return [_cpu_s(lambda: thousand(call), blocks) / UNROLLED for _ in range(repeats)]


def clocks_s(repeats: int) -> list[float]:
    """Seconds of CPU that two readings each of the wall and the CPU clock take."""
    wall, cpu = perf_counter_ns, process_time_ns
    lines = "\n".join(["    cpu(); wall(); wall(); cpu()"] * UNROLLED)
    scope: dict[str, Callable[[Callable[[], int], Callable[[], int]], None]] = {}
    exec(f"def thousand(wall, cpu):\n{lines}", scope)
    thousand = scope["thousand"]
    return [_cpu_s(lambda: thousand(wall, cpu), 3) / UNROLLED for _ in range(repeats)]


def _blocks(work: Callable[[], None]) -> int:
    start = process_time_ns()
    work()
    return max(1, round(5e6 / max(1, process_time_ns() - start)))


def _cpu_s(work: Callable[[], None], times: int) -> float:
    start = process_time_ns()
    for _ in range(times):
        work()
    return (process_time_ns() - start) / times / 1e9


def thinned(items: list[T]) -> list[T]:
    """At most two thousand, evenly: writing every value down would cost more than taking it."""
    return items[:: max(1, len(items) // 1000)]


def with_timeit(call: Callable[[], None], samples: int, loops: int) -> list[float]:
    timer = timeit.Timer("call()", globals={"call": call})
    return [value / loops for value in thinned(timer.repeat(samples, loops))]


def with_each_call(call: Callable[[], None], samples: int) -> list[float]:
    from agentdyno.runner.bench.function import time_each_call

    walls, _cpus, _last = time_each_call(call, samples)
    return [wall / 1e9 for wall in thinned(walls)]


def with_dyno(subject: str, samples: int, loops: int) -> tuple[list[float], int]:
    """The whole path of ``dyno run``: a worker process, the store, the closed result. 0 loops: as calibrated."""
    from agentdyno import run_spec

    file = Path(__file__).with_name("subjects.py")
    with tempfile.TemporaryDirectory(prefix="dyno-bench-") as folder:
        spec = {
            "experiment": f"{file}@{subject}",
            "iterations": {"warmup": 1, "measured": samples},
            "output_dir": folder,
            **({"inner_loops": loops} if loops else {}),
        }
        result = run_spec(spec, store=f"sqlite:///{folder}/dyno.db")
    (arm,) = result.arms
    values = [sample.readings["duration_s"] for sample in arm.samples]
    if result.status.value != "complete" or arm.samples_total != samples:
        raise RuntimeError(f"the run is {result.status.value} with {arm.samples_total} of {samples} samples")
    return values, arm.samples[0].inner_loops


def with_pyperf(subject: str) -> None:
    """Once as the manager and once as its worker; options as of ``pyperf`` come on the command line."""
    import pyperf

    runner = pyperf.Runner(program_args=(__file__, "pyperf", subject))
    sys.argv = [sys.argv[0], *sys.argv[3:]]
    runner.bench_func(subject, SUBJECTS[subject])


def main(arguments: list[str]) -> None:
    tool, subject = arguments[:2]
    if tool == "pyperf":
        with_pyperf(subject)
        return
    samples, loops, file = int(arguments[2]), int(arguments[3]), Path(arguments[4])
    call = SUBJECTS[subject]
    found: dict[str, object]
    if tool == "bare":
        found = {"values": bare_call_s(call, samples), "clocks_s": statistics.median(clocks_s(samples))}
    elif tool == "timeit":
        found = {"values": with_timeit(call, samples, loops)}
    elif tool == "each":
        found = {"values": with_each_call(call, samples)}
    elif tool == "dyno":
        values, used = with_dyno(subject, samples, loops)
        found = {"values": values, "loops": used}
    else:
        raise SystemExit(f"unknown tool {tool!r}")
    file.write_text(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1:])
