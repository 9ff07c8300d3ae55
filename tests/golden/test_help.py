"""The help of every command, as a terminal of 80 columns shows it."""

from __future__ import annotations

from collections.abc import Iterator

import click
import pytest

from agentdyno.cli.main import dyno

from .asking import Project
from .golden import FROZEN, check


def _commands(command: click.Command, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    yield path
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            assert found is not None
            yield from _commands(found, (*path, name))


COMMANDS = list(_commands(dyno, ()))


@pytest.mark.parametrize("path", COMMANDS, ids=lambda path: "-".join(path) or "dyno")
def test_a_command_explains_itself_as_before(path: tuple[str, ...], project: Project) -> None:
    check(f"help/{'-'.join(('dyno', *path))}.txt", project.text(*path, "--help"))


def test_no_command_was_lost() -> None:
    files = {path.stem for path in (FROZEN / "help").iterdir()}
    assert files == {"-".join(("dyno", *path)) for path in COMMANDS}
