"""``dyno schema``."""

from __future__ import annotations

import click


@click.command(
    epilog="\b\nExample, so that editors complete and check these files:\n"
    "  dyno schema > dyno-spec.schema.json\n"
    "  dyno schema suite > dyno-suite.schema.json\n"
    "  # first line of a spec:  # yaml-language-server: $schema=dyno-spec.schema.json"
)
@click.argument("kind", type=click.Choice(["spec", "suite", "load", "commands", "workspace"]), default="spec")
def command(kind: str) -> None:
    """Print the JSON Schema of spec files, of suites, of load files, of commands that are timed, or of dyno.yaml
    (workspace)."""
    from agentdyno.cli.shared import print_json
    from agentdyno.specs import json_schema

    print_json(json_schema(kind))  # type: ignore[arg-type]
