"""Writes docs/results/simulation.md from stored runs; every figure in it belongs to a run that is named.

``python -m agentdyno_workloads.simulation.results.page [--store URL] [--run RUN …] [--output FILE]``
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import click

from agentdyno import DynoError, RunError, RunResult, StoreError, load_run
from agentdyno_workloads.simulation.results import sections
from agentdyno_workloads.simulation.results.figures import FigureSource

PAGE = Path("docs") / "results" / "simulation.md"
Section = Callable[[FigureSource], Iterator[str]]
SECTIONS: dict[str, tuple[str, Section]] = {
    "memory_db_baseline": ("Where the history is kept", sections.memory_db),
    "observation_baseline": ("Observations", sections.observation),
    "spatial_performance_analyzer_baseline": ("Spatial indexes", sections.spatial),
    "pragma_profile_baseline": ("Settings of SQLite", sections.pragma),
    "redis_memory_baseline": ("Memory in Redis", sections.redis),
    "system_profiler_baseline": ("The step loop", sections.steps),
}
"""By the name of the spec whose run a section is made from."""


def find_runs(references: Sequence[str], store: str | None) -> dict[str, RunResult]:
    """The runs that the page is made from: those given, or the newest of each spec in the store."""
    found: dict[str, RunResult] = {}
    if references:
        for reference in references:
            run = load_run(reference, store=store)
            if run.name not in SECTIONS:
                raise RunError(
                    f"the page has nothing on runs of {run.name}",
                    where=run.run_id,
                    remedy=f"Give runs of {', '.join(SECTIONS)}.",
                )
            found[run.name] = run
        return found
    back = 0
    while len(found) < len(SECTIONS):
        try:
            run = load_run(f"last~{back}" if back else "last", store=store)
        except StoreError:
            break
        if run.name in SECTIONS and run.status == "complete":
            found.setdefault(run.name, run)
        back += 1
    missing = [name for name in SECTIONS if name not in found]
    if missing:
        raise RunError(
            f"the store holds no complete run of {', '.join(missing)}",
            where=store,
            remedy="Make them: packages/agentdyno-workloads/scripts/simulation_results.sh runs all of them.",
        )
    return found


def write_page(runs: Mapping[str, RunResult], store: str | None) -> str:
    """The page in Markdown."""
    chosen = [name for name in SECTIONS if name in runs]
    lines = ["# The simulation, measured", ""]
    lines += _introduction([runs[name] for name in chosen])
    for name in chosen:
        title, section = SECTIONS[name]
        lines += ["", f"## {title}", ""]
        lines += section(FigureSource(runs[name], store))
        lines += ["", f"Run `{runs[name].run_id}`, spec `workload:simulation/{name}`."]
    return "\n".join(lines) + "\n"


def _introduction(runs: Sequence[RunResult]) -> Iterator[str]:
    yield from sections.paragraph(
        "What the experiments of `workload:simulation` found on one machine. This page is written by",
        "`packages/agentdyno-workloads/scripts/simulation_results.sh` from the runs named here; nothing in it is",
        "typed by hand. A figure is a median with its 95 % interval in brackets. Figures of one table were taken by",
        "turns in one run; they say nothing about another machine.",
    )
    yield ""
    for machine in dict.fromkeys(_machine(run) for run in runs):
        yield f"Machine: {machine}."
    yield ""
    rows = []
    for run in runs:
        when = datetime.fromtimestamp(run.started_at / 1000, UTC)
        samples = sum(sum(arm.statuses.values()) for arm in run.arms)
        good = sum(arm.statuses.get("ok", 0) for arm in run.arms)
        load = run.environment.details.get("load_1min")
        # Remarks on the machine, such as other work on it; those on single figures are in the report of the run.
        remarks = ", ".join(dict.fromkeys(warning.code for warning in run.warnings)) or "none"
        rows.append(
            (
                *(f"`{run.name}`", f"`{run.run_id}`", f"{when:%Y-%m-%d %H:%M}", f"{good} of {samples}"),
                *("–" if load is None else f"{load}", remarks),
            )
        )
    header = ("spec", "run", "started (UTC)", "good samples", "load before", "warnings")
    yield from sections.table(header, rows)


def _machine(run: RunResult) -> str:
    here = run.environment
    return (
        f"{here.cpu_model}, {here.cpu_count} CPUs, {here.memory_bytes / 2**30:.0f} GiB, {here.os} {here.kernel}, "
        f"{here.implementation} {here.python}, agentdyno {here.agentdyno}"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Writes the page and says where; 2 for a mistake of the user's."""
    parser = argparse.ArgumentParser(prog="python -m agentdyno_workloads.simulation.results.page")
    parser.add_argument("--store", help="the store that holds the runs")
    parser.add_argument("--run", action="append", default=[], help="a run to take (the newest of each spec)")
    parser.add_argument("--output", type=Path, default=PAGE, help=f"the file to write ({PAGE})")
    given = parser.parse_args(arguments)
    try:
        runs = find_runs(given.run, given.store)
        text = write_page(runs, given.store)
    except DynoError as error:
        click.echo(f"error: {error}", err=True)
        return 2
    given.output.parent.mkdir(parents=True, exist_ok=True)
    given.output.write_text(text, encoding="utf-8")
    click.echo(f"{given.output}: {len(runs)} runs")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
