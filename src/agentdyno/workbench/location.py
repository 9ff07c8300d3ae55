"""Where a project keeps its results."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from agentdyno.store.location import VARIABLE, default_url, is_url, path_url


def project_store(start: Path, environ: Mapping[str, str]) -> str:
    """The URL of the store: ``DYNO_STORE``, else ``store:`` in dyno.yaml, else the nearest ``.dyno/dyno.db``."""
    from agentdyno.specs import find_workspace, read_workspace

    if not environ.get(VARIABLE, "").strip():
        found = find_workspace(start)
        chosen = read_workspace(found).store if found is not None else None
        if chosen and found is not None:
            return chosen if is_url(chosen) else path_url(found.parent / Path(chosen).expanduser())
    return default_url(start, environ)


def output_root(url: str) -> Path:
    """Where runs go by default: beside the store when it is a file, else ``.dyno/runs`` here."""
    prefix, _, path = url.partition("sqlite:///")
    if not prefix and path:
        return Path(path).absolute().parent / "runs"
    return Path.cwd() / ".dyno" / "runs"


def store_exists(url: str) -> bool:
    """Whether a store that is a file exists; others are taken to exist."""
    prefix, _, path = url.partition("sqlite:///")
    return bool(prefix) or Path(path).is_file()
