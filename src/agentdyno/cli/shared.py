"""What the commands share: options, the store, tables on a terminal, one JSON document on stdout."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import click

from agentdyno.settings.result import REPORTS_FOLDER

if TYPE_CHECKING:
    from agentdyno.contracts import Report
    from agentdyno.model import RunResult, Workspace
    from agentdyno.model.policy import GatePolicy
    from agentdyno.show.table import Table
    from agentdyno.store import Store

F = TypeVar("F", bound=Callable[..., Any])

PASS, WORSE, MISTAKE, NOT_COMPARABLE, UNDECIDED, NO_SAMPLE, INTERRUPTED = 0, 1, 2, 3, 4, 5, 130


def store_option(function: F) -> F:
    return click.option(
        "--store",
        metavar="URL",
        help="The store: a SQLAlchemy URL or a path. [default: DYNO_STORE, dyno.yaml, .dyno/dyno.db]",
    )(function)


def _listed(_context: click.Context, _parameter: click.Parameter, given: Sequence[str]) -> str | None:
    return ",".join(given) or None


LISTED: dict[str, Any] = {"metavar": "LIST", "multiple": True, "callback": _listed}
"""Of an option that takes names separated by commas: said several times, all of them count."""


def json_option(function: F) -> F:
    return click.option("--json", "as_json", is_flag=True, help="Print one JSON document instead of tables.")(
        function
    )


def reports_folder_option(function: F) -> F:
    return click.option("--output-dir", default=REPORTS_FOLDER, show_default=True, help="Where reports go.")(function)


def server_option(function: F) -> F:
    """``--server`` and the key for it."""
    from pathlib import Path

    key = click.option(
        "--key-file",
        type=click.Path(dir_okay=False, path_type=Path),
        help="With --server: a file with the key. [default: the variable DYNO_KEY]",
    )
    return key(
        click.option("--server", metavar="URL", help="A service (`dyno serve`) instead of this machine.")(function)
    )


def store_url(store: str | None) -> str:
    from pathlib import Path

    from agentdyno.store.location import is_url, path_url
    from agentdyno.workbench.location import project_store

    if store is None:
        return project_store(Path.cwd(), os.environ)
    return store if is_url(store) else path_url(Path(store).expanduser())


def open_store(store: str | None, *, must_exist: bool = False) -> Store:
    from agentdyno.store import Store

    return Store.open(store_url(store), must_exist=must_exist)


def say(text: str) -> None:
    """A line for people, on stderr."""
    click.echo(text, err=True)


def print_tables(item: Report | Table | Sequence[Table], *, brief: bool = False) -> None:
    """Tables on stdout, as wide as the terminal; ``brief`` leaves a report at its first screen."""
    from agentdyno.reports.console_tables import render_tables
    from agentdyno.show.table import Table

    if isinstance(item, Table | list | tuple):
        text = render_tables((item,) if isinstance(item, Table) else item, width(), color=use_color())
    else:
        from agentdyno.reports import render_console  # reports know every conclusion, and tables alone none

        text = render_console(item, width(), color=use_color(), brief=brief)
    click.echo(text, nl=False)


def print_json(value: object) -> None:
    """Exactly one JSON document on stdout."""
    from agentdyno.model.codec import encode

    click.echo(encode(value, indent=2))


def width() -> int:
    import shutil

    return max(60, min(160, shutil.get_terminal_size((100, 24)).columns))


def use_color() -> bool:
    return sys.stdout.isatty() and "NO_COLOR" not in os.environ


def workspace_here() -> Workspace:
    from pathlib import Path

    from agentdyno.specs import load_workspace

    return load_workspace(Path.cwd())


def policy_for(result: RunResult) -> GatePolicy:
    """How the project judges two agents of a suite; other runs do not ask, and read no file for it."""
    from agentdyno.model.policy import DEFAULT_POLICY

    return DEFAULT_POLICY if result.suite is None else workspace_here().gate
