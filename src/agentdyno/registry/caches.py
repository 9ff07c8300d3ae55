"""Importing people's code as its files say, not as Python compiled it before.

Python tells by the second of a file's last change and by its size whether what it compiled of it is still true. Code
that is changed twice within a second, and stays as long as it was, would run as it was, and be measured under the
version that it is. Here something compiled is believed only where it was written well after the file was.
"""

from __future__ import annotations

import os
import sys
from importlib.machinery import (
    BYTECODE_SUFFIXES,
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    ExtensionFileLoader,
    FileFinder,
    SourceFileLoader,
    SourcelessFileLoader,
)
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from importlib.abc import PathEntryFinder

_LATER_S = 2
"""Something compiled that is so much younger than its source was made of what the source holds. (A text that was read
just before a change may be compiled and written just after it, and the change be of the same second.)"""

_NOBODY_EDITS = (f"{Path(os.__file__).parent}{os.sep}", str(Path(__file__).parents[1]))
_INSTALLED = ("site-packages", "dist-packages")


class SourceAsWritten(SourceFileLoader):
    """Loads a file of Python, and compiles it anew where what was compiled may be of an earlier text."""

    def get_data(self, path: str) -> bytes:
        if path.endswith(tuple(BYTECODE_SUFFIXES)) and not _is_believed(Path(path), Path(self.path)):
            raise FileNotFoundError(path)  # what importlib takes as: compile the source, and keep that
        return super().get_data(path)


def believe_only_later_caches() -> None:
    """From now on imports of this process load modules with ``SourceAsWritten``, but those that were installed, and
    Python's own and ours."""
    if _finder_of in sys.path_hooks:
        return
    sys.path_hooks.insert(0, _finder_of)
    for folder in [folder for folder in sys.path_importer_cache if not _is_installed(folder)]:
        del sys.path_importer_cache[folder]


_make_finder = FileFinder.path_hook(
    (ExtensionFileLoader, EXTENSION_SUFFIXES),
    (SourceAsWritten, SOURCE_SUFFIXES),
    (SourcelessFileLoader, BYTECODE_SUFFIXES),
)


def _finder_of(folder: str) -> PathEntryFinder:
    if _is_installed(folder):
        raise ImportError("left to the finders that come next", path=folder)
    return _make_finder(folder)


def _is_installed(folder: str) -> bool:
    return folder.startswith(_NOBODY_EDITS) or any(name in folder for name in _INSTALLED)


def _is_believed(compiled: Path, source: Path) -> bool:
    """Every change of a file moves its ctime: also what puts another one of the same second in its place."""
    try:
        changed_at = max(source.stat().st_ctime, source.lstat().st_ctime)
        return compiled.stat().st_mtime - changed_at > _LATER_S
    except OSError:
        return False
