"""What pages of results share: the runs that they are made of, and the command that writes them."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import click

from agentdyno import DynoError, RunResult, StoreError, load_run

LOOKED_AT = 200
"""Runs that are looked through, newest first, for one of each spec."""


def newest_runs(
    references: Sequence[str], store: str | None, specs: Sequence[str], is_ours: Callable[[RunResult], bool]
) -> dict[str, RunResult]:
    """By the name of its spec: the complete runs among those given, or the newest complete one of each in the store.

    ``is_ours`` tells runs of a workload from others whose specs have the same names.
    """
    names = references or [f"last~{back}" if back else "last" for back in range(LOOKED_AT)]
    found: dict[str, RunResult] = {}
    for name in names:
        try:
            run = load_run(name, store=store)
        except StoreError:
            if references:
                raise
            break
        if run.name in specs and run.status == "complete" and is_ours(run):
            found.setdefault(run.name, run)
        if len(found) == len(specs):
            break
    return found


def day_of(run: RunResult) -> str:
    return datetime.fromtimestamp(run.started_at / 1000, UTC).date().isoformat()


def write_page(
    description: str | None, output: Path, lines: Callable[[Sequence[str], str | None], Iterable[str]]
) -> None:
    """The command of a page: reads options, and writes the ``lines`` made of the runs and the store that are asked
    for to ``output``, or where ``--output`` says."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("runs", nargs="*")
    parser.add_argument("--store")
    parser.add_argument("--output", type=Path, default=output)
    options = parser.parse_args()
    try:
        text = "\n".join(lines(options.runs, options.store))
    except DynoError as error:
        raise SystemExit(f"Error: {error}") from None
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_text(text)
    click.echo(f"Wrote {options.output}.")
