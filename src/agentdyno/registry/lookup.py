"""Where the source of a module lies, found without importing it or its parent packages."""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from typing import cast


def find_source(module: str) -> Path | None:
    """The file of a module; ``None`` when there is none or it is not Python source."""
    folders: list[str] | None = None
    *parents, last = module.split(".")
    for part in parents:
        spec = _find_spec(part, folders)
        if spec is None or spec.submodule_search_locations is None:
            return None
        folders = list(spec.submodule_search_locations)
    spec = _find_spec(last, folders)
    return Path(spec.origin) if spec is not None and spec.origin and spec.origin.endswith(".py") else None


def _find_spec(part: str, folders: list[str] | None) -> ModuleSpec | None:
    """One part of a dotted name. A full name would ask for the parent module, which is not loaded."""
    try:
        spec = PathFinder.find_spec(part, folders)
    except (ImportError, ValueError):
        return None
    if spec is not None or folders is not None:
        return spec
    for finder in sys.meta_path:  # editable installs may come with a finder of their own
        find = getattr(finder, "find_spec", None)
        try:
            found = cast(ModuleSpec | None, find(part, None)) if find is not None else None
        except (ImportError, ValueError, AttributeError, KeyError, OSError):
            found = None
        if found is not None:
            return found
    return None
