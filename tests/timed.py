"""Which tests start processes or browsers, or read a clock: those that a busy machine could break.

They carry the marker ``timed`` (``scripts/repeat_timed.sh`` repeats them). Nobody writes it down: a test carries it
when its file, a file of support that it imports, or a fixture that it uses has to do with processes or clocks.
"""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
CLOCKS_AND_PROCESSES = frozenset(
    {
        *("time", "subprocess", "multiprocessing", "threading", "concurrent", "signal", "playwright", "psutil"),
        *("socket", "socketserver", "uvicorn"),
    }
)
"""Modules that a test imports in order to start something, to wait for it, or to read a clock."""


@cache
def is_timed(path: Path) -> bool:
    """Whether the file, or support that it imports, has to do with processes or clocks."""
    return any(_imports(file) & CLOCKS_AND_PROCESSES for file in _with_support(path))


def _with_support(path: Path) -> frozenset[Path]:
    found, waiting = set(), [path]
    while waiting:
        file = waiting.pop()
        if file not in found:
            found.add(file)
            waiting += _support(file)
    return frozenset(found)


@cache
def _nodes(path: Path) -> tuple[ast.Import | ast.ImportFrom, ...]:
    return tuple(
        node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Import | ast.ImportFrom)
    )


@cache
def _imports(path: Path) -> frozenset[str]:
    """The first parts of what is imported."""
    found = set()
    for node in _nodes(path):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif not node.level and node.module:
            found.add(node.module.partition(".")[0])
    return frozenset(found)


@cache
def _support(path: Path) -> tuple[Path, ...]:
    """Files of the tests that this one imports."""
    found = []
    for node in _nodes(path):
        if isinstance(node, ast.ImportFrom):
            if node.level:
                base = path.parents[node.level - 1]
            elif node.module and node.module.partition(".")[0] == "tests":
                base = ROOT
            else:
                continue
            folder = base.joinpath(*(node.module or "").split(".")) if node.module else base
            candidates = [folder.with_suffix(".py"), *(folder / f"{alias.name}.py" for alias in node.names)]
            found += [file for file in candidates if file.is_file()]
    return tuple(found)
