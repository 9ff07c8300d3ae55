"""Writes docs/results/frameworks.md from stored runs; every figure in it belongs to a run that is named.

``python -m agentdyno_workloads.frameworks.page [--store URL] [--output FILE] [RUN ...]``
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from agentdyno import RunResult
from agentdyno_workloads.frameworks.faults import FAULTS as KNOWN_FAULTS
from agentdyno_workloads.frameworks.own_engine import OWN
from agentdyno_workloads.frameworks.readings import (
    BARE,
    COLD_START,
    CONCURRENCY,
    FAULTS,
    GROWTH,
    OVERHEAD,
    SUITE,
    beyond,
    find_runs,
    frameworks_in,
    observed,
    outputs,
    values,
)
from agentdyno_workloads.pages import day_of, write_page

PAGE = Path("docs") / "results" / "frameworks.md"
CPU_OF = {
    "one answer": "latency_cpu_s",
    "streamed": "streaming_cpu_s",
    "structured output": "structured_output_cpu_s",
    "tool call": "function_calling_cpu_s",
    "wrong arguments": "validation_cpu_s",
    "turn of ten": "memory_turn_cpu_s",
    "of a batch": "batch_task_cpu_s",
    "building an agent": "configuration_cpu_s",
}
BEHAVIOURS = {
    "wrong arguments refused": "validation_refused",
    "conversation kept": "memory_kept",
    "a number for a tool refused": "configuration_refused",
}
WORDS = {True: "yes", False: "no"}


def overhead_rows(run: RunResult) -> Iterator[str]:
    yield "| framework | CPU ms a task | beyond the bare loop, ms | time, ms | memory after, MiB | requests, bytes |"
    yield "|---|---|---|---|---|---|"
    bare = values(run, BARE, "result.task_cpu_s") * 1e3
    for name in frameworks_in(run):
        cpu = values(run, name, "result.task_cpu_s") * 1e3
        rss = values(run, name, "result.rss_bytes") / 2**20
        sent = values(run, name, "result.prompt_bytes")
        times = values(run, name, "result.task_s") * 1e3
        more = "" if name == BARE else _more(cpu, bare)
        size = f"{sent[-1]:,.0f}" if len(sent) else ""
        yield (
            f"| {observed(run, name)} | {np.median(cpu):.1f} | {more} | {np.median(times):.1f} | {rss[-1]:.0f} "
            f"| {size} |"
        )


def start_rows(run: RunResult) -> Iterator[str]:
    yield "| framework | import and build, s | first task, s | processes |"
    yield "|---|---|---|---|"
    for name in frameworks_in(run):
        starts, firsts = (values(run, name, f"result.{key}") for key in ("start_s", "first_task_s"))
        told = [
            f"{np.median(seconds):.2f} ({seconds.min():.2f} to {seconds.max():.2f})" for seconds in (starts, firsts)
        ]
        yield f"| {name} | {told[0]} | {told[1]} | {len(set(starts))} |"


def growth_rows(run: RunResult) -> Iterator[str]:
    yield "| framework | first reading, MiB | last reading, MiB | growth over 1,000 tasks, MiB |"
    yield "|---|---|---|---|"
    for name in frameworks_in(run):
        rss = values(run, name, "result.rss_bytes") / 2**20
        tasks = np.arange(len(rss)) * _tasks(run)
        slope = float(np.polyfit(tasks, rss, 1)[0]) * 1000 if len(rss) > 1 else 0.0
        yield f"| {name} | {rss[0]:.1f} | {rss[-1]:.1f} | {slope:+.1f} |"


def concurrency_rows(run: RunResult) -> Iterator[str]:
    levels = sorted({int(str(arm.params["at_once"])) for arm in run.arms})
    rates, times = ([f"{level} at once, {what}" for level in levels] for what in ("tasks/s", "CPU ms a task"))
    yield f"| framework | {' | '.join([*rates, *times])} |"
    yield f"|---|{'---|' * 2 * len(levels)}"
    for name in frameworks_in(run):
        found = [np.median(values(run, name, "result.tasks_per_s", level)) for level in levels]
        cpu = [np.median(values(run, name, "result.task_cpu_s", level)) * 1e3 for level in levels]
        cells = [*(f"{rate:.0f}" for rate in found), *(f"{took:.1f}" for took in cpu)]
        yield f"| {name} | {' | '.join(cells)} |"


def suite_rows(run: RunResult) -> Iterator[str]:
    shown = {title: name for title, name in CPU_OF.items() if len(values(run, BARE, f"result.{name}"))}
    yield f"| framework | {' | '.join(shown)} |"
    yield f"|---|{'---|' * len(shown)}"
    for name in _others(run):
        cells = []
        for reading in shown.values():
            own, bare = (values(run, who, f"result.{reading}") * 1e3 for who in (name, BARE))
            plain = f"{np.median(own):.1f}" if len(own) else "not offered"
            cells.append(plain if name == BARE or not len(own) else _more(own, bare))
        yield f"| {name} | {' | '.join(cells)} |"


def pace_rows(run: RunResult) -> Iterator[str]:
    yield "| framework | answers/s, one at a time | answers/s, ten at once | first piece of a stream, ms |"
    yield "|---|---|---|---|"
    for name in _others(run):
        rates = [values(run, name, f"result.{key}") for key in ("throughput_per_s", "batch_per_s")]
        first = values(run, name, "result.streaming_first_s") * 1e3
        told = [f"{np.median(rate):.0f}" if len(rate) else "" for rate in rates]
        yield f"| {name} | {told[0]} | {told[1]} | {f'{np.median(first):.1f}' if len(first) else 'not offered'} |"


def behaviour_rows(run: RunResult) -> Iterator[str]:
    yield f"| framework | {' | '.join(BEHAVIOURS)} |"
    yield f"|---|{'---|' * len(BEHAVIOURS)}"
    for name in _others(run):
        found = [values(run, name, f"result.{reading}") for reading in BEHAVIOURS.values()]
        yield f"| {name} | {' | '.join(WORDS[bool(one.min() > 0)] if len(one) else '' for one in found)} |"


def own_rows(run: RunResult) -> Iterator[str]:
    yield "| what the bench does | time per 1,000, ms | CPU time in this process, ms |"
    yield "|---|---|---|"
    what = {
        "evaluation": "puts 1,000 cases to a function, scores and stores them",
        "engine": "compares two agents by 1,000 cases each, from the store to the judgement",
        "reward": "works out the rewards of 1,000 episodes (ToolDesk)",
    }
    for name, words in what.items():
        wall, cpu = (values(run, OWN, f"result.{name}_1000_{unit}") * 1e3 for unit in ("s", "cpu_s"))
        if len(wall):
            yield f"| {words} | {np.median(wall):,.2f} | {np.median(cpu):,.2f} |"


def fault_rows(run: RunResult) -> Iterator[str]:
    names = frameworks_in(run)
    yield f"| what the model does | {' | '.join(names)} |"
    yield f"|---|{'---|' * len(names)}"
    for key, fault in KNOWN_FAULTS.items():
        cells = []
        for name in names:
            told = (outputs(run, name).get("faults") or {}).get(key)
            if told is None:
                cells.append("")
                continue
            mark = "pass" if told["passed"] else "**fail**"
            cells.append(f"{mark}: {told['outcome']}, {told['requests']} req, {told['seconds']:.1f} s")
        yield f"| {fault.what} | {' | '.join(cells)} |"


def page(runs: dict[str, RunResult]) -> Iterator[str]:
    run = runs[OVERHEAD]
    yield "# Agent frameworks beside a bare loop\n"
    yield (
        "One task for all: call a tool that adds two numbers, then answer; two requests to a simulated model\n"
        "without latency, each framework in its own environment and process, all in turn. CPU time is that of the\n"
        "framework's process. Every answer was checked. `make results` renews this page.\n"
    )
    where = f"{_machine(run)}, Python {run.environment.python}"
    yield f"{_made_by(run)}, {where}. `scripts/frameworks.sh core more crewai` makes the environments.\n"
    yield "\n".join(overhead_rows(run)) + "\n"
    count = len(values(run, BARE, "result.task_cpu_s"))
    yield (
        f"Medians of {count} tasks after a warm-up; 95 % bootstrap intervals of the difference of medians. Bytes\n"
        "are those of the bodies of the task's requests. Times, here and below, are those of a clock on the wall:\n"
        "other work on the machine lengthens them, and CPU times hardly.\n"
    )
    yield "## Start\n"
    started = runs.get(COLD_START, run)
    yield f"{_made_by(started)}. Medians with the fastest and the slowest process.\n"
    yield "\n".join(start_rows(started)) + "\n"
    if GROWTH in runs:
        yield "## Memory over 1,000 tasks\n"
        every = _tasks(runs[GROWTH])
        yield f"{_made_by(runs[GROWTH])}. Resident memory every {every} tasks; growth is their slope.\n"
        yield "\n".join(growth_rows(runs[GROWTH])) + "\n"
    if CONCURRENCY in runs:
        yield "## Tasks at the same time\n"
        yield (
            f"{_made_by(runs[CONCURRENCY])}. Agents that remember what they were told (autogen, smolagents, crewai)\n"
            f"are made once for each place. Medians of {_samples(runs[CONCURRENCY])} batches of "
            f"{_tasks(runs[CONCURRENCY])} tasks.\n"
        )
        yield "\n".join(concurrency_rows(runs[CONCURRENCY])) + "\n"
    if SUITE in runs:
        yield from _suite(runs[SUITE])
    if FAULTS in runs:
        yield from _faults(runs[FAULTS])


def _suite(run: RunResult) -> Iterator[str]:
    if BARE in frameworks_in(run):
        yield "## Feature by feature\n"
        count = len(values(run, BARE, "result.latency_cpu_s"))
        yield (
            f"{_made_by(run)}, {_machine(run)}.\n"
            "CPU milliseconds: of the bare loop itself, and of each framework beyond it, with 95 % intervals;\n"
            f"medians of {count}.\n"
        )
        yield "\n".join(suite_rows(run)) + "\n"
        yield "\n".join(pace_rows(run)) + "\n"
        yield "\n".join(behaviour_rows(run)) + "\n"
    if OWN in frameworks_in(run):
        yield "## The bench itself\n"
        yield "\n".join(own_rows(run)) + "\n"


def _faults(run: RunResult) -> Iterator[str]:
    limit = next((arm.params.get("limit_s", 30.0) for arm in run.arms), 30.0)
    yield "## When the model fails\n"
    yield (
        f"{_made_by(run)}. `recovered`: the right answer all the same; `told`: an error;\n"
        "`referred`: the model was told of its own error, which this one repeats as its answer; `hidden`: an answer\n"
        f"that looks like any other, and is not; `waits`: nothing within {limit:g} s. A fault that passes by is to\n"
        "be recovered from, one that stays is to be told, and none is to be hidden. `req`: requests that it took.\n"
    )
    yield "\n".join(fault_rows(run)) + "\n"


def _made_by(run: RunResult) -> str:
    return f"`dyno run workload:frameworks/{run.name}`, run `{run.run_id}`, {day_of(run)}"


def _machine(run: RunResult) -> str:
    return f"{run.environment.cpu_count} CPUs ({run.environment.cpu_model})"


def _more(own: np.ndarray, bare: np.ndarray) -> str:
    difference, low, high = beyond(own, bare)
    return f"{difference:+.1f} ({low:.1f} to {high:.1f})"


def _others(run: RunResult) -> list[str]:
    return [name for name in frameworks_in(run) if name != OWN]


def _samples(run: RunResult) -> int:
    level = next(int(str(arm.params["at_once"])) for arm in run.arms)
    return len(values(run, frameworks_in(run)[0], "result.tasks_per_s", level))


def _tasks(run: RunResult) -> int:
    return next((int(str(arm.params.get("tasks", 1))) for arm in run.arms), 1)


def main() -> None:
    write_page(__doc__, PAGE, lambda references, store: page(find_runs(references, store)))


if __name__ == "__main__":
    main()
