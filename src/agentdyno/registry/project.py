"""What the files of a project register, read from their source: nothing is imported to find a name."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

EXPERIMENTS_FOLDER = "experiments"
"""The folder of a project whose files are looked through without being told."""


@dataclass(frozen=True, slots=True)
class ProjectObject:
    """``attribute`` of ``file`` is registered as ``name``."""

    name: str
    file: Path
    attribute: str


def project_objects(kind: str, files: Iterable[Path]) -> dict[str, ProjectObject]:
    """What ``@register_…("name")`` registers in these files, by name; the first file that has a name counts.

    Files that cannot be read or parsed have nothing: whoever runs them is told why.
    """
    decorator = f"register_{kind.removesuffix('s')}"
    found: dict[str, ProjectObject] = {}
    for file in files:
        try:
            body = ast.parse(file.read_bytes()).body
        except (OSError, SyntaxError, ValueError, RecursionError):
            continue
        for node in body:
            if isinstance(node, (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
                name = _registered_as(node, decorator)
                if name is not None:
                    found.setdefault(name, ProjectObject(name, file, node.name))
    return found


def _registered_as(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, decorator: str) -> str | None:
    for item in node.decorator_list:
        if not isinstance(item, ast.Call) or ast.unparse(item.func).split(".")[-1] != decorator or not item.args:
            continue
        first = item.args[0]
        if isinstance(first, ast.Constant) and isinstance(first.value, str):
            return first.value
    return None
