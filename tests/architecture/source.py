"""The source read as data: modules, what they import, what they define."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "agentdyno"
PACKAGE = "agentdyno"


@dataclass(frozen=True)
class Module:
    """One file of the package. ``name`` is dotted, without ``agentdyno``: ``findings.duel.judge``."""

    path: Path
    name: str

    @property
    def parts(self) -> tuple[str, ...]:
        return tuple(self.name.split("."))

    @property
    def is_package(self) -> bool:
        return self.path.name == "__init__.py"

    @property
    def package(self) -> str:
        return self.name if self.is_package else self.name.rpartition(".")[0]

    @property
    def tree(self) -> ast.Module:
        return _tree(self.path)

    def __str__(self) -> str:
        return str(self.path.relative_to(SOURCE))


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


@cache
def modules() -> tuple[Module, ...]:
    """Every module of the package, with its own ``__init__`` as the empty name."""
    return tuple(Module(path, _dotted(path)) for path in sorted(SOURCE.rglob("*.py")))


@cache
def by_name() -> dict[str, Module]:
    return {module.name: module for module in modules()}


def _dotted(path: Path) -> str:
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported(module: Module) -> Iterator[str]:
    """Every dotted name that the module imports, ours and others', lazy and for type checking alike."""
    package = [PACKAGE, *([part for part in module.package.split(".") if part])]
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            target = ".".join([*base, *([node.module] if node.module else [])])
            yield from (f"{target}.{alias.name}" for alias in node.names)


@cache
def our_imports(module: Module) -> frozenset[str]:
    """The modules of ours that it imports; a name that a package re-exports counts as its package."""
    found = set()
    for name in imported(module):
        head, _, rest = name.partition(".")
        if head == PACKAGE:
            found.add(_module_of(rest))
    return frozenset(found - {module.name})


def _module_of(name: str) -> str:
    """The longest part of ``name`` that is a module of ours."""
    parts = name.split(".") if name else []
    while parts and ".".join(parts) not in by_name():
        parts.pop()
    return ".".join(parts)
