"""The plugin package of the tests, as somebody else wrote it: it has to work without a change to one of its files."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from .golden import check

PACKAGE = Path(__file__).parent.parent / "plugin_package"
_MADE = {"__pycache__", "build"}


def test_no_file_of_the_plugin_package_was_touched() -> None:
    files = sorted(path for path in PACKAGE.rglob("*") if path.is_file() and not _MADE & set(path.parts))
    lines = [f"{sha256(path.read_bytes()).hexdigest()}  {path.relative_to(PACKAGE).as_posix()}" for path in files]
    check("plugin_package.txt", "\n".join(lines))
