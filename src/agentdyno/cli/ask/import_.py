"""``dyno import``."""

from __future__ import annotations

from pathlib import Path

import click

from agentdyno.cli.shared import json_option, open_store, print_json, print_tables, say, store_option


@click.command(
    epilog="\b\nExamples:\n"
    "  dyno import bench.json                       pyperf, pytest-benchmark, hyperfine, google-benchmark\n"
    "  dyno import .asv/results                     a folder of asv\n"
    "  dyno import logs/*.eval                      Inspect\n"
    "  dyno import traces.jsonl --format otlp       traces of OpenTelemetry, as trajectories\n"
    "  dyno import results.json --format promptfoo  when it cannot be told what wrote it"
)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
@click.option("--format", "format_name", metavar="TOOL", help="What wrote the files, where that is not clear.")
@click.option("--dry-run", is_flag=True, help="Read and check; store nothing.")
@click.option("--any-size", is_flag=True, help="Read files however large they are or unpack to.")
@store_option
@json_option
def command(
    files: tuple[Path, ...],
    format_name: str | None,
    dry_run: bool,
    any_size: bool,
    store: str | None,
    as_json: bool,
) -> int:
    """Take results of other tools into the store, so that history starts today. All files or none."""
    from agentdyno.importers.inflated import ImportLimits
    from agentdyno.show.listings import import_table
    from agentdyno.workbench.importing import import_files, read_files

    def announce(path: Path) -> None:
        if len(files) > 1:
            say(f"Reading {path}")

    limits = None if any_size else ImportLimits()
    if dry_run:
        done = read_files(files, format_name, limits)
    else:
        with open_store(store) as opened:
            done = import_files(opened, files, format_name=format_name, limits=limits, on_file=announce)
    if as_json:
        print_json(
            [
                {
                    "file": item.path,
                    "format": item.importer,
                    "run_id": item.result.run_id,
                    "name": item.result.name,
                    "kind": item.result.kind,
                    "arms": len(item.result.arms),
                    "samples": sum(arm.samples_total for arm in item.result.arms),
                    "stored": not (item.known or dry_run),
                    "known": item.known,
                }
                for item in done
            ]
        )
        return 0
    print_tables(import_table(done))
    fresh = sum(not item.known for item in done)
    if dry_run:
        say(f"{len(done)} run{'s' * (len(done) != 1)} could be read. Nothing was stored.")
    else:
        known = len(done) - fresh
        tail = f"; {known} known already" if known else ""
        say(f"Stored {fresh} run{'s' * (fresh != 1)}{tail}. Next: dyno list runs, dyno history NAME, dyno board")
    return 0
