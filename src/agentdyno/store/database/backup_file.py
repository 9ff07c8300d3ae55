"""The file that a backup goes to: never one that is there already, never half of one."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from agentdyno.errors import StoreError


@contextlib.contextmanager
def claimed(path: Path) -> Iterator[Path]:
    """An empty file at ``path``, made with its folder; gone again where writing it fails."""
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
    except BaseException:
        path.unlink(missing_ok=True)
        raise
