"""Writing a file so that it is either whole or not there."""

from __future__ import annotations

import errno
import os
from contextlib import suppress
from pathlib import Path

from agentdyno.errors import RunError

_REMEDIES = {
    errno.ENOSPC: "Free some space on that disk, then write the report again.",
    errno.EACCES: "Choose a folder that you may write to, or change the permissions of this one.",
    errno.EPERM: "Choose a folder that you may write to, or change the permissions of this one.",
    errno.EROFS: "That file system is read-only; choose another folder.",
    errno.ENOTDIR: "A part of that path is a file; choose another folder or move the file away.",
    errno.EEXIST: "There is a file where the folder should be; choose another folder or move the file away.",
}


def write_bytes(path: Path, content: bytes) -> Path:
    """Replaces ``path`` with ``content`` in one step, making its folder first. Raises ``RunError``."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with temporary.open("wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        temporary.replace(path)
    except OSError as error:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise RunError(
            f"cannot write the file: {error.strerror or error}",
            where=str(path),
            remedy=_REMEDIES.get(error.errno or 0, "Choose another folder for the output."),
        ) from error
    return path


def write_text(path: Path, text: str) -> Path:
    """As ``write_bytes``, in UTF-8; half a surrogate pair is written as its escape, which JSON reads back."""
    return write_bytes(path, text.encode("utf-8", "backslashreplace"))
