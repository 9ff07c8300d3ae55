"""Writes docs/results/frameworks.md from stored runs; every figure in it belongs to a run that is named.

``python -m agentdyno_workloads.frameworks.page [--store URL] [--output FILE] [RUN ...]``
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import click
import numpy as np

from agentdyno import DynoError, RunError, RunResult, StoreError, load_run

PAGE = Path("docs") / "results" / "frameworks.md"
OVERHEAD, CONCURRENCY = "overhead", "concurrency"
BARE = "bare"
LEVEL = 0.95
DRAWN = 2000
LOOKED_AT = 200
"""Runs that are looked through, newest first, for one of each spec."""


def find_runs(references: Sequence[str], store: str | None) -> dict[str, RunResult]:
    """The runs given, or the newest complete one of each spec in the store."""
    names = references or [f"last~{back}" if back else "last" for back in range(LOOKED_AT)]
    found: dict[str, RunResult] = {}
    for name in names:
        try:
            run = load_run(name, store=store)
        except StoreError:
            if references:
                raise
            break
        if run.name in (OVERHEAD, CONCURRENCY) and run.status == "complete":
            found.setdefault(run.name, run)
        if len(found) == 2:
            break
    if OVERHEAD not in found:
        raise RunError("no complete run of overhead", where=store, remedy="`dyno run workload:frameworks/overhead`.")
    return found


def values(run: RunResult, framework: str, name: str, at_once: int = 1) -> np.ndarray:
    """A reading of every measured sample of one arm, in the order of iterations."""
    for arm in run.arms:
        if arm.params.get("framework") == framework and arm.params.get("at_once", 1) == at_once:
            kept = sorted(
                (sample.iteration, sample.readings[name]) for sample in arm.samples if name in sample.readings
            )
            return np.array([value for _, value in kept])
    return np.array([])


def frameworks_in(run: RunResult) -> list[str]:
    return list(dict.fromkeys(str(arm.params["framework"]) for arm in run.arms))


def beyond(own: np.ndarray, bare: np.ndarray) -> tuple[float, float, float]:
    """The difference of medians with its bootstrap interval; an iteration of both was measured side by side."""
    count = min(len(own), len(bare))
    rows = np.random.default_rng(42).integers(0, count, (DRAWN, count))
    drawn = np.median(own[:count][rows], axis=1) - np.median(bare[:count][rows], axis=1)
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return float(np.median(own) - np.median(bare)), float(low), float(high)


def overhead_rows(run: RunResult) -> Iterator[str]:
    yield "| framework | CPU ms a task | beyond the bare loop, ms | time, ms | memory after, MiB | growth, MiB |"
    yield "|---|---|---|---|---|---|"
    bare = values(run, BARE, "result.task_cpu_s") * 1e3
    for name in frameworks_in(run):
        cpu = values(run, name, "result.task_cpu_s") * 1e3
        rss = values(run, name, "result.rss_bytes") / 2**20
        difference, low, high = beyond(cpu, bare)
        more = "" if name == BARE else f"+{difference:.1f} ({low:.1f} to {high:.1f})"
        times = values(run, name, "result.task_s") * 1e3
        yield (
            f"| {observed(run, name)} | {np.median(cpu):.1f} | {more} | {np.median(times):.1f} | {rss[-1]:.0f} "
            f"| {rss[-1] - rss[0]:+.1f} |"
        )


def start_rows(run: RunResult) -> Iterator[str]:
    yield "| framework | import and build, s | first task, s |"
    yield "|---|---|---|"
    for name in frameworks_in(run):
        start, first = (values(run, name, f"result.{key}")[0] for key in ("start_s", "first_task_s"))
        yield f"| {name} | {start:.2f} | {first:.2f} |"


def concurrency_rows(run: RunResult) -> Iterator[str]:
    levels = sorted({int(str(arm.params["at_once"])) for arm in run.arms})
    yield f"| framework | {' | '.join(f'{level} at once, tasks/s' for level in levels)} |"
    yield f"|---|{'---|' * len(levels)}"
    for name in frameworks_in(run):
        rates = [np.median(values(run, name, "result.tasks_per_s", level)) for level in levels]
        yield f"| {name} | {' | '.join(f'{rate:.0f}' for rate in rates)} |"


def observed(run: RunResult, framework: str) -> str:
    """``langgraph 1.2.20``, as the environment told; of a bare loop, what it rests on."""
    told = next((arm.observed.get("framework") for arm in run.arms if arm.params["framework"] == framework), None)
    return f"{framework} ({told})" if told and framework.split("-")[0] not in str(told) else str(told or framework)


def page(runs: dict[str, RunResult]) -> Iterator[str]:
    run = runs[OVERHEAD]
    environment = run.environment
    day = datetime.fromtimestamp(run.started_at / 1000, UTC).date().isoformat()
    yield "# Agent frameworks beside a bare loop\n"
    yield (
        "One task for all: call a tool that adds two numbers, then answer; two requests to a simulated model\n"
        "without latency, each framework in its own environment and process, all in turn. CPU time is that of the\n"
        "framework's process. Every answer was checked. `make results` renews this page.\n"
    )
    machine = f"{environment.cpu_count} CPUs ({environment.cpu_model}), Python {environment.python}"
    yield f"Run `{run.run_id}`, {day}, {machine}.\n"
    yield "Made by `scripts/frameworks.sh core more crewai` and `dyno run workload:frameworks/overhead`.\n"
    yield "\n".join(overhead_rows(run)) + "\n"
    count = len(values(run, BARE, "result.task_cpu_s"))
    yield (
        f"Medians of {count} tasks after a warm-up; 95 % bootstrap intervals of the difference of medians. Growth\n"
        "is the resident memory after the last task over that after the first measured one. Times, here and below,\n"
        "are those of a clock on the wall: other work on the machine lengthens them, and CPU times hardly.\n"
    )
    yield "## Start\n"
    yield "\n".join(start_rows(run)) + "\n"
    if CONCURRENCY in runs:
        yield "## Tasks at the same time\n"
        yield f"Run `{runs[CONCURRENCY].run_id}`: `dyno run workload:frameworks/concurrency`.\n"
        yield "\n".join(concurrency_rows(runs[CONCURRENCY])) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="*")
    parser.add_argument("--store")
    parser.add_argument("--output", type=Path, default=PAGE)
    options = parser.parse_args()
    try:
        text = "\n".join(page(find_runs(options.runs, options.store)))
    except DynoError as error:
        raise SystemExit(f"Error: {error}") from None
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(text)
    click.echo(f"Wrote {options.output}.")


if __name__ == "__main__":
    main()
