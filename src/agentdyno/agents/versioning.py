"""Which version of an agent this is: declared, or a hash of what defines it, with the commit beside it."""

from __future__ import annotations

import ast
import hashlib
import os
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from agentdyno.agents.references import PROGRAMS, Located, locate
from agentdyno.errors import DynoError
from agentdyno.model.identity import digest
from agentdyno.model.suite import AgentUse
from agentdyno.registry.local import find_source

LENGTH = 12
"""Hexadecimal digits of a content hash."""
GIT_TIMEOUT_S = 10.0
LARGEST_FILE_BYTES = 64 * 1024 * 1024
"""Files among a command's arguments that are larger count by size and time of change."""


@dataclass(frozen=True, slots=True)
class AgentVersion:
    """``version`` is the declared one, else ``digest``. ``commit`` is that of the repository which holds the agent's
    files; ``dirty`` says that tracked files differ from it, or that the agent's own are not in it."""

    version: str
    commit: str | None = None
    dirty: bool = False
    digest: str = ""


def version_of(use: AgentUse, *, git: bool = True, moved: tuple[Path, Path] | None = None) -> AgentVersion:
    """The version of an agent. What cannot be found or read counts by its name alone.

    ``moved`` is a folder and another checkout of it: files below the first are read from the second.

    A Python agent is defined by its file and the modules beside it that it imports, and by its interpreter where it
    has one of its own, a command by its arguments and the files among them, an endpoint by its address; each with
    its configuration.
    """
    try:
        located = locate(use)
    except DynoError:
        located = Located(use, "unknown")
    files = files_of(located)
    if moved is not None:
        files = [_in_checkout(path, *moved) for path in files]
    content = [[path.name, _hash_of(path)] for path in files]
    config = {key: value for key, value in located.use.config.items() if key != "paid"}
    defined = [_what(located), content, config]
    own = digest([*defined, located.use.python] if located.use.python else defined, LENGTH)
    version = located.use.version or own
    commit, dirty = _commit_of(files) if git and files else (None, False)
    return AgentVersion(version, commit, dirty, own)


def _in_checkout(path: Path, root: Path, checkout: Path) -> Path:
    own = path.resolve()
    if own.is_relative_to(checkout) or not own.is_relative_to(root):
        return path
    return checkout / own.relative_to(root)


def _what(located: Located) -> object:
    uses = located.use.uses
    if located.planner is not None:
        return ["workflow", _what(located.planner)]
    if located.scheme in PROGRAMS:
        return [located.scheme, *_argv(uses)]
    if located.target is not None:
        return ["python", located.target.name]
    return uses


def _argv(uses: str) -> tuple[str, ...]:
    from agentdyno.agents.commands.command_line import split_command

    try:
        return split_command(uses.partition(":")[2], uses)
    except DynoError:
        return (uses,)


def files_of(located: Located) -> list[Path]:
    """The files that define an agent, each once, in an order that does not depend on where they lie."""
    if located.planner is not None:
        return files_of(located.planner)
    if located.scheme in (*PROGRAMS, "mcp"):
        folder = Path(located.use.base_dir) / str(located.use.config.get("cwd", "."))
        return [path for item in _argv(located.use.uses) if (path := folder / item).is_file()]
    if located.target is None:
        return []
    if located.target.module is not None:
        source = _module_file(located.target.module, Path(located.use.base_dir))
        return [] if source is None else with_imports(source)
    return list(dict.fromkeys(path for file in located.target.files for path in with_imports(Path(file))))


def _module_file(module: str, base_dir: Path) -> Path | None:
    local = base_dir.resolve().joinpath(*module.split("."))
    for file in (local.with_suffix(".py"), local / "__init__.py"):
        if file.is_file():
            return file
    return find_source(module)


def with_imports(file: Path) -> list[Path]:
    """A file and the modules of its folder that it imports, those that they import included; packages as a whole."""
    found: dict[Path, None] = {}
    waiting = [file.resolve()]
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found[path] = None
        for name in sorted(set(_imported(path))):
            module, package = file.parent.resolve() / f"{name}.py", file.parent.resolve() / name
            if module.is_file():
                waiting.append(module)
            elif (package / "__init__.py").is_file():
                found.update(dict.fromkeys(sorted(package.rglob("*.py"))))
    return sorted(found)


def _imported(path: Path) -> Iterator[str]:
    """First parts of what a file imports; of a relative import, of an import from the own package also the last."""
    try:
        nodes = list(ast.walk(ast.parse(path.read_bytes())))
    except (OSError, SyntaxError, ValueError, RecursionError):
        return
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            head, _, _ = (node.module or "").partition(".")
            if head:
                yield head
            if head == "" or path.parent.name in (node.module or "").split("."):
                yield from (alias.name for alias in node.names)
                yield (node.module or "").rpartition(".")[2]


def _hash_of(path: Path) -> str:
    try:
        stat = path.stat()
        if stat.st_size > LARGEST_FILE_BYTES:
            return f"{stat.st_size} bytes of {stat.st_mtime_ns}"
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def _commit_of(files: Sequence[Path]) -> tuple[str | None, bool]:
    """Commit and dirty mark; no commit where there is no git or no repository."""
    own = [path.resolve() for path in files]
    for folder in dict.fromkeys(path.parent for path in own):
        commit = _git(folder, "rev-parse", "HEAD")
        if commit is None:
            continue
        top = Path((_git(folder, "rev-parse", "--show-toplevel") or str(folder)).strip())
        inside = [str(path) for path in own if path.is_relative_to(top)]
        tracked = _git(folder, "status", "--porcelain", "--untracked-files=no")
        mine = _git(folder, "status", "--porcelain", "--ignored", "--untracked-files=all", "--", *inside)
        return commit.strip(), bool((tracked or "").strip() or (mine or "").strip())
    return None, False


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            capture_output=True,
            timeout=GIT_TIMEOUT_S,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.decode("utf-8", "replace")
