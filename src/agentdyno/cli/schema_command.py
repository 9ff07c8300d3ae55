"""``dyno schema``."""

from __future__ import annotations

import click


@click.command(
    epilog="\b\nExample, so that editors complete and check spec files:\n"
    "  dyno schema > dyno-spec.schema.json\n"
    "  # first line of a spec:  # yaml-language-server: $schema=dyno-spec.schema.json"
)
def command() -> None:
    """Print the JSON Schema of spec files."""
    from agentdyno.cli.shared import print_json
    from agentdyno.specs import json_schema

    print_json(json_schema())
