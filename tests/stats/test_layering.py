"""The package stands alone: standard library and numpy, with scipy.special only where it is called."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import agentdyno.stats

SOURCES = sorted(Path(agentdyno.stats.__file__).parent.rglob("*.py"))


def _modules(nodes: Iterator[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level <= 2
            if node.level == 0:
                yield str(node.module)


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: str(path.stem))
def test_a_module_imports_only_the_standard_library_and_numpy_at_its_top(source: Path) -> None:
    tree = ast.parse(source.read_text())
    top = {name.split(".")[0] for name in _modules(iter(tree.body))}
    assert top <= sys.stdlib_module_names | {"numpy"}
    anywhere = set(_modules(ast.walk(tree)))
    assert {name for name in anywhere if name.startswith(("scipy", "agentdyno"))} <= {"scipy.special"}


def test_every_public_name_exists_and_is_listed_in_order() -> None:
    assert agentdyno.stats.__all__ == sorted(agentdyno.stats.__all__)
    assert all(hasattr(agentdyno.stats, name) for name in agentdyno.stats.__all__)
