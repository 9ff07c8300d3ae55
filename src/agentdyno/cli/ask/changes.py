"""``dyno changes``."""

from __future__ import annotations

import click

from agentdyno.cli.shared import json_option, open_store, print_json, print_tables, store_option, workspace_here


@click.command(
    epilog="\b\nExamples:\n"
    "  dyno changes             is anything worse than its baseline, and since which version?\n"
    "  dyno changes --json      rows and alerts for a script"
)
@store_option
@json_option
def command(store: str | None, as_json: bool) -> int:
    """The newest version of every agent against its baseline, the worst first; read-only."""
    from agentdyno.findings.change.ask import Changing
    from agentdyno.findings.change.tables import changes_tables

    with open_store(store, must_exist=True) as opened:
        here = workspace_here()
        asked = Changing(opened, workspace=here.name, policy=here.gate)
        changes, alerts = asked.changes(), asked.alerts()
    if as_json:
        print_json({"changes": changes, "alerts": alerts})
    else:
        print_tables(changes_tables(changes, alerts))
    return 0
