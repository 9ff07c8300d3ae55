"""``dyno show``."""

from __future__ import annotations

import click

from agentdyno.cli.shared import json_option, open_store, print_json, print_tables, store_option, store_url


@click.command(
    epilog="\b\nExamples:\n  dyno show last\n  dyno show last~1 --json\n  dyno show .dyno/runs/RUN/result.json"
)
@click.argument("run", default="last")
@store_option
@json_option
def command(run: str, store: str | None, as_json: bool) -> None:
    """Show RUN (an id, `last`, or a result file): figures, warnings, failed samples, configuration."""
    from agentdyno.contracts import Report
    from agentdyno.reports import tables
    from agentdyno.workbench.api import store_exists
    from agentdyno.workbench.judge import findings_for
    from agentdyno.workbench.operands import Results

    opened = open_store(store) if store_exists(store_url(store)) else None
    try:
        result = Results(lambda: opened or open_store(store, must_exist=True)).run(run)
        findings = findings_for(result, opened)
    finally:
        if opened is not None:
            opened.close()
    if as_json:
        print_json(result)
        return
    print_tables(Report((result,), findings))
    profiles = [table for arm in result.arms for table in tables.instrument_tables(arm)]
    further = (tables.details(result), tables.configuration(result))
    print_tables([*profiles, *(table for table in further if table is not None)])
