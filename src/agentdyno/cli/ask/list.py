"""``dyno list``."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from agentdyno.cli.shared import (
    json_option,
    open_store,
    print_json,
    print_tables,
    say,
    store_option,
    store_url,
    use_color,
    width,
)
from agentdyno.settings.result import ROWS

if TYPE_CHECKING:
    from agentdyno.model.parameter import ExperimentInfo

KINDS = (
    "agents",
    "suites",
    "scorers",
    "experiments",
    "instruments",
    "reporters",
    "datasets",
    "importers",
    "specs",
    "runs",
)


@click.command(
    name="list",
    epilog="\b\nExamples:\n"
    "  dyno list\n"
    "  dyno list agents\n"
    "  dyno list runs --limit 50\n"
    "  dyno list scorers --import judge.py\n"
    "  dyno list experiments --json",
)
@click.argument("kind", type=click.Choice(KINDS), required=False)
@click.option("--import", "imports", multiple=True, metavar="FILE", help="List what this file registers, too.")
@click.option("--limit", type=click.IntRange(min=1), default=ROWS, show_default=True, help="Runs to show.")
@store_option
@json_option
def command(kind: str | None, imports: tuple[str, ...], limit: int, store: str | None, as_json: bool) -> None:
    """List what is there: name, one line, parameters, where from. Nothing listed is imported."""
    if kind == "runs":
        _list_runs(limit, store, as_json)
    elif imports and kind is not None and kind in ("agents", "specs", "suites"):
        raise click.UsageError(f"--import means nothing for {kind}")
    elif kind in ("specs", "suites"):
        _list_files(kind, as_json)
    elif kind == "agents":
        _list_agents(as_json)
    else:
        kinds = [kind] if kind else ["agents", "scorers", "experiments", "instruments", "reporters"]
        _list_objects(kinds, imports, as_json)


def _list_objects(kinds: list[str], imports: tuple[str, ...], as_json: bool) -> None:
    if as_json:
        from agentdyno.workbench.listing import list_kind

        found = {kind: list_kind(kind, imports) for kind in kinds}
        print_json(found if len(found) > 1 else found[kinds[0]])
        return
    columns, color = width(), use_color()
    # This process, or the project, may have registered objects of its own.
    if "agentdyno.registry.names" in sys.modules or imports or _has_project():
        click.echo(_render_objects(kinds, columns, color, imports)[0], nl=False)
        return
    from agentdyno.cli.remembered import remembered

    text = remembered(("list", kinds, columns, color), lambda: _render_objects(kinds, columns, color))
    click.echo(text, nl=False)


def _has_project() -> bool:
    """Whether files here may register something: then nothing is remembered, as they may change."""
    here = os.getcwd()  # noqa: PTH109  (pathlib costs 3 ms)
    places = [here]
    while (above := os.path.dirname(places[-1])) != places[-1]:  # noqa: PTH120
        places.append(above)
    return os.path.isdir("experiments") or any(  # noqa: PTH112
        os.path.exists(os.path.join(place, "dyno.yaml"))  # noqa: PTH110, PTH118
        for place in places
    )


def _render_objects(
    kinds: list[str], columns: int, color: bool, imports: tuple[str, ...] = ()
) -> tuple[str, list[str]]:
    """The tables, and the source files that they describe."""
    from agentdyno.reports import render_console
    from agentdyno.show.listings import listing
    from agentdyno.workbench.listing import list_kind, source_files

    shown = [listing(list_kind(kind, imports), kind.capitalize()) for kind in kinds]
    return render_console(shown, columns, color=color), [str(file) for kind in kinds for file in source_files(kind)]


def _list_files(kind: str, as_json: bool) -> None:
    from agentdyno.workbench.listing import list_files

    _show_listing(list_files(kind), kind, as_json)


def _list_agents(as_json: bool) -> None:
    from agentdyno.workbench.listing import list_agents

    _show_listing(list_agents(), "agents", as_json)


def _show_listing(infos: list[ExperimentInfo], kind: str, as_json: bool) -> None:
    if as_json:
        print_json(infos)
        return
    from agentdyno.show import listings

    print_tables(listings.listing(infos, kind.capitalize()))


def _list_runs(limit: int, store: str | None, as_json: bool) -> None:
    from agentdyno.workbench.location import store_exists

    if not store_exists(store_url(store)):
        if as_json:
            print_json([])
        else:
            say("No runs yet. `dyno demo` makes the first, `dyno run` the next.")
        return
    with open_store(store) as opened:
        rows = opened.runs.newest(limit)
    if as_json:
        print_json(rows)
        return
    from agentdyno.show import listings

    print_tables(listings.runs(rows))
