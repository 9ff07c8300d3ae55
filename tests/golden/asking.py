"""Asking ``dyno`` within this process, in a folder and at a time that are the same everywhere."""

from __future__ import annotations

import os
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

import pytest

from agentdyno.cli.main import main

from ..command import Done
from .golden import DATA

NOW_MS = 1_767_960_000_000
"""2026-01-09 12:00 UTC: a day after the last run of the stores."""
_SCREEN = {"COLUMNS": "80", "LINES": "24", "NO_COLOR": "1", "TERM": "dumb", "TZ": "UTC"}
_UNWANTED = ("FORCE_COLOR", "CLICOLOR_FORCE", "PYTHONWARNINGS")


class Project:
    """A folder with a project of two agents, a suite and an experiment, and with a store where one was put."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        for file in (DATA / "project").iterdir():
            (folder / file.name).write_bytes(file.read_bytes())

    @property
    def store(self) -> Path:
        return self.folder / ".dyno" / "dyno.db"

    def put_store(self, revision: str) -> None:
        """The store that a program of that schema revision left."""
        self.store.parent.mkdir(exist_ok=True)
        with closing(sqlite3.connect(self.store)) as connection:
            connection.executescript((DATA / "stores" / f"{revision}.sql").read_text(encoding="utf-8"))

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def ask(self, *arguments: str) -> Done:
        """The command as a terminal of 80 columns shows it; its clock stands still."""
        out, err = StringIO(), StringIO()
        code: object = 0
        with _here(self.folder, arguments), redirect_stdout(out), redirect_stderr(err):
            try:
                main()
            except SystemExit as end:
                code = end.code
        assert isinstance(code, int)
        return Done(code, self._anonymous(out.getvalue()), self._anonymous(err.getvalue()))

    def text(self, *arguments: str) -> str:
        """What a command prints where it succeeds."""
        done = self.ask(*arguments)
        assert done.code == 0, f"{arguments}: {done.code}\n{done.err}"
        return done.out

    def _anonymous(self, text: str) -> str:
        return text.replace(str(self.folder), "<folder>")


@contextmanager
def _here(folder: Path, arguments: tuple[str, ...]) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        for name in [*_UNWANTED, *(key for key in os.environ if key.startswith("DYNO_"))]:
            patch.delenv(name, raising=False)
        for name, value in {**_SCREEN, "HOME": str(folder), "XDG_CACHE_HOME": str(folder / ".cache")}.items():
            patch.setenv(name, value)
        patch.setattr(sys, "argv", ["dyno", *arguments])
        # Click takes the name of the program from here where it was started with `python -m`.
        patch.setattr(sys.modules["__main__"], "__package__", "", raising=False)
        patch.setattr(time, "time_ns", lambda: NOW_MS * 1_000_000)
        yield
