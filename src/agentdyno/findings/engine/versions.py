"""The order of versions, where their names have one."""

from __future__ import annotations

import re

_VERSION = re.compile(r"v?(\d+(?:\.\d+)*)(?:[-+.]?[0-9a-z]*)?", re.IGNORECASE)


def version_number(version: str) -> tuple[int, ...] | None:
    """The numbers of a version, to be compared; ``None`` where it is none, as a commit is not."""
    found = _VERSION.fullmatch(version) if "." in version or len(version) < 6 else None
    return tuple(int(part) for part in found[1].split(".")) if found else None
