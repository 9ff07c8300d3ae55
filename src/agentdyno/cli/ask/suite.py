"""``dyno suite``."""

from __future__ import annotations

import click

from agentdyno.cli.shared import json_option, open_store, print_json, print_tables, say, store_option


@click.group(name="suite")
def command() -> None:
    """Versions of suites. A version is the hash of what is asked and how answers are judged."""


@command.command(
    epilog="\b\nExamples:\n"
    "  dyno suite diff suite.yaml last       is the file still what the last run asked?\n"
    "  dyno suite diff support suite.yaml    the newest version of the store against the file\n"
    "  dyno suite diff support@1.2 support@1.3"
)
@click.argument("old")
@click.argument("new")
@store_option
@json_option
def diff(old: str, new: str, store: str | None, as_json: bool) -> int:
    """Cases added, removed and changed, and what is judged otherwise, between OLD and NEW.

    Each is a suite file, a RUN, or of the store: a suite's id, ID@VERSION, or the hash of a version.
    """
    from agentdyno.errors import StoreError
    from agentdyno.workbench.suites.difference import compare_suites, difference_table, summary
    from agentdyno.workbench.suites.finding import find_suite

    try:
        opened = open_store(store, must_exist=True)
    except StoreError:
        if store is not None:
            raise
        opened = None  # two files need none
    try:
        found = compare_suites(find_suite(old, opened), find_suite(new, opened))
    finally:
        if opened is not None:
            opened.close()
    if as_json:
        print_json(found)
        return 0
    if found.changes:
        print_tables(difference_table(found))
    say(summary(found))
    return 0
