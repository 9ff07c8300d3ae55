"""``dyno init``."""

from __future__ import annotations

import os
from pathlib import Path

import click

from agentdyno.cli.shared import say


@click.command(epilog="\b\nExamples:\n  dyno init\n  dyno init --folder evals")
@click.option(
    "--folder", type=click.Path(file_okay=False, path_type=Path), default=Path(), help="Where to write. [default: .]"
)
@click.option("--force", is_flag=True, help="Replace files that are there.")
def command(folder: Path, force: bool) -> None:
    """Write dyno.yaml, a small agent.py and suites/first.yaml with 12 cases, ready to run."""
    from agentdyno.workbench.starter_project.writing import write_starter

    starter = write_starter(folder, os.environ, force=force)
    for path in starter.written:
        say(f"Wrote {path}")
    for path in starter.kept:
        say(f"Kept {path} (it was there; --force replaces it)")
    for note in starter.notes:
        say(note)
    cd = "" if folder == Path() else f"cd {folder} && "
    say(f'Next:\n  {cd}dyno try agent.py@answer "What is 17 * 23?"\n  {cd}dyno run')
