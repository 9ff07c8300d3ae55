"""Where an agent comes from, as text that is the same on every machine: its identity.

Versions of an agent are versions of one identity. Paths start at the project, so that a checkout in another folder
holds the same agents.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from agentdyno.agents.references import PROGRAMS, Located, label_of, scheme_of
from agentdyno.model.naming import AT, GIVEN, SWEPT
from agentdyno.model.suite import AgentUse

PROJECT_MARKS = ("dyno.yaml", ".git")
"""What lies in the folder that paths of identities start at; the first that is found above a file counts."""
_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_PASSING_PORTS = 32768
"""Ports of this machine from here on are given out anew at every start, and tell nothing."""


def identity_of(use: AgentUse, located: Located, *, given: bool) -> str:
    """The identity of an agent as it was written (``use``) and found. ``given``: somebody gave it its name.

    A name of an installed or registered agent is one that somebody gave, too.
    """
    called = label_of(use.uses)
    own_name = use.name != called and not use.name.startswith(f"{called} ")
    if given or own_name or scheme_of(use.uses) == "name":
        return GIVEN + use.name
    settings = use.name.removeprefix(called).strip()
    return _origin(located) + (f"{SWEPT}{settings}" if settings else "")


def file_identity(file: Path, name: str, base_dir: Path) -> str:
    """``src/triage.py@answer``: the identity of what is called ``name`` in a file."""
    return f"{_in_project(file, base_dir)}@{name}"


def _origin(located: Located) -> str:
    use, target = located.use, located.target
    base = Path(use.base_dir)
    if located.planner is not None:
        return f"workflow:{_origin(located.planner)}"
    scheme, _, rest = use.uses.partition(":")
    if located.scheme in PROGRAMS or (located.scheme == "mcp" and not rest.startswith(("http://", "https://"))):
        return f"{scheme}:{_command(rest, base / str(use.config.get('cwd', '.')))}"
    if located.scheme in ("openai", "ollama"):
        return f"{scheme}:{use.config.get('model') or rest}{_endpoint(use.config)}"
    if located.scheme == "http":
        return _address(use.uses)
    if located.scheme in ("mcp", "a2a"):
        return f"{scheme}:{_address(rest)}"
    if target is not None and target.files:
        return file_identity(Path(target.files[0]), target.name, base)
    return use.uses


def _command(line: str, folder: Path) -> str:
    """The command with files as paths of the project: it is the same agent from whatever folder it is started."""
    try:
        words = shlex.split(line)
    except ValueError:
        return line
    return shlex.join(_word(word, folder) for word in words)


def _word(word: str, folder: Path) -> str:
    try:
        path = (folder / word).resolve()
        if not path.is_file() or _project_of(path, folder) is None:
            return word
    except (OSError, ValueError):  # too long for a path, or with a zero byte
        return word
    return _in_project(path, folder)


def _endpoint(config: Mapping[str, object]) -> str:
    base_url = config.get("base_url")
    if not isinstance(base_url, str) or not base_url:
        return ""
    return AT + (_address(base_url).partition("://")[2].rstrip("/") or base_url)


def _address(url: str) -> str:
    """A URL without who signs in, and without a port of this machine that is another one tomorrow."""
    try:
        parts = urlsplit(url)
        port, host = parts.port, parts.hostname or ""
    except ValueError:
        return url
    place = parts.netloc.rpartition("@")[2]
    if host in _LOOPBACK and port is not None and port >= _PASSING_PORTS:
        place = place.rpartition(":")[0]
    return urlunsplit((parts.scheme, place, parts.path, parts.query, ""))


def _in_project(file: Path, base_dir: Path) -> str:
    path = file.resolve()
    root = _project_of(path, base_dir)
    return path.as_posix() if root is None else path.relative_to(root).as_posix()


def _project_of(path: Path, base_dir: Path) -> Path | None:
    """The folder that a file's path starts at: its project, else where the user is; ``None`` for files elsewhere."""
    for mark in PROJECT_MARKS:
        found = next((folder for folder in path.parents if (folder / mark).exists()), None)
        if found is not None:
            return found
    here = base_dir.resolve()
    return here if path.is_relative_to(here) else None
