"""Local files on other machines: the same bytes, below a folder that is made for them there."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from agentdyno.errors import RunError, SpecError

MOST_BYTES = 64 * 1024 * 1024
"""What all files of a run may have together; more belongs on a disk that all machines share."""
_PREFIX = "agentdyno-files-"
_HELD = ".held"
"""A file that is locked for as long as the process lives whose files these are."""


@dataclass(frozen=True, slots=True)
class ShippedFiles:
    """Files by their absolute path where they come from; ``digests`` are SHA-256 of what they held when the run was
    prepared."""

    contents: Mapping[str, bytes] = field(default_factory=dict)
    digests: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, paths: Iterable[Path]) -> ShippedFiles:
        """Raises ``SpecError`` for what cannot be read, or is too much."""
        contents: dict[str, bytes] = {}
        total = 0
        for path in sorted({path.absolute() for path in paths}):
            try:
                content = path.read_bytes()
            except OSError as error:
                raise SpecError(f"cannot be sent to other machines: {error.strerror}", where=str(path)) from None
            total += len(content)
            if total > MOST_BYTES:
                raise SpecError(
                    f"the files of a run may have {MOST_BYTES >> 20} MiB together to be sent to other machines",
                    where=str(path),
                    remedy="Put large ones on a disk that all machines have, and name them by their path there.",
                )
            contents[str(path)] = content
        return cls(contents, {name: _digest(content) for name, content in contents.items()})


class FilesHere:
    """The files of an order on this machine. ``of`` says where a path of the driver's is here."""

    def __init__(self, shipped: ShippedFiles) -> None:
        """Raises ``RunError`` where what has arrived is not what was sent."""
        missing = sorted(shipped.digests.keys() - shipped.contents.keys())
        if missing:
            raise RunError(f"{missing[0]} has not arrived")
        for name, content in shipped.contents.items():
            if _digest(content) != shipped.digests.get(name):
                raise RunError(f"{name} has arrived with another content than it was sent with")
        _remove_orphans()
        self.root = Path(tempfile.mkdtemp(prefix=_PREFIX))
        not_yet = self.root / f"{_HELD}-soon"  # it gets its name when it is locked: nobody finds it before
        self._held = os.open(not_yet, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._held, fcntl.LOCK_EX)
        not_yet.rename(self.root / _HELD)
        self._names = set(shipped.contents)
        for name, content in shipped.contents.items():
            target = Path(self.of(name))
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            if content.startswith(b"#!"):
                target.chmod(0o700)

    def of(self, path: str) -> str:
        """A file that was shipped, or a folder that holds one, is below ``root``; everything else is where it was."""
        absolute = os.path.abspath(path)  # noqa: PTH100  (a link stays one)
        inside = absolute in self._names or any(name.startswith(absolute.rstrip("/") + "/") for name in self._names)
        return str(self.root) + absolute if inside else path

    def folder(self, path: str) -> str:
        """Where a process works that worked in ``path``: a folder that is here in any case."""
        found = self.of(path)
        return found if Path(found).is_dir() else str(self.root)

    def text(self, text: str) -> str:
        """A command line or a reference, with the shipped files that it names by their absolute path."""
        for name in sorted(self._names, key=len, reverse=True):
            text = text.replace(name, self.of(name))
        return text

    def close(self) -> None:
        shutil.rmtree(self.root, ignore_errors=True)
        held, self._held = self._held, -1
        if held >= 0:
            os.close(held)


def _remove_orphans() -> None:
    """Removes the files of processes that have ended without a chance to do so: their locks have gone with them."""
    for held in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*/{_HELD}"):
        with contextlib.suppress(OSError), held.open("rb") as lock:  # somebody else's, or just being removed
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(held.parent, ignore_errors=True)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
