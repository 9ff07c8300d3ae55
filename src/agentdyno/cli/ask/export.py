"""``dyno export``."""

from __future__ import annotations

from pathlib import Path

import click

from agentdyno.cli.shared import open_store, say, store_option

OTLP = "otlp"


@click.command(epilog="\b\nExamples:\n  dyno export last\n  dyno export last --format otlp --output traces.jsonl")
@click.argument("run", default="last")
@click.option("--format", "format_name", type=click.Choice([OTLP]), help="What to write. [default: otlp]")
@click.option("--output", type=click.Path(path_type=Path, dir_okay=False), help="The file. [default: RUN.otlp.jsonl]")
@store_option
def command(run: str, format_name: str | None, output: Path | None, store: str | None) -> int:
    """Write RUN (an id or `last`) for other tools: as traces of OpenTelemetry, with scores as evaluation results."""
    from agentdyno.cli.outcome import shown
    from agentdyno.workbench.traces.exporting import export_otlp

    with open_store(store, must_exist=True) as opened:
        run_id = opened.runs.find(run)
        file = output or Path(f"{run_id[:13]}.{format_name or OTLP}.jsonl")
        count = export_otlp(opened, run_id, file)
    say(f"Wrote {count:,} trace{'s' * (count != 1)} to {shown(file)}")
    return 0
