"""``dyno export``."""

from __future__ import annotations

from pathlib import Path

import click

from agentdyno.cli.shared import open_store, say, store_option

OTLP, INSPECT = "otlp", "inspect"
FORMATS = (OTLP, "csv", "parquet", INSPECT)
ROWS = ("samples", "cases", "arms")


@click.command(
    epilog="\b\nExamples:\n"
    "  dyno export last --format csv\n"
    "  dyno export last --format parquet --rows cases --output cases.parquet\n"
    "  dyno export last --format inspect       a folder of logs for `inspect view`\n"
    "  dyno export last --format otlp --output traces.jsonl"
)
@click.argument("run", default="last")
@click.option("--format", "format_name", type=click.Choice(FORMATS), help="What to write. [default: otlp]")
@click.option("--rows", type=click.Choice(ROWS), help="csv, parquet: a row for each of these. [default: samples]")
@click.option(
    "--output", type=click.Path(path_type=Path), help="The file, of inspect the folder. [default: named after RUN]"
)
@store_option
def command(run: str, format_name: str | None, rows: str | None, output: Path | None, store: str | None) -> int:
    """Write RUN (an id or `last`) for other tools.

    csv and parquet are tables, inspect is logs of Inspect, otlp is traces of OpenTelemetry with scores as evaluation
    results.
    """
    from agentdyno.cli.outcome import shown

    chosen = format_name or OTLP
    if rows is not None and chosen in (OTLP, INSPECT):
        raise click.UsageError(f"--rows is for csv and parquet: {chosen} writes every sample")
    with open_store(store, must_exist=True) as opened:
        run_id = opened.runs.find(run)
        if chosen == OTLP:
            from agentdyno.workbench.traces.exporting import export_otlp

            file = _file(output, run_id, "otlp.jsonl")
            count = export_otlp(opened, run_id, file)
            say(f"Wrote {count:,} trace{'s' * (count != 1)} to {shown(file)}")
            return 0
        result = opened.runs.load(run_id)
    if chosen == INSPECT:
        from agentdyno.workbench.export.inspect_log import write_inspect

        folder = output or Path(f"{run_id[:13]}.inspect")
        count = len(write_inspect(result, folder))
        say(f"Wrote {count:,} log{'s' * (count != 1)} to {shown(folder)}")
        return 0
    from agentdyno.workbench.export.files import write_rows

    what = rows or ROWS[0]
    file = _file(output, run_id, f"{what}.{chosen}")
    count = write_rows([result], file, format_name=chosen, what=what)
    say(f"Wrote {count:,} row{'s' * (count != 1)} to {shown(file)}")
    return 0


def _file(output: Path | None, run_id: str, ending: str) -> Path:
    file = output or Path(f"{run_id[:13]}.{ending}")
    if file.is_dir():
        raise click.UsageError(f"--output {file} is a folder: name a file in it")
    return file
