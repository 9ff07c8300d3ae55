"""Where a store is: URLs, bare paths, and the search upward from a folder. Needs no database library."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

FOLDER = ".dyno"
FILE = "dyno.db"
VARIABLE = "DYNO_STORE"


def default_url(start: Path, environ: Mapping[str, str]) -> str:
    """The URL of the store that belongs to ``start``.

    ``DYNO_STORE`` decides when set (a URL or a path, relative paths counted from ``start``); else the nearest
    ``.dyno/dyno.db`` in ``start`` or a folder above it; else the one that would be created in ``start``.
    """
    chosen = environ.get(VARIABLE, "").strip()
    if chosen:
        return chosen if is_url(chosen) else path_url(start / Path(chosen).expanduser())
    here = start.absolute()
    for folder in (here, *here.parents):
        candidate = folder / FOLDER / FILE
        if candidate.is_file():
            return path_url(candidate)
    return path_url(here / FOLDER / FILE)


def is_url(text: str) -> bool:
    """Whether ``text`` names a database by URL rather than by path."""
    return "://" in text


def path_url(path: Path) -> str:
    """The URL of the SQLite file at ``path``; characters that mean something in a URL are escaped."""
    return "sqlite:///" + str(path.absolute()).replace("%", "%25").replace("?", "%3F")


def keep_out_of_git(folder: Path) -> None:
    """A folder of ours in a repository ignores itself, so that measuring never makes a tree dirty."""
    ignore = folder / ".gitignore"
    if folder.name == FOLDER and not ignore.exists():
        ignore.write_text("*\n")
