"""How a place in source code is written in a result: enough to find it, nothing about whose machine it was."""

from __future__ import annotations

import re


def short_path(path: str) -> str:
    """The last two parts of a file's path; names in angle brackets (``<string>``) stay as they are."""
    if path.startswith("<"):
        return path
    parts = [part for part in re.split(r"[/\\]", path) if part not in ("", ".")]
    return "/".join(parts[-2:])
