"""The working folder of a workflow as files with checksums, and changes of it that appear by rename.

Files in it are never written in place: each is made elsewhere and renamed. So a snapshot is a folder of hard links,
and a step that was killed has changed nothing.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from agentdyno.sandbox.isolation import CellResult, ChangedPath

_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class TreeChange:
    """One path as a step left it. ``kind`` is ``file``, ``folder``, ``link`` or ``gone``; ``checksum`` is the SHA-256
    of a file's content. ``staged`` is the name of the file that waits to be renamed."""

    path: str
    kind: str
    checksum: str = ""
    mode: int = 0o644
    target: str = ""
    staged: str = ""


class WorkTree:
    """A folder with plain files, folders and links that stay inside. Checksums are kept as long as a file is the
    same one: inode, size and times."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._known: dict[str, tuple[tuple[int, int, int], str]] = {}

    def checksum(self, path: str) -> str | None:
        """Of a file's content, or of where a link points; ``None`` where there is neither."""
        place = self.folder / path
        try:
            info = place.lstat()
        except OSError:
            return None
        if place.is_symlink():
            return f"link:{place.readlink()}"
        if not place.is_file():
            return None
        facts = (info.st_ino, info.st_size, info.st_mtime_ns)
        known = self._known.get(path)
        if known is None or known[0] != facts:
            known = (facts, _sha256(place))
            self._known[path] = known
        return known[1]

    def files(self) -> Iterator[str]:
        """Every file and link, relative, in order."""
        for place, names, files in os.walk(self.folder):
            names.sort()
            inside = Path(place).relative_to(self.folder)
            linked = [name for name in names if (Path(place) / name).is_symlink()]
            yield from (str(inside / name) for name in sorted([*files, *linked]))

    def manifest(self) -> dict[str, str]:
        """Checksums of all files: two folders with equal ones hold the same."""
        return {path: self.checksum(path) or "" for path in self.files()}

    def names(self, folder: str) -> frozenset[str]:
        """What lies in a folder of it, by name; folders end in a slash."""
        place = self.folder / folder
        try:
            return frozenset(item.name + ("/" if item.is_dir() else "") for item in place.iterdir())
        except OSError:
            return frozenset()

    def snapshot(self, target: Path) -> None:
        """The same files under another name; they share their content."""
        shutil.rmtree(target, ignore_errors=True)
        shutil.copytree(self.folder, target, symlinks=True, copy_function=os.link)

    def stage(self, result: CellResult, target: Path) -> tuple[TreeChange, ...]:
        """Writes what a step made to ``target`` and says how it differs from what is here."""
        shutil.rmtree(target, ignore_errors=True)
        target.mkdir(parents=True)
        changes = []
        for number, item in enumerate(result.changed):
            change = self._staged(item, target, f"{number:05}")
            if change is not None:
                changes.append(change)
        changes += [TreeChange(path.rstrip("/"), "gone") for path in sorted(result.gone, reverse=True)]
        return tuple(changes)

    def _staged(self, item: ChangedPath, target: Path, name: str) -> TreeChange | None:
        if item.kind == "folder":
            return TreeChange(item.path, "folder", mode=item.mode)
        if item.kind == "link":
            inside = stays_inside(item.path, item.target)
            return TreeChange(item.path, "link", "link:" + item.target, target=item.target) if inside else None
        checksum = hashlib.sha256(item.content).hexdigest()
        made = target / name
        made.write_bytes(item.content)
        made.chmod(item.mode | 0o600)
        return TreeChange(item.path, "file", checksum, item.mode, staged=name)

    def apply(self, changes: Sequence[TreeChange], staged: Path) -> None:
        """Makes the changes; those that were made before are left as they are, so it can be done again."""
        for change in changes:
            place = self.folder / change.path
            if change.kind == "folder":
                if place.is_symlink() or place.is_file():
                    place.unlink()
                place.mkdir(parents=True, exist_ok=True)
            elif change.kind == "gone":
                _remove(place)
            elif change.kind == "link":
                _remove(place)
                place.parent.mkdir(parents=True, exist_ok=True)
                place.symlink_to(change.target)
            elif (made := staged / change.staged).exists():
                if place.is_dir() and not place.is_symlink():
                    shutil.rmtree(place)
                place.parent.mkdir(parents=True, exist_ok=True)
                made.replace(place)
        shutil.rmtree(staged, ignore_errors=True)


def stays_inside(path: str, target: str) -> bool:
    """Whether a link at ``path`` points to something below the working folder."""
    if PurePosixPath(target).is_absolute():
        return False
    place = os.path.normpath(PurePosixPath(path).parent / target)
    return not place.startswith("..")


def differing(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Paths that only one of two manifests has, or that differ."""
    return sorted(path for path in {*before, *after} if before.get(path) != after.get(path))


def _remove(place: Path) -> None:
    if place.is_dir() and not place.is_symlink():
        shutil.rmtree(place)
    else:
        place.unlink(missing_ok=True)


def _sha256(path: Path) -> str:
    found = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            found.update(chunk)
    return found.hexdigest()
